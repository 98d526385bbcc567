// Bitmaps over rows: one bit per row in little-endian 32-bit words. Row `row` is bit (row & 31) of word (row >>> 5).
// Bits at or after the number of rows are always zero. Rank and select are in ranks.ts.

/** The number of words in a bitmap over `rows` rows. Even, so that every bitmap is a whole number of 8-byte units. */
export function wordsFor(rows: number): number {
  return Math.ceil(rows / 64) * 2;
}

/** Sets the bit of `row`, which must be in the bitmap. */
export function setBit(words: Uint32Array, row: number): void {
  words[row >>> 5]! |= 1 << (row & 31);
}

/** Clears the bit of `row`, which must be in the bitmap. */
export function clearBit(words: Uint32Array, row: number): void {
  words[row >>> 5]! &= ~(1 << (row & 31));
}

/** Whether the bit of `row` is set; false after the end. */
export function hasBit(words: Uint32Array, row: number): boolean {
  return ((words[row >>> 5] ?? 0) & (1 << (row & 31))) !== 0;
}

/** The number of set bits in one word (Warren, Hacker's Delight, 5-1). */
export function popcount(word: number): number {
  let count = word - ((word >>> 1) & 0x55555555);
  count = (count & 0x33333333) + ((count >>> 2) & 0x33333333);
  return Math.imul((count + (count >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** The number of set bits. Cost: one pass over the words. */
export function countBits(words: Uint32Array): number {
  let count = 0;
  for (let i = 0; i < words.length; i++) count += popcount(words[i]!);
  return count;
}

/** The number of bits that are set in both bitmaps, which have the same length. Cost: one pass over the words. */
export function countSharedBits(a: Uint32Array, b: Uint32Array): number {
  let count = 0;
  for (let i = 0; i < a.length; i++) count += popcount(a[i]! & b[i]!);
  return count;
}

/** The bitmap of a list of rows in any order. Cost: O(rows / 32 + list). */
export function makeBitmap(list: Uint32Array, rows: number): Uint32Array {
  const words = new Uint32Array(wordsFor(rows));
  for (let i = 0; i < list.length; i++) setBit(words, list[i]!);
  return words;
}

/** Scratch bitmap of `sortByMarks`. All bits are clear between two calls. */
let marks = new Uint32Array(0);

/**
 * Sorts rows below `rows` and removes duplicates. Returns a new array. Cost: O(list + rows / 32): each row is marked,
 * then the marks are read and cleared. Sorting 3,000 rows takes ten times as long.
 */
export function sortByMarks(list: Uint32Array, rows: number): Uint32Array {
  const length = wordsFor(rows);
  if (marks.length < length) marks = new Uint32Array(length);
  for (let i = 0; i < list.length; i++) setBit(marks, list[i]!);
  const sorted = new Uint32Array(list.length);
  let count = 0;
  for (let i = 0; i < length; i++) {
    for (let word = marks[i]!; word !== 0; word &= word - 1) sorted[count++] = i * 32 + 31 - Math.clz32(word & -word);
    marks[i] = 0;
  }
  return sorted.subarray(0, count);
}

/** The rows that are in both bitmaps, which have the same length. Cost: one pass. */
export function andBitmaps(a: Uint32Array, b: Uint32Array): Uint32Array {
  const words = new Uint32Array(a.length);
  for (let i = 0; i < a.length; i++) words[i] = a[i]! & b[i]!;
  return words;
}

/** The rows of `a` that are not in `b`. Both bitmaps have the same length. Cost: one pass. */
export function andNotBitmaps(a: Uint32Array, b: Uint32Array): Uint32Array {
  const words = new Uint32Array(a.length);
  for (let i = 0; i < a.length; i++) words[i] = a[i]! & ~b[i]!;
  return words;
}

/** Adds the rows of `source` to `target`, in place. Cost: one pass. */
export function orInto(target: Uint32Array, source: Uint32Array): void {
  for (let i = 0; i < source.length; i++) target[i]! |= source[i]!;
}

/** The rows below `rows` that are not in `words`. Cost: one pass. */
export function notBitmap(words: Uint32Array, rows: number): Uint32Array {
  const flipped = new Uint32Array(words.length);
  const full = rows >>> 5;
  for (let i = 0; i < full; i++) flipped[i] = ~words[i]!;
  if ((rows & 31) !== 0) flipped[full] = ~words[full]! & ((1 << (rows & 31)) - 1);
  return flipped;
}
