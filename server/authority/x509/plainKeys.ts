// Public keys whose strength their bytes tell: RSA with usual numbers, and points on P-256. Of most proxies the key has
// no other use. Whatever is unusual is left to the runtime. Without it an authorisation with a new proxy costs 1.16
// times as much.
import { DerError, DerReader, TAG } from './der.ts';

const RSA_START = Buffer.from('300d06092a864886f70d0101010500', 'hex');
const P256_START = Buffer.from('3059301306072a8648ce3d020106082a8648ce3d030107034200', 'hex');
const POINT_BYTES = 65;
const COORDINATE_BYTES = 32;
const UNCOMPRESSED = 4;

/** Sizes that are strong by A71, in bits, and the exponent that nearly all keys have. */
const RSA_BITS: ReadonlySet<number> = new Set([2048, 3072, 4096]);
const RSA_EXPONENT = Buffer.from('010001', 'hex');

/**
 * Whether a SubjectPublicKeyInfo is that of a strong key (A71) for sure: RSA of 2,048, 3,072 or 4,096 bits with the
 * exponent 65537, or a point on P-256 (RFC 5480, section 2.2). False says nothing. Cost: a microsecond or two.
 */
export function isPlainlyStrong(subjectPublicKey: Uint8Array): boolean {
  if (startsWith(subjectPublicKey, P256_START)) return isOnP256(subjectPublicKey.subarray(P256_START.length));
  return plainRsaKey(subjectPublicKey) !== undefined;
}

/**
 * The RSAPublicKey in a SubjectPublicKeyInfo that is plainly strong and of RSA; undefined says nothing. The runtime
 * makes a key of it in a quarter of the time, since there is but one thing that it can be. Cost: a microsecond.
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

/** The prime and the constant of P-256 (FIPS 186-4, appendix D.1.2.3). */
const P = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;
const B = 0x5ac635d8_aa3a93e7_b3ebbd55_769886bc_651d06b0_cc53b0f6_3bce3c3e_27d2604bn;

/** y² = x³ - 3x + b, for coordinates below the prime. */
function isOnP256(point: Uint8Array): boolean {
  if (point.length !== POINT_BYTES || point[0] !== UNCOMPRESSED) return false;
  const x = numberOf(point.subarray(1, 1 + COORDINATE_BYTES));
  const y = numberOf(point.subarray(1 + COORDINATE_BYTES));
  return x < P && y < P && (y * y - (x * x * x - 3n * x + B)) % P === 0n;
}

function numberOf(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
}
