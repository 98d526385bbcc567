// How many rows some values of a field have at most: a bound where counting the rows of each value would take too long.
// A long column is counted piece by piece, as far as each plan may, and what was counted is remembered.
import type { FieldIndex } from './field.ts';

/** Codes that may be counted for one plan: some 0.3 ms, and more codes than most columns have. */
export const COUNTED_CODES_MAX = 65_536;

/** How many codes may still be counted for whoever asks for bounds. */
export interface Counting {
  codesToCount: number;
}

/** Values with fewer rows are counted in an array, which takes 0.4 of the time of a map. */
const FEW_ROWS = 256;

/**
 * The most rows that so many values have together, null aside: those of the values that have the most. Numbers that are
 * written in several ways are one value. Until all codes are counted it is a bound, which falls with each piece: of the
 * rest one value is taken to have all rows that the others can do without. Cost: a pass over the codes that are left
 * and may be counted; then a step for each different number of rows among these values. None where each code has one
 * row and is not a number.
 */
export function mostRowsOf(index: FieldIndex, values: number, counting: Counting): number {
  let counted = remembered.get(index);
  if (!counted) {
    counted = { end: 0, few: new Uint32Array(FEW_ROWS), many: new Map(), tallies: [] };
    remembered.set(index, counted);
  }
  const isBegun = counted.tallies.length > 0;
  if (counted.end < index.dictionary.size && (!isBegun || counting.codesToCount > 0)) count(index, counted, counting);
  let rows = 0;
  let left = values;
  for (const tally of counted.tallies) {
    const taken = Math.min(left, tally.values);
    rows += taken * tally.rows;
    left -= taken;
    if (left === 0) break;
  }
  return rows;
}

/** How many values have so many rows each. */
interface Tally {
  readonly rows: number;
  readonly values: number;
}

/** What was counted of an index: the codes up to `end`, as values by their rows; and all tallies, most rows first. */
interface Counted {
  end: number;
  readonly few: Uint32Array;
  readonly many: Map<number, number>;
  tallies: readonly Tally[];
}

const remembered = new WeakMap<FieldIndex, Counted>();

function count(index: FieldIndex, counted: Counted, counting: Counting): void {
  const { numbers, size } = index.dictionary;
  const { few, many } = counted;
  const isEven = !numbers && index.countOf({ start: counted.end, end: size }) === size - counted.end;
  const pieceEnd = isEven ? 0 : Math.min(size, counted.end + counting.codesToCount);
  let start = counted.end;
  while (start < pieceEnd) {
    let end = start + 1;
    while (numbers && end < size && numbers[end] === numbers[start]) end++;
    const rows = index.countOf({ start, end });
    if (rows < FEW_ROWS) few[rows]!++;
    else many.set(rows, (many.get(rows) ?? 0) + 1);
    start = end;
  }
  const tallies = [...many].map(([rows, values]) => ({ rows, values }));
  few.forEach((values, rows) => {
    if (values > 0) tallies.push({ rows, values });
  });
  tallies.push(...restOf(index, start));
  counted.tallies = tallies.sort((a, b) => b.rows - a.rows);
  counting.codesToCount = Math.max(0, counting.codesToCount - (start - counted.end));
  counted.end = isEven ? size : start;
}

/** The tallies of codes that are not counted, each of which has a row: as if one value had all that are left then. */
function restOf(index: FieldIndex, start: number): readonly Tally[] {
  const { numbers, size } = index.dictionary;
  if (start === size) return [];
  const rows = index.countOf({ start, end: size });
  // Any of them may be spellings of one number.
  if (numbers) return [{ rows, values: 1 }];
  const others = size - start - 1;
  return [
    { rows: rows - others, values: 1 },
    { rows: 1, values: others },
  ];
}
