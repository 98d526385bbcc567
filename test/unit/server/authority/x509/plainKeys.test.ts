// Keys whose strength is told by their bytes: never one that the runtime would not take, or that is weaker than it
// seems.
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { keyStrength } from '../../../../../server/authority/x509/algorithm.ts';
import { isPlainlyStrong, plainRsaKey } from '../../../../../server/authority/x509/plainKeys.ts';
import { mutated } from '../../../../support/derMutations.ts';
import { randomOf } from '../../../../support/random.ts';

const SEED = 20_261_122;
const P = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;

const rsa = (modulusLength: number, publicExponent = 65_537): Buffer =>
  generateKeyPairSync('rsa', { modulusLength, publicExponent }).publicKey.export({ type: 'spki', format: 'der' });
const ec = (namedCurve: string): Buffer =>
  generateKeyPairSync('ec', { namedCurve }).publicKey.export({ type: 'spki', format: 'der' });

/** What the runtime says. */
function strengthOf(der: Uint8Array): string {
  try {
    return keyStrength(createPublicKey({ key: Buffer.from(der), format: 'der', type: 'spki' }));
  } catch {
    return 'no key';
  }
}

describe('a key is plainly strong', () => {
  test.each([
    ['of RSA 2048', () => rsa(2048), true],
    ['of RSA 3072', () => rsa(3072), true],
    ['of P-256', () => ec('P-256'), true],
    ['but not of RSA 1024', () => rsa(1024), false],
    ['but not of RSA 2040', () => rsa(2040), false],
    ['but not with another exponent, which is for the runtime to judge', () => rsa(2048, 3), false],
    ['but not on another curve', () => ec('P-384'), false],
    ['but not on a weak curve', () => ec('P-224'), false],
    [
      'but not of Ed25519',
      () => generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' }),
      false,
    ],
    ['but not where there is none', () => Buffer.alloc(0), false],
  ])('%s', (_, der, isStrong) => expect(isPlainlyStrong(der())).toBe(isStrong));
});

test('a hundred new keys of P-256 are all told', () => {
  for (let i = 0; i < 100; i++) expect(isPlainlyStrong(ec('P-256'))).toBe(true);
});

test('a point beside the curve is no key, nor one whose coordinates are spelt with the prime added', () => {
  const der = ec('P-256');
  for (const at of [27, 58, 59, 90]) {
    const beside = Buffer.from(der);
    beside[at]! ^= 1;
    expect([isPlainlyStrong(beside), strengthOf(beside)]).toEqual([false, 'no key']);
  }
  // x = 0 is on the curve, and so is a small x whose larger spelling still has 32 bytes.
  const root = sqrt(0x5ac635d8_aa3a93e7_b3ebbd55_769886bc_651d06b0_cc53b0f6_3bce3c3e_27d2604bn);
  const pointOf = (x: bigint, y: bigint): Buffer =>
    Buffer.concat([
      der.subarray(0, 27),
      ...[x, y].map((value) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex')),
    ]);
  expect([0n, P].map((x) => isPlainlyStrong(pointOf(x, root)))).toEqual([true, false]);
  expect([0n, P].map((x) => strengthOf(pointOf(x, root)))).toEqual(['strong', 'no key']);
});

/** A square root modulo P, which is 3 modulo 4. */
function sqrt(square: bigint): bigint {
  let [result, base] = [1n, square];
  for (let power = (P + 1n) / 4n; power > 0n; power >>= 1n) {
    if (power & 1n) result = (result * base) % P;
    base = (base * base) % P;
  }
  return result;
}

test(`whatever is changed in a key, none is plainly strong that the runtime does not call strong (seed ${SEED})`, () => {
  const random = randomOf(SEED);
  const keys = [rsa(2048), rsa(4096), rsa(1024), ec('P-256'), ec('P-384')];
  let strong = 0;
  for (let i = 0; i < 6000; i++) {
    const der = mutated(random.pick(keys), random.pick(keys), random);
    if (!isPlainlyStrong(der)) continue;
    strong++;
    expect(strengthOf(der), der.toString('hex')).toBe('strong');
    const rsa = plainRsaKey(der);
    const key = createPublicKey({ key: Buffer.from(der), format: 'der', type: 'spki' });
    expect(rsa === undefined).toBe(key.asymmetricKeyType === 'ec');
    if (rsa) expect(createPublicKey({ key: Buffer.from(rsa), format: 'der', type: 'pkcs1' }).equals(key)).toBe(true);
  }
  expect(strong).toBeGreaterThan(300);
});
