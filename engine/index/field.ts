// One field's inverted index: from codes of its dictionary to rows, and from a row to its code. Posting lists by code
// are also the sorted permutation of the rows; dense codes have bitmaps.
import { wordsFor } from '../bits/bitmap.ts';
import type { UnsignedArray } from '../bits/narrow.ts';
import type { CodeRange, Dictionary } from '../column/dictionary.ts';
import {
  allRows,
  complement,
  countRows,
  countShared,
  eachRow,
  NO_ROWS,
  type RowSet,
  rowSetOfDistinct,
  union,
} from './rowset.ts';
import type { Grams } from './grams.ts';

/**
 * What a query asks of a field's index. `rows` is the number of rows of the field's table. `codeAt` answers a row's
 * code, `dictionary.size` for null. `rowsOf` answers the rows whose code lies in the range; the code `dictionary.size`
 * means null there too. `countOf` is the size of that set, exact. `sortedRow` answers the row at a place of the rows
 * sorted by code: ascending within a code, those of code c at the places from `countOf` of all codes before it. `grams`
 * finds candidates for substrings, where scanning the texts would be long (grams.ts). `rowsGathered` is how many rows
 * `rowsOf` looks at to make its set: 0 for a set that lies ready.
 */
export interface FieldIndex {
  readonly dictionary: Dictionary;
  readonly grams: Grams | undefined;
  readonly rows: number;
  codeAt(row: number): number;
  rowsOf(codes: CodeRange): RowSet;
  countOf(codes: CodeRange): number;
  rowsGathered(codes: CodeRange): number;
  sortedRow(place: number): number;
}

/**
 * The stored form of an inverted index.
 *
 *   codes     one a row, in 1, 2 or 4 bytes
 *   starts    size + 2 u32: the posting list of code c is postings[starts[c]..starts[c + 1])
 *   postings  one u32 a row: rows by code, ascending within a code
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
 * An inverted index over stored parts. Cost of `rowsOf`: none for one code; for several the rows of the range, or those
 * outside if they are fewer.
 */
export function invertedIndex(dictionary: Dictionary, parts: InvertedParts, grams?: Grams): FieldIndex {
  const { codes, starts, postings } = parts;
  const rows = codes.length;
  const bitmaps = bitmapsByCode(parts);
  const countOf = ({ start, end }: CodeRange): number => (start < end ? starts[end]! - starts[start]! : 0);
  const isReady = (codes: CodeRange): boolean => codes.end <= codes.start + 1 || countOf(codes) === rows;
  return {
    dictionary,
    grams,
    rows,
    codeAt: (row) => codes[row]!,
    sortedRow: (place) => postings[place]!,
    countOf,
    rowsGathered: (range) => (isReady(range) ? 0 : Math.min(countOf(range), rows - countOf(range))),
    rowsOf: (range) => {
      const { start, end } = range;
      if (start >= end) return NO_ROWS;
      if (end === start + 1) return bitmaps.get(start) ?? listOf(postings, starts, start);
      const count = countOf(range);
      if (count === rows) return allRows(rows);
      if (count * 2 <= rows) return scattered(parts, bitmaps, range, rows);
      const below = scattered(parts, bitmaps, { start: 0, end: start }, rows);
      const above = scattered(parts, bitmaps, { start: end, end: dictionary.size + 1 }, rows);
      return complement(union([below, above], rows), rows);
    },
  };
}

/** The index of ids: rows are in id order, so a code is its row. Cost: nothing stored, `rowsOf` is a range. */
export function identityIndex(dictionary: Dictionary): FieldIndex {
  const rows = dictionary.size;
  const clamp = (code: number): number => Math.min(code, rows);
  return {
    dictionary,
    grams: undefined,
    rows,
    codeAt: (row) => row,
    sortedRow: (place) => place,
    countOf: ({ start, end }) => Math.max(0, clamp(end) - clamp(start)),
    rowsGathered: () => 0,
    rowsOf: ({ start, end }) => (clamp(start) < clamp(end) ? { kind: 'range', start, end: clamp(end) } : NO_ROWS),
  };
}

function listOf(postings: Uint32Array, starts: Uint32Array, code: number): RowSet {
  return { kind: 'list', rows: postings.subarray(starts[code], starts[code + 1]) };
}

function bitmapsByCode({ codes, starts, dense, bitmaps }: InvertedParts): ReadonlyMap<number, RowSet> {
  const byCode = new Map<number, RowSet>();
  const words = dense.length === 0 ? 0 : bitmaps.length / dense.length;
  for (let i = 0; i < dense.length; i++) {
    const code = dense[i]!;
    const count = starts[code + 1]! - starts[code]!;
    if (count === codes.length) byCode.set(code, { kind: 'range', start: 0, end: count });
    else byCode.set(code, { kind: 'bitmap', words: bitmaps.subarray(i * words, (i + 1) * words), count });
  }
  return byCode;
}

/** Neighbouring codes: their postings put in order; dense ones come as bitmaps instead. */
function scattered(
  { starts, postings }: InvertedParts,
  bitmaps: ReadonlyMap<number, RowSet>,
  { start, end }: CodeRange,
  rows: number,
): RowSet {
  const sets: RowSet[] = [];
  let from = start;
  for (const [code, set] of bitmaps) {
    if (code < start || code >= end) continue;
    if (from < code) sets.push(rowSetOfDistinct(postings.subarray(starts[from], starts[code]), rows));
    sets.push(set);
    from = code + 1;
  }
  if (from < end) sets.push(rowSetOfDistinct(postings.subarray(starts[from], starts[end]), rows));
  return union(sets, rows);
}

/**
 * How many rows of a set have each code, null last. Cost: the codes for a whole table; else the rows of the set, or a
 * bitmap a code where that is less.
 */
export function countCodes(index: FieldIndex, set: RowSet): Uint32Array {
  const counts = new Uint32Array(index.dictionary.size + 1);
  const rows = countRows(set);
  if (rows === index.rows) {
    for (let code = 0; code < counts.length; code++) counts[code] = index.countOf({ start: code, end: code + 1 });
  } else if (set.kind === 'bitmap' && counts.length * wordsFor(index.rows) <= rows) {
    for (let code = 0; code < counts.length; code++) {
      counts[code] = countShared(set, index.rowsOf({ start: code, end: code + 1 }));
    }
  } else eachRow(set, (row) => counts[index.codeAt(row)]!++);
  return counts;
}
