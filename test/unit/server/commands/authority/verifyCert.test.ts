// `authority verify-cert`: its flags, its output, and its exit.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { commandLine } from '../../../../../server/commands/commands.ts';
import { INSTANT } from '../../../../../server/settings/values.ts';
import { AT, extension, makeCa, makeCrl, makeProxy, makeUser, pemOf } from '../../../../support/certificates.ts';
import { temporaryDirectory } from '../../../../support/dataSets.ts';

const CLI = fileURLToPath(new URL('../../../../../server/commands/cli.ts', import.meta.url));
const CA = makeCa('CA');
const LOWER = makeCa('Lower', { issuer: CA });
const USER = makeUser('Ada', LOWER);
const CHAIN = makeProxy(USER).pem + USER.pem + LOWER.pem;

const directory = temporaryDirectory();
let files = 0;

function file(text: string | Uint8Array): string {
  const path = join(directory, `${files++}.pem`);
  writeFileSync(path, text);
  return path;
}

const TRUST = ['--trust', file(CA.pem)];
const TIME = ['--time', String(AT)];

/** Runs the command in this process. Returns the output and the thrown error. */
async function verify(...words: readonly string[]): Promise<{ out: string; error: string; thrown: unknown }> {
  const printed = { out: '', error: '', thrown: undefined as unknown };
  const stdout = { write: (text: string): unknown => (printed.out += text) };
  const stderr = { write: (text: string): unknown => (printed.error += text) };
  const line = await commandLine({ stdout, stderr });
  await line
    .parseAsync(['authority', 'verify-cert', ...words], { from: 'user' })
    .catch((error: unknown) => (printed.thrown = error));
  return printed;
}

test('prints an accepted certificate with its owner, kind, CAs and expiry', async () => {
  const { out, thrown } = await verify(...TRUST, ...TIME, '--allow-proxies', file(CHAIN));
  expect(thrown).toBeUndefined();
  expect(out).toBe(
    [
      'accepted',
      'subject    /O=Test/CN=Ada',
      'proxy      all rights',
      'issued by  /O=Test/CN=Lower',
      'trusted    /O=Test/CN=CA',
      'expires    2025-11-30 00:00:00 UTC',
      '',
    ].join('\n'),
  );
});

test('throws the reason of a refusal as one line', async () => {
  const { out, thrown } = await verify(...TRUST, ...TIME, file(CHAIN));
  expect(out).toBe('');
  expect(thrown).toMatchObject({
    code: 'refused',
    message: 'refused: The certificate of /O=Test/CN=Ada/CN=1234 is a proxy, which is not accepted.',
  });
});

test('prints the time of the validation with --timing, whatever the verdict', async () => {
  const line = /^validation: \d+\.\d ms of CPU\n/;
  expect((await verify(...TRUST, ...TIME, '--timing', '--allow-proxies', file(CHAIN))).out).toMatch(line);
  expect(await verify(...TRUST, ...TIME, '--timing', file(''))).toMatchObject({
    out: expect.stringMatching(line),
    thrown: { code: 'refused' },
  });
});

test('reports a path that the system refuses to read, not an internal error', async () => {
  const { thrown } = await verify(...TRUST, ...TIME, '--crls', join(directory, 'x'.repeat(1000)), file(USER.pem));
  expect(thrown).toMatchObject({ code: 'file', message: expect.stringContaining('ENAMETOOLONG') as unknown });
});

test('counts intermediate CAs for --max-depth', async () => {
  const words = [...TRUST, ...TIME, '--allow-proxies', file(CHAIN)];
  expect(await verify('--max-depth', '1', ...words)).toMatchObject({ thrown: undefined });
  expect(await verify('--max-depth', '0', ...words)).toMatchObject({
    thrown: { message: expect.stringContaining('more than 0 intermediate CAs') },
  });
});

test('checks revocation with --crls, from a file that may contain several', async () => {
  const crls = (revoked: readonly bigint[]): string =>
    file([makeCrl({ issuer: CA }), makeCrl({ issuer: LOWER, revoked })].map((der) => pemOf('X509 CRL', der)).join(''));
  const words = [...TRUST, ...TIME, '--allow-proxies', file(CHAIN)];
  expect(await verify('--crls', crls([]), ...words)).toMatchObject({ thrown: undefined });
  expect(await verify('--crls', crls([USER.certificate.serialNumber]), ...words)).toMatchObject({
    thrown: { message: 'refused: The certificate of /O=Test/CN=Ada has been revoked.' },
  });
  const one = file(pemOf('X509 CRL', makeCrl({ issuer: CA })));
  expect(await verify('--crls', one, ...words)).toMatchObject({
    thrown: { message: 'refused: There is no current CRL of /O=Test/CN=Lower.' },
  });
});

test('accepts a directory for --crls too, as the setting of an authority does', async () => {
  const crls = join(directory, 'crls');
  mkdirSync(crls);
  writeFileSync(join(crls, 'ca.crl'), makeCrl({ issuer: CA }));
  writeFileSync(join(crls, 'lower.r0'), pemOf('X509 CRL', makeCrl({ issuer: LOWER })));
  writeFileSync(join(crls, 'README'), 'no CRL, and not read');
  const words = [...TRUST, ...TIME, '--allow-proxies', file(CHAIN), '--crls', crls];
  expect(await verify(...words)).toMatchObject({ thrown: undefined });
  rmSync(join(crls, 'ca.crl'));
  expect(await verify(...words)).toMatchObject({
    thrown: { message: 'refused: There is no current CRL of /O=Test/CN=CA.' },
  });
  writeFileSync(join(crls, 'ca.crl'), 'nothing');
  expect(await verify(...words)).toMatchObject({
    thrown: { message: `refused: ${join(crls, 'ca.crl')}: The text holds no CRL in PEM form.` },
  });
});

test('trusts all of several --trust, in any order', async () => {
  const other = ['--trust', file(makeCa('Other').pem)];
  const words = [...TIME, '--allow-proxies', file(CHAIN)];
  for (const trust of [
    [...TRUST, ...other],
    [...other, ...TRUST],
  ])
    expect(await verify(...trust, ...words)).toMatchObject({ thrown: undefined });
});

test('applies the strict profile without an --allow flag', async () => {
  const chain = file(USER.pem + LOWER.pem);
  expect(await verify(...TRUST, ...TIME, chain)).toMatchObject({
    thrown: { message: expect.stringMatching(/has no subject key identifier\.$/) },
  });
  for (const flag of ['--allow-proxies', '--allow-limited-proxies', '--allow-legacy-proxies']) {
    expect(await verify(...TRUST, ...TIME, flag, chain)).toMatchObject({ thrown: undefined });
  }
});

test('does not refuse a name because of a slash and a type in it', async () => {
  const chain = file(makeUser('Ada/O=Other', CA).pem);
  expect(await verify(...TRUST, ...TIME, '--allow-proxies', chain)).toMatchObject({ thrown: undefined });
});

test('accepts DER files, and several trusted CAs', async () => {
  const id = extension('2.5.29.14', Buffer.of(4, 1, 1));
  const other = makeCa('Other', { extensions: [id] });
  const trust = file(other.pem + CA.pem);
  const chain = file(makeUser('Ada', CA).der);
  expect(await verify('--trust', trust, ...TIME, '--allow-proxies', chain)).toMatchObject({ thrown: undefined });
});

describe('an input file', () => {
  test('that is missing is not a usage error', async () => {
    for (const words of [
      ['--trust', 'nowhere', file(CHAIN)],
      [...TRUST, 'nowhere'],
      [...TRUST, '--crls', 'nowhere', file(CHAIN)],
    ]) {
      expect(await verify(...words)).toMatchObject({
        thrown: { code: 'file', message: 'nowhere cannot be read (ENOENT)' },
      });
    }
  });

  test('of the wrong kind is refused, with its name in the reason', async () => {
    const empty = file('nothing');
    const none = 'The text holds no certificate in PEM form.';
    expect(await verify('--trust', empty, file(CHAIN))).toMatchObject({
      thrown: { message: `refused: ${empty}: ${none}` },
    });
    expect(await verify(...TRUST, empty)).toMatchObject({ thrown: { message: `refused: ${empty}: ${none}` } });
    expect(await verify(...TRUST, '--crls', empty, file(CHAIN))).toMatchObject({
      thrown: { message: `refused: ${empty}: The text holds no CRL in PEM form.` },
    });
  });
});

describe('the exit code of verify-cert', () => {
  const run = (...words: readonly string[]) =>
    spawnSync(process.execPath, [CLI, 'authority', 'verify-cert', ...words], { encoding: 'utf8' });

  test('is 0 for an accepted certificate, 1 for a refused one with the reason on stderr, 2 for wrong usage', () => {
    const chain = file(CHAIN);
    expect(run(...TRUST, ...TIME, '--allow-proxies', chain)).toMatchObject({ status: 0, stderr: '' });
    expect(run(...TRUST, ...TIME, chain)).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^catalogue-replica: refused: The certificate of .*\.\n$/),
    });
    expect(run(...TRUST)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("missing required argument 'chain'"),
    });
  });
});

describe('wrong usage of verify-cert', () => {
  test.each([
    [['chain'], "required option '--trust <file>' not specified"],
    [
      ['--trust', 'x', '--time', 'yesterday', 'chain'],
      'Want seconds since 1970, or a time such as 2026-01-31T12:00:00Z.',
    ],
    [['--trust', 'x', '--max-depth', '256', 'chain'], 'Want an integer from 0 to 255.'],
    [['--trust', 'x', '--max-depth', '-1', 'chain'], 'Want an integer from 0 to 255.'],
    [['--trust', 'x', '--allow-proxy', 'chain'], 'Did you mean --allow-proxies?'],
  ])('is refused for %j with the expected value', async (words, complaint) => {
    const { error, thrown } = await verify(...words);
    expect(error).toContain(complaint);
    expect(thrown).toMatchObject({ name: 'CommanderError' });
  });

  test('is explained by help that ends with an example', async () => {
    const { out } = await verify('--help');
    expect(out).toMatch(/\nExample:\n {2}catalogue-replica authority verify-cert .*\n$/);
  });
});

test.each([
  ['0', 0],
  ['1717200000', 1_717_200_000],
  ['1717200000.5', 1_717_200_000.5],
  ['2024-06-01', 1_717_200_000],
  ['2024-06-01T00:00', 1_717_200_000],
  ['2024-06-01T00:00:00Z', 1_717_200_000],
  ['2024-06-01T00:00:00.5Z', 1_717_200_000.5],
  ['2024-06-01T02:00:00+02:00', 1_717_200_000],
  ['2024-02-29', 1_709_164_800],
  ['2024-02-29T23:30:00-02:00', 1_709_256_600],
  ['2024-03-01T00:30:00+02:00', 1_709_245_800],
  ['2025-02-29', undefined],
  ['2026-02-31', undefined],
  ['2026-02-31T12:00', undefined],
  ['2026-02-31T12:00:00Z', undefined],
  ['2026-04-31T00:30:00+02:00', undefined],
  ['2026-02-32', undefined],
  ['2026-02-00', undefined],
  ['', undefined],
  ['-1', undefined],
  ['1e9', undefined],
  ['2024-13-01', undefined],
  ['2024-06-01 00:00', undefined],
  ['June 2024', undefined],
])('reads the time %j as %d', (text, seconds) => {
  expect(INSTANT.parse(text)).toBe(seconds);
});
