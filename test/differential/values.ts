// The oracle's parsing of one filter value, and its equality with one JSON value of a record. Messages are those of the
// design page, Parameters and Filters.
import type { ScalarType } from '../../engine/schema/types.ts';
import type { Json } from './json.ts';

/** The type at the end of a key: a scalar's type, or `id` for a link or relation. */
export type OperandType = ScalarType | 'id';
/** Whether one JSON value of a record fits; a null or absent value never does. `text` gives a string as served. */
export type Test = (value: Json | undefined, text: (stored: string) => string) => boolean;

/** A test, or the error message of the value, with further hints. */
export type Parsed = { readonly test: Test } | { readonly message: string; readonly hints?: readonly string[] };

/** The error of a value that contains NUL. */
export const NUL: Parsed = { message: 'Null characters are not allowed.' };
/** The error of an empty number, date or pattern. */
export const REQUIRED: Parsed = { message: 'This field is required.' };

/** The test of equality with a raw (decoded) value, as the type reads it. */
export function parseExact(type: OperandType, raw: string): Parsed {
  if (raw.includes('\0')) return NUL;
  const operand = raw.trim();
  switch (type) {
    case 'text':
      return { test: (value, text) => jsonText(value, text) === operand };
    case 'boolean': {
      const wanted = !['', '0', 'false'].includes(operand.toLowerCase());
      return { test: (value) => value?.kind === 'boolean' && value.value === wanted };
    }
    case 'date':
    case 'dateTime':
      return parseInstant(type, operand);
    case 'float':
      return parseFloating(operand);
    case 'integer':
    case 'id':
      return parseInteger(operand);
  }
}

function parseInteger(operand: string): Parsed {
  if (operand === '') return REQUIRED;
  const digits = /^([+-]?\d+)(?:\.0*)?$/.exec(operand)?.[1];
  if (digits === undefined) {
    const isLink = /\/api\/v[23]\/\w+\/\d/.test(operand);
    const hints = isLink ? ['Write the id of the record, the number at the end of its link.'] : [];
    return { message: 'Enter a whole number.', hints };
  }
  const wanted = BigInt(digits.replace('+', ''));
  return { test: (value) => integerIn(value) === wanted };
}

function parseFloating(operand: string): Parsed {
  if (operand === '') return REQUIRED;
  if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(operand)) return { message: 'Enter a number.' };
  return { test: (value) => value?.kind === 'number' && Number(value.token) === Number(operand) };
}

function parseInstant(type: 'date' | 'dateTime', operand: string): Parsed {
  if (operand === '') return REQUIRED;
  const wanted = instantInFilter(operand);
  if (wanted === undefined) {
    const message = type === 'date' ? 'Enter a valid date.' : 'Enter a valid date/time.';
    const time = type === 'date' ? '' : ', a time as 2020-01-31T12:30:00Z';
    const isMeant = /^[^0-9]{0,10}[0-9]/.test(operand);
    if (!isMeant) return { message };
    if (/^[\d:.]+ \d\d(:?\d\d)?$/.test(operand.slice(-9))) {
      return { message, hints: ['A plus in a URL is a blank: write it as %2B.'] };
    }
    return { message, hints: [`Write a date as 2020-01-31${time}.`] };
  }
  return { test: (value) => value?.kind === 'string' && instantOf(value.value) === wanted };
}

/** A number's integer, or the id of a link: the last number in it. */
function integerIn(value: Json | undefined): bigint | undefined {
  if (value?.kind === 'number') return /^-?\d+$/.test(value.token) ? BigInt(value.token) : undefined;
  const digits = value?.kind === 'string' ? /(\d+)\/?(?:\?.*)?$/.exec(value.value)?.[1] : undefined;
  return digits === undefined ? undefined : BigInt(digits);
}

/** The text that text lookups compare: of a misfit its stored text; undefined for null. */
export function lookedUpText(value: Json | undefined, text: (stored: string) => string): string | undefined {
  return value?.kind === 'misfit' ? text(value.text) : jsonText(value, text);
}

/** The text of a value: a string as served, the JSON text of numbers and booleans; undefined for null and misfits. */
export function jsonText(value: Json | undefined, text: (stored: string) => string): string | undefined {
  if (value?.kind === 'string') return text(value.value);
  if (value?.kind === 'number') return value.token;
  return value?.kind === 'boolean' ? String(value.value) : undefined;
}

/** The instant of an operand, which may have spellings that data may not have (A159). */
export function instantInFilter(operand: string): bigint | undefined {
  return instantOf(operand) ?? instantOf(written(operand));
}

/** An operand of another spelling as the data would write it: microseconds, `T`, `Z`, a zone with minutes. */
function written(operand: string): string {
  const decimals = operand.replace(/,(?=\d)/, '.').replace(/(:\d\d\.\d{6})\d+/, '$1');
  const zulu = decimals.replace('t', 'T').replace(/z$/, 'Z');
  return zulu.replace(/(:\d\d(?:\.\d+)?[+-]\d\d)(\d\d)?$/, (_, hours: string, minutes = '00') => `${hours}:${minutes}`);
}

const INSTANT = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?)?(?:(Z)|([+-])(\d\d):(\d\d))?$/;

/** Microseconds since 1970, undefined for an invalid date. A missing time is midnight, a missing zone is UTC. */
export function instantOf(text: string): bigint | undefined {
  const match = INSTANT.exec(text);
  if (!match) return undefined;
  const part = (i: number): number => Number(match[i] ?? 0);
  const [year, month, day, hour, minute, second] = [1, 2, 3, 4, 5, 6].map(part) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  // An invalid day or hour rolls over into another one.
  const written = `${match[1]}-${match[2]}-${match[3]} ${hour}:${minute}:${second}`;
  const read = `${date.toISOString().slice(0, 10)} ${date.getUTCHours()}:${date.getUTCMinutes()}:${date.getUTCSeconds()}`;
  if (written !== read || part(10) > 23 || part(11) > 59) return undefined;
  const zoneMinutes = (match[9] === '-' ? -1 : 1) * (part(10) * 60 + part(11));
  const milliseconds = BigInt(date.getTime() - zoneMinutes * 60_000);
  return milliseconds * 1000n + BigInt((match[7] ?? '').padEnd(6, '0'));
}

/** Whether a text spells a boolean, in any case; an empty one means false. */
export function isTruth(text: string): boolean {
  return ['true', 'false', '1', '0', ''].includes(text.trim().toLowerCase());
}

/** Whether a switch is on. */
export function isOn(text: string): boolean {
  return ['true', '1'].includes(text.trim().toLowerCase());
}
