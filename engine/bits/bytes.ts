// Byte strings: order, prefixes and search over views of larger arrays. Pure loops without allocation. UTF-8 compared
// byte by byte has the order of code points.

/**
 * Order of `a[aStart..aEnd)` and `b[bStart..bEnd)`: negative, 0 or positive; a proper prefix comes first. Cost: the
 * shared prefix; nothing is made.
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

/** Order of two byte strings. Cost: the shared prefix. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  return compareParts(a, 0, a.length, b, 0, b.length);
}

/** Whether `bytes[start..end)` starts with `prefix`. Cost: the prefix at most; no view is made. */
export function hasPrefix(bytes: Uint8Array, prefix: Uint8Array, start = 0, end = bytes.length): boolean {
  return end - start >= prefix.length && hasBytesAt(bytes, start, prefix);
}

/** Whether `part` stands in `bytes` at `at`; the caller knows that there are as many bytes. */
export function hasBytesAt(bytes: Uint8Array, at: number, part: Uint8Array): boolean {
  for (let i = 0; i < part.length; i++) if (bytes[at + i] !== part[i]) return false;
  return true;
}

/**
 * How far a search may step when the byte under the needle's end is b: Horspool 1980. `shifts[b]` is at least 1.
 * The needle is not empty.
 */
export function horspoolShifts(needle: Uint8Array): Uint32Array {
  const shifts = new Uint32Array(256).fill(needle.length);
  for (let i = 0; i < needle.length - 1; i++) shifts[needle[i]!] = needle.length - 1 - i;
  return shifts;
}

/**
 * The first place in `bytes[start..end)` where the non-empty `needle` stands whole, or -1.
 * Cost: (end - start) / needle.length steps at best. Source: Horspool 1980.
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

/** Whether a byte of UTF-8 goes on with a character that began before it. */
export function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}
