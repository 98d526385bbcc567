// The rows of many codes of one field as one set. The cheapest of three ways makes it: joining posting lists, one pass
// over the codes of all rows, or checking the codes of the selected rows. A page near the start needs no set: the first
// page of a range of dates takes 1.1 us instead of 45.
import { slabWords } from '../bits/slab.ts';
import type { CodeRange } from '../column/dictionary.ts';
import type { FieldIndex } from '../index/field.ts';
import {
  type AscendingRows,
  countRows,
  eachRow,
  NO_ROWS,
  ofBitmap,
  type RowSet,
  rowSetOf,
  rowSetOfDistinct,
} from '../index/rowset.ts';
import type { Page } from '../query/ask.ts';
import type { Meter } from './counters.ts';
import { COST, intersectRows, listRows, rowsOfRange, setNs, uniteRows, walkNs } from './passes.ts';
import { hasBit, setBit, wordsFor } from '../bits/bitmap.ts';
import { upperBound } from '../bits/lists.ts';

/** The rows of a page, and the number of rows that match in all. */
interface FirstRows {
  readonly count: number;
  readonly rows: AscendingRows;
}

/** A page is near the start if it ends within this many places. */
const PLACES_MAX = 4096;

/** Rows read before the search is given up, as a multiple of the rows needed if matches were evenly spaced. */
const ROWS_MARGIN = 4;

/** In ns. Sets that cost less are computed whole, so that their pages cost the same at every offset. */
const WHOLE_NS_MIN = 10_000;

/** Matching rows, and room for one row that does not match. */
const matching = new Uint32Array(PLACES_MAX + 1);

/**
 * The page at `offset` of the rows whose code is in the range, or not in it if `isNegated`. `undefined` if computing
 * all rows, which costs `wholeNs`, is as cheap, or if the rows read do not suffice. Cost: 1 ns a row read.
 */
export function firstRows(
  meter: Meter,
  index: FieldIndex,
  codes: CodeRange,
  isNegated: boolean,
  { offset, limit }: Pick<Page, 'offset' | 'limit'>,
  wholeNs: number,
): FirstRows | undefined {
  const within = index.countOf(codes);
  const count = isNegated ? index.rows - within : within;
  const end = Math.min(offset + limit, count);
  if (end > PLACES_MAX || wholeNs < WHOLE_NS_MIN) return undefined;
  const rowEnd = Math.min(index.rows, Math.ceil((ROWS_MARGIN * end * index.rows) / Math.max(1, count)));
  if (rowEnd * COST.rowInOrder >= wholeNs) return undefined;
  meter.spend(rowEnd * COST.rowInOrder);
  meter.counters.rowsTouched += rowEnd;
  if (!isFilled(index, codes, isNegated ? 1 : 0, end, rowEnd)) return undefined;
  const rows = slabWords(Math.max(0, end - offset));
  for (let i = 0; i < rows.length; i++) rows[i] = matching[offset + i]!;
  return { count, rows: { kind: 'list', rows } };
}

/**
 * Fills `matching` with the first `wanted` rows; false if there are fewer before `rowEnd`. Avoids a branch that depends
 * on the code, which no processor could predict. The signs of two differences show whether the code is in the range.
 */
function isFilled(index: FieldIndex, { start, end }: CodeRange, flip: 0 | 1, wanted: number, rowEnd: number): boolean {
  let length = 0;
  for (let row = 0; length < wanted && row < rowEnd; row++) {
    const code = index.codeAt(row);
    matching[length] = row;
    length += ((~(code - start) & (code - end)) >>> 31) ^ flip;
  }
  return length >= wanted;
}

/** Joining a range costs about as much as reading the codes of this many rows. */
const ROWS_PER_RANGE = 16;

/** Up to this many postings are joined one by one: a separate set for each range would cost more. */
const JOINED_MAX = 4096;

/** Cost in ns of `rowsOfCodes` for this many ranges with this many rows in all. */
export function rowsOfCodesNs({ rows }: FieldIndex, ranges: number, total: number): number {
  if (ranges * ROWS_PER_RANGE > rows) return rowsByCodeNs(rows, total);
  const perRange = total <= JOINED_MAX ? COST.range : COST.range + COST.set;
  return ranges * perRange + total * COST.row + setNs(total, rows);
}

function rowsByCodeNs(rows: number, codes: number): number {
  return rows * COST.code + codes * COST.rowInOrder + wordsFor(rows) * COST.word;
}

/**
 * Cost in ns of `rowsOfCodes` for these ranges: 0 if their rows are ready in the snapshot. Takes one step per range.
 */
export function knownCodesNs(index: FieldIndex, codes: readonly CodeRange[]): number {
  if (codes.length > 1) return rowsOfCodesNs(index, codes.length, countOfCodes(index, codes));
  const gathered = codes.length === 0 ? 0 : index.rowsGathered(codes[0]!);
  return gathered === 0 ? 0 : COST.set + setNs(gathered, index.rows);
}

/** The number of rows with a code in one of the disjoint ranges. Cost: the ranges. */
export function countOfCodes(index: FieldIndex, codes: readonly CodeRange[]): number {
  let total = 0;
  for (let i = 0; i < codes.length; i++) total += index.countOf(codes[i]!);
  return total;
}

/** The rows whose code is in one of the disjoint ranges. */
function rowsOfCodes(meter: Meter, index: FieldIndex, codes: readonly CodeRange[]): RowSet {
  const { length } = codes;
  if (length < 2) return length === 0 ? NO_ROWS : rowsOfRange(meter, index, codes[0]!);
  if (length * ROWS_PER_RANGE > index.rows) return rowsByCode(meter, index, bitsOf(meter, index, codes));
  meter.spend(length * COST.range);
  const total = countOfCodes(index, codes);
  if (total <= JOINED_MAX) {
    meter.spend(total * COST.row + setNs(total, index.rows));
    meter.counters.postingsVisited += total;
    return rowSetOfDistinct(postingsOf(index, codes, total), index.rows);
  }
  const sets: RowSet[] = [];
  for (const range of codes) {
    meter.spend(COST.set);
    sets.push(rowsOfRange(meter, index, range));
  }
  return uniteRows(meter, sets, index.rows);
}

/** The postings of the ranges, concatenated. */
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

/** The rows of a set whose code is in one of the disjoint ascending ranges. */
export function rowsOfCodesIn(meter: Meter, index: FieldIndex, codes: readonly CodeRange[], set: RowSet): RowSet {
  meter.spend(codes.length * COST.code);
  if (checkNs(set, codes.length) < knownCodesNs(index, codes)) return checkedRows(meter, index, codes, set);
  return intersectRows(meter, set, rowsOfCodes(meter, index, codes));
}

function checkNs(set: RowSet, ranges: number): number {
  return walkNs(set) + countRows(set) * COST.row * (1 + Math.ceil(Math.log2(ranges + 1))) + ranges * COST.code;
}

function checkedRows(meter: Meter, index: FieldIndex, codes: readonly CodeRange[], set: RowSet): RowSet {
  meter.spend(checkNs(set, codes.length));
  const rows = listRows(meter, set);
  const starts = Uint32Array.from(codes, ({ start }) => start);
  const kept = new Uint32Array(rows.length);
  let length = 0;
  for (let i = 0; i < rows.length; i++) {
    const code = index.codeAt(rows[i]!);
    const range = codes[upperBound(starts, code) - 1];
    if (range && code < range.end) kept[length++] = rows[i]!;
  }
  meter.counters.rowsTouched += rows.length;
  return rowSetOf(kept.subarray(0, length), index.rows);
}

/** The rows of a set of codes, including those of null if it is in the set. */
export function rowsOfCodeSet(meter: Meter, index: FieldIndex, codes: RowSet): RowSet {
  if (codes.kind === 'bitmap' && codes.count * ROWS_PER_RANGE > index.rows) {
    return rowsByCode(meter, index, codes.words);
  }
  if (codes.kind === 'range') return rowsOfRange(meter, index, codes);
  return rowsOfCodes(meter, index, listRanges(meter, codes));
}

function listRanges(meter: Meter, codes: RowSet): readonly CodeRange[] {
  meter.spend(countRows(codes) * COST.range);
  return Array.from(listRows(meter, codes), (code) => ({ start: code, end: code + 1 }));
}

function bitsOf(meter: Meter, index: FieldIndex, codes: readonly CodeRange[]): Uint32Array {
  let count = 0;
  for (const { start, end } of codes) count += end - start;
  meter.spend(count * COST.rowInOrder);
  const wanted = new Uint32Array(wordsFor(index.dictionary.size + 1));
  for (const { start, end } of codes) for (let code = start; code < end; code++) setBit(wanted, code);
  return wanted;
}

/** The rows of a set whose code is in a bitmap. Cost: one read for each row of the set, or the rows of few codes. */
export function rowsOfCodeBits(meter: Meter, index: FieldIndex, wanted: Uint32Array, set: RowSet): RowSet {
  const codes = ofBitmap(wanted);
  if (codes.count * ROWS_PER_RANGE <= countRows(set)) {
    return rowsOfCodesIn(meter, index, listRanges(meter, codes), set);
  }
  if (countRows(set) === index.rows) return rowsByCode(meter, index, wanted);
  meter.spend(walkNs(set) + countRows(set) * COST.row);
  meter.counters.rowsTouched += countRows(set);
  const rows = new Uint32Array(countRows(set));
  let length = 0;
  eachRow(set, (row) => {
    rows[length] = row;
    if (hasBit(wanted, index.codeAt(row))) length++;
  });
  return rowSetOf(rows.subarray(0, length), index.rows);
}

function rowsByCode(meter: Meter, index: FieldIndex, wanted: Uint32Array): RowSet {
  meter.spend(rowsByCodeNs(index.rows, 0));
  const words = new Uint32Array(wordsFor(index.rows));
  for (let row = 0; row < index.rows; row++) if (hasBit(wanted, index.codeAt(row))) setBit(words, row);
  meter.counters.postingsVisited += index.rows;
  return ofBitmap(words);
}
