// The rows of many codes of one field as one set: posting lists joined, or one pass over the codes of all rows. Chooses
// by the number of ranges alone.
import type { CodeRange } from '../column/dictionary.ts';
import { hasBit, setBit, wordsFor } from '../bits/bitmap.ts';
import type { FieldIndex } from '../index/field.ts';
import { upperBound } from '../bits/lists.ts';
import {
  countRows,
  eachRow,
  intersect,
  listed,
  ofBitmap,
  rowSetOf,
  rowSetOfDistinct,
  union,
  type RowSet,
} from '../index/rowset.ts';
import type { Counters } from './counters.ts';
import { isWorthChecking } from './fewRows.ts';

/** Joining a range costs about as much as looking at the codes of this many rows. */
const ROWS_PER_RANGE = 32;

/** Postings of several ranges that are joined one by one: a set of its own for each range would cost more. */
const JOINED_MAX = 4096;

/**
 * The rows whose code lies in one of the disjoint ranges. Cost: the rows of the ranges, or all rows if that is less.
 */
export function rowsOfCodes(counters: Counters, index: FieldIndex, codes: readonly CodeRange[]): RowSet {
  if (codes.length * ROWS_PER_RANGE > index.rows) return rowsByCode(counters, index, bitsOf(index, codes));
  const total = codes.length > 1 ? codes.reduce((sum, range) => sum + index.countOf(range), 0) : Infinity;
  if (total <= JOINED_MAX) {
    counters.postingsVisited += total;
    return rowSetOfDistinct(postingsOf(index, codes, total), index.rows);
  }
  const sets: RowSet[] = [];
  for (const range of codes) {
    counters.postingsVisited += index.countOf(range);
    sets.push(index.rowsOf(range));
  }
  return union(sets, index.rows);
}

/** The postings of the ranges, one after the other. */
function postingsOf(index: FieldIndex, codes: readonly CodeRange[], total: number): Uint32Array {
  const rows = new Uint32Array(total);
  let length = 0;
  for (const range of codes) {
    const place = index.countOf({ start: 0, end: range.start });
    const end = place + index.countOf(range);
    for (let at = place; at < end; at++) rows[length++] = index.sortedRow(at);
  }
  return rows;
}

/**
 * The rows of a set whose code lies in one of the disjoint ascending ranges. Cost: that of `rowsOfCodes` and of
 * intersecting, or a look at the codes of the set's rows where these are few.
 */
export function rowsOfCodesIn(counters: Counters, index: FieldIndex, codes: readonly CodeRange[], set: RowSet): RowSet {
  let gathered = 0;
  for (const range of codes) {
    gathered += index.rowsGathered(range);
    if (codes.length > 1) gathered += index.rowsJoined(range);
  }
  if (isWorthChecking(countRows(set), gathered)) return checkedRows(counters, index, codes, listed(set));
  const rows = rowsOfCodes(counters, index, codes);
  counters.rowsTouched += countRows(rows);
  return intersect(set, rows);
}

function checkedRows(counters: Counters, index: FieldIndex, codes: readonly CodeRange[], rows: Uint32Array): RowSet {
  const starts = Uint32Array.from(codes, ({ start }) => start);
  const kept = new Uint32Array(rows.length);
  let length = 0;
  for (let i = 0; i < rows.length; i++) {
    const code = index.codeAt(rows[i]!);
    const range = codes[upperBound(starts, code) - 1];
    if (range && code < range.end) kept[length++] = rows[i]!;
  }
  counters.rowsTouched += rows.length;
  return rowSetOf(kept.subarray(0, length), index.rows);
}

/** The rows of a set of codes, null's among them where it is in the set. */
export function rowsOfCodeSet(counters: Counters, index: FieldIndex, codes: RowSet): RowSet {
  if (codes.kind === 'bitmap' && codes.count * ROWS_PER_RANGE > index.rows) {
    return rowsByCode(counters, index, codes.words);
  }
  const ranges: CodeRange[] = [];
  if (codes.kind === 'range') ranges.push(codes);
  else eachRow(codes, (code) => ranges.push({ start: code, end: code + 1 }));
  return rowsOfCodes(counters, index, ranges);
}

function bitsOf(index: FieldIndex, codes: readonly CodeRange[]): Uint32Array {
  const wanted = new Uint32Array(wordsFor(index.dictionary.size + 1));
  for (const { start, end } of codes) for (let code = start; code < end; code++) setBit(wanted, code);
  return wanted;
}

function rowsByCode(counters: Counters, index: FieldIndex, wanted: Uint32Array): RowSet {
  const words = new Uint32Array(wordsFor(index.rows));
  for (let row = 0; row < index.rows; row++) if (hasBit(wanted, index.codeAt(row))) setBit(words, row);
  counters.postingsVisited += index.rows;
  return ofBitmap(words);
}
