// `compare` between a catalogue on Debian's Django REST Framework and a replica of it: with the settings that it
// proposes, only the causes that server/catalogue/DJANGO.md lists remain.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Comparison } from '../../data/compare/compare.ts';
import { endedCommands } from '../support/commandProcess.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { type Django, hasDjango, startDjango } from '../support/django.ts';
import { ROOT } from '../support/sources.ts';

const folder = temporaryDirectory();
const SAMPLE = join(ROOT, 'data/sample');
/** Filters on more fields, the form of links, and the spelling of numbers, which stays as it is in the data. */
const LISTED = ['filters', 'links', 'spelling'];

describe.skipIf(!hasDjango)('compare with Django REST Framework', () => {
  const commands = endedCommands();
  let service: Django;
  beforeAll(async () => void (service = await startDjango(SAMPLE, join(folder, 'database'))));
  afterAll(() => service.stop());

  /** The causes that `compare` prints for a replica with these settings, with their requests, and its exit code. */
  async function causes(flags: readonly string[], accepted: readonly string[]) {
    const replica = await commands.startServer('--data', SAMPLE, ...flags);
    const accept = accepted.length > 0 ? ['--accept', ...accepted] : [];
    const compare = commands.start([
      'compare',
      service.url,
      replica.url,
      '--rate',
      '1000',
      '--format',
      'json',
      ...accept,
    ]);
    const { code } = await compare.ended;
    const { groups } = JSON.parse(compare.out()) as Comparison;
    return { code, causes: groups.map(({ cause }) => cause) };
  }

  test('finds only what the guide lists', async () => {
    const { code, causes: found } = await causes(['--filter-errors', 'ignore'], LISTED);
    expect(found.filter((cause) => !LISTED.includes(cause))).toEqual([]);
    expect(code).toBe(0);
  });

  test('counts no filter as ignored by the upstream if the replica has the documented ones alone', async () => {
    const { code, causes: found } = await causes(['--filters', 'documented'], []);
    expect(found).not.toContain('filters');
    expect(code).toBe(1);
  });
});
