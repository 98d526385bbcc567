// New RSA-2048 keys by the thousand, for certificates that nobody has seen: every pair of a few primes is another key.
// Never for use: who knows two of them knows more.
import { createPrivateKey, generatePrimeSync, type KeyObject } from 'node:crypto';

const PRIME_BITS = 1024;
const EXPONENT = 65_537n;

/** Keys that are never the same twice. */
export class RsaKeys {
  readonly #primes: bigint[] = [];
  /** How many of the pairs of the last prime with those before it have been taken. */
  #taken = 0;

  /** The next key. Cost: 1 ms; now and then a prime more, 25 ms. */
  next(): KeyObject {
    while (this.#taken >= this.#primes.length - 1) {
      this.#primes.push(newPrime());
      this.#taken = 0;
    }
    return keyOf(this.#primes.at(-1)!, this.#primes[this.#taken++]!);
  }
}

/** With its two highest bits set, as OpenSSL makes them, so that two of them make 2,048 bits. */
function newPrime(): bigint {
  for (;;) {
    const prime = generatePrimeSync(PRIME_BITS, { bigint: true });
    if ((prime - 1n) % EXPONENT !== 0n) return prime;
  }
}

function keyOf(p: bigint, q: bigint): KeyObject {
  const d = inverse(EXPONENT, (p - 1n) * (q - 1n));
  const numbers = { n: p * q, e: EXPONENT, d, p, q, dp: d % (p - 1n), dq: d % (q - 1n), qi: inverse(q, p) };
  const texts = Object.entries(numbers).map(([name, value]) => [name, base64url(value)] as const);
  return createPrivateKey({ key: { kty: 'RSA', ...Object.fromEntries(texts) }, format: 'jwk' });
}

/** The inverse of a number modulo another, by Euclid's algorithm; they have no common divisor. */
function inverse(value: bigint, modulus: bigint): bigint {
  let [r, last] = [modulus, value];
  let [t, factor] = [0n, 1n];
  while (last !== 0n) {
    const quotient = r / last;
    [r, last] = [last, r - quotient * last];
    [t, factor] = [factor, t - quotient * factor];
  }
  return t < 0n ? t + modulus : t;
}

function base64url(value: bigint): string {
  const digits = value.toString(16);
  return Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex').toString('base64url');
}
