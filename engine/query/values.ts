// Values of filters: from the client's text to an operand, plain data that any thread can be sent. One rule per column
// type; knows no dictionary and no lookup.
import type { ColumnType } from '../column/dictionary.ts';
import { canonicalDecimal, exactInstant, isPlainDecimal } from './decimal.ts';
import { HINTS, MESSAGES } from './problems.ts';

/**
 * What a lookup compares with: texts as served, or numbers. Numbers are decimal tokens, since JSON has no integer
 * beyond 2^53: for integers and links in canonical form (decimal.ts), for floats as JavaScript prints the double, for
 * dates the instant in whole microseconds. `exact` and its kin have one value, `in` any number, 0 included.
 */
export interface Operand {
  readonly kind: 'text' | 'number';
  readonly values: readonly string[];
}

/** A value that could be read, or the message for the client, with what is said beside it. */
export type ValueReading<T> = { readonly kind: 'value'; readonly value: T } | ValueError;

/** Why a value could not be read. */
export interface ValueError {
  readonly kind: 'error';
  readonly message: string;
  readonly hints?: readonly string[];
}

/** Whether values of this type compare as numbers, so that an operand of them is one of numbers. */
export function isNumeric(type: ColumnType): boolean {
  return type !== 'text' && type !== 'boolean';
}

/**
 * One value as a column's type reads it: trimmed, then by the rule of the type (A34, A39 to A41, A43). Cost: its
 * length.
 */
export function parseValue(type: ColumnType, text: string): ValueReading<string> {
  if ((type === 'integer' || type === 'link') && isPlainDecimal(text)) return { kind: 'value', value: text };
  if (text.includes('\0')) return { kind: 'error', message: MESSAGES.nul };
  return RULES[type](text.trim());
}

/**
 * The canonical value of a stored text of a numeric column, to be compared with an operand's; undefined for a date
 * column's text that is no date. Only where doubles do not decide: integers, links and dates.
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
  float: (text) => found(text, NUMBER.test(text) ? String(Number(text)) : undefined, MESSAGES.number),
  date: (text) => instantOf(text, 'date'),
  dateTime: (text) => instantOf(text, 'dateTime'),
};

function wholeNumber(text: string): ValueReading<string> {
  const read = found(text, WHOLE.test(text) ? canonicalDecimal(text) : undefined, MESSAGES.wholeNumber);
  return read.kind === 'error' && LINK_LIKE.test(text) ? { ...read, hints: [HINTS.link] } : read;
}

/** The link of a record, as records have it. */
const LINK_LIKE = /\/api\/v[23]\/\w+\/\d/;

/** The truth that a text says by its name or number, as strict mode wants it; undefined where it says none (A41). */
export function truthIn(text: string): boolean | undefined {
  const trimmed = text.trim();
  return TRUTH.test(trimmed) ? !isFalse(trimmed) : undefined;
}

/** Whether a text says a truth so. */
export function isTruth(text: string): boolean {
  return truthIn(text) !== undefined;
}

const TRUTH = /^(?:true|false|0|1|)$/i;

function isFalse(text: string): boolean {
  return text === '' || text === '0' || text.toLowerCase() === 'false';
}

/** Text and booleans have a meaning for the empty text; numbers and dates ask for one. */
function found(text: string, value: string | undefined, message: string): ValueReading<string> {
  if (value !== undefined) return { kind: 'value', value };
  return { kind: 'error', message: text === '' ? MESSAGES.required : message };
}

function instantOf(text: string, type: 'date' | 'dateTime'): ValueReading<string> {
  const read = found(text, exactInstant(text), MESSAGES[type]);
  if (read.kind === 'value' || !DATE_LIKE.test(text)) return read;
  return { ...read, hints: [BLANK_ZONE.test(text.slice(-ZONE_LENGTH)) ? HINTS.plus : HINTS[type]] };
}

/** What a date is meant by: a number near the beginning. */
const DATE_LIKE = /^\D{0,10}\d/;
/** The end of a time and a zone, with a blank where its plus was. */
const BLANK_ZONE = /^[\d.:]+ \d\d:?\d\d$/;
const ZONE_LENGTH = ':00 01:00'.length;
