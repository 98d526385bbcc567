// The rows of many codes of one field as one set: posting lists joined, or one pass over the codes of all rows.
// Chooses by the number of ranges alone. Called by execute.ts.
import type { CodeRange } from '../column/dictionary.ts';
import { hasBit, setBit, wordsFor } from '../bits/bitmap.ts';
import type { FieldIndex } from '../index/field.ts';
import { ofBitmap, union, type RowSet } from '../index/rowset.ts';
import type { Counters } from './counters.ts';

/** Joining a range costs about as much as looking at the codes of this many rows. */
const ROWS_PER_RANGE = 32;

/** The rows whose code lies in one of the disjoint ranges. Cost: the rows of the ranges, or all rows if that is less. */
export function rowsOfCodes(counters: Counters, index: FieldIndex, codes: readonly CodeRange[]): RowSet {
  if (codes.length * ROWS_PER_RANGE > index.rows) return rowsByCode(counters, index, codes);
  const rows = union(
    codes.map((range) => index.rowsOf(range)),
    index.rows,
  );
  for (const range of codes) counters.postingsVisited += index.countOf(range);
  return rows;
}

function rowsByCode(counters: Counters, index: FieldIndex, codes: readonly CodeRange[]): RowSet {
  const wanted = new Uint32Array(wordsFor(index.dictionary.size + 1));
  for (const { start, end } of codes) for (let code = start; code < end; code++) setBit(wanted, code);
  const words = new Uint32Array(wordsFor(index.rows));
  for (let row = 0; row < index.rows; row++) if (hasBit(wanted, index.codeAt(row))) setBit(words, row);
  counters.postingsVisited += index.rows;
  return ofBitmap(words);
}
