// Texts of certificates: strict PEM, limits, and private keys, which are refused and never repeated.
import { describe, expect, test } from 'vitest';
import {
  FILE_LIMITS,
  readCertificateFile,
  readChain,
  readCrlFile,
  USER_CHAIN_LIMITS,
} from '../../../../../server/authority/x509/search.ts';
import { keyUsage, make, makeCa, makeCrl, makeUser, pemOf } from '../../../../support/certificates.ts';
import { GROWTH_MAX, growthOf } from '../../../../support/growth.ts';

const CA = makeCa('CA');
const USER = makeUser('Ada', CA);

function reasonOf(text: string): string {
  const reading = readChain(text);
  return reading.kind === 'unreadable' ? reading.reason : `read ${reading.all.length}`;
}

test('reads certificates in their order, whatever surrounds the blocks and whatever the line ends', () => {
  const lines = `subject=/CN=Ada\n${USER.pem}\n# and its CA: é\n${CA.pem}`;
  for (const text of [lines, lines.replaceAll('\n', '\r\n'), lines.replaceAll('\n', '\n  ')]) {
    const reading = readChain(text);
    expect(reading.kind === 'read' && reading.all.map(({ serialNumber }) => serialNumber)).toEqual([
      USER.certificate.serialNumber,
      CA.certificate.serialNumber,
    ]);
  }
});

describe('a text of certificates', () => {
  const [begin, end] = ['-----BEGIN CERTIFICATE-----', '-----END CERTIFICATE-----'];
  const body = USER.pem.replace(begin, '').replace(end, '').trim();
  test.each([
    ['that is empty', '', 'The text holds no certificate in PEM form.'],
    ['that is no PEM', 'hello', 'The text holds no certificate in PEM form.'],
    ['with a block that does not end', `${begin}\n${body}\n`, 'The text has a block without an end.'],
    ['with an end that nothing started', `${USER.pem}${end}`, 'The text has a block without a start.'],
    [
      'with a first line that does not end',
      '-----BEGIN CERTIFICATE\n',
      'The text has a block whose first line does not end.',
    ],
    ['with a block in a block', `${begin}\n${USER.pem}${end}`, 'The text has a block that is no base64.'],
    ['with an empty block', `${begin}\n${end}`, 'The text has a block that is no base64.'],
    ['with a character that is no base64', `${begin}\n*${body}\n${end}`, 'The text has a block that is no base64.'],
    [
      'with base64 of half a byte',
      `${begin}\n${body.slice(0, -6)}A\n${end}`,
      'The text has a block that is no base64.',
    ],
    ['with headers in a block', `${begin}\nProc-Type: 4\n\n${body}\n${end}`, 'The text has a block that is no base64.'],
    [
      'with another block',
      `${USER.pem}${pemOf('X509 CRL', makeCrl({ issuer: CA }))}`,
      'The text holds something that is no certificate.',
    ],
    ['with a request', pemOf('CERTIFICATE REQUEST', USER.der), 'The text holds something that is no certificate.'],
  ])('is refused: %s', (_, text, reason) => {
    expect(reasonOf(text)).toBe(reason);
  });

  test.each(['PRIVATE KEY', 'RSA PRIVATE KEY', 'EC PRIVATE KEY', 'ENCRYPTED PRIVATE KEY'])(
    'is refused with a %s, whole or not, in any place, and the reason repeats nothing of it',
    (label) => {
      const secret = Buffer.from('this is a secret');
      for (const text of [
        USER.pem + pemOf(label, secret),
        pemOf(label, secret) + USER.pem,
        `-----BEGIN ${label}-----\n${secret.toString('base64')}`,
        `${secret.toString('base64')}\n-----END ${label}-----`,
      ]) {
        expect(reasonOf(text)).toBe('The text holds a private key, which must never be sent to anyone.');
      }
    },
  );

  test('is accepted from a local file with a key if the key may be skipped', () => {
    const encrypted =
      '-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAA==\n-----END RSA PRIVATE KEY-----\n';
    const file = Buffer.from(CA.pem + pemOf('PRIVATE KEY', Buffer.from('secret')) + encrypted + USER.pem);
    expect(readCertificateFile(file)).toMatchObject({
      reason: 'The text holds a private key, which must never be sent to anyone.',
    });
    expect(readCertificateFile(file, 'passed over')).toMatchObject({ kind: 'read', all: { length: 2 } });
    expect(readCertificateFile(Buffer.from(encrypted), 'passed over')).toMatchObject({
      reason: 'The text holds no certificate in PEM form.',
    });
  });

  test('is refused if it is longer than 256 KiB, in characters or in bytes', () => {
    expect(reasonOf(`${USER.pem}${' '.repeat(USER_CHAIN_LIMITS.textBytes)}`)).toBe('The text is longer than 256 KiB.');
    expect(reasonOf(`${USER.pem}${'é'.repeat(USER_CHAIN_LIMITS.textBytes / 2)}`)).toBe(
      'The text is longer than 256 KiB.',
    );
    expect(reasonOf(`${USER.pem}${' '.repeat(USER_CHAIN_LIMITS.textBytes - USER.pem.length)}`)).toBe('read 1');
  });

  test('is refused with more than 8 certificates', () => {
    expect(reasonOf(USER.pem.repeat(8))).toBe('read 8');
    expect(reasonOf(USER.pem.repeat(9))).toBe('The text holds more than 8 certificates.');
  });

  test('is refused with a certificate that has bytes after its end, or is too short', () => {
    for (const der of [Buffer.concat([USER.der, Buffer.of(5, 0)]), USER.der.subarray(0, -1)]) {
      expect(reasonOf(pemOf('CERTIFICATE', der))).toMatch(
        /^The text holds a certificate that cannot be read: it has .*\.$/,
      );
    }
  });
});

describe('a certificate', () => {
  test('is refused with the same extension twice', () => {
    const extensions = [keyUsage(0), keyUsage(0)];
    expect(() => make({ subject: [['CN', 'a']], extensions })).toThrow('an extension twice');
  });

  test('is refused with a name of more than 64 attributes (A72)', () => {
    const attributes = Array.from({ length: 65 }, (_, i) => ['CN', `${i}`] as const);
    expect(() => make({ subject: attributes })).toThrow('more than 64 attributes');
    expect(make({ subject: attributes.slice(1) }).certificate.subject.rdns.length).toBe(64);
  });
});

test('refuses a file that exceeds any text by its length', () => {
  const bytes = new Uint8Array(2 ** 29);
  expect(readCertificateFile(bytes)).toMatchObject({ reason: 'The text is longer than 4096 KiB.' });
  expect(readCrlFile(bytes)).toMatchObject({ reason: 'The text is longer than 65536 KiB.' });
});

test('accepts DER files, and larger ones', () => {
  expect(readCertificateFile(USER.der)).toMatchObject({ kind: 'read', all: { length: 1 } });
  const many = Buffer.from(USER.pem.repeat(FILE_LIMITS.certificates));
  expect(readCertificateFile(many)).toMatchObject({ kind: 'read', all: { length: 1024 } });
  const crl = makeCrl({ issuer: CA, revoked: [7n] });
  for (const bytes of [crl, Buffer.from(pemOf('X509 CRL', crl))]) {
    expect(readCrlFile(bytes)).toMatchObject({ kind: 'read', all: [{ revoked: new Set(['7']) }] });
  }
  expect(readCrlFile(Buffer.from(USER.pem))).toMatchObject({ reason: 'The text holds something that is no CRL.' });
});

test.each([
  { head: '', fill: '-----BEGIN ', tail: '' },
  { head: '', fill: '-----BEGIN A-----', tail: '' },
  { head: '', fill: '-----BEGIN A-----\n-----END A-----\n', tail: '' },
  { head: '-----BEGIN A-----', fill: 'AAAA \n', tail: '-----END A-----' },
  { head: '', fill: '-----', tail: '' },
])('reads a text in time that grows with its length, not with its square: %j', (shape) => {
  expect(growthOf(readChain, shape)).toBeLessThan(GROWTH_MAX);
});
