// A configuration is checked in bounded time whatever its files are: pipes, endless files, and files that are slow to
// parse. A hang fails by the time limit of the test.
import { execFileSync } from 'node:child_process';
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadAuthority } from '../../../../server/authority/configuration/load.ts';
import { setKeyFromText } from '../../../../server/authority/x509/name.ts';
import { CONFIG_LINES, loadedData, type TestSite, testSite } from '../../../support/authorities.ts';
import { AT, caOf, ecPair } from '../../../support/pki.ts';

let site: TestSite;
beforeAll(() => void (site = testSite({ site: ecPair(), partner: ecPair() })));
afterAll(() => site.remove());

/** Every error of the configuration, and every unused file, without the directory. */
function mistakesOf(lines: readonly string[], file = 'authority.toml'): readonly string[] {
  site.write('authority.toml', lines.join('\n'));
  const loading = loadAuthority(join(site.directory, file), AT);
  const messages =
    loading.kind === 'loaded'
      ? loading.notes.filter((note) => note.startsWith('not used: ')).map((note) => note.replace(/^.*?toml\S*: /, ''))
      : loading.mistakes.map(({ message }) => message);
  return messages.map((message) => message.replaceAll(`${site.directory}/`, ''));
}

/** The configuration with one of its files named `other`. */
const FILES: readonly (readonly [what: string, lines: readonly string[]])[] = [
  ['key', CONFIG_LINES.map((line) => line.replace('site.key', 'other'))],
  ['certificate', CONFIG_LINES.map((line) => line.replace('site.pem', 'other'))],
  ['ca', CONFIG_LINES.map((line) => line.replace('"ca.pem"', '"ca.pem", "other"'))],
  ['usersFile', CONFIG_LINES.map((line) => line.replace('"users"', '"other"'))],
  ['mapConfig', ['mapConfig = "other"', ...CONFIG_LINES]],
];

describe.skipIf(process.platform === 'win32')('a pipe without a writer', () => {
  beforeAll(() => {
    execFileSync('mkfifo', [join(site.directory, 'other')]);
    mkdirSync(join(site.directory, 'crls'));
    execFileSync('mkfifo', [join(site.directory, 'crls', 'ca.crl')]);
  });
  afterAll(() => void execFileSync('rm', ['-r', join(site.directory, 'other'), join(site.directory, 'crls')]));

  test.each(FILES)('is an error as the %s', (_, lines) => {
    expect(mistakesOf(lines)).toContain('other cannot be read (it is no file but a pipe, a device or a directory)');
  });

  test('is an error as a file of CRLs, and as the configuration itself', () => {
    const ofCrls = mistakesOf(['crls = "crls"', ...CONFIG_LINES]);
    expect(ofCrls).toEqual(['crls/ca.crl cannot be read (it is no file but a pipe, a device or a directory)']);
    expect(mistakesOf([], 'other')).toEqual(['cannot be read (it is no file but a pipe, a device or a directory)']);
  });
});

test('refuses any file that is too long, without reading it', () => {
  const path = join(site.directory, 'other');
  writeFileSync(path, '');
  // A sparse file, which needs no disk space.
  truncateSync(path, 8 * 2 ** 30);
  for (const [, lines] of FILES)
    expect(mistakesOf(lines)).toContainEqual(expect.stringMatching(/^other has more than \d+ bytes$/));
  expect(mistakesOf([], 'other')).toEqual(['has more than 524288 bytes']);
});

test('reports CRL files that are too long together once, not each by the remaining limit', { timeout: 60_000 }, () => {
  const folder = join(site.directory, 'many');
  mkdirSync(folder);
  for (const [name, bytes] of Object.entries({ 'a.crl': 64 << 20, 'b.crl': 63 << 20, 'c.crl': 2 << 20 })) {
    writeFileSync(join(folder, name), '');
    truncateSync(join(folder, name), bytes);
  }
  const mistakes = mistakesOf(['crls = "many"', ...CONFIG_LINES]);
  expect(mistakes).toContain('many/c.crl is too long: all files of CRLs together have more than 134217728 bytes');
});

test.runIf(process.platform === 'linux')('refuses a file without a length that does not end as too long', () => {
  const lines = CONFIG_LINES.map((line) => line.replace('"users"', '"/proc/self/pagemap"'));
  expect(mistakesOf(lines)[0]).toMatch(/^\/proc\/self\/pagemap (?:has more than 16777216 bytes|cannot be read)/);
});

test('reports the first of many errors, and the number of the others', () => {
  site.write('other', 'nobody\n'.repeat(3000));
  const mistakes = mistakesOf(FILES.find(([what]) => what === 'usersFile')![1]);
  expect(mistakes).toHaveLength(1001);
  expect(mistakes.at(-1)).toBe('and 2000 more mistakes');
});

test('refuses more CA files than there may be CAs once', () => {
  site.write('other', caOf('Other').pem.repeat(1000));
  const lines = CONFIG_LINES.map((line) => line.replace('"ca.pem"', '"other", "other", "other", "other", "other"'));
  expect(mistakesOf(lines)).toContain('ca: more than 4096 certificates, or files of them');
});

// An unbounded parser takes minutes for each, or overflows the stack.
test.each<[string, string]>([
  ['keys of many parts', `${'a.'.repeat(200_000)}a = 1`],
  ['tables of many parts', `[${'a.'.repeat(200_000)}a]`],
  ['elements far down', `a = ${'['.repeat(900)}${'1,'.repeat(100_000)}${']'.repeat(900)}`],
  ['comments', '#\n'.repeat(250_000)],
  ['tables', '[[a]]\n'.repeat(85_000)],
  ['arrays far down', `a = ${'['.repeat(200_000)}${']'.repeat(200_000)}`],
  ['a long text', `a = "${'x'.repeat(500_000)}"`],
])('parses %s as quickly as others', { timeout: 60_000 }, (_, text) => {
  expect(mistakesOf([text]).length).toBeGreaterThan(0);
});

test('ignores a user in a very long line', { timeout: 60_000 }, () => {
  site.write('other', `"${'/CN=x'.repeat(2_000_000)}" staff\n"/O=Test/CN=A" staff\n`);
  const mistakes = mistakesOf(FILES.find(([what]) => what === 'usersFile')![1]);
  expect(mistakes).toEqual(['is no user; want "/O=Site/CN=Name" role, role']);
});

test('finds each of 100,000 users of a good configuration by name', () => {
  const lines = Array.from(
    { length: 100_000 },
    (_, i) => `"/O=Test/OU=Group ${i % 100}/CN=User ${i}" role${i % 7}, staff`,
  );
  site.write('other', lines.join('\n'));
  expect(mistakesOf(FILES.find(([what]) => what === 'usersFile')![1])).toEqual([]);
  const { users } = loadedData(site);
  expect(users.size).toBe(100_001);
  const rolesFor = (name: string): readonly string[] | undefined => users.get(setKeyFromText(name)!);
  for (const i of [0, 1, 77_777, 99_999])
    expect(rolesFor(`/CN=User ${i}/O=Test/OU=Group ${i % 100}`)).toEqual([`role${i % 7}`, 'staff']);
  expect(rolesFor('/O=Test/OU=Group 1/CN=User 0')).toBeUndefined();
});
