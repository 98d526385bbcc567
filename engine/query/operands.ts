// Reads a lookup's operand from the text of a parameter: one value, a text, a list, two ends, a truth value, a whole
// number. values.ts has the rules of single values.
import type { ColumnType } from '../column/dictionary.ts';
import { arePlainDecimals } from './decimal.ts';
import { countParts, MEMBERS_MAX } from './limits.ts';
import { atLeastItems, atMostItems, HINTS, MESSAGES, wrongMember } from './problems.ts';
import { isNumeric, type Operand, parseValue, type ValueError, type ValueReading } from './values.ts';

/** Number of members of `range`. */
const ENDS = 2;

/** Length of `YYYY-MM-DD`; every other spelling of an instant is longer. */
export const DAY_LENGTH = 10;

/** One value, read by the rules of the column's type. */
export function oneValue(type: ColumnType, text: string): ValueReading<Operand> {
  const parsed = parseValue(type, text);
  return parsed.kind === 'error' ? parsed : operandOf(type, [parsed.value]);
}

/** A text, whatever the column's type. Text lookups compare it with the JSON text of a value (A35). */
export function oneText(_type: ColumnType, text: string): ValueReading<Operand> {
  return oneValue('text', text);
}

/** A whole number, whatever the column's type, for a part of a date. */
export function oneWhole(_type: ColumnType, text: string): ValueReading<Operand> {
  return oneValue('integer', text);
}

/** The first instant of a day, whatever the column's type. Accepts only `YYYY-MM-DD`. */
export function oneDay(_type: ColumnType, text: string): ValueReading<Operand> {
  const parsed = oneValue('date', text);
  if (parsed.kind === 'error' || text.trim().length === DAY_LENGTH) return parsed;
  return { kind: 'error', message: MESSAGES.date, hints: [HINTS.date] };
}

export function truth(_type: ColumnType, text: string): ValueReading<Operand> {
  return oneValue('boolean', text);
}

/**
 * A list of values. The empty text is an empty list for every type. A list without any good member is an error in every
 * mode (A42). So is a list with too many members, none of which is read (A103).
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
 * Both ends of a range: exactly two values. A bad value is an error in every mode, reported before a wrong number of
 * values (A57). Only a text with more members than a list may have is rejected unread (A103).
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

/** Characters of a wrong member that an error shows. */
const SHOWN_CHARACTERS = 40;

interface Members {
  readonly values: readonly string[];
  readonly firstError: ValueError | undefined;
}

function members(type: ColumnType, text: string): Members {
  const isPlain =
    type === 'integer' || type === 'link' ? arePlainDecimals(text) : type === 'text' && !/[\s\0]/.test(text);
  // Nothing to trim or reject: splitting is enough.
  if (isPlain) return { values: text.split(','), firstError: undefined };
  const values: string[] = [];
  let firstError: Members['firstError'];
  const all = text.split(',');
  for (let at = 0; at < all.length; at++) {
    const member = all[at]!;
    const parsed = parseValue(type, member);
    if (parsed.kind === 'value') values.push(parsed.value);
    else firstError ??= all.length > 1 ? memberError(parsed, at, member) : parsed;
  }
  return { values, firstError };
}

/** The error of a member, with its position and its text. */
function memberError(error: ValueError, at: number, member: string): ValueError {
  const shown = wrongMember(at + 1, member.trim().slice(0, SHOWN_CHARACTERS));
  return { ...error, hints: [...(error.hints ?? []), shown] };
}

function operandOf(type: ColumnType, values: readonly string[]): ValueReading<Operand> {
  return { kind: 'value', value: { kind: isNumeric(type) ? 'number' : 'text', values } };
}
