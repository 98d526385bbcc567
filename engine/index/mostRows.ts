// How many rows some values of a field have at most: a bound where counting the rows of each value would take too long.
// Counted once for each index, then remembered.
import type { FieldIndex } from './field.ts';

/**
 * The most rows that so many values have together, null aside: those of the values that have the most. Numbers that are
 * written in several ways are one value. Cost: one pass over the codes, once for each index; then a step for each
 * different number of rows among these values, none where each code has one row and is not a number.
 */
export function mostRowsOf(index: FieldIndex, values: number): number {
  const known = remembered.get(index);
  const tallies = known ?? talliesOf(index);
  if (!known) remembered.set(index, tallies);
  let rows = 0;
  let left = values;
  for (const tally of tallies) {
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

const remembered = new WeakMap<FieldIndex, readonly Tally[]>();

/** The tallies of an index, most rows first. */
function talliesOf(index: FieldIndex): readonly Tally[] {
  const { numbers, size } = index.dictionary;
  const hasOneRowEach = index.countOf({ start: 0, end: size }) === size;
  if (hasOneRowEach && !numbers) return [{ rows: 1, values: size }];
  const valuesOf = new Map<number, number>();
  for (let start = 0; start < size;) {
    let end = start + 1;
    while (numbers && end < size && numbers[end] === numbers[start]) end++;
    const rows = hasOneRowEach ? end - start : index.countOf({ start, end });
    valuesOf.set(rows, (valuesOf.get(rows) ?? 0) + 1);
    start = end;
  }
  return [...valuesOf].map(([rows, values]) => ({ rows, values })).sort((a, b) => b.rows - a.rows);
}
