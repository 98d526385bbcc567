// Ascending lists of u32 and f64: binary search and intersection.
// Pure loops that allocate results only; called by index/ and column/.

/** The first position in `list` (ascending, between `start` and `end`) whose value is at least `value`. Cost: O(log n). */
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

/** The first position in `list` whose value is above `value`. Cost: O(log n). */
export function upperBound(list: Uint32Array | Float64Array, value: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (list[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The values in both ascending lists, ascending. Gallops through the longer list, so that a short list costs
 * O(short * log(long / short)) (Bentley and Yao 1976) and equal lists one merge.
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

function gallop(list: Uint32Array, value: number, from: number): number {
  let step = 1;
  let low = from;
  while (low + step < list.length && list[low + step]! < value) {
    low += step;
    step *= 2;
  }
  return lowerBound(list, value, low, Math.min(list.length, low + step + 1));
}
