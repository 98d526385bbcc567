// `authority call` with a running service: its output, its refusals, and its exit.
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createPlainServer } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandLine } from '../../../../../server/commands/commands.ts';
import { GET_TRUSTED_HOST_INFO, OPERATIONS, REQ_AUTHORISATION } from '../../../../../server/authority/soap/protocol.ts';
import { readAnswer, readEnvelope, requestBytes } from '../../../../../server/authority/soap/requests.ts';
import { faultBytes, responseBytes } from '../../../../../server/authority/soap/answers.ts';
import { FAULTS } from '../../../../../server/authority/soap/faults.ts';
import type { Authority } from '../../../../../server/authority/authority.ts';
import { nameDer } from '../../../../../server/authority/issuance.ts';
import { epochSeconds } from '../../../../../server/observe/clock.ts';
import {
  partnersCertificate,
  testSite,
  validAround,
  granted,
  memoryAuthority,
  TRUSTED_HOSTS,
} from '../../../../support/authorities.ts';
import { caOf, ecPair, type Holder, holderOf, person } from '../../../../support/pki.ts';
import { runCommand } from '../../../../support/commandProcess.ts';
import { envelope } from '../../../../support/envelopes.ts';
import { type SoapServer, startSoapServer } from '../../../../support/transports.ts';

const KEY = '-----BEGIN RSA PRIVATE KEY-----\nMIIK\n-----END RSA PRIVATE KEY-----\n';
const VALID = validAround(epochSeconds());
const CERTIFICATE = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';

let server: SoapServer;
let directory: string;
beforeAll(async () => {
  server = await startSoapServer();
  directory = mkdtempSync(join(tmpdir(), 'authority-call-'));
});
afterAll(async () => {
  rmSync(directory, { recursive: true });
  await server.stop();
});

/** Runs `authority call` in this process. Returns the output and the thrown error. */
async function call(...words: readonly string[]): Promise<{ out: string; err: string; thrown: unknown }> {
  let out = '';
  let err = '';
  let thrown: unknown;
  const stdout = { write: (text: string): unknown => (out += text) };
  const line = await commandLine({ stdout, stderr: { write: (text) => (err += text) } });
  await line.parseAsync(['authority', 'call', ...words], { from: 'user' }).catch((error: unknown) => (thrown = error));
  return { out, err, thrown };
}

/** The same with a server that responds with these bytes. */
async function answered(bytes: Uint8Array, ...words: readonly string[]): ReturnType<typeof call> {
  const server = createPlainServer((_, answer) => answer.end(bytes));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    return await call(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, ...words);
  } finally {
    server.close();
  }
}

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

test.each(['', '/', '/attAuthority.wsdl'])(
  'prints lists one entry a line, with requests at the URL with %j',
  async (end) => {
    const { out } = await call(server.url + end, 'getTrustedHostInfo', '--role', 'academic');
    expect(out).toBe(`trustedHostInfo: 2\n  ${TRUSTED_HOSTS.get('academic')!.join('\n  ')}\nerrMsg:\n`);
  },
);

test('uses over TLS the CAs of a file, and presents its certificate', async () => {
  const ca = holderOf('ca', nameDer(person('CA')), ecPair(), undefined, VALID);
  const [host, ada] = ['localhost', 'Ada'].map((name) =>
    holderOf('signer', nameDer(person(name)), ecPair(), ca, VALID),
  ) as [Holder, Holder];
  const keyOf = ({ key }: Holder): string => key.export({ type: 'pkcs8', format: 'pem' }) as string;
  const asked: unknown[] = [];
  const front = createServer({ ca: ca.pem, cert: host.pem, key: keyOf(host), requestCert: true }, (request, answer) => {
    asked.push((request.socket as TLSSocket).getPeerCertificate().subject.CN);
    answer.end(responseBytes(GET_TRUSTED_HOST_INFO, [['x'], '']));
  });
  await once(front.listen(0, 'localhost'), 'listening');
  try {
    const url = `https://localhost:${(front.address() as AddressInfo).port}`;
    const words = [url, 'getTrustedHostInfo', '--role', 'r'];
    const trust = ['--tls-ca', file('tls-ca.pem', ca.pem)];
    const both = file('tls-both.pem', ada.pem + keyOf(ada));
    const [own, key] = [file('tls-own.pem', ada.pem), file('tls-own.key', keyOf(ada))];
    expect((await call(...words, ...trust, '--tls-cert', both)).out).toContain('trustedHostInfo: 1');
    expect((await call(...words, ...trust, '--tls-cert', own, '--tls-key', key)).out).toContain('trustedHostInfo: 1');
    expect(asked).toEqual(['Ada', 'Ada']);
    expect((await call(...words)).thrown).toMatchObject({ code: 'network' });
    expect((await call(...words, ...trust, '--tls-cert', own)).thrown).toMatchObject({ code: 'network' });
    expect((await call(...words, ...trust, '--tls-key', key)).thrown).toMatchObject({ code: 'usage' });
    expect((await call(...words, '--tls-ca', 'nowhere')).thrown).toMatchObject({ code: 'file' });
  } finally {
    front.close();
  }
});

test('prints the demand of the authority if there is no role', async () => {
  expect((await call(server.url, 'getTrustedHostInfo')).out).toBe('trustedHostInfo: 0\nerrMsg: No role was input\n');
});

test('prints a grant with an unreadable attribute certificate as received, and the reason', async () => {
  const words = ['--cert', file('cert.pem', CERTIFICATE), '--att-cert', file('att.xml', '<é>')];
  const { out } = await call(server.http10Url, 'reqAuthorisation', ...words);
  const [reason, ...lines] = out.split('\n');
  expect(reason).toMatch(/^The attribute certificate .*\.$/);
  expect(lines.join('\n')).toBe(`attCert:\n${granted(CERTIFICATE, '<é>')}\nstatCode: AccessGranted\nerrMsg:\n`);
});

test('sends of a file with a private key only the certificates, in order, and reports that the rest stays', async () => {
  const path = file('proxy.pem', `Bag Attributes\n${CERTIFICATE}${KEY}${CERTIFICATE.replace('MIIB', 'MIIC')}end`);
  const { out, err } = await call(server.url, 'reqAuthorisation', '--cert', path, '--att-cert', file('att.xml', '<é>'));
  expect(out).toContain(granted(CERTIFICATE + CERTIFICATE.replace('MIIB', 'MIIC'), '<é>'));
  expect(out).not.toMatch(/PRIVATE|MIIK|Bag/);
  expect(err).toBe(`${path} holds a private key too, which is not sent: only its certificates are\n`);
});

test('does not send a file that is far too long', async () => {
  const long = file('long.pem', CERTIFICATE + '\n'.repeat(4 << 20));
  for (const words of [
    ['--cert', long],
    ['--cert', file('cert.pem', CERTIFICATE), '--att-cert', long],
  ]) {
    const { thrown } = await call(server.url, 'reqAuthorisation', ...words);
    expect(thrown).toMatchObject({ code: 'input', message: `${long} is longer than 4096 KiB` });
  }
});

test('does not send a key after an unterminated certificate either', async () => {
  const torn = CERTIFICATE.slice(0, CERTIFICATE.indexOf('-----END'));
  const path = file('torn.pem', torn + KEY + CERTIFICATE);
  const { out } = await call(server.url, 'reqAuthorisation', '--cert', path, '--att-cert', file('att.xml', '<é>'));
  expect(out).toContain(granted(CERTIFICATE, '<é>'));
  expect(out).not.toMatch(/PRIVATE|MIIK/);
});

test('prints the content of a grant, and writes only the certificate itself to a file', async () => {
  const site = testSite();
  const attCert = partnersCertificate(site);
  site.remove();
  const authority = {
    ...memoryAuthority(),
    authorise: () => ({ attCert, statCode: 'AccessGranted', errMsg: '' }),
  } satisfies Authority;
  const granting = await startSoapServer(() => authority);
  const path = join(directory, 'granted.xml');
  const words = ['reqAuthorisation', '--cert', file('cert.pem', CERTIFICATE), '--out'];
  const { out } = await call(granting.url, ...words, path);
  expect(readFileSync(path, 'utf8')).toBe(attCert);
  expect(out).toMatch(/^holder +\/O=Test\/CN=Visitor$/m);
  expect(out).toMatch(/^roles +student$/m);
  expect(out).toMatch(new RegExp(`\n\nwritten to ${path}\n$`));
  const printed = await call(granting.url, 'reqAuthorisation', '--cert', file('cert.pem', CERTIFICATE));
  const summary = out.slice(0, out.indexOf('\n\n'));
  expect(['holder', 'roles', 'issuer', 'valid from', 'valid to'].filter((row) => !summary.includes(row))).toEqual([]);
  expect(printed.out).toBe(`${summary}\n\n--out FILE keeps the attribute certificate itself\n`);
  const nowhere = await call(granting.url, ...words, join(directory, 'none', 'granted.xml'));
  await granting.stop();
  expect(nowhere).toMatchObject({ out: '', thrown: { code: 'file' } });
});

describe('text of a server on a terminal', () => {
  const cert = (): readonly string[] => ['reqAuthorisation', '--cert', file('cert.pem', CERTIFICATE)];
  const authorised = (...results: readonly string[]): Uint8Array => responseBytes(REQ_AUTHORISATION, results);

  test('is escaped in a list, one entry a line', async () => {
    const bytes = responseBytes(GET_TRUSTED_HOST_INFO, [['A\u009b2J', 'B\u202e\n é'], '\u2066x']);
    const { out } = await answered(bytes, 'getTrustedHostInfo');
    expect(out).toBe('trustedHostInfo: 2\n  A?2J\n  B?? é\nerrMsg: ?x\n');
  });

  test('is escaped in an unreadable grant, whose lines stay lines', async () => {
    const { out } = await answered(authorised('<a\u009b2J\r\n\n\u202eb', 'AccessGranted', 'c\nd\u2028'), ...cert());
    const [reason, ...lines] = out.split('\n');
    expect(reason).toMatch(/^The attribute certificate .*\.$/);
    expect(lines).toEqual(['attCert:', '<a?2J', '', '?b', 'statCode: AccessGranted', 'errMsg:', 'c', 'd?', '']);
  });

  test('is escaped in a refusal', async () => {
    const { out, thrown } = await answered(authorised('', 'Access\u009bDenied', 'no\u202e!'), ...cert());
    expect([out, thrown]).toMatchObject(['', { code: 'refused', message: 'Access?Denied: no?!' }]);
  });

  test('is escaped in the name in its certificate', async () => {
    const strange = holderOf('signer', nameDer(person('A\u009b2J\n\u202eB')), ecPair(), undefined, VALID);
    const key = strange.key.export({ type: 'pkcs8', format: 'pem' });
    const front = createServer({ cert: strange.pem, key });
    await once(front.listen(0, 'localhost'), 'listening');
    const url = `https://localhost:${(front.address() as AddressInfo).port}`;
    const { thrown } = await call(url, 'getTrustedHostInfo', '--tls-ca', file('strange.pem', strange.pem));
    front.close();
    expect(thrown).toMatchObject({ code: 'network', message: expect.stringMatching(/cert's CN: A\?2J\?\?B$/) });
  });

  test('is escaped in a fault', async () => {
    const bytes = faultBytes({ ...FAULTS.bug, text: 'It broke\u009b2J\u202e.' });
    const { out, thrown } = await answered(bytes, ...cert());
    expect([out, thrown]).toMatchObject(['', { code: 'refused', message: 'fault SOAP-ENV:Server: It broke?2J?.' }]);
  });
});

test('does not print certificates that are granted in place of an attribute certificate one by one', async () => {
  const pem = caOf('CA').pem.repeat(2);
  const words = ['reqAuthorisation', '--cert', file('cert.pem', CERTIFICATE)];
  const reason = 'What was granted is no attribute certificate.';
  for (const blanks of ['', ' \n']) {
    const bytes = responseBytes(REQ_AUTHORISATION, [blanks + pem, 'AccessGranted', '']);
    const { out } = await answered(bytes, ...words);
    expect(out).toBe(`${reason}\nattCert:\n${blanks}${pem}\nstatCode: AccessGranted\nerrMsg:\n`);
    const path = join(directory, 'granted.pem');
    expect((await answered(bytes, ...words, '--out', path)).out).toBe(`${reason}\n\nwritten to ${path}\n`);
    expect(readFileSync(path, 'utf8')).toBe(blanks + pem);
  }
});

describe('authority call', () => {
  test.each<[string, readonly string[], string, string]>([
    [
      'a refusal of the authority',
      ['reqAuthorisation', '--cert', 'FILE'],
      'refused',
      'AccessDenied: The user is not registered here.',
    ],
    [
      'a fault',
      ['reqAuthorisation', '--cert', 'FILE', '--att-cert', 'BREAK'],
      'refused',
      `fault SOAP-ENV:Server: ${FAULTS.bug.text}`,
    ],
    ['a missing file', ['reqAuthorisation', '--cert', 'NONE'], 'file', 'NONE cannot be read (ENOENT)'],
    ['a file without a certificate', ['reqAuthorisation', '--cert', 'KEY'], 'input', 'KEY holds no certificate in PEM'],
    [
      'a private key in place of an attribute certificate',
      ['reqAuthorisation', '--cert', 'FILE', '--att-cert', 'KEY'],
      'input',
      'KEY holds a private key: nothing of it is sent',
    ],
    ['no file', ['reqAuthorisation'], 'usage', 'reqAuthorisation wants --cert <file>'],
    [
      'a flag of the other operation',
      ['getTrustedHostInfo', '--cert', 'FILE'],
      'usage',
      '--cert, --att-cert and --out belong to reqAuthorisation',
    ],
    [
      'a role where none belongs',
      ['reqAuthorisation', '--cert', 'FILE', '--role', 'x'],
      'usage',
      '--role belongs to getTrustedHostInfo',
    ],
  ])('refuses with the reason: %s', async (_, words, code, message) => {
    const files: Readonly<Record<string, string>> = {
      FILE: file('cert', CERTIFICATE),
      BREAK: file('break', 'break'),
      KEY: file('key', KEY),
    };
    const { out, thrown } = await call(server.url, ...words.map((word) => files[word] ?? word));
    expect(thrown).toMatchObject({ code, message: message.replace('KEY', files['KEY']!) });
    expect(out).toBe('');
  });

  test('refuses an invalid address', async () => {
    expect((await call('localhost', 'getTrustedHostInfo')).thrown).toMatchObject({ code: 'usage' });
  });

  test('refuses a server that is not an authority, or does not respond', async () => {
    const other = await call(`${server.url}/api/v3/x.wsdl`, 'getTrustedHostInfo');
    expect(other.thrown).toMatchObject({
      code: 'network',
      message: expect.stringMatching(/answered 404, and no SOAP$/),
    });
    const nobody = await call('http://127.0.0.1:1', 'getTrustedHostInfo');
    expect(nobody.thrown).toMatchObject({ code: 'network', message: expect.stringContaining('cannot be asked') });
  });

  test('refuses an unknown operation, and names the known ones', async () => {
    expect((await call(server.url, 'getSecrets')).thrown).toMatchObject({
      message: expect.stringContaining('reqAuthorisation, getTrustedHostInfo'),
    });
  });
});

test('exits with 0 after a response, and with 1 after a refusal', async () => {
  const answered = runCommand(['authority', 'call', server.url, 'getTrustedHostInfo', '--role', 'one']);
  const refused = runCommand([
    'authority',
    'call',
    server.url,
    'reqAuthorisation',
    '--cert',
    file('cert', CERTIFICATE),
  ]);
  expect((await answered.ended).code).toBe(0);
  expect((await refused.ended).code).toBe(1);
  expect(refused.err()).toBe('catalogue-replica: AccessDenied: The user is not registered here.\n');
});

test.each(OPERATIONS)('reads a request for $name as intended', (operation) => {
  const plain = operation.parts.map((name) => `value of ${name}`);
  expect(readEnvelope(requestBytes(operation, plain), 'utf-8')).toEqual({ operation, values: plain });
  const odd = operation.parts.map((name) => ` <é&\r\n${name}> 𝄞`);
  expect(readEnvelope(requestBytes(operation, odd), 'utf-8')).toEqual({ operation, values: odd });
});

describe('a response of the authority', () => {
  test('is read as it was written', () => {
    const results = [['A & B', '<é>\r\n'], 'x'];
    expect(readAnswer(GET_TRUSTED_HOST_INFO, responseBytes(GET_TRUSTED_HOST_INFO, results))).toEqual({
      kind: 'answered',
      results,
    });
    expect(readAnswer(REQ_AUTHORISATION, faultBytes(FAULTS.noOperation))).toEqual({
      kind: 'fault',
      code: 'SOAP-ENV:Client',
      text: FAULTS.noOperation.text,
    });
  });

  test.each(['e', 'é'])('is read with more hosts than a request may have elements: %s', (letter) => {
    const hosts = Array.from({ length: 30_000 }, (_, i) => `Site ${i}:http://site${i}.example.org/:${letter}`);
    const results = [hosts, ''];
    expect(readAnswer(GET_TRUSTED_HOST_INFO, responseBytes(GET_TRUSTED_HOST_INFO, results))).toEqual({
      kind: 'answered',
      results,
    });
    const parts = hosts.map((host) => `<item>${host}</item>`).join('');
    expect(readEnvelope(Buffer.from(envelope(parts)), 'utf-8')).toBe('tooManyElements');
  });

  test('is read with references, as other implementations write it', () => {
    const body =
      '<q:getTrustedHostInfoResponse xmlns:q="urn:attAuthority"><trustedHostInfo href="#l"/></q:getTrustedHostInfoResponse>' +
      '<l id="l"><item href="#i"/><item>B</item></l><i id="i">A</i>';
    expect(readAnswer(GET_TRUSTED_HOST_INFO, Buffer.from(envelope(body)))).toEqual({
      kind: 'answered',
      results: [['A', 'B'], ''],
    });
  });

  test.each([
    '',
    'x',
    '<a/>',
    envelope(''),
    envelope('<other/>'),
    envelope('<getTrustedHostInfoResponse><errMsg><a/></errMsg></getTrustedHostInfoResponse>'),
  ])('is refused if it is invalid: %j', (text) => {
    expect(readAnswer(GET_TRUSTED_HOST_INFO, Buffer.from(text))).toEqual({ kind: 'unreadable' });
  });
});
