// From the distinct texts of a column to its dictionary: sorted as its type compares, with numbers beside the texts.
// The same set of texts always gives the same dictionary, whatever order they came in.
import { startOfPart } from '../bits/lists.ts';
import { compareParts } from '../bits/bytes.ts';
import { GrowableBytes } from '../bits/growable.ts';
import { hasNumbers } from '../schema/layout.ts';
import type { ColumnType, Dictionary } from './dictionary.ts';

// A byte order mark is part of a text: without this, one in front of a date would be read as that date.
const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

/** Texts one behind the other: text i ends at `ends[i]`. */
export interface Texts {
  readonly bytes: Uint8Array;
  readonly ends: Uint32Array;
}

type Compare = (a: number, b: number) => number;

/** A dictionary and the code that each interned number became. */
export interface SortedDictionary {
  readonly dictionary: Dictionary;
  readonly codes: Uint32Array;
}

/**
 * The dictionary of a column with distinct texts, in any order. `instantOf` reads a date or date-time text as
 * microseconds since 1970, NaN where it is none. Cost: O(n log n) comparisons of n distinct texts.
 */
export function sortDictionary(type: ColumnType, texts: Texts, instantOf: (text: string) => number): SortedDictionary {
  const numbers = numbersOf(type, texts, instantOf);
  const order = numbers ? ordered(texts, valueOrder(type, texts, numbers)) : byText(texts);
  const size = order.length;
  const codes = new Uint32Array(size);
  for (let code = 0; code < size; code++) codes[order[code]!] = code;
  return { dictionary: { type, size, ...gathered(texts, order), numbers: reordered(numbers, order) }, codes };
}

/**
 * The first code of a dictionary that is not above the one before it, or -1: what `sortDictionary` promises, looked at
 * again. Cost: one comparison a code.
 */
export function firstUnsorted(dictionary: Dictionary): number {
  const { type, ends, text: bytes, numbers } = dictionary;
  const run: Texts = { bytes, ends };
  const compare = numbers ? valueOrder(type, run, numbers) : textOrder(run);
  for (let code = 1; code < ends.length; code++) if (compare(code - 1, code) >= 0) return code;
  return -1;
}

/**
 * The numbers that stand beside texts of this type, or undefined where none do. `instantOf` as for `sortDictionary`.
 * Cost: decodes every text.
 */
export function numbersOf(
  type: ColumnType,
  texts: Texts,
  instantOf: (text: string) => number,
): Float64Array | undefined {
  if (!hasNumbers(type)) return undefined;
  const read = type === 'date' || type === 'dateTime' ? instantOf : Number;
  const numbers = new Float64Array(texts.ends.length);
  for (let i = 0; i < numbers.length; i++) numbers[i] = read(decoded(texts, i));
  return numbers;
}

/** Orders by the first six bytes as one number, and by all bytes only where those are equal. */
function byText(texts: Texts): Uint32Array {
  const { bytes, ends } = texts;
  const keys = new Float64Array(ends.length);
  for (let i = 0; i < keys.length; i++) {
    const start = startOfPart(texts.ends, i);
    const end = ends[i]!;
    for (let k = 0; k < 6; k++) keys[i] = keys[i]! * 256 + (start + k < end ? bytes[start + k]! : 0);
  }
  const compare = textOrder(texts);
  return ordered(texts, (a, b) => keys[a]! - keys[b]! || compare(a, b));
}

/** Values of a column: texts, and the numbers of them where their type has some. */
export interface ColumnValues extends Texts {
  readonly numbers: Float64Array | undefined;
}

/**
 * How value `i` of one column of a type stands to value `k` of another of that type, or of the same: below 0, 0 or
 * above, in the order of dictionaries. Integers too large for a double compare as integers. Floats do not: with
 * exponents that would be no order. Cost: a comparison of numbers, or of texts.
 */
export function compareValues(type: ColumnType, a: ColumnValues, i: number, b: ColumnValues, k: number): number {
  if (!a.numbers || !b.numbers) return compareTexts(a, i, b, k);
  const first = a.numbers[i]!;
  const second = b.numbers[k]!;
  if (first < second) return -1;
  if (first > second) return 1;
  if (Number.isNaN(first) !== Number.isNaN(second)) return Number.isNaN(first) ? 1 : -1;
  const isLarge = (type === 'integer' || type === 'link') && Math.abs(first) > Number.MAX_SAFE_INTEGER;
  return (isLarge ? compareIntegers(decoded(a, i), decoded(b, k)) : 0) || compareTexts(a, i, b, k);
}

function valueOrder(type: ColumnType, { bytes, ends }: Texts, numbers: Float64Array): Compare {
  const values = { bytes, ends, numbers };
  return (a, b) => compareValues(type, values, a, values, b);
}

/** Whole numbers of one sign, ids with zeros before them too. Cost: their length, of which reading takes the square. */
function compareIntegers(a: string, b: string): number {
  const [one, other] = [a, b].map((text) => text.replace(/^-?0*/, ''));
  const order = one!.length - other!.length || (one! < other! ? -1 : one! > other! ? 1 : 0);
  return a.startsWith('-') ? -order : order;
}

function textOrder(texts: Texts): Compare {
  return (a, b) => compareTexts(texts, a, texts, b);
}

function compareTexts(a: Texts, i: number, b: Texts, k: number): number {
  return compareParts(a.bytes, startOfPart(a.ends, i), a.ends[i]!, b.bytes, startOfPart(b.ends, k), b.ends[k]!);
}

function ordered({ ends }: Texts, compare: Compare): Uint32Array {
  const order = new Uint32Array(ends.length);
  for (let i = 0; i < order.length; i++) order[i] = i;
  return order.sort(compare);
}

function gathered(texts: Texts, order: Uint32Array): { ends: Uint32Array; text: Uint8Array } {
  const text = new GrowableBytes(texts.bytes.length);
  const ends = new Uint32Array(order.length);
  for (let code = 0; code < order.length; code++) {
    const number = order[code]!;
    text.push(texts.bytes, startOfPart(texts.ends, number), texts.ends[number]);
    ends[code] = text.length;
  }
  return { ends, text: text.view() };
}

function reordered(numbers: Float64Array | undefined, order: Uint32Array): Float64Array | undefined {
  if (!numbers) return undefined;
  const moved = new Float64Array(order.length);
  for (let code = 0; code < moved.length; code++) moved[code] = numbers[order[code]!]!;
  return moved;
}

function decoded(texts: Texts, i: number): string {
  return DECODER.decode(texts.bytes.subarray(startOfPart(texts.ends, i), texts.ends[i]));
}
