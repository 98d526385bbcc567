// From the text of a parameter to a lookup's operand: one value, a text, a list, two ends, a truth, a whole number. The
// rules of single values are in values.ts.
import type { ColumnType } from '../column/dictionary.ts';
import { arePlainDecimals } from './decimal.ts';
import { countParts, MEMBERS_MAX } from './limits.ts';
import { atLeastItems, atMostItems, HINTS, MESSAGES, wrongMember } from './problems.ts';
import { isNumeric, type Operand, parseValue, type ValueError, type ValueReading } from './values.ts';

/** The members of `range`. */
const ENDS = 2;

/** `YYYY-MM-DD`; every other spelling of an instant is longer. */
const DAY_LENGTH = 10;

/** One value as the column's type reads it. */
export function oneValue(type: ColumnType, text: string): ValueReading<Operand> {
  const parsed = parseValue(type, text);
  return parsed.kind === 'error' ? parsed : operandOf(type, [parsed.value]);
}

/** A text, whatever the column's type: what the text lookups compare with the JSON text of a value (A35). */
export function oneText(_type: ColumnType, text: string): ValueReading<Operand> {
  return oneValue('text', text);
}

/** A whole number, whatever the column's type: a part of a date. */
export function oneWhole(_type: ColumnType, text: string): ValueReading<Operand> {
  return oneValue('integer', text);
}

/** A day, `YYYY-MM-DD` and nothing behind it, whatever the column's type: its first instant. */
export function oneDay(_type: ColumnType, text: string): ValueReading<Operand> {
  const parsed = oneValue('date', text);
  if (parsed.kind === 'error' || text.trim().length === DAY_LENGTH) return parsed;
  return { kind: 'error', message: MESSAGES.date, hints: [HINTS.date] };
}

/** True or false, whatever the column's type (A41). */
export function truth(_type: ColumnType, text: string): ValueReading<Operand> {
  return oneValue('boolean', text);
}

/**
 * An empty list is a list without members on every type; one whose members are all bad is an error in every mode (A42),
 * as is one with too many, of which none is read (A103).
 */
export function listOfValues(type: ColumnType, text: string, isLenient: boolean): ValueReading<Operand> {
  if (text === '') return operandOf(type, []);
  const length = countParts(text, ',');
  if (length > MEMBERS_MAX) return { kind: 'error', message: atMostItems(MEMBERS_MAX, length) };
  const { values, firstError } = members(type, text);
  if (firstError && !(isLenient && values.length > 0)) return firstError;
  return operandOf(type, values);
}

/**
 * Exactly two values, both ends of a range; a bad one is an error in every mode, and found before their number (A57),
 * but in a text of more than a list may have (A103).
 */
export function twoValues(type: ColumnType, text: string): ValueReading<Operand> {
  const length = countParts(text, ',');
  if (length > MEMBERS_MAX) return { kind: 'error', message: atMostItems(ENDS, length) };
  const { values, firstError } = members(type, text);
  if (firstError) return firstError;
  if (values.length < ENDS) return { kind: 'error', message: atLeastItems(ENDS, values.length) };
  if (values.length > ENDS) return { kind: 'error', message: atMostItems(ENDS, values.length) };
  return operandOf(type, values);
}

/** Of a list as short as this anybody sees which member is meant. */
const PLAIN_MEMBERS = 5;
/** Of a member that is wrong, so much is shown. */
const SHOWN_CHARACTERS = 40;

interface Members {
  readonly values: readonly string[];
  readonly firstError: ValueError | undefined;
}

function members(type: ColumnType, text: string): Members {
  const isPlain =
    type === 'integer' || type === 'link' ? arePlainDecimals(text) : type === 'text' && !/[\s\0]/.test(text);
  // Nothing to trim or refuse: what is left is to cut it.
  if (isPlain) return { values: text.split(','), firstError: undefined };
  const values: string[] = [];
  let firstError: Members['firstError'];
  const all = text.split(',');
  for (let at = 0; at < all.length; at++) {
    const member = all[at]!;
    const parsed = parseValue(type, member);
    if (parsed.kind === 'value') values.push(parsed.value);
    else firstError ??= all.length > PLAIN_MEMBERS ? memberError(parsed, at, member) : parsed;
  }
  return { values, firstError };
}

/** What is wrong with a member, and which it is. */
function memberError(error: ValueError, at: number, member: string): ValueError {
  const shown = wrongMember(at + 1, member.trim().slice(0, SHOWN_CHARACTERS));
  return { ...error, hints: [...(error.hints ?? []), shown] };
}

function operandOf(type: ColumnType, values: readonly string[]): ValueReading<Operand> {
  return { kind: 'value', value: { kind: isNumeric(type) ? 'number' : 'text', values } };
}
