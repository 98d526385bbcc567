// The first rows of one range of codes, found without the set of all its rows: a page near the start of a list needs no
// more. The first page of a range of dates takes 1.1 us instead of 45.
import { slabWords } from '../bits/slab.ts';
import type { CodeRange } from '../column/dictionary.ts';
import type { FieldIndex } from '../index/field.ts';
import type { AscendingRows } from '../index/rowset.ts';
import type { Page } from '../query/ask.ts';
import type { Meter } from './counters.ts';
import { COST } from './passes.ts';

/** The rows of a page, and how many rows match in all. */
export interface FirstRows {
  readonly count: number;
  readonly rows: AscendingRows;
}

/** Places of a list up to which a page is near. */
const PLACES_MAX = 4096;

/** Rows that are looked at before the search is given up, as a multiple of those that even spacing would need. */
const ROWS_MARGIN = 4;

/** Sets that cost less are found whole, so that their pages cost the same at every offset. */
const WHOLE_NS_MIN = 10_000;

/** Matching rows, and room for one row that does not match. */
const matching = new Uint32Array(PLACES_MAX + 1);

/**
 * The page at `offset` of the rows whose code is in the range, or is not in it if `isNegated`. Undefined if all rows
 * together cost no more than `wholeNs`, or if the rows looked at do not suffice. Cost: these rows, 1 ns each.
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
 * Fills `matching` with the first `wanted` rows; false if those before `rowEnd` are too few. Without a branch that
 * depends on the code, which no processor could predict: the signs of two differences say whether it is in the range.
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
