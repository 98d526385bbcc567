// Merges two dictionaries of one column: the values of an earlier snapshot that are still used, and new ones. The
// result is the same as sorting all values from scratch. No text is copied: neighbouring texts become one piece of the
// result.
import { startOfPart } from '../bits/lists.ts';
import type { Dictionary, WrittenDictionary } from './dictionary.ts';
import { type ColumnValues, compareValues, valuesOf } from './sort.ts';

/** Marks a value of `old` that is not in the merged dictionary. */
export const DROPPED_CODE = 0xffffffff;

/** The new code of each code of `old` and `young`. New codes ascend, except for `DROPPED_CODE`. */
export interface MergedDictionary {
  /** Unless `isOld`, its texts are views of the texts of both dictionaries. */
  readonly dictionary: WrittenDictionary;
  readonly oldCodes: Uint32Array;
  readonly youngCodes: Uint32Array;
  /** Whether `dictionary` is the old one, value for value. */
  readonly isOld: boolean;
}

/**
 * Merges the values of `old` whose entry in `isUsed` is not 0 with all of `young`, which has the same type. Cost: a
 * binary search for each young value, and a step for each old one.
 */
export function mergeDictionaries(old: Dictionary, isUsed: Uint8Array, young: Dictionary): MergedDictionary {
  const [olds, youngs] = [valuesOf(old), valuesOf(young)];
  const oldCodes = new Uint32Array(old.size).fill(DROPPED_CODE);
  const youngCodes = new Uint32Array(young.size);
  const draft = new Draft();
  let [code, isOld] = [0, true];
  const addOlds = (end: number): void => {
    while (code < end) {
      const start = code;
      while (code < end && isUsed[code] !== 0) oldCodes[code] = draft.size + code++ - start;
      draft.add(olds, start, code);
      if (code < end) isOld = false;
      while (code < end && isUsed[code] === 0) code++;
    }
  };
  for (let k = 0; k < young.size; k++) {
    const place = findPlace(old, olds, code, youngs, k);
    addOlds(place);
    youngCodes[k] = draft.size;
    if (place < old.size && compareValues(old.type, olds, place, youngs, k) === 0) {
      oldCodes[place] = draft.size;
      code++;
    } else isOld = false;
    draft.add(youngs, k, k + 1);
  }
  addOlds(old.size);
  return { dictionary: isOld ? old : draft.finish(old), oldCodes, youngCodes, isOld };
}

/** The first code from `from` on whose value is not less than young value `k`. */
function findPlace(
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

/** Neighbouring values of a dictionary. */
interface Run {
  readonly values: ColumnValues;
  readonly start: number;
  readonly end: number;
}

/** The values of the merged dictionary, in order. */
class Draft {
  size = 0;
  #fitting = 0;
  readonly #runs: Run[] = [];

  /** Appends the values from `start` to `end`. */
  add(values: ColumnValues, start: number, end: number): void {
    if (start === end) return;
    this.#runs.push({ values, start, end });
    this.size += end - start;
    this.#fitting += Math.max(0, Math.min(end, values.fitting) - start);
  }

  /** Returns the dictionary. It has numbers if the given one has. */
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
