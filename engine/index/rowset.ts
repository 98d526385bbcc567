// Sets of rows: the one contract that every index answers with and every query is put together from.
// Immutable once made; a list may be a view of the snapshot. Called by column/ and query/.
import {
  andBitmaps,
  bitmapOf,
  countBits,
  hasBit,
  notBitmap,
  orInto,
  selectRanks,
  setBit,
  wordsFor,
} from '../bits/bitmap.ts';
import { intersectLists, lowerBound } from '../bits/lists.ts';

/**
 * A set of rows of one table.
 * `range`: the rows from `start` to `end`, exclusive. `list`: ascending rows without duplicates.
 * `bitmap`: one bit a row over the whole table (bits/bitmap.ts), with its `count`.
 */
export type RowSet =
  | { readonly kind: 'range'; readonly start: number; readonly end: number }
  | { readonly kind: 'list'; readonly rows: Uint32Array }
  | { readonly kind: 'bitmap'; readonly words: Uint32Array; readonly count: number };

/** What a page shows: neighbouring rows, or scattered ascending ones. */
export type Selection = Exclude<RowSet, { kind: 'bitmap' }>;

/** A list longer than this part of its table is kept as a bitmap: from there on the bitmap is the smaller of the two. */
export const DENSE_PART = 1 / 32;

/** The set without rows. */
export const NO_ROWS: RowSet = { kind: 'range', start: 0, end: 0 };

/** All rows of a table. */
export function allRows(rows: number): RowSet {
  return { kind: 'range', start: 0, end: rows };
}

/** How many rows a set holds. Cost: none. */
export function countRows(set: RowSet): number {
  switch (set.kind) {
    case 'range':
      return set.end - set.start;
    case 'list':
      return set.rows.length;
    case 'bitmap':
      return set.count;
  }
}

/** Whether a set holds `row`. Cost: constant, O(log n) for a list. */
export function hasRow(set: RowSet, row: number): boolean {
  switch (set.kind) {
    case 'range':
      return row >= set.start && row < set.end;
    case 'list':
      return set.rows[lowerBound(set.rows, row)] === row;
    case 'bitmap':
      return hasBit(set.words, row);
  }
}

/** The set of an unordered list of rows, duplicates allowed, over a table of `rows` rows. The list may be sorted in place. */
export function rowSetOf(list: Uint32Array, rows: number): RowSet {
  if (list.length > rows * DENSE_PART) return ofBitmap(bitmapOf(list, rows));
  list.sort();
  return { kind: 'list', rows: withoutRepeats(list) };
}

/** A bitmap as a set; counts its bits. Cost: one pass over the words. */
export function ofBitmap(words: Uint32Array): RowSet {
  return { kind: 'bitmap', words, count: countBits(words) };
}

/** The rows in both sets. Cost: that of the smaller set, or one pass over two bitmaps. */
export function intersect(a: RowSet, b: RowSet): RowSet {
  if (a.kind === 'range') return within(b, a.start, a.end);
  if (b.kind === 'range') return within(a, b.start, b.end);
  if (a.kind === 'list') {
    return { kind: 'list', rows: b.kind === 'list' ? intersectLists(a.rows, b.rows) : kept(a.rows, b.words) };
  }
  if (b.kind === 'list') return { kind: 'list', rows: kept(b.rows, a.words) };
  return ofBitmap(andBitmaps(a.words, b.words));
}

/** The rows in any of the sets, over a table of `rows` rows. Cost: the rows of the lists, and one pass a bitmap. */
export function union(sets: readonly RowSet[], rows: number): RowSet {
  const some = sets.filter((set) => countRows(set) > 0);
  if (some.length === 0) return NO_ROWS;
  if (some.length === 1) return some[0]!;
  const total = some.reduce((sum, set) => sum + countRows(set), 0);
  if (total <= rows * DENSE_PART && some.every((set) => set.kind === 'list'))
    return rowSetOf(joined(some, total), rows);
  const words = new Uint32Array(wordsFor(rows));
  for (const set of some) addTo(words, set);
  return ofBitmap(words);
}

/** The rows of a table of `rows` rows that are not in `set`. Cost: O(rows / 32). */
export function complement(set: RowSet, rows: number): RowSet {
  if (set.kind === 'range') {
    if (set.start >= set.end) return allRows(rows);
    if (set.start === 0) return { kind: 'range', start: set.end, end: rows };
    if (set.end === rows) return { kind: 'range', start: 0, end: set.start };
  }
  const words = notBitmap(asBitmap(set, rows), rows);
  return { kind: 'bitmap', words, count: rows - countRows(set) };
}

/** The rows of rank `offset` to `offset + limit` of a set, ascending. Cost: constant; for a bitmap O(rows / 32). */
export function select(set: RowSet, offset: number, limit: number): Selection {
  const start = Math.min(offset, countRows(set));
  const end = Math.min(start + limit, countRows(set));
  switch (set.kind) {
    case 'range':
      return { kind: 'range', start: set.start + start, end: set.start + end };
    case 'list':
      return { kind: 'list', rows: set.rows.subarray(start, end) };
    case 'bitmap':
      return { kind: 'list', rows: selectRanks(set.words, start, end) };
  }
}

/** The words of a set as a bitmap over `rows` rows; a bitmap's own words, otherwise new ones. Cost: O(rows / 32). */
export function asBitmap(set: RowSet, rows: number): Uint32Array {
  if (set.kind === 'bitmap') return set.words;
  const words = new Uint32Array(wordsFor(rows));
  addTo(words, set);
  return words;
}

/** Calls `visit` with every row of a set, ascending. Cost: the rows, and one pass over a bitmap's words. */
export function eachRow(set: RowSet, visit: (row: number) => void): void {
  if (set.kind === 'range') for (let row = set.start; row < set.end; row++) visit(row);
  else if (set.kind === 'list') for (let i = 0; i < set.rows.length; i++) visit(set.rows[i]!);
  else {
    for (let i = 0; i < set.words.length; i++) {
      for (let word = set.words[i]!; word !== 0; word &= word - 1) visit(i * 32 + (31 - Math.clz32(word & -word)));
    }
  }
}

function addTo(words: Uint32Array, set: RowSet): void {
  if (set.kind === 'bitmap') orInto(words, set.words);
  else if (set.kind === 'list') for (let i = 0; i < set.rows.length; i++) setBit(words, set.rows[i]!);
  else fill(words, set.start, set.end);
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

function within(set: RowSet, start: number, end: number): RowSet {
  switch (set.kind) {
    case 'range': {
      const first = Math.max(set.start, start);
      return { kind: 'range', start: first, end: Math.max(first, Math.min(set.end, end)) };
    }
    case 'list': {
      const from = lowerBound(set.rows, start);
      return { kind: 'list', rows: set.rows.subarray(from, lowerBound(set.rows, end, from)) };
    }
    case 'bitmap': {
      if (start === 0 && isClearFrom(set.words, end)) return set;
      const words = new Uint32Array(set.words.length);
      fill(words, start, Math.min(end, set.words.length * 32));
      return ofBitmap(andBitmaps(words, set.words));
    }
  }
}

/** Whether no bit at or beyond `end` is set: true of a whole table, whose last word is seldom full. */
function isClearFrom(words: Uint32Array, end: number): boolean {
  const first = end >>> 5;
  if (first >= words.length) return true;
  if (words[first]! >>> (end & 31) !== 0) return false;
  for (let i = first + 1; i < words.length; i++) if (words[i] !== 0) return false;
  return true;
}

function kept(list: Uint32Array, words: Uint32Array): Uint32Array {
  const rows = new Uint32Array(list.length);
  let length = 0;
  for (let i = 0; i < list.length; i++) {
    if (hasBit(words, list[i]!)) rows[length++] = list[i]!;
  }
  return rows.subarray(0, length);
}

function joined(sets: readonly RowSet[], total: number): Uint32Array {
  const list = new Uint32Array(total);
  let length = 0;
  for (const set of sets) {
    if (set.kind !== 'list') continue;
    list.set(set.rows, length);
    length += set.rows.length;
  }
  return list;
}

function withoutRepeats(sorted: Uint32Array): Uint32Array {
  let length = 0;
  for (let i = 0; i < sorted.length; i++) {
    if (i === 0 || sorted[i] !== sorted[i - 1]) sorted[length++] = sorted[i]!;
  }
  return sorted.subarray(0, length);
}
