// Settings: their four sources, the precedence among them, and full error messages for every wrong value.
import { mkdtempSync, rmSync, writeFileSync, copyFileSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OperationError } from '../../../../data/operationError.ts';
import { readOrigins, readSettings, SETTINGS, targetAccess } from '../../../../server/settings/declarations.ts';
import { settingsTable } from '../../../support/documentTables.ts';
import { environmentName, flagName } from '../../../../server/settings/sources.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { ROOT } from '../../../support/sources.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'catalogue-config-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

function toml(text: string): string {
  const path = join(directory, `${expect.getState().currentTestName?.replace(/\W+/g, '-').slice(-60) ?? 'x'}.toml`);
  writeFileSync(path, text);
  return path;
}

function refusal(act: () => unknown): { readonly code: string; readonly lines: readonly string[] } {
  try {
    act();
  } catch (error) {
    if (error instanceof OperationError) return { code: error.code, lines: error.message.split('\n') };
    throw error;
  }
  throw new Error('was accepted');
}

describe('the table of settings', () => {
  test('derives names from one name in three spellings', () => {
    const filterErrors = SETTINGS.find((setting) => setting.name === 'filterErrors');
    expect(filterErrors && flagName(filterErrors)).toBe('--filter-errors');
    expect(filterErrors && environmentName(filterErrors)).toBe('CATALOGUE_FILTER_ERRORS');
    const http10Port = SETTINGS.find((setting) => setting.name === 'http10Port');
    expect(http10Port && flagName(http10Port)).toBe('--http10-port');
    expect(http10Port && environmentName(http10Port)).toBe('CATALOGUE_HTTP10_PORT');
  });

  test('has the default of each number in words', () => {
    const numbers = SETTINGS.filter(({ name, initial }) => typeof initial === 'number' && name !== 'threads');
    expect(numbers.map(({ name, kind, initialText }) => [name, kind.parse(initialText)])).toEqual(
      numbers.map(({ name, initial }) => [name, initial]),
    );
    expect(numbers.length).toBeGreaterThan(10);
  });

  test('declares every setting of the command line once', () => {
    const flags = SETTINGS.map(flagName);
    expect(new Set(flags).size).toBe(flags.length);
    expect(flags).toHaveLength(Object.keys(readSettings({}, {})).length + ['--config'].length);
    expect(flags.at(-1)).toBe('--config');
  });

  test('has a line of Markdown per setting, with the flag, both other names, the default and the meaning', () => {
    const lines = settingsTable().split('\n');
    expect(lines).toHaveLength(SETTINGS.length + 2);
    expect(lines).toContain(
      '| `--links <spec\\|request>` | `CATALOGUE_LINKS` | `links` | spec ' +
        '| links in records: always with ?format=api, or in the form of the request |',
    );
  });
});

describe('the precedence of settings', () => {
  test('prefers a flag to the environment, that to the file, that to the default', () => {
    const config = toml('port = 1\nhost = "::1"\nlimitMax = 5\nstrict = true\n');
    const environment = { CATALOGUE_PORT: '2', CATALOGUE_HOST: '0.0.0.0', CATALOGUE_CONFIG: config };
    expect(readSettings({ port: '3' }, environment)).toMatchObject({
      port: 3,
      host: '0.0.0.0',
      limitMax: 5,
      strict: true,
      links: 'spec',
    });
  });

  test('lets a flag switch off what the environment switches on', () => {
    expect(readSettings({ strict: false }, { CATALOGUE_STRICT: '1' }).strict).toBe(false);
    expect(readSettings({}, { CATALOGUE_CORS: 'false' }).cors).toBe(false);
  });

  test('prefers --config to CATALOGUE_CONFIG', () => {
    expect(readSettings({ config: toml('port = 7') }, { CATALOGUE_CONFIG: '/nonexistent' }).port).toBe(7);
  });

  test('replaces the whole list of one source by that of another', () => {
    const config = toml('trustedProxy = ["10.0.0.0/8", "::1"]\nallowBaseUrl = "http://a"\n');
    expect(readSettings({ config }, {})).toMatchObject({
      trustedProxies: ['10.0.0.0/8', '::1/128'],
      allowBaseUrls: ['http://a'],
    });
    const environment = { CATALOGUE_TRUSTED_PROXY: '192.168.0.0/16, 127.0.0.1' };
    expect(readSettings({ config }, environment).trustedProxies).toEqual(['192.168.0.0/16', '127.0.0.1/32']);
    expect(readSettings({ config, trustedProxy: ['fd00::/8'] }, environment).trustedProxies).toEqual(['fd00::/8']);
  });

  test('treats an empty environment variable as absent', () => {
    expect(readSettings({}, { CATALOGUE_PORT: '', CATALOGUE_BASE_URL: '' })).toMatchObject({ port: 8080 });
  });

  test('resolves a relative path in the file against the file, and keeps it elsewhere', () => {
    expect(readSettings({ config: toml('data = "sample"') }, {}).data).toBe(join(directory, 'sample'));
    expect(readSettings({ data: 'sample' }, {}).data).toBe('sample');
    expect(readSettings({ config: toml('accessLog = "log"') }, {}).accessLog).toBe(join(directory, 'log'));
  });

  test('gives standard output the same name in the file as elsewhere', () => {
    expect(readSettings({ config: toml('accessLog = "-"') }, {}).accessLog).toBe('-');
  });
});

test('reports data from two sources with a remedy, also for a variable of an image', () => {
  const environment = { CATALOGUE_FROM: 'https://a.test', CATALOGUE_CACHE: directory, CATALOGUE_DATA: '/data' };
  expect(refusal(() => readSettings({}, environment)).lines).toEqual([
    'environment variable CATALOGUE_DATA: not beside from, which fetches the data: leave one out, or set it empty',
  ]);
  expect(readSettings({}, { ...environment, CATALOGUE_DATA: '' }).data).toBe(directory);
});

test('names a switch that a flag turns off by that flag', () => {
  const { rows } = readOrigins({ cors: false, strict: true }, {});
  expect(rows.filter(([name]) => name === 'cors' || name === 'strict').map((row) => row[2])).toEqual([
    'flag --no-cors',
    'flag --strict',
  ]);
});

test('prefers a flag that names the data to other sources of data in environment and file', () => {
  const environment = { CATALOGUE_FROM: 'https://a.test', CATALOGUE_CACHE: directory, CATALOGUE_MAX_STALE: '1h' };
  const { data, from, maxStaleMs } = readSettings({ data: 'x.snapshot' }, environment);
  expect([data, from, maxStaleMs]).toEqual(['x.snapshot', undefined, undefined]);
  expect(refusal(() => readSettings({ data: 'x.snapshot', from: 'https://b.test' }, {})).lines).toHaveLength(1);
  // Settings without effect are not shown either.
  const rows = readOrigins({ data: 'x.snapshot' }, environment).rows.filter(([name]) => /^(from|max)/.test(name));
  expect(rows).toEqual(readOrigins({}, {}).rows.filter(([name]) => /^(from|max)/.test(name)));
  expect(rows).toHaveLength(2);
});

describe('a wrong value', () => {
  test('names the setting, the flag, the given and the expected value', () => {
    expect(refusal(() => readSettings({ port: '65536' }, {}))).toEqual({
      code: 'usage',
      lines: ['flag --port: got "65536", want an integer from 0 to 65535'],
    });
  });

  test('names the environment variable', () => {
    expect(refusal(() => readSettings({}, { CATALOGUE_FILTER_ERRORS: 'warn' })).lines).toEqual([
      'environment variable CATALOGUE_FILTER_ERRORS: got "warn", want fail or empty or ignore',
    ]);
  });

  test('names the file and the key, and is checked by its TOML type too', () => {
    const config = toml('limitMax = "10"\nstrict = 1\nlinks = ["spec"]\ndata = ""\n');
    expect(refusal(() => readSettings({ config }, {})).lines).toEqual([
      `${config}:4:1: key data: got "", want the path of a directory or file`,
      `${config}:3:10: key links: got ["spec"], want spec or request`,
      `${config}:1:1: key limitMax: got "10", want an integer from 1 up`,
      `${config}:2:1: key strict: got 1, want true or false (or 1 or 0)`,
    ]);
  });

  test.each([
    ['port', '-1'],
    ['port', '80 '],
    ['port', '1e3'],
    ['port', '٣'],
    ['limitMax', '0'],
    ['limitMax', '9007199254740992'],
    ['threads', '0'],
    ['threads', '1.5'],
    ['host', ''],
    ['host', '[::1]'],
    ['host', 'a b'],
    ['links', 'SPEC'],
    ['filters', ''],
    ['http10Port', 'off'],
    ['data', ''],
    ['data', 'a\0b'],
    ['trustedProxy', '10.0.0.0/33'],
    ['trustedProxy', '10.1/8'],
    ['trustedProxy', '0x7f.1'],
    ['trustedProxy', 'fe80::1%eth0'],
    ['trustedProxy', 'localhost'],
  ])('for %s is refused: %j', (name, text) => {
    expect(refusal(() => readSettings({ [name]: text }, {})).lines).toHaveLength(1);
  });

  test('is reported together with every other wrong value', () => {
    expect(refusal(() => readSettings({ port: 'x', trustedProxy: ['a', '::1', 'b'] }, {})).lines).toHaveLength(3);
  });

  test('is a port that another listener has too, unless each takes a free one', () => {
    const refused = (ports: object): readonly string[] => refusal(() => readSettings({ ...ports }, {})).lines;
    expect(refused({ port: '81', http10Port: '81', adminPort: '81' })).toEqual([
      expect.stringContaining('flag --http10-port: got 81, which is also the port; want a port of its own'),
      expect.stringContaining('flag --admin-port: got 81, which is also the port; want a port of its own'),
    ]);
    expect(refused({ http10Port: '81', adminPort: '81' })).toEqual([
      expect.stringContaining('flag --admin-port: got 81, which is also the http10Port'),
    ]);
    const free = { port: '0', http10Port: '0', adminPort: '0' };
    expect(readSettings(free, {})).toMatchObject({ port: 0, http10Port: 0, adminPort: 0 });
  });
});

describe('the base URL setting', () => {
  test.each([
    ['http://localhost:8080', 'http://localhost:8080'],
    ['https://example.org/', 'https://example.org'],
    ['https://example.org/a/b//', 'https://example.org/a/b'],
    ['HTTPS://Example.ORG:443/A', 'https://example.org/A'],
    ['http://[::1]:80/x', 'http://[::1]/x'],
    ['http://example.org/a%20b', 'http://example.org/a%20b'],
  ])('with %s becomes %s', (given, expected) => {
    expect(readSettings({ baseUrl: given }, {}).baseUrl).toBe(expected);
  });

  test.each([
    'ftp://example.org',
    'example.org',
    'http://',
    'http://example.org?x',
    'http://example.org/#x',
    'http://me:secret@example.org',
    'http://example.org/"',
    'http://example.org/é',
    'http://example.org/%zz',
    'http://example.org:99999',
    `http://example.org/${'a'.repeat(256)}`,
  ])('%j is refused', (given) => {
    expect(refusal(() => readSettings({ baseUrl: given }, {})).lines[0]).toContain('want an http or https URL');
  });
});

describe('the template of a page URL', () => {
  test.each([
    'https://c.example.org/uuid/{uuid}',
    'http://c.example.org:81/{collection}/{id}/',
    'https://c.example.org/?id={id}&u={uuid}#{id}',
    'https://[::1]/{id}',
  ])('with %s is accepted as it is', (recordUrl) => {
    expect(readSettings({ recordUrl }, {}).recordUrl).toBe(recordUrl);
  });

  test.each([
    'https://c.example.org/',
    'https://c.example.org/{collection}',
    'https://c.example.org/{uid}/{id}',
    'https://c.example.org/{id}}',
    'https://{id}.example.org/{id}',
    'https://someone@c.example.org/{id}',
    'ftp://c.example.org/{id}',
    'https://c.example.org/{id}/"',
    `https://c.example.org/{id}/${'x'.repeat(256)}`,
  ])('with %s is refused with the expected form', (recordUrl) => {
    const { code, lines } = refusal(() => readSettings({ recordUrl }, {}));
    expect(code).toBe('usage');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^flag --record-url: got .* want an http or https URL .*\{id\} or \{uuid\}/);
  });
});

describe('the TOML file', () => {
  test('refuses an unknown key with the nearest known', () => {
    const config = toml('filterErors = "fail"\n');
    expect(refusal(() => readSettings({ config }, {})).lines).toEqual([
      `${config}:1:1: unknown key "filterErors"; the nearest known is filterErrors`,
    ]);
  });

  test('must not name a further file', () => {
    expect(refusal(() => readSettings({ config: toml('config = "b.toml"') }, {})).lines[0]).toContain('"config"');
  });

  test('names line and column of invalid TOML', () => {
    const config = toml('port = 1\nhost = nobody\n');
    const { code, lines } = refusal(() => readSettings({ config }, {}));
    expect(code).toBe('usage');
    expect(lines[0]).toContain(`${config}:2:8: `);
  });

  test('names the number of servers of a NATS bucket, for the process that creates it', () => {
    const settings = readSettings({ config: toml('natsReplicas = 3') }, {});
    expect(targetAccess(settings, {}).nats).toMatchObject({ replicas: 3 });
  });

  test('is a separate error if it cannot be read', () => {
    const config = join(directory, 'absent.toml');
    expect(refusal(() => readSettings({ config }, {}))).toEqual({
      code: 'file',
      lines: [`config file ${config} cannot be read (ENOENT)`],
    });
  });

  test('is not parsed if it is too long, a pipe or not text', () => {
    for (const config of [toml('#'.repeat(65_537)), '/dev/zero']) {
      expect(refusal(() => readSettings({ config }, {}))).toMatchObject({ code: 'file' });
    }
  });

  test('treats keys of the object prototype as unknown keys like any other', () => {
    expect(refusal(() => readSettings({ config: toml('__proto__ = 1\nconstructor = 1\n') }, {})).lines).toHaveLength(2);
  });
});

test('has the version of the start, whatever is installed in its place later', async () => {
  const folder = temporaryDirectory();
  const copy = join(folder, 'server/settings/values.ts');
  mkdirSync(join(folder, 'server/settings'), { recursive: true });
  copyFileSync(join(ROOT, 'server/settings/values.ts'), copy);
  const packed = (version: string): void => writeFileSync(join(folder, 'package.json'), JSON.stringify({ version }));
  packed('1.2.3');
  const { packageVersion } = (await import(pathToFileURL(copy).href)) as { readonly packageVersion: () => string };
  expect(packageVersion()).toBe('1.2.3');
  packed('1.3.0');
  expect(packageVersion()).toBe('1.2.3');
});
