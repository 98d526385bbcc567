// RSA keys of usual sizes, read from their bytes. The runtime makes a key of them in a quarter of the time that it
// takes for a SubjectPublicKeyInfo, and of most proxies the key has no use besides its strength.
import { DerError, DerReader, TAG } from './der.ts';

const RSA_START = Buffer.from('300d06092a864886f70d0101010500', 'hex');

/** Sizes that are strong by A71, in bits, and the exponent that nearly all keys have. */
const RSA_BITS: ReadonlySet<number> = new Set([2048, 3072, 4096]);
const RSA_EXPONENT = Buffer.from('010001', 'hex');

/**
 * The RSAPublicKey in a SubjectPublicKeyInfo that is a strong key (A71) for sure: 2,048, 3,072 or 4,096 bits and the
 * exponent 65537. Undefined says nothing. Cost: a microsecond.
 */
export function plainRsaKey(subjectPublicKey: Uint8Array): Uint8Array | undefined {
  try {
    const parts = new DerReader(subjectPublicKey).inside(TAG.sequence);
    if (!startsWith(parts.whole(parts.element(TAG.sequence)), RSA_START)) return undefined;
    const { bytes, unused } = parts.bits();
    parts.finish();
    return unused === 0 && isUsualRsa(bytes) ? bytes : undefined;
  } catch (error) {
    if (error instanceof DerError) return undefined;
    throw error;
  }
}

function startsWith(bytes: Uint8Array, start: Uint8Array): boolean {
  return Buffer.compare(bytes.subarray(0, start.length), start) === 0;
}

/** RSAPublicKey (RFC 8017, appendix A.1.1); the modulus is odd, and its first bit is set behind a zero byte. */
function isUsualRsa(bytes: Uint8Array): boolean {
  const outer = new DerReader(bytes);
  const numbers = outer.inside(TAG.sequence);
  outer.finish();
  const modulus = numbers.content(numbers.element(TAG.integer));
  const exponent = numbers.content(numbers.element(TAG.integer));
  numbers.finish();
  const isOdd = (modulus.at(-1)! & 1) === 1;
  const isPositive = modulus[0] === 0 && modulus[1]! >= 0x80;
  return isOdd && isPositive && RSA_BITS.has(8 * (modulus.length - 1)) && Buffer.compare(exponent, RSA_EXPONENT) === 0;
}
