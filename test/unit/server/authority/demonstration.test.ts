// Preparation of the demonstration authority for a server: it is kept while it is valid, and then made again.
import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { loadAuthority } from '../../../../server/authority/configuration/load.ts';
import { DEMONSTRATION_FILES, prepareDemonstration } from '../../../../server/authority/demonstration.ts';
import { epochSeconds } from '../../../../server/observe/clock.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { caOf } from '../../../support/pki.ts';

const NOW = epochSeconds();
const CA = caOf('CA');
const directory = temporaryDirectory();
const file = (name: string): string => join(directory, name);

test('keeps a good demonstration, and makes it again if it is about to expire or is incomplete', () => {
  const home = file('cache/demonstration');
  const key = (): string => readFileSync(join(home, 'authority.key'), 'utf8');
  expect(prepareDemonstration(home, NOW)).toBe(home);
  const first = key();
  expect(prepareDemonstration(home, NOW + 86_400)).toBe(home);
  expect(key()).toBe(first);
  expect(prepareDemonstration(home, NOW + 89.5 * 86_400)).toBe(home);
  const second = key();
  expect(second).not.toBe(first);
  rmSync(join(home, DEMONSTRATION_FILES.user));
  prepareDemonstration(home, NOW + 89.5 * 86_400);
  expect(key()).not.toBe(second);
});

test('keeps a changed demonstration while it is complete', () => {
  const home = file('changed/demonstration');
  prepareDemonstration(home, NOW);
  const config = join(home, DEMONSTRATION_FILES.config);
  const changed = `nmae = "x"\n${readFileSync(config, 'utf8')}`;
  writeFileSync(config, changed);
  const ca = join(home, 'ca.pem');
  const broken = readFileSync(ca, 'utf8').replace(/\n.{9}/, '\n');
  writeFileSync(ca, broken);
  expect(prepareDemonstration(home, NOW)).toBe(home);
  expect(readFileSync(config, 'utf8')).toBe(changed);
  expect(readFileSync(ca, 'utf8')).toBe(broken);
  rmSync(join(home, DEMONSTRATION_FILES.user));
  expect(prepareDemonstration(home, NOW)).toBe(home);
  expect(readFileSync(config, 'utf8')).not.toBe(changed);
  expect(readdirSync(dirname(home))).toEqual(['demonstration']);
});

test('regards a demonstration as changed if its key is next to its certificate, or if it has another CA', () => {
  const home = file('beside/demonstration');
  prepareDemonstration(home, NOW);
  const [certificate, ca] = ['authority.pem', 'ca.pem'].map((name) => join(home, name));
  appendFileSync(certificate!, readFileSync(join(home, 'authority.key')));
  appendFileSync(ca!, CA.pem);
  const texts = [certificate!, ca!].map((name) => readFileSync(name, 'utf8'));
  expect(prepareDemonstration(home, NOW)).toBe(home);
  expect([certificate!, ca!].map((name) => readFileSync(name, 'utf8'))).toEqual(texts);
});

test.each([2, 25])('makes a demonstration again if the clock was set back by %d hours', (hours) => {
  const home = file('clock/demonstration');
  const at = NOW - hours * 3600;
  prepareDemonstration(home, NOW);
  expect(loadAuthority(join(prepareDemonstration(home, at), DEMONSTRATION_FILES.config), at).kind).toBe('loaded');
});
