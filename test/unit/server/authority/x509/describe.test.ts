// Descriptions of certificates, chains and CRLs by `authority inspect`.
import { describe, expect, test, vi } from 'vitest';
import * as algorithm from '../../../../../server/authority/x509/algorithm.ts';
import { describeFile } from '../../../../../server/authority/x509/describe.ts';
import {
  caExtensions,
  extension,
  generalName,
  makeCa,
  makeCrl,
  makeProxy,
  makeUser,
  nameConstraints,
  newKeys,
  pemOf,
  proxyCertInfo,
  subjectAltNames,
  sequence,
} from '../../../../support/certificates.ts';

const CA = makeCa('CA', {
  extensions: [
    ...caExtensions(0),
    nameConstraints({
      permitted: [generalName.dns('example.org')],
      excluded: [generalName.ip(192, 0, 2, 0, 255, 255, 255, 0)],
    }),
  ],
  serialNumber: 255n,
});
const USER = makeUser('Ada', CA, {
  extensions: [
    subjectAltNames(generalName.dns('example.org'), generalName.ip(192, 0, 2, 1), generalName.directory(CA.subject)),
  ],
});

/** The tables of a file as objects. */
function tablesOf(bytes: Uint8Array): readonly Readonly<Record<string, string>>[] {
  const description = describeFile(bytes);
  return description.kind === 'read' ? description.tables.map((rows) => Object.fromEntries(rows)) : [];
}

test('describes a chain as a table for each certificate, with the signer of each', () => {
  const proxy = makeProxy(USER);
  const [first, second, third] = tablesOf(Buffer.from(proxy.pem + USER.pem + CA.pem));
  expect(first).toMatchObject({
    certificate: '/O=Test/CN=Ada/CN=1234',
    issuer: '/O=Test/CN=Ada',
    'signed by': 'number 2 of this file',
    proxy: 'RFC 3820, all rights',
    critical: 'proxyCertInfo',
  });
  expect(second).toMatchObject({
    'signed by': 'number 3 of this file',
    'other names': 'dns example.org, ip 192.0.2.1, directory /O=Test/CN=CA',
    key: 'ec prime256v1',
    signature: 'ec, sha256',
  });
  expect(third).toMatchObject({
    'signed by': 'itself',
    'serial number': '255 (ff hexadecimal)',
    version: '3',
    CA: 'yes, with at most 0 CAs below it',
    'key usage': 'keyCertSign, cRLSign',
    'may name': 'dns example.org',
    'may not name': 'ip 192.0.2.0/255.255.255.0',
    critical: 'basicConstraints, keyUsage, nameConstraints',
    'valid from': '2024-12-01 00:00:00 UTC',
    'SHA-256': expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});

test('reports an absent signer for a certificate alone, also in DER', () => {
  expect(tablesOf(USER.der)).toMatchObject([{ 'signed by': 'a certificate that is not in this file' }]);
  expect(tablesOf(Buffer.from(USER.pem + makeCa('CA').pem))[0]).toMatchObject({
    'signed by': 'nobody in this file, though one has that name',
  });
});

test('describes CRLs with the number of revoked certificates, the expiry, and the scope', () => {
  const crl = makeCrl({ issuer: CA, revoked: [1n, 2n] });
  expect(tablesOf(crl)).toMatchObject([{ 'CRL of': '/O=Test/CN=CA', revoked: '2', to: '2025-06-02 00:00:00 UTC' }]);
  const bare = makeCrl({ issuer: CA, nextUpdate: 'none', extensions: [] });
  expect(tablesOf(Buffer.from(CA.pem + pemOf('X509 CRL', bare)))[1]).toMatchObject({
    'signed by': 'number 1 of this file',
    number: 'none',
    to: 'not said',
    covers: 'all certificates',
  });
});

test('names a signer by its table, whatever precedes it', () => {
  const crl = pemOf('X509 CRL', makeCrl({ issuer: CA }));
  const signers = tablesOf(Buffer.from(crl + USER.pem + CA.pem)).map((table) => table['signed by']);
  expect(signers).toEqual(['number 3 of this file', 'number 3 of this file', 'itself']);
});

test('accepts a file of CRLs as long as the service does', () => {
  const crl = pemOf('X509 CRL', makeCrl({ issuer: CA }));
  expect(tablesOf(Buffer.concat([Buffer.from(crl), Buffer.alloc(5 << 20, '\n')]))).toHaveLength(1);
});

test('checks at most 4,096 signatures of a file, for each those of all possible signers', () => {
  const elsewhere = { subject: CA.subject, keys: newKeys() };
  const [keys, crl] = [newKeys(), pemOf('X509 CRL', makeCrl({ issuer: elsewhere }))];
  const pems = Array.from({ length: 65 }, () => makeCa('CA', { keys, issuer: elsewhere }).pem);
  const looks = vi.spyOn(algorithm, 'isSignedWith');
  const signersOf = (...blocks: readonly string[]): readonly string[] =>
    tablesOf(Buffer.from(blocks.join(''))).map((table) => table['signed by']!);
  const nobody = 'nobody in this file, though one has that name';
  const tooMany = 'not looked for: too many signatures of this file were looked at';
  try {
    expect(signersOf(...pems.slice(1))).toEqual(Array(64).fill(nobody));
    expect(looks).toHaveBeenCalledTimes(4096);
    looks.mockClear();
    expect(signersOf(...pems, makeCa('Other').pem, crl)).toEqual([
      ...Array<string>(63).fill(nobody),
      tooMany,
      tooMany,
      'itself',
      tooMany,
    ]);
    expect(looks).toHaveBeenCalledTimes(4096);
  } finally {
    looks.mockRestore();
  }
});

test('reports errors of names and proxies, and prints no unprintable character', () => {
  const strange = makeUser('Ada\u001b[2J/O=Other', CA, { extensions: [extension('1.2.3', sequence(), true)] });
  const independent = makeProxy(USER, { extensions: [proxyCertInfo({ language: '1.3.6.1.5.5.7.21.2' })] });
  const [first, second] = tablesOf(Buffer.from(strange.pem + independent.pem));
  expect(first).toMatchObject({
    certificate: '/O=Test/CN=Ada?[2J/O=Other (it has a value with a slash, a type and an equals sign in it)',
    critical: '1.2.3',
  });
  expect(second).toMatchObject({ proxy: 'it is an independent proxy, which has no rights of its owner' });
});

describe('a file to inspect', () => {
  test.each([
    ['that is empty', '', 'The file holds no certificate and no CRL.'],
    ['with a private key alone', pemOf('PRIVATE KEY', Buffer.from('x')), 'The file holds no certificate and no CRL.'],
    [
      'with something else',
      USER.pem + pemOf('PUBLIC KEY', Buffer.from('x')),
      'Block 2 of the file is neither a certificate nor a CRL that can be read.',
    ],
    [
      'with a broken certificate',
      pemOf('CERTIFICATE', Buffer.from('x')),
      'Block 1 of the file is neither a certificate nor a CRL that can be read.',
    ],
  ])('is refused: %s', (_, text, reason) => {
    expect(describeFile(Buffer.from(text))).toEqual({ kind: 'unreadable', reason });
  });

  test('is refused if it is too long, or has too much in it', () => {
    const limits = { textBytes: 4096, certificates: 2 };
    expect(describeFile(Buffer.alloc(4097), limits)).toMatchObject({ reason: 'The file is longer than 4 KiB.' });
    expect(describeFile(Buffer.from(USER.pem.repeat(3)), limits)).toMatchObject({
      reason: 'The file holds more than 2 blocks.',
    });
  });
});
