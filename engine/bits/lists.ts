// Ascending lists of u32 and f64: binary search, intersection, difference and complement. Pure loops that allocate only
// their results.

/**
 * The first position in `list` (ascending, between `start` and `end`) whose value is at least `value`. Cost: O(log n).
 */
export function lowerBound(list: Uint32Array | Float64Array, value: number, start = 0, end = list.length): number {
  let low = start;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (list[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first position in `list` (ascending, between `start` and `end`) whose value is above `value`. Cost: O(log n). */
export function upperBound(list: Uint32Array | Float64Array, value: number, start = 0, end = list.length): number {
  let low = start;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (list[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The values that are in both ascending lists, ascending. Gallops through the longer list, so that a short list costs
 * O(short * log(long / short)) (Bentley and Yao 1976). Lists of equal length cost one merge.
 */
export function intersectLists(a: Uint32Array, b: Uint32Array): Uint32Array {
  const short = a.length <= b.length ? a : b;
  const long = a.length <= b.length ? b : a;
  const shared = new Uint32Array(short.length);
  let length = 0;
  let from = 0;
  for (let i = 0; i < short.length && from < long.length; i++) {
    const value = short[i]!;
    from = gallop(long, value, from);
    if (from < long.length && long[from] === value) shared[length++] = value;
  }
  return shared.subarray(0, length);
}

/** The values of `a` that are not in `b`; both are ascending. Cost: `a`, and O(log(b / a)) for each value of it. */
export function subtractLists(a: Uint32Array, b: Uint32Array): Uint32Array {
  const rest = new Uint32Array(a.length);
  let length = 0;
  let from = 0;
  for (let i = 0; i < a.length; i++) {
    const value = a[i]!;
    if (from < b.length) from = gallop(b, value, from);
    if (b[from] !== value) rest[length++] = value;
  }
  return rest.subarray(0, length);
}

/**
 * The complement of an ascending list without duplicates: of the numbers from 0 that are not in the list, those of rank
 * `start` to `end` (exclusive). Cost: O(log list), the result, and the list's values in between.
 */
export function selectGaps(list: Uint32Array, start: number, end: number): Uint32Array {
  const selected = new Uint32Array(Math.max(0, end - start));
  // There are list[i] - i gaps before list[i]. Finds how many values have at most `start` gaps before them.
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (list[middle]! - middle <= start) low = middle + 1;
    else high = middle;
  }
  for (let i = low, value = start + low, length = 0; length < selected.length; value++) {
    if (list[i] === value) i++;
    else selected[length++] = value;
  }
  return selected;
}

function gallop(list: Uint32Array, value: number, from: number): number {
  let step = 1;
  let low = from;
  while (low + step < list.length && list[low + step]! < value) {
    low += step;
    step *= 2;
  }
  return lowerBound(list, value, low, Math.min(list.length, low + step + 1));
}

/** The start of part `i`, of contiguous parts that end at `ends`. */
export function startOfPart(ends: Uint32Array, i: number): number {
  return i === 0 ? 0 : ends[i - 1]!;
}
