// Two dictionaries of one column as one: what an earlier snapshot had and is still used, and what is new. The result is
// that of sorting all values anew. No text is copied: those of neighbours are one piece of the result.
import { startOfPart } from '../bits/lists.ts';
import type { Dictionary, WrittenDictionary } from './dictionary.ts';
import { type ColumnValues, compareValues, valuesOf } from './sort.ts';

/** The code that a value which is left out became. */
export const LEFT_OUT = 0xffffffff;

/**
 * A dictionary and the codes that those of `old` and `young` became, which ascend but for `LEFT_OUT`. `isOld` where it
 * is the old one, value for value; else its texts are views of those of both.
 */
export interface MergedDictionary {
  readonly dictionary: WrittenDictionary;
  readonly oldCodes: Uint32Array;
  readonly youngCodes: Uint32Array;
  readonly isOld: boolean;
}

/**
 * The values of `old` whose code is not 0 in `isUsed`, and all of `young`, which is of the same type. Cost: a binary
 * search for each young value, and a step for each old one.
 */
export function mergeDictionaries(old: Dictionary, isUsed: Uint8Array, young: Dictionary): MergedDictionary {
  const [olds, youngs] = [valuesOf(old), valuesOf(young)];
  const oldCodes = new Uint32Array(old.size).fill(LEFT_OUT);
  const youngCodes = new Uint32Array(young.size);
  const draft = new Draft();
  let [code, isOld] = [0, true];
  const takeOlds = (end: number): void => {
    while (code < end) {
      const start = code;
      while (code < end && isUsed[code] !== 0) oldCodes[code] = draft.size + code++ - start;
      draft.add(olds, start, code);
      if (code < end) isOld = false;
      while (code < end && isUsed[code] === 0) code++;
    }
  };
  for (let k = 0; k < young.size; k++) {
    const place = placeOf(old, olds, code, youngs, k);
    takeOlds(place);
    youngCodes[k] = draft.size;
    if (place < old.size && compareValues(old.type, olds, place, youngs, k) === 0) {
      oldCodes[place] = draft.size;
      code++;
    } else isOld = false;
    draft.add(youngs, k, k + 1);
  }
  takeOlds(old.size);
  return { dictionary: isOld ? old : draft.finish(old), oldCodes, youngCodes, isOld };
}

/** The first code from `from` on whose value is not below a young one. */
function placeOf(
  { type, size }: Dictionary,
  olds: ColumnValues,
  from: number,
  youngs: ColumnValues,
  k: number,
): number {
  let [low, high] = [from, size];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareValues(type, olds, middle, youngs, k) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

interface Run {
  readonly values: ColumnValues;
  readonly start: number;
  readonly end: number;
}

class Draft {
  size = 0;
  #fitting = 0;
  readonly #runs: Run[] = [];

  add(values: ColumnValues, start: number, end: number): void {
    if (start === end) return;
    this.#runs.push({ values, start, end });
    this.size += end - start;
    this.#fitting += Math.max(0, Math.min(end, values.fitting) - start);
  }

  /** The dictionary, of the kind of another. */
  finish({ type, numbers: others }: Dictionary): WrittenDictionary {
    const { size } = this;
    const text: Uint8Array[] = [];
    const ends = new Uint32Array(size);
    const numbers = others && new Float64Array(size);
    let [code, at] = [0, 0];
    for (const { values, start, end } of this.#runs) {
      const first = startOfPart(values.ends, start);
      text.push(values.bytes.subarray(first, values.ends[end - 1]));
      numbers?.set(values.numbers!.subarray(start, end), code);
      for (let i = start; i < end; i++) ends[code++] = at + values.ends[i]! - first;
      at += values.ends[end - 1]! - first;
    }
    return { type, size, fitting: this.#fitting, text, ends, numbers };
  }
}
