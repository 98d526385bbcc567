// The order of a column's values as clients see them, as ranks of its codes. Nearly always rank and code are equal. Two
// exceptions need a table: own URLs are sorted by their placeholder in a dictionary, and instants far from today by a
// rounded double.
import {
  type CodeRange,
  codesOfNumbers,
  codesOfPrefix,
  codesOfText,
  type Dictionary,
  textAt,
} from '../column/dictionary.ts';
import { PLACEHOLDER } from '../column/records.ts';
import { isSpecForm, type ServedForm, servedUrl } from '../column/served.ts';
import { compareBytes } from '../bits/bytes.ts';
import { lowerBound } from '../bits/lists.ts';
import { codesOfOwnUrls } from '../query/codes.ts';
import { exactValue } from '../query/values.ts';
import type { Meter } from './counters.ts';
import { COST } from './passes.ts';

/** Ranks of codes. They ascend by value; misfits and null (the code `dictionary.size`) have the last ranks. */
export interface ValueOrder {
  /** Rank and code are the same number. */
  readonly isByCode: boolean;
  rankOf(code: number): number;
  codeOf(rank: number): number;
  /**
   * Whether two codes of neighbouring ranks are the same value in different spellings (`5`, `5.00`). Misfits and null
   * are one value.
   */
  isSame(a: number, b: number): boolean;
}

const encoder = new TextEncoder();
// A byte order mark is part of the text.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * The order of a dictionary's values in a form: texts by code point as served, numbers by value, dates by instant
 * (A65). Cost: O(log size), or a table of all codes if they are not in this order.
 */
export function valueOrder(dictionary: Dictionary, form: ServedForm, meter: Meter): ValueOrder {
  const { fitting } = dictionary;
  const isSameValue = equality(dictionary, form);
  const isSame: ValueOrder['isSame'] = (a, b) =>
    a < fitting && b < fitting ? isSameValue(a, b) : a >= fitting && b >= fitting;
  const ns = tableNs(dictionary, form);
  if (ns === 0) {
    return { isByCode: true, rankOf: (code) => code, codeOf: (rank) => rank, isSame };
  }
  meter.spend(ns);
  const codes = sortedCodes(dictionary, form);
  const ranks = new Uint32Array(codes.length);
  codes.forEach((code, rank) => (ranks[code] = rank));
  return { isByCode: false, rankOf: (code) => ranks[code]!, codeOf: (rank) => codes[rank]!, isSame };
}

/** Cost in ns of the table of codes by value, 0 if none is needed. Reads every instant beyond 2^53 microseconds. */
function tableNs(dictionary: Dictionary, form: ServedForm): number {
  const displaced = countCodes(displacedCodes(dictionary, form));
  if (displaced === 0) return 0;
  const isText = dictionary.type === 'text';
  // Texts between which own URLs may belong. If the form changes only their base, own URLs keep their relative order.
  const near = isText ? countCodes([nearCodes(dictionary, form)]) : 0;
  const moved = isText && isSpecForm(form) ? 0 : displaced;
  return dictionary.size * COST.row + (near + moved) * COST.compared;
}

function countCodes(ranges: readonly CodeRange[]): number {
  return ranges.reduce((sum, { start, end }) => sum + Math.max(0, end - start), 0);
}

/** The texts that start with the base URL: own URLs may belong between them. */
function nearCodes(dictionary: Dictionary, { baseUrl }: ServedForm): CodeRange {
  return codesOfPrefix(dictionary, encoder.encode(baseUrl));
}

/** The text of a code as served. Cost: the text. */
export function servedText(dictionary: Dictionary, code: number, form: ServedForm): string {
  const text = decoder.decode(textAt(dictionary, code));
  return text.startsWith(PLACEHOLDER) ? servedUrl(text, form) : text;
}

/** Ranges of codes whose order may differ from that of their values. */
function displacedCodes(dictionary: Dictionary, form: ServedForm): readonly CodeRange[] {
  if (dictionary.type === 'text') {
    const own = codesOfOwnUrls(dictionary);
    const isInPlace = isSpecForm(form) && codesOfText(dictionary, encoder.encode(form.baseUrl)).start === own.start;
    return isInPlace ? [] : [own];
  }
  if (dictionary.type !== 'date' && dictionary.type !== 'dateTime') return [];
  const early = codesOfNumbers(dictionary, -Infinity, -Number.MAX_SAFE_INTEGER);
  const late = codesOfNumbers(dictionary, Number.MAX_SAFE_INTEGER, Infinity);
  return [early, late].filter((range) => hasRepeats(dictionary.numbers!, range));
}

function hasRepeats(numbers: Float64Array, { start, end }: CodeRange): boolean {
  for (let code = start + 1; code < end; code++) if (numbers[code] === numbers[code - 1]) return true;
  return false;
}

/**
 * All codes in the order of their values, null last. Cost: a step per code, and comparisons for own URLs and for
 * instants beyond 2^53 microseconds, which are not in this order.
 */
function sortedCodes(dictionary: Dictionary, form: ServedForm): Uint32Array {
  const compare = comparison(dictionary, form);
  const codes = Uint32Array.from({ length: dictionary.size + 1 }, (_, code) => code);
  if (dictionary.type === 'text') placeOwnUrls(codes, dictionary, form, compare);
  // Ranges of far instants are in the right place, but not sorted.
  else for (const { start, end } of displacedCodes(dictionary, form)) codes.subarray(start, end).sort(compare);
  return codes;
}

/**
 * Moves own URLs to their position as served, among the texts that start with the base URL. If the form changes only
 * their base, they keep their relative order and are not compared with each other.
 */
function placeOwnUrls(codes: Uint32Array, dictionary: Dictionary, form: ServedForm, compare: Compare): void {
  const own = codesOfOwnUrls(dictionary);
  const moved = codes.slice(own.start, own.end);
  const others = codes.copyWithin(own.start, own.end, dictionary.size).slice(0, dictionary.size - moved.length);
  if (!isSpecForm(form)) moved.sort(compare);
  const near = nearCodes(dictionary, form);
  let i = lowerBound(others, near.start);
  codes.set(others.subarray(0, i));
  let length = i;
  for (const code of moved) {
    while (i < others.length && others[i]! < near.end && compare(others[i]!, code) < 0) codes[length++] = others[i++]!;
    codes[length++] = code;
  }
  codes.set(others.subarray(i), length);
}

type Compare = (a: number, b: number) => number;

function comparison(dictionary: Dictionary, form: ServedForm): Compare {
  const { numbers } = dictionary;
  if (!numbers) {
    // Each text is compared many times, so its served form is cached.
    const written = new Map<number, Uint8Array>();
    const bytes = (code: number): Uint8Array => {
      let known = written.get(code);
      if (known === undefined) written.set(code, (known = encoder.encode(servedText(dictionary, code, form))));
      return known;
    };
    return (a, b) => compareBytes(bytes(a), bytes(b)) || a - b;
  }
  // The fallback applies in forged files only, to a number whose text is not a valid value.
  const exact = (code: number): bigint => BigInt(exactText(dictionary, code) ?? 0);
  return (a, b) => {
    if (numbers[a] !== numbers[b]) return a - b;
    const difference = exact(a) - exact(b);
    return difference < 0n ? -1 : difference > 0n ? 1 : a - b;
  };
}

function exactText(dictionary: Dictionary, code: number): string | undefined {
  return exactValue(dictionary.type, decoder.decode(textAt(dictionary, code)));
}

/** Returns a test whether two codes are one value. The codes must be neither misfits nor null. */
function equality(dictionary: Dictionary, form: ServedForm): (a: number, b: number) => boolean {
  const { numbers, type } = dictionary;
  if (type === 'boolean') return () => false;
  if (!numbers) {
    const own = codesOfOwnUrls(dictionary);
    const isOwn = (code: number): boolean => code >= own.start && code < own.end;
    // Different own URLs can only be equal as served if the form changes more than their base URL.
    const differAlways = isSpecForm(form);
    return (a, b) =>
      (differAlways ? isOwn(a) !== isOwn(b) : isOwn(a) || isOwn(b)) &&
      servedText(dictionary, a, form) === servedText(dictionary, b, form);
  }
  return (a, b) => {
    if (numbers[a] !== numbers[b]) return false;
    if (type === 'float' || Math.abs(numbers[a]!) <= Number.MAX_SAFE_INTEGER) return true;
    return exactText(dictionary, a) === exactText(dictionary, b);
  };
}
