// Two dictionaries of one column as one: what an earlier snapshot had and is still used, and what is new. The result is
// that of sorting all values anew, and the texts of neighbours are copied as one piece.
import { GrowableBytes } from '../bits/growable.ts';
import type { Dictionary } from './dictionary.ts';
import { compareValues, type ColumnValues } from './sort.ts';

/** The code that a value which is left out became. */
export const LEFT_OUT = 0xffffffff;

/**
 * A dictionary and the codes that those of `old` and `young` became, which ascend but for `LEFT_OUT`. `isOld` where it
 * is the old one, value for value.
 */
export interface MergedDictionary {
  readonly dictionary: Dictionary;
  readonly oldCodes: Uint32Array;
  readonly youngCodes: Uint32Array;
  readonly isOld: boolean;
}

/**
 * The values of `old` whose code is not 0 in `isUsed`, and all of `young`, which is of the same type. Cost: a copy of
 * the old one, and a binary search for each young value.
 */
export function mergeDictionaries(old: Dictionary, isUsed: Uint8Array, young: Dictionary): MergedDictionary {
  const [olds, youngs] = [valuesOf(old), valuesOf(young)];
  const oldCodes = new Uint32Array(old.size).fill(LEFT_OUT);
  const youngCodes = new Uint32Array(young.size);
  const draft = new Draft(old.size + young.size, old.text.length + young.text.length, old.numbers !== undefined);
  let [code, isOld] = [0, true];
  const copyOlds = (end: number): void => {
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
    copyOlds(place);
    youngCodes[k] = draft.size;
    if (place < old.size && compareValues(old.type, olds, place, youngs, k) === 0) {
      oldCodes[place] = draft.size;
      code++;
    } else isOld = false;
    draft.add(youngs, k, k + 1);
  }
  copyOlds(old.size);
  return { dictionary: isOld ? old : draft.finish(old.type), oldCodes, youngCodes, isOld };
}

function valuesOf({ text, ends, numbers }: Dictionary): ColumnValues {
  return { bytes: text, ends, numbers };
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

class Draft {
  size = 0;
  readonly #text: GrowableBytes;
  readonly #ends: Uint32Array;
  readonly #numbers: Float64Array | undefined;

  constructor(sizeMax: number, textBytes: number, hasNumbers: boolean) {
    this.#text = new GrowableBytes(Math.max(1, textBytes));
    this.#ends = new Uint32Array(sizeMax);
    this.#numbers = hasNumbers ? new Float64Array(sizeMax) : undefined;
  }

  /** Adds the values from `start` to `end`. */
  add({ bytes, ends, numbers }: ColumnValues, start: number, end: number): void {
    if (start === end) return;
    const first = start === 0 ? 0 : ends[start - 1]!;
    const shift = this.#text.length - first;
    this.#text.push(bytes, first, ends[end - 1]);
    for (let i = start; i < end; i++) this.#ends[this.size + i - start] = ends[i]! + shift;
    if (numbers) this.#numbers!.set(numbers.subarray(start, end), this.size);
    this.size += end - start;
  }

  finish(type: Dictionary['type']): Dictionary {
    const { size } = this;
    const text = this.#text.view();
    return { type, size, text, ends: this.#ends.slice(0, size), numbers: this.#numbers?.slice(0, size) };
  }
}
