// The inverted index of one field: from codes of its dictionary to rows, and from a row to its code. The posting lists
// in code order are also the rows sorted by value. Dense codes have bitmaps.
import { wordsFor } from '../bits/bitmap.ts';
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
import type { InvertedParts } from './invert.ts';
import type { Words } from './words.ts';

/** The index of one field. In code ranges and results, the code `dictionary.size` means null. */
export interface FieldIndex {
  readonly dictionary: Dictionary;
  /** Finds candidates for substrings if scanning the texts would take long (grams.ts). */
  readonly grams: Grams | undefined;
  /** Finds the words of `search` (words.ts). */
  readonly words?: Words | undefined;
  /** Rows of the field's table. */
  readonly rows: number;
  codeAt(row: number): number;
  /** The rows with a code in the range. */
  rowsOf(codes: CodeRange): RowSet;
  /** The exact size of `rowsOf(codes)`. */
  countOf(codes: CodeRange): number;
  /** The number of rows that `rowsOf` reads to make its set: 0 if the set exists already. */
  rowsGathered(codes: CodeRange): number;
  /**
   * The row at `place` of all rows sorted by code, and by row within a code. The rows of code c start at the number of
   * rows with a lower code.
   */
  sortedRow(place: number): number;
}

/** Indexes of the texts of a dictionary. */
export type TextIndexes = Pick<FieldIndex, 'grams' | 'words'>;

/**
 * An inverted index over stored parts. Cost of `rowsOf`: nothing for one code. For several codes it costs the rows of
 * the range, or the rows outside it if they are fewer.
 */
export function invertedIndex(dictionary: Dictionary, parts: InvertedParts, texts?: TextIndexes): FieldIndex {
  const { codes, starts, postings } = parts;
  const rows = codes.length;
  const bitmaps = bitmapsByCode(parts);
  const countOf = ({ start, end }: CodeRange): number => (start < end ? starts[end]! - starts[start]! : 0);
  const isReady = (codes: CodeRange): boolean => codes.end <= codes.start + 1 || countOf(codes) === rows;
  return {
    dictionary,
    grams: texts?.grams,
    words: texts?.words,
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

/**
 * The index of ids. Rows are in id order, so the code of a row is the row itself. It stores nothing, and `rowsOf`
 * returns a range.
 */
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

/** The rows of neighbouring codes. Uses the bitmaps of dense codes, and sorts the postings of the others. */
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
 * The number of rows of a set per code, null last. Cost: the codes for a whole table. Otherwise the rows of the set, or
 * one bitmap per code if that is less.
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
