// The sorted distinct values of one column. Equality, ranges, prefixes and scans look values up in it. A code is the
// position of a value in that order; code `size` stands for null. Views of the snapshot, never written.
import type { GenericLink } from '../schema/genericLinks.ts';
import type { ScalarType } from '../schema/types.ts';
import { compareBytes, compareParts, hasPrefix } from '../bits/bytes.ts';
import { lowerBound, upperBound } from '../bits/lists.ts';
import { finderIn } from '../kernel/search.ts';

const ENCODER = new TextEncoder();

/** A double represents every whole number with this many digits exactly. */
const DIGITS_MAX = 15;

const MINUS = 0x2d;
const ZERO = 0x30;

/**
 * Parses `bytes[start..end)` if it is a whole number in JSON notation of at most 15 digits. Returns undefined for
 * anything else: leading zeros, "-0", signs other than one minus, fractions, an empty text. Cost: its length, without
 * allocation.
 */
export function smallInteger(bytes: Uint8Array, start: number, end: number): number | undefined {
  const isNegative = bytes[start] === MINUS;
  const first = isNegative ? start + 1 : start;
  if (first >= end || end - first > DIGITS_MAX) return undefined;
  if (bytes[first] === ZERO) return end - start === 1 ? 0 : undefined;
  let value = 0;
  for (let i = first; i < end; i++) {
    const digit = bytes[i]! - ZERO;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return isNegative ? -value : value;
}

/** The type of a column: a scalar type, or `link` for the ids of link targets. */
export type ColumnType = ScalarType | 'link';

export interface CodeRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Sorted distinct values. Codes from `fitting` on are misfits: values that do not fit the type (A150), such as a text
 * in a column of integers. Lookups of texts compare their text.
 *
 *   text     all texts in code order, UTF-8, unescaped; a number's or boolean's JSON text as written; a link's id; the
 *            JSON of an object or array
 *   ends     end of each text in `text`, one u32 per code
 *   numbers  one f64 per code: for integer, float and link the value, rounded to nearest; for date and dateTime the
 *            instant in microseconds since 1970; NaN for a misfit. Text and boolean dictionaries have none
 *
 * Text and boolean dictionaries are sorted by text (code points), the others by value and then by text. Misfits follow,
 * sorted by text. Equal values with different spellings (`5`, `5.00`) are neighbours, so that a value is always one
 * range of codes.
 */
export interface Dictionary {
  readonly type: ColumnType;
  readonly size: number;
  readonly fitting: number;
  readonly ends: Uint32Array;
  readonly text: Uint8Array;
  readonly numbers: Float64Array | undefined;
}

/** A dictionary to be written: `text` may be a list of pieces, each with whole texts. */
export interface WrittenDictionary extends Omit<Dictionary, 'text'> {
  readonly text: Uint8Array | readonly Uint8Array[];
}

type StoredParts = Pick<Dictionary, 'text' | 'ends' | 'numbers'> & { readonly fitting?: Uint32Array | undefined };

/**
 * Makes a dictionary from its sections. The section `fitting` has one element, and is absent if there are no misfits.
 */
export function storedDictionary(type: ColumnType, { text, ends, numbers, fitting }: StoredParts): Dictionary {
  return { type, size: ends.length, fitting: fitting?.[0] ?? ends.length, ends, text, numbers };
}

/** The text of a code, as a view. `code` is in 0 to size, exclusive. Cost: none. */
export function textAt(dictionary: Dictionary, code: number): Uint8Array {
  return dictionary.text.subarray(code === 0 ? 0 : dictionary.ends[code - 1]!, dictionary.ends[code]);
}

/** The codes whose fitting text equals `text`; at most one. Only for dictionaries in text order. Cost: O(log size). */
export function codesOfText(dictionary: Dictionary, text: Uint8Array): CodeRange {
  const start = lowerBoundText(dictionary, text);
  const isFound = start < dictionary.fitting && compareBytes(textAt(dictionary, start), text) === 0;
  return { start, end: isFound ? start + 1 : start };
}

/** The codes of the discriminator of a generic link that lead to the collection of `text`. Cost: O(log size). */
export function codesOfOption(
  dictionary: Dictionary,
  { lookup }: Pick<GenericLink, 'lookup'>,
  text: string,
): CodeRange {
  return (lookup === 'exact' ? codesOfText : codesOfPrefix)(dictionary, ENCODER.encode(text));
}

/** The codes whose fitting text starts with `prefix`. Only for dictionaries in text order. Cost: O(log size). */
export function codesOfPrefix(dictionary: Dictionary, prefix: Uint8Array): CodeRange {
  const { ends, text } = dictionary;
  const start = lowerBoundText(dictionary, prefix);
  let low = start;
  let high = dictionary.fitting;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (hasPrefix(text, prefix, middle === 0 ? 0 : ends[middle - 1]!, ends[middle])) low = middle + 1;
    else high = middle;
  }
  return { start, end: low };
}

/** The codes with numbers from `from` to `to`, both included. `numbers` must be defined. Cost: O(log size). */
export function codesOfNumbers(dictionary: Dictionary, from: number, to: number): CodeRange {
  const numbers = dictionary.numbers!;
  // NaN compares as false, so that the misfits at the end count as greater than both bounds.
  const start = lowerBound(numbers, from);
  // Most numbers occur once, and most ranges are a single number: the end is then the next position, without a search.
  if (from === to && !(numbers[start + 1]! <= to)) return { start, end: numbers[start]! <= to ? start + 1 : start };
  return { start, end: Math.max(start, upperBound(numbers, to, start)) };
}

/**
 * Calls `hit` for every code in the range whose text contains the non-empty needle. Cost: one pass over their texts.
 */
export function eachCodeContaining(
  dictionary: Dictionary,
  range: CodeRange,
  needle: Uint8Array,
  hit: (code: number) => void,
): void {
  if (range.start >= range.end) return;
  const { text, ends } = dictionary;
  const find = finderIn(text, needle);
  const end = ends[range.end - 1]!;
  let code = range.start;
  let at = code === 0 ? 0 : ends[code - 1]!;
  while ((at = find(at, end)) >= 0) {
    while (ends[code]! <= at) code++;
    if (at + needle.length <= ends[code]!) {
      hit(code);
      at = ends[code]!;
    } else at++;
  }
}

function lowerBoundText(dictionary: Dictionary, text: Uint8Array): number {
  const { ends, text: bytes } = dictionary;
  let low = 0;
  let high = dictionary.fitting;
  while (low < high) {
    const middle = (low + high) >>> 1;
    // Without a view, which would cost more than the comparison.
    const start = middle === 0 ? 0 : ends[middle - 1]!;
    if (compareParts(bytes, start, ends[middle]!, text, 0, text.length) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
