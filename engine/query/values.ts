// Values of filters: reads the client's text into an operand, which is plain data that can be sent to any thread. One
// rule for each column type; no dictionaries and no lookups here.
import type { ColumnType } from '../column/dictionary.ts';
import { canonicalDecimal, exactInstant, isPlainDecimal } from './decimal.ts';
import { HINTS, MESSAGES } from './problems.ts';

/**
 * The values that a lookup compares with: texts as served, or numbers. Numbers are decimal tokens, because JSON has no
 * integers beyond 2^53. Integers and links are in canonical form (decimal.ts), floats as JavaScript prints the double,
 * dates as the instant in whole microseconds. `in` has any number of values, including 0; `exact` and similar lookups
 * have one.
 */
export interface Operand {
  readonly kind: 'text' | 'number';
  readonly values: readonly string[];
}

/** A value, or the message for the client. */
export type ValueReading<T> = { readonly kind: 'value'; readonly value: T } | ValueError;

export interface ValueError {
  readonly kind: 'error';
  readonly message: string;
  /** Sentences that follow the message. */
  readonly hints?: readonly string[];
}

/** Whether values of this type compare as numbers, so that their operands are numbers. */
export function isNumeric(type: ColumnType): boolean {
  return type !== 'text' && type !== 'boolean';
}

/** Reads one value by the rule of a column's type, after trimming it (A34, A39 to A41, A43). Cost: its length. */
export function parseValue(type: ColumnType, text: string): ValueReading<string> {
  if ((type === 'integer' || type === 'link') && isPlainDecimal(text)) return { kind: 'value', value: text };
  if (text.includes('\0')) return { kind: 'error', message: MESSAGES.nul };
  return RULES[type](text.trim());
}

/**
 * The canonical value of a stored text in a numeric column, comparable with an operand's. `undefined` if a text in a
 * date column is not a date. Only for types for which a double may not decide: integers, links and dates.
 */
export function exactValue(type: ColumnType, text: string): string | undefined {
  if (type === 'date' || type === 'dateTime') return exactInstant(text);
  return canonicalDecimal(text);
}

const WHOLE = /^[+-]?\d+(?:\.0*)?$/;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

const RULES: Readonly<Record<ColumnType, (text: string) => ValueReading<string>>> = {
  text: (text) => ({ kind: 'value', value: text }),
  boolean: (text) => ({ kind: 'value', value: isFalse(text) ? 'false' : 'true' }),
  integer: wholeNumber,
  link: wholeNumber,
  float: (text) => valueOrError(text, NUMBER.test(text) ? String(Number(text)) : undefined, MESSAGES.number),
  date: (text) => instantOf(text, 'date'),
  dateTime: (text) => instantOf(text, 'dateTime'),
};

function wholeNumber(text: string): ValueReading<string> {
  const read = valueOrError(text, WHOLE.test(text) ? canonicalDecimal(text) : undefined, MESSAGES.wholeNumber);
  return read.kind === 'error' && LINK_LIKE.test(text) ? { ...read, hints: [HINTS.link] } : read;
}

/** A link to a record, as in the responses. */
const LINK_LIKE = /\/api\/v[23]\/\w+\/\d/;

/** The truth value that a text names, by the rules of strict mode; `undefined` if it names none (A41). */
export function truthIn(text: string): boolean | undefined {
  const trimmed = text.trim();
  return TRUTH.test(trimmed) ? !isFalse(trimmed) : undefined;
}

export function isTruth(text: string): boolean {
  return truthIn(text) !== undefined;
}

const TRUTH = /^(?:true|false|0|1|)$/i;

function isFalse(text: string): boolean {
  return text === '' || text === '0' || text.toLowerCase() === 'false';
}

/** Makes a reading of a number or date. Unlike text and boolean columns, these require a value. */
function valueOrError(text: string, value: string | undefined, message: string): ValueReading<string> {
  if (value !== undefined) return { kind: 'value', value };
  return { kind: 'error', message: text === '' ? MESSAGES.required : message };
}

function instantOf(text: string, type: 'date' | 'dateTime'): ValueReading<string> {
  const read = valueOrError(text, exactInstant(text) ?? exactInstant(plainSpelling(text)), MESSAGES[type]);
  if (read.kind === 'value' || !DATE_LIKE.test(text)) return read;
  return { ...read, hints: [BLANK_ZONE.test(text.slice(-ZONE_LENGTH)) ? HINTS.plus : HINTS[type]] };
}

/** An instant as programs print it: any number of decimals, also after a comma, `t`, `z`, and `+0100` or `+01`. */
const PRINTED = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(:\d\d(?:[.,]\d+)?)?(?:([Zz])|([+-]\d\d)(?::?(\d\d))?)?$/;
/** Length of `:15.123456`: seconds with six decimals. Later decimals are below a microsecond. */
const SECONDS_LENGTH = 10;

/** The same instant in the spelling of A34, without the decimals beyond microseconds; other texts unchanged (A159). */
function plainSpelling(text: string): string {
  const match = PRINTED.exec(text);
  if (!match) return text;
  const [, day, time, seconds = '', zulu = '', hours, minutes = '00'] = match;
  const zone = hours === undefined ? zulu.toUpperCase() : `${hours}:${minutes}`;
  return `${day}T${time}${seconds.replace(',', '.').slice(0, SECONDS_LENGTH)}${zone}`;
}

/** Matches a text that was probably meant as a date: a digit near the beginning. */
const DATE_LIKE = /^\D{0,10}\d/;
/** The end of a time and a zone whose plus has become a blank. */
const BLANK_ZONE = /^[\d.:]+ \d\d(?::?\d\d)?$/;
const ZONE_LENGTH = ':00 01:00'.length;
