// The order of a column's values as clients see them, as ranks of its codes: nearly always the codes themselves. Own
// URLs stand in a dictionary by their placeholder, and instants far from today by a rounded double: those get a table.
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

/**
 * Ranks of codes: they ascend by value, misfits and null (the code `dictionary.size`) have the last ones. `isByCode`
 * where rank and code are the same number. `isSame`: whether two codes of neighbouring ranks are one value written
 * differently (`5`, `5.00`); misfits and null are one value.
 */
export interface ValueOrder {
  readonly isByCode: boolean;
  rankOf(code: number): number;
  codeOf(rank: number): number;
  isSame(a: number, b: number): boolean;
}

const encoder = new TextEncoder();
// A byte order mark is part of a text.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * The order of a dictionary's values in a form: texts by code point as served, numbers by value, dates by instant
 * (A65). Cost: O(log size), or a table of all codes where they are not in this order.
 */
export function valueOrder(dictionary: Dictionary, form: ServedForm, meter: Meter): ValueOrder {
  const { fitting } = dictionary;
  const isSameValue = sameness(dictionary, form);
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

/** The price of a table of the codes by value, 0 if none is needed. Looks at every instant beyond 2^53 microseconds. */
function tableNs(dictionary: Dictionary, form: ServedForm): number {
  const displaced = countCodes(displacedCodes(dictionary, form));
  if (displaced === 0) return 0;
  const isText = dictionary.type === 'text';
  // Texts that own URLs may stand among; these keep their own order where no more than their base changes.
  const near = isText ? countCodes([nearCodes(dictionary, form)]) : 0;
  const moved = isText && isSpecForm(form) ? 0 : displaced;
  return dictionary.size * COST.row + (near + moved) * COST.compared;
}

function countCodes(ranges: readonly CodeRange[]): number {
  return ranges.reduce((sum, { start, end }) => sum + Math.max(0, end - start), 0);
}

/** Texts that own URLs may stand among. */
function nearCodes(dictionary: Dictionary, { baseUrl }: ServedForm): CodeRange {
  return codesOfPrefix(dictionary, encoder.encode(baseUrl));
}

/** The text of a code as served. Cost: the text. */
export function servedText(dictionary: Dictionary, code: number, form: ServedForm): string {
  const text = decoder.decode(textAt(dictionary, code));
  return text.startsWith(PLACEHOLDER) ? servedUrl(text, form) : text;
}

/** Runs of codes that may not stand where their values belong. */
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

/** All codes by value, null last. Cost: a step a code; what is displaced is compared with what it may stand among. */
function sortedCodes(dictionary: Dictionary, form: ServedForm): Uint32Array {
  const compare = comparison(dictionary, form);
  const codes = Uint32Array.from({ length: dictionary.size + 1 }, (_, code) => code);
  if (dictionary.type === 'text') placeOwnUrls(codes, dictionary, form, compare);
  // Runs of far instants stand where they belong.
  else for (const { start, end } of displacedCodes(dictionary, form)) codes.subarray(start, end).sort(compare);
  return codes;
}

/**
 * Moves own URLs to where they stand as served: among the texts that start with the base URL. Where no more than that
 * changes in them they keep their own order, and nothing of it is compared.
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
    // Each is compared many times, and written once.
    const written = new Map<number, Uint8Array>();
    const bytes = (code: number): Uint8Array => {
      let known = written.get(code);
      if (known === undefined) written.set(code, (known = encoder.encode(servedText(dictionary, code, form))));
      return known;
    };
    return (a, b) => compareBytes(bytes(a), bytes(b)) || a - b;
  }
  // Numbers of texts that are none stand in forged files alone.
  const exact = (code: number): bigint => BigInt(exactOf(dictionary, code) ?? 0);
  return (a, b) => {
    if (numbers[a] !== numbers[b]) return a - b;
    const difference = exact(a) - exact(b);
    return difference < 0n ? -1 : difference > 0n ? 1 : a - b;
  };
}

function exactOf(dictionary: Dictionary, code: number): string | undefined {
  return exactValue(dictionary.type, decoder.decode(textAt(dictionary, code)));
}

/** Whether two codes are one value, neither of which is a misfit or null. */
function sameness(dictionary: Dictionary, form: ServedForm): (a: number, b: number) => boolean {
  const { numbers, type } = dictionary;
  if (type === 'boolean') return () => false;
  if (!numbers) {
    const own = codesOfOwnUrls(dictionary);
    const isOwn = (code: number): boolean => code >= own.start && code < own.end;
    // Different own URLs can only become one text where more than their base URL changes.
    const differAlways = isSpecForm(form);
    return (a, b) =>
      (differAlways ? isOwn(a) !== isOwn(b) : isOwn(a) || isOwn(b)) &&
      servedText(dictionary, a, form) === servedText(dictionary, b, form);
  }
  return (a, b) => {
    if (numbers[a] !== numbers[b]) return false;
    if (type === 'float' || Math.abs(numbers[a]!) <= Number.MAX_SAFE_INTEGER) return true;
    return exactOf(dictionary, a) === exactOf(dictionary, b);
  };
}
