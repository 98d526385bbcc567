// Makes posting lists and bitmaps from the code of every row with a counting sort. The result is read through field.ts.
import { setBit, wordsFor } from '../bits/bitmap.ts';
import type { UnsignedArray } from '../bits/narrow.ts';
import { DENSE_PART } from './rowset.ts';

/**
 * The stored form of an inverted index.
 *
 *   codes     one per row, in 1, 2 or 4 bytes
 *   starts    size + 2 u32: the posting list of code c is postings[starts[c]..starts[c + 1])
 *   postings  one u32 per row: rows by code, ascending within a code
 *   dense     ascending codes that have a bitmap
 *   bitmaps   one bitmap over all rows for each dense code, in their order
 */
export interface InvertedParts {
  readonly codes: UnsignedArray;
  readonly starts: Uint32Array;
  readonly postings: Uint32Array;
  readonly dense: Uint32Array;
  readonly bitmaps: Uint32Array;
}

/**
 * The inverted index of `codes`, each from 0 to `size`, where `size` means null. Without `hasBitmaps`, no code is
 * dense. Cost: O(rows + size).
 */
export function invert(codes: Uint32Array, size: number, hasBitmaps = true): InvertedParts {
  const starts = new Uint32Array(size + 2);
  for (let row = 0; row < codes.length; row++) starts[codes[row]! + 1]!++;
  for (let code = 1; code < starts.length; code++) starts[code]! += starts[code - 1]!;
  const next = starts.slice();
  const postings = new Uint32Array(codes.length);
  for (let row = 0; row < codes.length; row++) postings[next[codes[row]!]!++] = row;
  const dense = hasBitmaps ? denseCodes(starts, codes.length) : new Uint32Array(0);
  return { codes, starts, postings, dense, bitmaps: bitmapsOf(dense, starts, postings) };
}

function denseCodes(starts: Uint32Array, rows: number): Uint32Array {
  const dense: number[] = [];
  for (let code = 0; code + 1 < starts.length; code++) {
    if (starts[code + 1]! - starts[code]! > rows * DENSE_PART) dense.push(code);
  }
  return Uint32Array.from(dense);
}

function bitmapsOf(dense: Uint32Array, starts: Uint32Array, postings: Uint32Array): Uint32Array {
  const words = wordsFor(postings.length);
  const bitmaps = new Uint32Array(words * dense.length);
  dense.forEach((code, i) => {
    const bitmap = bitmaps.subarray(i * words, (i + 1) * words);
    for (let k = starts[code]!; k < starts[code + 1]!; k++) setBit(bitmap, postings[k]!);
  });
  return bitmaps;
}
