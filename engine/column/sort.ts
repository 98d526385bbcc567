// From the distinct texts of a column to its dictionary: sorted as its type compares, with numbers beside the texts.
// The same set of texts always gives the same dictionary, whatever order they came in. Called by data/build.ts.
import { compareParts } from '../bits/bytes.ts';
import type { ColumnType, Dictionary } from './dictionary.ts';
import type { Interner } from './intern.ts';

/** A dictionary and the code that each interned number became. */
export interface SortedDictionary {
  readonly dictionary: Dictionary;
  readonly codes: Uint32Array;
}

/**
 * The dictionary of a column. `instantOf` reads a date or date-time text as microseconds since 1970, NaN where it is none.
 * Cost: O(n log n) comparisons of n distinct texts.
 */
export function sortDictionary(
  type: ColumnType,
  texts: Interner,
  instantOf: (text: string) => number,
): SortedDictionary {
  const numbers = numbersOf(type, texts, instantOf);
  const order = numbers ? byNumber(texts, numbers) : byText(texts);
  const codes = new Uint32Array(texts.size);
  for (let code = 0; code < order.length; code++) codes[order[code]!] = code;
  return {
    dictionary: { type, size: texts.size, ...gathered(texts, order), numbers: reordered(numbers, order) },
    codes,
  };
}

function numbersOf(type: ColumnType, texts: Interner, instantOf: (text: string) => number): Float64Array | undefined {
  if (type === 'text' || type === 'boolean') return undefined;
  const read = type === 'date' || type === 'dateTime' ? instantOf : Number;
  const decoder = new TextDecoder();
  const bytes = texts.text.view();
  return Float64Array.from({ length: texts.size }, (_, i) =>
    read(decoder.decode(bytes.subarray(texts.startOf(i), texts.ends.at(i)))),
  );
}

/** Orders by the first six bytes as one number, and by all bytes only where those are equal. */
function byText(texts: Interner): Uint32Array {
  const keys = new Float64Array(texts.size);
  const bytes = texts.text.view();
  for (let i = 0; i < keys.length; i++) {
    const start = texts.startOf(i);
    const end = texts.ends.at(i);
    for (let k = 0; k < 6; k++) keys[i] = keys[i]! * 256 + (start + k < end ? bytes[start + k]! : 0);
  }
  return ordered(texts.size, (a, b) => keys[a]! - keys[b]! || compareTexts(texts, bytes, a, b));
}

function byNumber(texts: Interner, numbers: Float64Array): Uint32Array {
  const bytes = texts.text.view();
  const rank = (i: number): number => (Number.isNaN(numbers[i]!) ? Infinity : numbers[i]!);
  return ordered(texts.size, (a, b) => {
    if (rank(a) !== rank(b)) return rank(a) < rank(b) ? -1 : 1;
    return compareExactly(texts, bytes, a, b) || compareTexts(texts, bytes, a, b);
  });
}

/** Integers too large for a double compare as integers; all others are equal here. */
function compareExactly(texts: Interner, bytes: Uint8Array, a: number, b: number): number {
  const [first, second] = [a, b].map((i) =>
    new TextDecoder().decode(bytes.subarray(texts.startOf(i), texts.ends.at(i))),
  );
  if (!/^-?\d{16,}$/.test(first!) || !/^-?\d{16,}$/.test(second!)) return 0;
  const difference = BigInt(first!) - BigInt(second!);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

function compareTexts(texts: Interner, bytes: Uint8Array, a: number, b: number): number {
  return compareParts(
    { bytes, start: texts.startOf(a), end: texts.ends.at(a) },
    { bytes, start: texts.startOf(b), end: texts.ends.at(b) },
  );
}

function ordered(size: number, compare: (a: number, b: number) => number): Uint32Array {
  return Uint32Array.from({ length: size }, (_, i) => i).sort(compare);
}

function gathered(texts: Interner, order: Uint32Array): { ends: Uint32Array; text: Uint8Array } {
  const source = texts.text.view();
  const text = new Uint8Array(source.length);
  const ends = new Uint32Array(order.length);
  let end = 0;
  for (let code = 0; code < order.length; code++) {
    const number = order[code]!;
    text.set(source.subarray(texts.startOf(number), texts.ends.at(number)), end);
    end += texts.ends.at(number) - texts.startOf(number);
    ends[code] = end;
  }
  return { ends, text };
}

function reordered(numbers: Float64Array | undefined, order: Uint32Array): Float64Array | undefined {
  return numbers && Float64Array.from(order, (number) => numbers[number]!);
}
