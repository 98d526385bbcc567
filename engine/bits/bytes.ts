// Byte strings: order, prefixes and search in views of larger arrays. No loop allocates. Comparing UTF-8
// byte by byte gives code point order.

/**
 * Compares `a[aStart..aEnd)` with `b[bStart..bEnd)`. The result is negative, 0 or positive. A proper prefix comes
 * first. Cost: the shared prefix, without allocation.
 */
export function compareParts(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): number {
  const shared = Math.min(aEnd - aStart, bEnd - bStart);
  for (let i = 0; i < shared; i++) {
    const difference = a[aStart + i]! - b[bStart + i]!;
    if (difference !== 0) return difference;
  }
  return aEnd - aStart - (bEnd - bStart);
}

/** Compares two byte strings. Cost: the shared prefix. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  return compareParts(a, 0, a.length, b, 0, b.length);
}

/** Whether `bytes[start..end)` starts with `prefix`. Cost: at most the prefix, without allocation. */
export function hasPrefix(bytes: Uint8Array, prefix: Uint8Array, start = 0, end = bytes.length): boolean {
  return end - start >= prefix.length && hasBytesAt(bytes, start, prefix);
}

/** Whether `bytes` contains `part` at `at`. The caller ensures that `bytes` has enough bytes there. */
export function hasBytesAt(bytes: Uint8Array, at: number, part: Uint8Array): boolean {
  for (let i = 0; i < part.length; i++) if (bytes[at + i] !== part[i]) return false;
  return true;
}

/**
 * The Horspool shift table of a non-empty needle. `shifts[b]` is how far a search may advance if the byte under the end
 * of the needle is b. It is at least 1. Source: Horspool 1980.
 */
export function horspoolShifts(needle: Uint8Array): Uint32Array {
  const shifts = new Uint32Array(256).fill(needle.length);
  for (let i = 0; i < needle.length - 1; i++) shifts[needle[i]!] = needle.length - 1 - i;
  return shifts;
}

/**
 * The first position in `bytes[start..end)` of the whole non-empty `needle`, or -1. Cost: (end - start) / needle.length
 * steps at best. Source: Horspool 1980.
 */
export function indexOfBytes(
  bytes: Uint8Array,
  needle: Uint8Array,
  shifts: Uint32Array,
  start: number,
  end: number,
): number {
  const last = needle.length - 1;
  const lastByte = needle[last]!;
  for (let at = start + last; at < end; at += shifts[bytes[at]!]!) {
    if (bytes[at] !== lastByte) continue;
    let i = 0;
    while (i < last && bytes[at - last + i] === needle[i]) i++;
    if (i === last) return at - last;
  }
  return -1;
}

/** Whether a byte of UTF-8 continues a character, rather than starting one. */
export function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}
