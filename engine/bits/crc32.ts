// CRC-32 as gzip has it: of bytes, and of texts put together from parts whose own sums are known. Source: RFC 1952, 8;
// the algebra of combination is that of zlib (Adler): appending n bytes multiplies by x^(8n) modulo the polynomial.
// Values are unsigned, bits reflected, so that x^0 is 0x80000000.

const POLYNOMIAL = 0xedb88320 | 0;
const X0 = 0x80000000;

/** Powers are looked up by 14 bits of the exponent at a time: nearly every record needs one look-up only. */
const DIGIT_BITS = 14;
const DIGITS = 1 << DIGIT_BITS;

const TABLE = tableOf(8);
const FOUR_STEPS = tableOf(4);
/**
 * x^(8n) for n below 2^14, the same for n times 2^14, and for n times 2^28: 64 kB each. The last two are made when the
 * first long text is met: it would be 8 ms of the start of each thread.
 */
const POWERS = [lowestPowers()];

/** The CRC-32 of bytes, or of bytes behind a text whose sum is `start`. Cost: 2 ns a byte. */
export function crcOf(bytes: Uint8Array, start = 0): number {
  let state = ~start;
  for (let i = 0; i < bytes.length; i++) state = TABLE[(state ^ bytes[i]!) & 0xff]! ^ (state >>> 8);
  return ~state >>> 0;
}

/** The sum of a text with one byte more. Cost: a look-up. */
export function crcWithByte(crc: number, byte: number): number {
  const state = ~crc;
  return ~(TABLE[(state ^ byte) & 0xff]! ^ (state >>> 8)) >>> 0;
}

/**
 * The sum of two texts, one behind the other, the second of `bytes` bytes (below 2^42). Cost: 25 ns, twice that from
 * 2^14 bytes.
 */
export function crcCombined(first: number, second: number, bytes: number): number {
  return (shifted(first, bytes) ^ second) >>> 0;
}

/** The sum of the second of two texts, from that of both and that of the first. Cost: as `crcCombined`. */
export function crcBehind(both: number, first: number, bytes: number): number {
  return (shifted(first, bytes) ^ both) >>> 0;
}

function shifted(crc: number, bytes: number): number {
  if (crc === 0) return 0;
  let left = bytes;
  for (let digit = 0; ; digit++) {
    const powers = (POWERS[digit] ??= powersAbove(POWERS[digit - 1]!));
    crc = product(crc, powers[left % DIGITS]!);
    left = Math.floor(left / DIGITS);
    if (left === 0) return crc;
  }
}

/**
 * The product of two polynomials modulo the one of CRC-32: four coefficients of `a` at a time, highest degrees first,
 * which are its lowest bits. A bit at a time takes three times as long.
 */
function product(a: number, b: number): number {
  const once = timesX(b);
  const twice = timesX(once);
  const thrice = timesX(twice);
  let sum = 0;
  for (let shift = 0; shift < 32; shift += 4) {
    const four = a >>> shift;
    sum = (sum >>> 4) ^ FOUR_STEPS[sum & 15]!;
    sum ^= (b & -((four >>> 3) & 1)) ^ (once & -((four >>> 2) & 1));
    sum ^= (twice & -((four >>> 1) & 1)) ^ (thrice & -(four & 1));
  }
  return sum;
}

function timesX(a: number): number {
  return (a >>> 1) ^ (POLYNOMIAL & -(a & 1));
}

/** What the lowest bits of a sum become in so many steps of one bit. */
function tableOf(bits: number): Int32Array {
  return Int32Array.from({ length: 1 << bits }, (_, state) => {
    for (let bit = 0; bit < bits; bit++) state = timesX(state);
    return state;
  });
}

function lowestPowers(): Int32Array {
  const powers = new Int32Array(DIGITS);
  powers[0] = X0;
  for (let n = 1; n < DIGITS; n++) powers[n] = TABLE[powers[n - 1]! & 0xff]! ^ (powers[n - 1]! >>> 8);
  return powers;
}

/** The powers of the next digit. */
function powersAbove(table: Int32Array): Int32Array {
  const step = product(table[DIGITS - 1]!, table[1]!);
  const powers = new Int32Array(DIGITS);
  powers[0] = X0;
  for (let n = 1; n < DIGITS; n++) powers[n] = product(powers[n - 1]!, step);
  return powers;
}
