// Sets of rows: the type that every index returns and from which every query is composed. Immutable plain data that can
// be sent to threads. Lists and bitmaps may be views of the snapshot.
import {
  andNotBitmaps,
  makeBitmap,
  clearBit,
  hasBit,
  notBitmap,
  orInto,
  setBit,
  sortByMarks,
  wordsFor,
} from '../bits/bitmap.ts';
import { intersectLists, lowerBound, selectGaps, subtractLists } from '../bits/lists.ts';
import { countBitsBelow, countRanked, selectRanks } from '../bits/ranks.ts';
import { slabWords } from '../bits/slab.ts';
import { intersection, countIntersection } from '../kernel/bitmaps.ts';

/**
 * A set of rows of one table.
 *
 *   range       the rows from `start` to `end`, exclusive
 *   list        ascending rows without duplicates
 *   bitmap      one bit per row of the whole table (bits/bitmap.ts), with its `count`
 *   complement  all `rows` rows of the table except those of `of`, so that a negation costs nothing until rows are read
 */
export type RowSet =
  | { readonly kind: 'range'; readonly start: number; readonly end: number }
  | ListedRows
  | BitmapRows
  | { readonly kind: 'complement'; readonly of: ListedRows | BitmapRows; readonly rows: number };

interface ListedRows {
  readonly kind: 'list';
  readonly rows: Uint32Array;
}

interface BitmapRows {
  readonly kind: 'bitmap';
  readonly words: Uint32Array;
  readonly count: number;
}

/** Sets that are not bitmaps: neighbouring rows, or scattered ascending rows. */
export type AscendingRows = Extract<RowSet, { kind: 'range' | 'list' }>;

/** The rows of a page: neighbouring rows, scattered ascending rows, or a `sequence` of distinct rows in any order. */
export type Selection = AscendingRows | { readonly kind: 'sequence'; readonly rows: Uint32Array };

/** A list longer than this fraction of its table is stored as a bitmap, which is then smaller. */
export const DENSE_PART = 1 / 32;

export const NO_ROWS: RowSet = { kind: 'range', start: 0, end: 0 };

export function allRows(rows: number): RowSet {
  return { kind: 'range', start: 0, end: rows };
}

/** The number of rows in a set. Cost: none. */
export function countRows(set: RowSet): number {
  switch (set.kind) {
    case 'range':
      return set.end - set.start;
    case 'list':
      return set.rows.length;
    case 'bitmap':
      return set.count;
    case 'complement':
      return set.rows - countRows(set.of);
  }
}

/** The number of rows on a page. Cost: none. */
export function countSelected(rows: Selection): number {
  return rows.kind === 'range' ? rows.end - rows.start : rows.rows.length;
}

/** The row at a place of a page. `place` is in 0 to the number of its rows, exclusive. Cost: none. */
export function selectedRow(rows: Selection, place: number): number {
  return rows.kind === 'range' ? rows.start + place : rows.rows[place]!;
}

/** Whether a set contains `row`. Cost: constant; O(log n) for a list. */
export function hasRow(set: RowSet, row: number): boolean {
  switch (set.kind) {
    case 'range':
      return row >= set.start && row < set.end;
    case 'list':
      return set.rows[lowerBound(set.rows, row)] === row;
    case 'bitmap':
      return hasBit(set.words, row);
    case 'complement':
      return row < set.rows && !hasRow(set.of, row);
  }
}

/**
 * The set of a list of rows in any order, with or without duplicates, over a table of `rows` rows. The list is not
 * changed. If it is ascending, the set keeps a reference to it.
 */
export function rowSetOf(list: Uint32Array, rows: number): RowSet {
  if (list.length > rows * DENSE_PART) return ofBitmap(makeBitmap(list, rows));
  return { kind: 'list', rows: ascending(list, rows) };
}

/** As `rowSetOf`, for a list without duplicates, such as postings: it need not be counted. */
export function rowSetOfDistinct(list: Uint32Array, rows: number): RowSet {
  if (list.length > rows * DENSE_PART) return { kind: 'bitmap', words: makeBitmap(list, rows), count: list.length };
  return { kind: 'list', rows: ascending(list, rows) };
}

/** Whether `rowSetOf` marks the rows of a list of this length in a bitmap. Otherwise it sorts the list. */
export function isSortedByMarks(length: number, rows: number): boolean {
  return length > rows * DENSE_PART || length * MARKS_PER_ROW > wordsFor(rows);
}

/** A bitmap as a set. Counts its bits, and makes its rank directory in the same pass over the words. */
export function ofBitmap(words: Uint32Array): BitmapRows {
  return { kind: 'bitmap', words, count: countRanked(words) };
}

/** The rows in both sets. Cost: that of the smaller set, or one pass over two bitmaps. */
export function intersect(a: RowSet, b: RowSet): RowSet {
  if (a.kind === 'range') return clip(b, a.start, a.end);
  if (b.kind === 'range') return clip(a, b.start, b.end);
  if (a.kind === 'complement') {
    return b.kind === 'complement' ? complement(union([a.of, b.of], a.rows), a.rows) : subtract(b, a.of);
  }
  if (b.kind === 'complement') return subtract(a, b.of);
  if (a.kind === 'list') {
    return {
      kind: 'list',
      rows: b.kind === 'list' ? intersectLists(a.rows, b.rows) : rowsWithBit(a.rows, b.words, true),
    };
  }
  if (b.kind === 'list') return { kind: 'list', rows: rowsWithBit(b.rows, a.words, true) };
  return { kind: 'bitmap', ...intersection(a.words, b.words) };
}

/** The upper bound of the rows of lists or words of bitmaps that `intersect` reads. Cost: none. */
export function intersectionSteps(a: RowSet, b: RowSet): number {
  if (a.kind === 'range') return stepsWithin(b, a.start, a.end);
  if (b.kind === 'range') return stepsWithin(a, b.start, b.end);
  const shorter = Math.min(a.kind === 'list' ? a.rows.length : Infinity, b.kind === 'list' ? b.rows.length : Infinity);
  return shorter < Infinity ? shorter : wordsOrRows(a) + wordsOrRows(b);
}

function stepsWithin(set: RowSet, start: number, end: number): number {
  if (set.kind === 'range' || set.kind === 'list') return 0;
  const rows = set.kind === 'bitmap' ? set.words.length * 32 : set.rows;
  return start === 0 && end > rows - 64 ? 0 : 2 * wordsFor(rows) + wordsOrRows(set);
}

/**
 * The words or rows to read for one pass over a set. For the complement of a list: its bitmap and the rows of the list.
 */
function wordsOrRows(set: RowSet): number {
  if (set.kind === 'complement') return wordsFor(set.rows) + (set.of.kind === 'list' ? set.of.rows.length : 0);
  return set.kind === 'bitmap' ? set.words.length : countRows(set);
}

/** The number of rows in both sets. Cost: that of `intersect`, without a bitmap of the result. */
export function countShared(a: RowSet, b: RowSet): number {
  if (a.kind === 'bitmap' && b.kind === 'bitmap') return countIntersection(a.words, b.words);
  return countRows(intersect(a, b));
}

/**
 * The rows in any of the sets, over a table of `rows` rows. Cost: the rows of small sets, and one pass over the words
 * of a bitmap for each large one.
 */
export function union(sets: readonly RowSet[], rows: number): RowSet {
  const some: RowSet[] = [];
  let total = 0;
  for (const set of sets) {
    const count = countRows(set);
    if (count > 0) some.push(set);
    total += count;
  }
  if (some.length === 0) return NO_ROWS;
  if (some.length === 1) return some[0]!;
  if (total <= rows * DENSE_PART && some.every(isAscending))
    return { kind: 'list', rows: ascending(concatenate(some, total), rows) };
  const words = new Uint32Array(wordsFor(rows));
  for (const set of some) addTo(words, set);
  return ofBitmap(words);
}

/** The rows of a table of `rows` rows that are not in `set`. Cost: none; O(rows / 32) for a range in the middle. */
export function complement(set: RowSet, rows: number): RowSet {
  if (countRows(set) === 0) return allRows(rows);
  switch (set.kind) {
    case 'complement':
      return set.of;
    case 'range':
      if (set.start === 0) return { kind: 'range', start: set.end, end: rows };
      if (set.end === rows) return { kind: 'range', start: 0, end: set.start };
      return ofBitmap(notBitmap(asBitmap(set, rows), rows));
    case 'list':
    case 'bitmap':
      return countRows(set) === rows ? NO_ROWS : { kind: 'complement', of: set, rows };
  }
}

/**
 * The number of rows of a set below `row`. Cost: constant for a range and a bitmap, O(log n) for a list. A complement
 * costs as much as the set that it excludes.
 */
export function rankOf(set: RowSet, row: number): number {
  switch (set.kind) {
    case 'range':
      return Math.max(0, Math.min(set.end, row) - set.start);
    case 'list':
      return lowerBound(set.rows, row);
    case 'bitmap':
      return countBitsBelow(set.words, row);
    case 'complement':
      return Math.min(row, set.rows) - rankOf(set.of, row);
  }
}

/**
 * The rows of rank `offset` to `offset + limit` of a set, ascending. Cost: constant for a range and a list. Otherwise
 * O(log rows), and the part of the table that the result spans.
 */
export function select(set: RowSet, offset: number, limit: number): AscendingRows {
  const start = Math.min(offset, countRows(set));
  const end = Math.min(start + limit, countRows(set));
  switch (set.kind) {
    case 'range':
      return { kind: 'range', start: set.start + start, end: set.start + end };
    case 'list':
      return { kind: 'list', rows: set.rows.subarray(start, end) };
    case 'bitmap':
      return { kind: 'list', rows: selectRanks(set.words, start, end, false, slabWords(end - start)) };
    case 'complement':
      if (set.of.kind === 'list') return { kind: 'list', rows: selectGaps(set.of.rows, start, end) };
      return { kind: 'list', rows: selectRanks(set.of.words, start, end, true, slabWords(end - start)) };
  }
}

/**
 * The words of a set as a bitmap over `rows` rows. A bitmap returns its own words, other sets return new ones. Cost:
 * O(rows / 32).
 */
export function asBitmap(set: RowSet, rows: number): Uint32Array {
  if (set.kind === 'bitmap') return set.words;
  if (set.kind === 'complement') return notBitmap(asBitmap(set.of, rows), rows);
  const words = new Uint32Array(wordsFor(rows));
  addTo(words, set);
  return words;
}

/**
 * The rows of a set as an ascending list. A list returns its own rows. Cost: the rows, and one pass over a bitmap's
 * words.
 */
export function listed(set: RowSet): Uint32Array {
  if (set.kind === 'list') return set.rows;
  const rows = new Uint32Array(countRows(set));
  let length = 0;
  eachRow(set, (row) => {
    rows[length++] = row;
  });
  return rows;
}

/** Calls `visit` for every row of a set, ascending. Cost: the rows, and one pass over a bitmap's words. */
export function eachRow(set: RowSet, visit: (row: number) => void): void {
  switch (set.kind) {
    case 'range':
      for (let row = set.start; row < set.end; row++) visit(row);
      return;
    case 'list':
      for (let i = 0; i < set.rows.length; i++) visit(set.rows[i]!);
      return;
    case 'bitmap':
      return eachBit(set.words, visit);
    case 'complement':
      return eachBit(asBitmap(set, set.rows), visit);
  }
}

function eachBit(words: Uint32Array, visit: (row: number) => void): void {
  for (let i = 0; i < words.length; i++) {
    for (let word = words[i]!; word !== 0; word &= word - 1) visit(i * 32 + (31 - Math.clz32(word & -word)));
  }
}

function addTo(words: Uint32Array, set: RowSet): void {
  switch (set.kind) {
    case 'range':
      return fill(words, set.start, set.end);
    case 'list':
      for (let i = 0; i < set.rows.length; i++) setBit(words, set.rows[i]!);
      return;
    case 'bitmap':
      return orInto(words, set.words);
    case 'complement':
      return orInto(words, notBitmap(asBitmap(set.of, set.rows), set.rows));
  }
}

function fill(words: Uint32Array, start: number, end: number): void {
  let row = start;
  for (; row < end && (row & 31) !== 0; row++) setBit(words, row);
  if (end - row >= 32) {
    words.fill(0xffffffff, row >>> 5, end >>> 5);
    row = end & ~31;
  }
  for (; row < end; row++) setBit(words, row);
}

function clip(set: RowSet, start: number, end: number): RowSet {
  switch (set.kind) {
    case 'range': {
      const first = Math.max(set.start, start);
      return { kind: 'range', start: first, end: Math.max(first, Math.min(set.end, end)) };
    }
    case 'list': {
      const from = lowerBound(set.rows, start);
      return { kind: 'list', rows: set.rows.subarray(from, lowerBound(set.rows, end, from)) };
    }
    case 'bitmap':
      if (start === 0 && isClearFrom(set.words, end)) return set;
      return clipLarge(set, { start, end }, set.words.length * 32);
    case 'complement':
      if (start === 0 && end >= set.rows) return set;
      return clipLarge(set, { start, end }, set.rows);
  }
}

/** For a small range, tests each row. For a large one, masks a bitmap. */
function clipLarge(set: RowSet, range: { readonly start: number; readonly end: number }, rows: number): RowSet {
  const end = Math.min(range.end, rows);
  if (end - range.start <= rows * DENSE_PART) {
    const list = Uint32Array.from({ length: Math.max(0, end - range.start) }, (_, i) => range.start + i);
    return { kind: 'list', rows: list.filter((row) => hasRow(set, row)) };
  }
  const words = new Uint32Array(wordsFor(rows));
  fill(words, range.start, end);
  return { kind: 'bitmap', ...intersection(words, asBitmap(set, rows)) };
}

/** Whether no bit from `end` on is set. True for a whole table, whose last word is rarely full. */
function isClearFrom(words: Uint32Array, end: number): boolean {
  const first = end >>> 5;
  if (first >= words.length) return true;
  if (words[first]! >>> (end & 31) !== 0) return false;
  for (let i = first + 1; i < words.length; i++) if (words[i] !== 0) return false;
  return true;
}

/** The rows of `set` that are not in `dropped`. Cost: one pass over `set`, or over the words of two bitmaps. */
function subtract(set: ListedRows | BitmapRows, dropped: ListedRows | BitmapRows): RowSet {
  if (set.kind === 'list') {
    const isListed = dropped.kind === 'list';
    const rows = isListed ? subtractLists(set.rows, dropped.rows) : rowsWithBit(set.rows, dropped.words, false);
    return { kind: 'list', rows };
  }
  if (dropped.kind === 'bitmap') return ofBitmap(andNotBitmaps(set.words, dropped.words));
  const words = set.words.slice();
  for (let i = 0; i < dropped.rows.length; i++) clearBit(words, dropped.rows[i]!);
  return ofBitmap(words);
}

/** The rows of a list whose bit equals `isSet`. */
function rowsWithBit(list: Uint32Array, words: Uint32Array, isSet: boolean): Uint32Array {
  const rows = new Uint32Array(list.length);
  let length = 0;
  for (let i = 0; i < list.length; i++) {
    if (hasBit(words, list[i]!) === isSet) rows[length++] = list[i]!;
  }
  return rows.subarray(0, length);
}

function isAscending(set: RowSet): set is AscendingRows {
  return set.kind === 'range' || set.kind === 'list';
}

function concatenate(sets: readonly AscendingRows[], total: number): Uint32Array {
  const list = new Uint32Array(total);
  let length = 0;
  for (const set of sets) {
    if (set.kind === 'range') for (let row = set.start; row < set.end; row++) list[length++] = row;
    else {
      list.set(set.rows, length);
      length += set.rows.length;
    }
  }
  return list;
}

/** Sorting one row takes as long as reading this many words of marks. */
const MARKS_PER_ROW = 4;

/**
 * The distinct rows of a list, ascending. Returns the list itself if it is ascending, as requested ids often are;
 * otherwise a sorted copy.
 */
function ascending(list: Uint32Array, rows: number): Uint32Array {
  for (let i = 1; i < list.length; i++) {
    if (list[i - 1]! < list[i]!) continue;
    return isSortedByMarks(list.length, rows) ? sortByMarks(list, rows) : removeRepeats(list.slice().sort());
  }
  return list;
}

function removeRepeats(sorted: Uint32Array): Uint32Array {
  let length = 0;
  for (let i = 0; i < sorted.length; i++) {
    if (i === 0 || sorted[i] !== sorted[i - 1]) sorted[length++] = sorted[i]!;
  }
  return sorted.subarray(0, length);
}
