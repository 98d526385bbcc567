// Signature algorithms: which are supported, their strength, and that a signature counts only with the key and the
// algorithm that made it.
import { constants, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  type AlgorithmId,
  isSignedWith,
  keyStrength,
  signatureStrength,
} from '../../../../../server/authority/x509/algorithm.ts';
import { explicit, integer, oid, sequence } from '../../../../support/certificates.ts';

const BYTES = Buffer.from('what is signed');
const NONE = Buffer.alloc(0);
const NULL = Buffer.of(5, 0);

const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 });
const EC = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ED = generateKeyPairSync('ed25519');
const DSA = generateKeyPairSync('dsa', { modulusLength: 1024, divisorLength: 160 });

const SHA256 = sequence(oid('2.16.840.1.101.3.4.2.1'), NULL);
const SHA512 = sequence(oid('2.16.840.1.101.3.4.2.3'), NULL);

/** The parameters of RSASSA-PSS. */
function pss(options: { hash?: Buffer; mask?: Buffer; salt?: number; trailer?: number } = {}): AlgorithmId {
  const { hash = SHA256, mask = hash, salt = 32, trailer } = options;
  const mgf = sequence(oid('1.2.840.113549.1.1.8'), mask);
  const end = trailer === undefined ? [] : [explicit(3, integer(trailer))];
  const parameters = sequence(explicit(0, hash), explicit(1, mgf), explicit(2, integer(salt)), ...end);
  return { oid: '1.2.840.113549.1.1.10', parameters };
}

/** Algorithms as openssl and others encode them, with a maker of such signatures. */
const METHODS: readonly [
  name: string,
  algorithm: AlgorithmId,
  publicKey: KeyObject,
  make: () => Buffer,
  strength: string,
][] = [
  [
    'RSA with SHA-256',
    { oid: '1.2.840.113549.1.1.11', parameters: NULL },
    RSA.publicKey,
    () => sign('sha256', BYTES, RSA.privateKey),
    'strong',
  ],
  [
    'RSA with SHA-512',
    { oid: '1.2.840.113549.1.1.13', parameters: NULL },
    RSA.publicKey,
    () => sign('sha512', BYTES, RSA.privateKey),
    'strong',
  ],
  [
    'RSA with SHA-1',
    { oid: '1.2.840.113549.1.1.5', parameters: NULL },
    RSA.publicKey,
    () => sign('sha1', BYTES, RSA.privateKey),
    'weak',
  ],
  [
    'RSA with MD5',
    { oid: '1.2.840.113549.1.1.4', parameters: NULL },
    RSA.publicKey,
    () => sign('md5', BYTES, RSA.privateKey),
    'weak',
  ],
  ['RSA-PSS with SHA-256', pss(), RSA.publicKey, () => signPss('sha256', 32), 'strong'],
  [
    'RSA-PSS with SHA-512 and a short salt',
    pss({ hash: SHA512, salt: 20, trailer: 1 }),
    RSA.publicKey,
    () => signPss('sha512', 20),
    'strong',
  ],
  [
    'RSA-PSS with its defaults',
    { oid: '1.2.840.113549.1.1.10', parameters: sequence() },
    RSA.publicKey,
    () => signPss('sha1', 20),
    'weak',
  ],
  [
    'ECDSA with SHA-256',
    { oid: '1.2.840.10045.4.3.2', parameters: NONE },
    EC.publicKey,
    () => sign('sha256', BYTES, EC.privateKey),
    'strong',
  ],
  [
    'ECDSA with SHA-1',
    { oid: '1.2.840.10045.4.1', parameters: NONE },
    EC.publicKey,
    () => sign('sha1', BYTES, EC.privateKey),
    'weak',
  ],
  ['Ed25519', { oid: '1.3.101.112', parameters: NONE }, ED.publicKey, () => sign(null, BYTES, ED.privateKey), 'strong'],
  [
    'DSA with SHA-256',
    { oid: '2.16.840.1.101.3.4.3.2', parameters: NONE },
    DSA.publicKey,
    () => sign('sha256', BYTES, DSA.privateKey),
    'weak',
  ],
];

function signPss(hash: string, saltLength: number): Buffer {
  return sign(hash, BYTES, { key: RSA.privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength });
}

test('accepts RSA-PSS at its full length only, also if it begins with a zero byte', () => {
  let signature = signPss('sha256', 32);
  while (signature[0] !== 0) signature = signPss('sha256', 32);
  expect(isSignedWith({ bytes: BYTES, algorithm: pss(), signature }, RSA.publicKey)).toBe(true);
  const shorter = { bytes: BYTES, algorithm: pss(), signature: signature.subarray(1) };
  expect(isSignedWith(shorter, RSA.publicKey)).toBe(false);
});

test('accepts RSA at its full length only, also if it begins with a zero byte', () => {
  let [bytes, signature] = [BYTES, Buffer.of(1)];
  for (let i = 0; signature[0] !== 0; i++) {
    bytes = Buffer.from(`text ${i}`);
    signature = sign('sha256', bytes, RSA.privateKey);
  }
  const algorithm: AlgorithmId = { oid: '1.2.840.113549.1.1.11', parameters: NULL };
  expect(isSignedWith({ bytes, algorithm, signature }, RSA.publicKey)).toBe(true);
  expect(isSignedWith({ bytes, algorithm, signature: signature.subarray(1) }, RSA.publicKey)).toBe(false);
});

describe.each(METHODS)('is not supported: %s', (_, algorithm, publicKey, make, strength) => {
  const signature = make();

  test(`is ${strength}`, () => {
    expect(signatureStrength(algorithm)).toBe(strength);
  });

  test('verifies with its key, its bytes and its algorithm, and with no other', () => {
    expect(isSignedWith({ bytes: BYTES, algorithm, signature }, publicKey)).toBe(true);
    expect(isSignedWith({ bytes: Buffer.from('other'), algorithm, signature }, publicKey)).toBe(false);
    for (const wrong of [signature.subarray(1), Buffer.concat([signature, Buffer.of(0)]), NONE]) {
      expect(isSignedWith({ bytes: BYTES, algorithm, signature: wrong }, publicKey)).toBe(false);
    }
    for (const [, other] of METHODS.filter(([, other]) => other !== algorithm)) {
      expect(isSignedWith({ bytes: BYTES, algorithm: other, signature }, publicKey)).toBe(false);
    }
    for (const key of [RSA, EC, ED, DSA].map((keys) => keys.publicKey).filter((key) => key !== publicKey)) {
      expect(isSignedWith({ bytes: BYTES, algorithm, signature }, key)).toBe(false);
    }
    expect(isSignedWith({ bytes: BYTES, algorithm, signature }, undefined)).toBe(false);
  });
});

describe('a signature algorithm', () => {
  test.each<[string, AlgorithmId]>([
    ['an unknown one', { oid: '1.2.3', parameters: NONE }],
    ['MD2', { oid: '1.2.840.113549.1.1.2', parameters: NULL }],
    ['ECDSA with parameters', { oid: '1.2.840.10045.4.3.2', parameters: NULL }],
    ['RSA with other parameters', { oid: '1.2.840.113549.1.1.11', parameters: integer(1) }],
    ['RSA-PSS without parameters', { oid: '1.2.840.113549.1.1.10', parameters: NONE }],
    ['RSA-PSS with invalid parameters', { oid: '1.2.840.113549.1.1.10', parameters: integer(1) }],
    ['RSA-PSS with two hashes', pss({ mask: SHA512 })],
    ['RSA-PSS with an unknown hash', pss({ hash: sequence(oid('1.2.3')) })],
    ['RSA-PSS with a salt of a hundred bytes', pss({ salt: 100 })],
    ['RSA-PSS with another trailer', pss({ trailer: 2 })],
  ])('%s', (_, algorithm) => {
    expect(signatureStrength(algorithm)).toBe('unsupported');
    const signature = sign('sha256', BYTES, RSA.privateKey);
    expect(isSignedWith({ bytes: BYTES, algorithm, signature }, RSA.publicKey)).toBe(false);
  });
});

describe('a key', () => {
  /** An RSA key of this many bits. It has no private key, so that large ones cost nothing. */
  function rsaOf(bits: number, exponent: bigint): KeyObject {
    const modulus = Buffer.alloc(bits / 8, 0xff).toString('base64url');
    const hex = exponent.toString(16);
    const e = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex').toString('base64url');
    return createPublicKey({ key: { kty: 'RSA', n: modulus, e }, format: 'jwk' });
  }

  test.each([
    ['RSA of 2,048 bits', () => rsaOf(2048, 65_537n), 'strong'],
    ['RSA of 8,192 bits', () => rsaOf(8192, 3n), 'strong'],
    ['RSA of 1,024 bits', () => rsaOf(1024, 65_537n), 'weak'],
    ['RSA of 16,384 bits', () => rsaOf(16_384, 65_537n), 'unsupported'],
    ['RSA of 256 bits', () => rsaOf(256, 65_537n), 'unsupported'],
    ['RSA with the exponent 1', () => rsaOf(2048, 1n), 'unsupported'],
    ['RSA with an exponent of 64 bits', () => rsaOf(2048, 2n ** 64n - 1n), 'unsupported'],
    ['P-256', () => EC.publicKey, 'strong'],
    ['P-521', () => generateKeyPairSync('ec', { namedCurve: 'P-521' }).publicKey, 'strong'],
    ['P-192', () => generateKeyPairSync('ec', { namedCurve: 'prime192v1' }).publicKey, 'weak'],
    ['a binary curve', () => generateKeyPairSync('ec', { namedCurve: 'sect571r1' }).publicKey, 'unsupported'],
    ['Ed25519', () => ED.publicKey, 'strong'],
    ['DSA', () => DSA.publicKey, 'weak'],
    ['X25519', () => generateKeyPairSync('x25519').publicKey, 'unsupported'],
    ['none', () => undefined, 'unsupported'],
  ])('%s is %s', (_, key, strength) => {
    expect(keyStrength(key())).toBe(strength);
  });
});
