// The order of the snapshot's rows: by ascending id, without repeated ids. Child rows follow their parents. Undefined
// means that rows stay as they came, as in most data sets.
import { startOfPart } from '../../engine/bits/lists.ts';

/** The decoded rows in their new order, or undefined if nothing moves. */
export type Order = Uint32Array | undefined;

/** Two rows with the same id: the dropped one, and the one that is used. */
export interface Repeat {
  readonly row: number;
  readonly firstRow: number;
}

/** The order of records by id. Of equal ids the first row is used. Cost: one pass if sorted, else O(n log n). */
export function orderById(ids: Float64Array): { order: Order; repeats: readonly Repeat[] } {
  if (isAscending(ids)) return { order: undefined, repeats: [] };
  const sorted = Uint32Array.from(ids, (_, row) => row).sort((a, b) => ids[a]! - ids[b]! || a - b);
  const repeats: Repeat[] = [];
  let length = 0;
  for (const row of sorted) {
    const before = sorted[length - 1];
    if (length > 0 && ids[before!] === ids[row]) repeats.push({ row, firstRow: before! });
    else sorted[length++] = row;
  }
  return { order: sorted.slice(0, length), repeats };
}

/**
 * The order of rows by id. The first `earlierRows` are sorted, and only those that are not 0 in `isKept` stay. Returns
 * undefined if two remaining rows have the same id. Cost: a merge, and a sort of the later rows.
 */
export function orderMerged(ids: Float64Array, earlierRows: number, isKept: Uint8Array): Uint32Array | undefined {
  const later = Uint32Array.from({ length: ids.length - earlierRows }, (_, i) => earlierRows + i);
  later.sort((a, b) => ids[a]! - ids[b]!);
  const order = new Uint32Array(ids.length);
  let [length, row] = [0, 0];
  const copyUnchanged = (below: number): void => {
    for (; row < earlierRows && ids[row]! < below; row++) if (isKept[row] !== 0) order[length++] = row;
  };
  for (const next of later) {
    copyUnchanged(ids[next]!);
    const isRepeated =
      (row < earlierRows && ids[row] === ids[next] && isKept[row] !== 0) ||
      (length > 0 && ids[order[length - 1]!] === ids[next]);
    if (isRepeated) return undefined;
    order[length++] = next;
  }
  copyUnchanged(Infinity);
  return order.subarray(0, length);
}

/** The rows of a child table in the order of their `parents`, and the start of each parent's rows. */
export function orderChildren(parents: Order, rowEnds: Uint32Array): { order: Order; starts: Uint32Array } {
  const count = parents ? parents.length : rowEnds.length;
  const starts = new Uint32Array(count + 1);
  for (let i = 0; i < count; i++) {
    const parent = parents ? parents[i]! : i;
    starts[i + 1] = starts[i]! + rowEnds[parent]! - startOfPart(rowEnds, parent);
  }
  if (!parents) return { order: undefined, starts };
  const order = new Uint32Array(starts[count]!);
  for (let i = 0; i < count; i++) {
    const shift = startOfPart(rowEnds, parents[i]!) - starts[i]!;
    for (let row = starts[i]!; row < starts[i + 1]!; row++) order[row] = row + shift;
  }
  return { order, starts };
}

export function reorder(values: Uint32Array, order: Order): Uint32Array {
  if (!order) return values;
  const moved = new Uint32Array(order.length);
  for (let i = 0; i < order.length; i++) moved[i] = values[order[i]!]!;
  return moved;
}

function isAscending(ids: Float64Array): boolean {
  for (let i = 1; i < ids.length; i++) if (ids[i]! <= ids[i - 1]!) return false;
  return true;
}
