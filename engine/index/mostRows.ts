// How many rows one value of a field has at most: a bound where counting the rows of each value would take too long.
// Looked at once for each index, then remembered. Called by join.ts and query/.
import type { FieldIndex } from './field.ts';

/**
 * The most rows that one value has, null aside; numbers that are written in several ways are one value. Cost: one pass over the
 * codes, once for each index; none where each value has one row.
 */
export function mostRowsPerValue(index: FieldIndex): number {
  const known = remembered.get(index);
  if (known !== undefined) return known;
  const most = counted(index);
  remembered.set(index, most);
  return most;
}

const remembered = new WeakMap<FieldIndex, number>();

function counted(index: FieldIndex): number {
  const { numbers, size } = index.dictionary;
  const hasOneRowEach = index.countOf({ start: 0, end: size }) === size;
  let most = 0;
  let start = 0;
  for (let code = 0; code < size; code++) {
    if (!numbers || numbers[code] !== numbers[start]) start = code;
    most = Math.max(most, hasOneRowEach ? code + 1 - start : index.countOf({ start, end: code + 1 }));
  }
  return most;
}
