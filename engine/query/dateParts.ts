// The parts of dates and times in UTC: a day and a year are ranges of instants, other parts a pass over the instants.
import { type CodeRange, type Dictionary, textAt } from '../column/dictionary.ts';
import type { ServedForm } from '../column/served.ts';
import { daysSince1970, exactInstant } from './decimal.ts';
import { codesBetween } from './ranges.ts';
import type { Operand } from './values.ts';

/**
 * Whether one text, `bytes[start..end)` as served in UTF-8, is a hit. Called in hot loops: it must not allocate
 * strings.
 */
export type TextMatcher = (bytes: Uint8Array, start: number, end: number) => boolean;

/**
 * How a lookup looks at texts one by one. `eachHit` finds the hits among neighbouring codes whose texts are served as
 * stored, ascending, where there is a faster way than one text after the other. `sliceBytes` is how much text may lie
 * between two polls, where the matcher is so slow that the usual slice is too long. `needle` is text that every hit
 * holds, case aside: it asks the n-gram index for candidates, where there is one.
 */
export interface TextSearch {
  readonly kind: 'text';
  readonly matches: TextMatcher;
  readonly eachHit?: (dictionary: Dictionary, codes: CodeRange, onHit: (code: number) => void) => void;
  readonly sliceBytes?: number;
  readonly needle?: Uint8Array;
}

/** How a lookup looks at the numbers beside the texts. `matcherOf` makes the test of one dictionary's codes. */
interface CodeSearch {
  readonly kind: 'code';
  readonly matcherOf: (dictionary: Dictionary) => (code: number) => boolean;
}

/** Either kind of search. */
export type Search = TextSearch | CodeSearch;

/** A part that recurs: its lookup, its values, and how it is read from whole seconds since 1970. */
export interface DatePart {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  readonly of: (seconds: number) => number;
}

const MICROSECONDS = 1_000_000;
const DAY_SECONDS = 86_400;
const DAY_MICROSECONDS = 86_400_000_000n;
/** Far beyond every year that a date of four digits and a zone can lie in. */
const YEAR_MAX = 100_000;
/** 1970-01-01 was a Thursday; Sunday is 1. */
const WEEK_DAY_1970 = 4;

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** The parts that need a pass over the distinct instants (A56). */
export const DATE_PARTS: readonly DatePart[] = [
  { name: 'month', least: 1, most: 12, of: (seconds) => monthAndDay(dayOf(seconds)) >>> 5 },
  { name: 'day', least: 1, most: 31, of: (seconds) => monthAndDay(dayOf(seconds)) & 31 },
  { name: 'week_day', least: 1, most: 7, of: (seconds) => modulo(dayOf(seconds) + WEEK_DAY_1970, 7) + 1 },
  { name: 'hour', least: 0, most: 23, of: (seconds) => Math.floor(modulo(seconds, DAY_SECONDS) / 3600) },
  { name: 'minute', least: 0, most: 59, of: (seconds) => Math.floor(modulo(seconds, 3600) / 60) },
  { name: 'second', least: 0, most: 59, of: (seconds) => modulo(seconds, 60) },
];

/** The codes of the instants of one day; the operand is its first instant. Cost: O(log size). */
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

/** No codes where the part has no such value; undefined where a pass has to find them. Cost: none. */
export function partCodes(
  part: DatePart,
  _dictionary: Dictionary,
  { values }: Operand,
): readonly CodeRange[] | undefined {
  const wanted = Number(values[0]);
  return wanted < part.least || wanted > part.most ? [] : undefined;
}

/** The search for instants whose part is the operand; a misfit has none. Cost: some 10 ns a code. */
export function partSearch(part: DatePart, { values }: Operand): CodeSearch {
  const wanted = Number(values[0]);
  return {
    kind: 'code',
    matcherOf: (dictionary) => {
      const numbers = dictionary.numbers!;
      return (code) => {
        const seconds = isExact(numbers[code]!) ? wholeSeconds(numbers[code]!) : exactSeconds(dictionary, code);
        return part.of(seconds) === wanted;
      };
    },
  };
}

function codesOfInstants(dictionary: Dictionary, start: bigint, end: bigint, form: ServedForm): readonly CodeRange[] {
  const from = { value: String(start), isIncluded: true };
  return codesBetween(dictionary, { from, to: { value: String(end), isIncluded: false } }, form);
}

function isExact(microseconds: number): boolean {
  return Math.abs(microseconds) <= Number.MAX_SAFE_INTEGER;
}

/** By the remainder, which is exact: a quotient may round up to the next second. */
function wholeSeconds(microseconds: number): number {
  return (microseconds - modulo(microseconds, MICROSECONDS)) / MICROSECONDS;
}

/** Where a double rounds, the text decides; NaN, which no part equals, where the text is no date. */
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

/** The month times 32 plus the day: `daysSince1970` backwards, in years from March and eras of 400 years. */
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
