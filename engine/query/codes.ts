// Finds the dictionary codes of operands: equality and prefixes by binary search, without a scan. Local URLs are
// compared as served. Ranges of codes are ascending and disjoint.
import { slabText } from '../bits/slab.ts';
import { type CodeRange, codesOfPrefix, codesOfText, type Dictionary, textAt } from '../column/dictionary.ts';
import { lowerBound, upperBound } from '../bits/lists.ts';
import { PLACEHOLDER } from '../column/records.ts';
import { isSpecForm, type ServedForm, servedUrl, storedUrls } from '../column/served.ts';
import { compareDecimals } from './decimal.ts';
import { exactValue, isNumeric } from './values.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const PLACEHOLDER_BYTES = encoder.encode(PLACEHOLDER);
const NO_CODES: CodeRange = { start: 0, end: 0 };

/** Whether codes ascend by text. Only then is a prefix a range of codes. */
export function isTextOrdered(dictionary: Dictionary): boolean {
  return !isNumeric(dictionary.type);
}

/** The codes of own URLs, which are stored with the placeholder (A9). Most columns have none. Cost: O(log size). */
export function codesOfOwnUrls(dictionary: Dictionary): CodeRange {
  return dictionary.type === 'text' ? codesOfPrefix(dictionary, PLACEHOLDER_BYTES) : NO_CODES;
}

/**
 * The codes whose value is one of `values`, operands that values.ts made for the dictionary's type. Cost: O(log size) a
 * value, plus its neighbours beyond 2^53, plus sorting the ranges.
 */
export function codesOfValues(
  dictionary: Dictionary,
  values: readonly string[],
  form: ServedForm,
): readonly CodeRange[] {
  const found: CodeRange[] = [];
  if (isTextOrdered(dictionary)) {
    const own = codesOfOwnUrls(dictionary);
    for (const value of values) addServedText(found, dictionary, value, own, form);
  } else addNumbers(found, dictionary, values);
  return merged(found);
}

/**
 * The codes whose text, as served, starts with `prefix`. Only for dictionaries in text order. Cost: O(log size); if the
 * form changes more of own URLs than their base, also a check of each own URL.
 */
export function codesOfServedPrefix(dictionary: Dictionary, prefix: string, form: ServedForm): readonly CodeRange[] {
  const own = codesOfOwnUrls(dictionary);
  const asStored = codesOfPrefix(dictionary, encoder.encode(prefix));
  if (isEmpty(own)) return merged([asStored]);
  return merged([...subtractRange(asStored, own), ...ownUrlsOfPrefix(dictionary, prefix, own, form)]);
}

function ownUrlsOfPrefix(
  dictionary: Dictionary,
  prefix: string,
  own: CodeRange,
  form: ServedForm,
): readonly CodeRange[] {
  const { baseUrl } = form;
  if (baseUrl.startsWith(prefix)) return [own];
  if (!prefix.startsWith(baseUrl)) return [];
  if (isSpecForm(form)) {
    return [codesOfPrefix(dictionary, encoder.encode(PLACEHOLDER + prefix.slice(baseUrl.length)))];
  }
  const found: CodeRange[] = [];
  for (let code = own.start; code < own.end; code++) {
    if (servedUrl(decoder.decode(textAt(dictionary, code)), form).startsWith(prefix)) addCode(found, code);
  }
  return found;
}

function addServedText(
  found: CodeRange[],
  dictionary: Dictionary,
  text: string,
  own: CodeRange,
  form: ServedForm,
): void {
  const asStored = codesOfText(dictionary, slabText(text));
  if (isEmpty(own)) found.push(asStored);
  else {
    found.push(...subtractRange(asStored, own));
    for (const stored of storedUrls(text, form)) found.push(codesOfText(dictionary, encoder.encode(stored)));
  }
}

/** Values often ascend, as ids do: each search starts at the position of the value before it. */
function addNumbers(found: CodeRange[], dictionary: Dictionary, values: readonly string[]): void {
  const numbers = dictionary.numbers!;
  let place = 0;
  let before = Infinity;
  for (const value of values) {
    const number = Number(value);
    place = number >= before ? placeAfter(numbers, number, place, number - before) : lowerBound(numbers, number);
    before = number;
    addNumber(found, dictionary, { value, number, codes: codesAt(dictionary, number, place) });
  }
}

/**
 * Position of the first number at or after `start` that is at least `number`. In distinct whole numbers this position
 * is at most `distance` after `start`. Cost: O(log distance), otherwise O(log size).
 */
function placeAfter(numbers: Float64Array, number: number, start: number, distance: number): number {
  const likely = start + distance;
  if (!(likely < numbers.length)) return lowerBound(numbers, number, start);
  const end = Math.floor(likely);
  // NaN comes last and does not compare as less.
  return numbers[end]! < number
    ? lowerBound(numbers, number, end, numbers.length)
    : lowerBound(numbers, number, start, end);
}

/**
 * The codes of a number whose first position is `place`, empty if the number is absent. Most numbers occur once, so the
 * end rarely needs a search.
 */
function codesAt({ numbers }: Dictionary, number: number, place: number): CodeRange {
  if (!(numbers![place]! <= number)) return { start: place, end: place };
  if (!(numbers![place + 1]! <= number)) return { start: place, end: place + 1 };
  return { start: place, end: upperBound(numbers!, number, place) };
}

/** Doubles find the candidates. If two values share a double, the stored text decides (A40). */
function addNumber(
  found: CodeRange[],
  dictionary: Dictionary,
  { value, number, codes }: { readonly value: string; readonly number: number; readonly codes: CodeRange },
): void {
  if (dictionary.type === 'float' || Math.abs(number) <= Number.MAX_SAFE_INTEGER) found.push(codes);
  else if (isExactlyOrdered(dictionary)) found.push(codesOfExactly(dictionary, codes, value));
  else
    for (let code = codes.start; code < codes.end; code++) if (isExactly(dictionary, code, value)) addCode(found, code);
}

/** Whether values that share a double are stored in their exact order, as whole numbers are (column/sort.ts). */
export function isExactlyOrdered({ type }: Dictionary): boolean {
  return type === 'integer' || type === 'link';
}

/**
 * Narrows codes that share a double, in exact order, to those of one value. Without such a code the range is empty, at
 * the position where the value would be. Cost: O(log codes) text comparisons.
 */
export function codesOfExactly(dictionary: Dictionary, codes: CodeRange, value: string): CodeRange {
  const placeOf = (isBehind: (order: number) => boolean): number => {
    let { start, end } = codes;
    while (start < end) {
      const middle = (start + end) >>> 1;
      const text = decoder.decode(textAt(dictionary, middle));
      if (isBehind(compareDecimals(text, value))) end = middle;
      else start = middle + 1;
    }
    return start;
  };
  return { start: placeOf((order) => order >= 0), end: placeOf((order) => order > 0) };
}

/**
 * `exactValue` makes both sides comparable: instants as whole microseconds in digits, other values as canonical
 * decimals.
 */
function isExactly(dictionary: Dictionary, code: number, value: string): boolean {
  return exactValue(dictionary.type, decoder.decode(textAt(dictionary, code))) === value;
}

function addCode(found: CodeRange[], code: number): void {
  found.push({ start: code, end: code + 1 });
}

function isEmpty({ start, end }: CodeRange): boolean {
  return start >= end;
}

/**
 * Turns ranges in any order, overlapping or not, into ascending, disjoint, non-empty ranges. Cost: O(n log n); one pass
 * if they already are, as for ascending ids.
 */
export function merged(ranges: readonly CodeRange[]): readonly CodeRange[] {
  if (isMerged(ranges)) return ranges;
  const ascending = ranges.filter((range) => !isEmpty(range)).sort((a, b) => a.start - b.start);
  const disjoint: { start: number; end: number }[] = [];
  for (const { start, end } of ascending) {
    const last = disjoint[disjoint.length - 1];
    if (last && start <= last.end) last.end = Math.max(last.end, end);
    else disjoint.push({ start, end });
  }
  return disjoint;
}

function isMerged(ranges: readonly CodeRange[]): boolean {
  let end = -1;
  for (const range of ranges) {
    if (range.start <= end || isEmpty(range)) return false;
    end = range.end;
  }
  return true;
}

/** The codes of a range that are not in `hole`, ascending. Cost: constant. */
export function subtractRange({ start, end }: CodeRange, hole: CodeRange): readonly CodeRange[] {
  return merged([
    { start, end: Math.min(end, hole.start) },
    { start: Math.max(start, hole.end), end },
  ]);
}
