// Lookups on parts of dates and times, in UTC. A day or a year is a range of instants; other parts need a pass over the
// instants.
import { type CodeRange, type Dictionary, textAt } from '../column/dictionary.ts';
import type { ServedForm } from '../column/served.ts';
import type { SoughtWord } from '../index/words.ts';
import { daysSince1970, exactInstant } from './decimal.ts';
import { codesBetween } from './ranges.ts';
import type { Operand } from './values.ts';

/**
 * Whether one text matches: `bytes[start..end)`, UTF-8 as served. Called in hot loops, so it must not allocate strings.
 */
export type TextMatcher = (bytes: Uint8Array, start: number, end: number) => boolean;

/** A search that checks texts one by one. */
export interface TextSearch {
  readonly kind: 'text';
  readonly matches: TextMatcher;
  /**
   * Calls `onHit` with the matches among neighbouring codes, ascending. Present if this is faster than one text at a
   * time. Only for texts that are served as stored.
   */
  readonly eachHit?: (dictionary: Dictionary, codes: CodeRange, onHit: (code: number) => void) => void;
  /** Bytes of text between two polls, if the matcher is too slow for the usual slice. */
  readonly sliceBytes?: number;
  /** Text that every match contains, ignoring case. The n-gram index, if there is one, finds candidates by it. */
  readonly needle?: Uint8Array;
  /** The word that every match contains. The word index, if there is one, finds the matches. */
  readonly word?: SoughtWord;
}

/** A search that checks the numbers stored next to the texts. */
interface CodeSearch {
  readonly kind: 'code';
  /** Returns the test for the codes of one dictionary. */
  readonly matcherOf: (dictionary: Dictionary) => (code: number) => boolean;
  readonly eachHit?: undefined;
  readonly sliceBytes?: undefined;
  readonly needle?: undefined;
  readonly word?: undefined;
}

export type Search = TextSearch | CodeSearch;

/** A recurring part of a date: its lookup and its range of values, both ends included. */
export interface DatePart {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  /** Computes the part from whole seconds since 1970. */
  readonly of: (seconds: number) => number;
}

const MICROSECONDS = 1_000_000;
const DAY_SECONDS = 86_400;
export const DAY_MICROSECONDS = 86_400_000_000n;
/** Far beyond any year that a date with a four-digit year and a time zone can be in. */
const YEAR_MAX = 100_000;
/** 1970-01-01 was a Thursday; Sunday is 1. */
const WEEK_DAY_1970 = 4;

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Parts that need a pass over the distinct instants (A56). */
export const DATE_PARTS: readonly DatePart[] = [
  { name: 'month', least: 1, most: 12, of: (seconds) => monthAndDay(dayOf(seconds)) >>> 5 },
  { name: 'day', least: 1, most: 31, of: (seconds) => monthAndDay(dayOf(seconds)) & 31 },
  { name: 'week_day', least: 1, most: 7, of: (seconds) => modulo(dayOf(seconds) + WEEK_DAY_1970, 7) + 1 },
  { name: 'hour', least: 0, most: 23, of: (seconds) => Math.floor(modulo(seconds, DAY_SECONDS) / 3600) },
  { name: 'minute', least: 0, most: 59, of: (seconds) => Math.floor(modulo(seconds, 3600) / 60) },
  { name: 'second', least: 0, most: 59, of: (seconds) => modulo(seconds, 60) },
];

/** The codes of the instants of one day; the operand is the day's first instant. Cost: O(log size). */
export function codesOfDay(dictionary: Dictionary, { values }: Operand, form: ServedForm): readonly CodeRange[] {
  const start = BigInt(values[0]!);
  return codesOfInstants(dictionary, start, start + DAY_MICROSECONDS, form);
}

/** The codes of the instants of one year. Cost: O(log size). */
export function codesOfYear(dictionary: Dictionary, { values }: Operand, form: ServedForm): readonly CodeRange[] {
  const year = Number(values[0]);
  if (Math.abs(year) > YEAR_MAX) return [];
  const [start, end] = [year, year + 1].map((each) => BigInt(daysSince1970(each, 1, 1)) * DAY_MICROSECONDS);
  return codesOfInstants(dictionary, start!, end!, form);
}

/** No codes if the operand is outside the part's range; `undefined` if a search has to find them. Cost: constant. */
export function partCodes(part: DatePart, { values }: Operand): readonly CodeRange[] | undefined {
  const wanted = Number(values[0]);
  return wanted < part.least || wanted > part.most ? [] : undefined;
}

/** A search for instants whose part equals the operand. Misfits never match. Cost: some 10 ns a code. */
export function partSearch(part: DatePart, { values }: Operand): CodeSearch {
  const wanted = Number(values[0]);
  return {
    kind: 'code',
    matcherOf: (dictionary) => {
      return (code) => part.of(secondsAt(dictionary, code)) === wanted;
    },
  };
}

function codesOfInstants(dictionary: Dictionary, start: bigint, end: bigint, form: ServedForm): readonly CodeRange[] {
  const from = { value: String(start), isIncluded: true };
  return codesBetween(dictionary, { from, to: { value: String(end), isIncluded: false } }, form);
}

/** The year of an instant, in UTC. Cost: constant. */
export function yearAt(dictionary: Dictionary, code: number): number {
  return new Date(secondsAt(dictionary, code) * 1000).getUTCFullYear();
}

function secondsAt(dictionary: Dictionary, code: number): number {
  const microseconds = dictionary.numbers![code]!;
  const isExact = Math.abs(microseconds) <= Number.MAX_SAFE_INTEGER;
  return isExact ? wholeSeconds(microseconds) : exactSeconds(dictionary, code);
}

/** Subtracts the remainder, which is exact. A quotient might round up to the next second. */
function wholeSeconds(microseconds: number): number {
  return (microseconds - modulo(microseconds, MICROSECONDS)) / MICROSECONDS;
}

/** Reads the text, for instants that a double would round. NaN if the text is not a date; NaN equals no part. */
function exactSeconds(dictionary: Dictionary, code: number): number {
  const exact = exactInstant(decoder.decode(textAt(dictionary, code)));
  if (exact === undefined) return NaN;
  const microseconds = BigInt(exact);
  const remainder = ((microseconds % 1_000_000n) + 1_000_000n) % 1_000_000n;
  return Number((microseconds - remainder) / 1_000_000n);
}

function dayOf(seconds: number): number {
  return Math.floor(seconds / DAY_SECONDS);
}

function modulo(value: number, divisor: number): number {
  const remainder = value % divisor;
  return remainder < 0 ? remainder + divisor : remainder;
}

/** The month times 32, plus the day: the inverse of `daysSince1970`, with years from March and eras of 400 years. */
function monthAndDay(day: number): number {
  const shifted = day - daysSince1970(0, 3, 1);
  const dayOfEra = modulo(shifted, 146_097);
  const leapDays = Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  return month * 32 + dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1;
}
