// RSA keys that are read from their bytes: never one that the runtime would not take, or that is weaker than it seems.
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { keyStrength } from '../../../../../server/authority/x509/algorithm.ts';
import { plainRsaKey } from '../../../../../server/authority/x509/plainKeys.ts';
import { mutated } from '../../../../support/derMutations.ts';
import { randomOf } from '../../../../support/random.ts';

const SEED = 20_261_122;

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
    ['but not of P-256, which is for the runtime to judge', () => ec('P-256'), false],
    ['but not of RSA 1024', () => rsa(1024), false],
    ['but not of RSA 2040', () => rsa(2040), false],
    ['but not with another exponent, which is for the runtime to judge', () => rsa(2048, 3), false],
    [
      'but not of Ed25519',
      () => generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' }),
      false,
    ],
    ['but not where there is none', () => Buffer.alloc(0), false],
  ])('%s', (_, der, isStrong) => expect(plainRsaKey(der()) !== undefined).toBe(isStrong));
});

test(`whatever is changed in a key, none is plainly strong that the runtime does not call strong (seed ${SEED})`, () => {
  const random = randomOf(SEED);
  const keys = [rsa(2048), rsa(4096), rsa(1024), ec('P-256'), ec('P-384')];
  let strong = 0;
  for (let i = 0; i < 6000; i++) {
    const der = mutated(random.pick(keys), random.pick(keys), random);
    const rsa = plainRsaKey(der);
    if (rsa === undefined) continue;
    strong++;
    expect(strengthOf(der), der.toString('hex')).toBe('strong');
    const key = createPublicKey({ key: Buffer.from(der), format: 'der', type: 'spki' });
    expect(createPublicKey({ key: Buffer.from(rsa), format: 'der', type: 'pkcs1' }).equals(key)).toBe(true);
  }
  expect(strong).toBeGreaterThan(200);
});
