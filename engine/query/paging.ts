// The parameters that are no filters and name no field: limit, offset, format and strict. Each has a value for every
// text; none is refused.
import type { Parameter } from './form.ts';

/** Parameters of lists that are there only where a setting says so (A68, A69). */
export interface ExtraParameters {
  readonly mayExplain?: boolean;
  readonly pinsWalks?: boolean;
}

/** The parameter that asks how a list was found (A68). */
const EXPLAIN_PARAMETER = 'explain';

/** The parameter that names the generation of the data that a walk has begun in (A69). */
const GENERATION_PARAMETER = 'generation';

/** The names of a list's own parameters (spec 4.2, A27). */
const LIST_PARAMETERS: readonly string[] = [
  'format',
  'strict',
  'limit',
  'offset',
  'fields',
  'ordering',
  'after',
  'facets',
];

/** The names of a list's own parameters under a configuration. Cost: none without extra ones. */
export function listParameters({ mayExplain = false, pinsWalks = false }: ExtraParameters): readonly string[] {
  if (!mayExplain && !pinsWalks) return LIST_PARAMETERS;
  return [...LIST_PARAMETERS, ...(mayExplain ? [EXPLAIN_PARAMETER] : []), ...(pinsWalks ? [GENERATION_PARAMETER] : [])];
}

/** The names that single records heed (A25). */
export const RECORD_PARAMETERS: readonly string[] = ['format', 'strict', 'fields'];

/** The names that views without records heed (A25). */
export const VIEW_PARAMETERS: readonly string[] = ['format', 'strict'];

/** The formats that give all rows where no limit is set, without an envelope (A62). */
const EXPORT_FORMATS: readonly (string | undefined)[] = ['ndjson', 'csv'];

/** What a number of more than `DIGITS_MAX` digits counts as: exact in a double, beyond every list (A21). */
const NUMBER_MAX = 999_999_999_999_999;
const DIGITS_MAX = 15;
/** The digits behind leading zeros. They start with none of these, or long runs of zeros would take quadratic time. */
const WHOLE = /^\+?0*([1-9]\d*)$/;

/** Where a parameter stands last, or -1. Cost: one pass. */
export function lastPlaceOf(parameters: readonly Parameter[], name: string): number {
  for (let i = parameters.length - 1; i >= 0; i--) if (parameters[i]![0] === name) return i;
  return -1;
}

/** Parameters of a list that only say which page is wanted, in which format and how strictly. */
export function isPaging(name: string): boolean {
  return name === 'offset' || name === 'limit' || name === 'format' || name === 'strict';
}

/** Whether a parameter is there, with any value. Cost: one pass. */
export function isGiven(parameters: readonly Parameter[], name: string): boolean {
  return lastPlaceOf(parameters, name) >= 0;
}

/**
 * The members of the comma-separated value at a place, trimmed; empty ones say nothing. No place has none. Cost: the
 * value.
 */
export function namesAt(parameters: readonly Parameter[], place: number): readonly string[] {
  const text = parameters[place]?.[1] ?? '';
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** The last value of a parameter, or undefined. Cost: one pass. */
function lastOf(parameters: readonly Parameter[], name: string): string | undefined {
  return parameters[lastPlaceOf(parameters, name)]?.[1];
}

/**
 * The page size: a positive integer, else the default, and at most `max` where there is one; of an export the limit
 * asked for, else all rows. Source: A19, A21, A62.
 */
export function limitOf(parameters: readonly Parameter[], defaultLimit: number, max: number | undefined): number {
  const asked = wholeOf(lastOf(parameters, 'limit'));
  if (isExport(parameters)) return asked > 0 ? asked : NUMBER_MAX;
  const limit = asked > 0 ? asked : defaultLimit;
  return max === undefined ? limit : Math.min(limit, max);
}

/** The first row of the page: an integer from 0, else 0. Source: A20, A21. */
export function offsetOf(parameters: readonly Parameter[]): number {
  return wholeOf(lastOf(parameters, 'offset'));
}

/** The format asked for, or undefined when none or an empty one is. Source: A26. */
export function formatOf(parameters: readonly Parameter[]): string | undefined {
  return lastOf(parameters, 'format') || undefined;
}

/** Whether the request asks for an export, which has no envelope. Source: A62. */
export function isExport(parameters: readonly Parameter[]): boolean {
  return EXPORT_FORMATS.includes(formatOf(parameters));
}

/** Whether the request asks for strict answers. Source: A27. */
export function isStrictAsked(parameters: readonly Parameter[]): boolean {
  return isSwitchedOn(parameters, 'strict');
}

/** Whether the request asks how its list is found, which it may. Source: A68. */
export function isExplainAsked(parameters: readonly Parameter[], { mayExplain = false }: ExtraParameters): boolean {
  return mayExplain && isSwitchedOn(parameters, EXPLAIN_PARAMETER);
}

/** The generation that the request names, trimmed; undefined where it names none, or none is heeded. Source: A69. */
export function generationOf(
  parameters: readonly Parameter[],
  { pinsWalks = false }: ExtraParameters,
): string | undefined {
  return (pinsWalks && lastOf(parameters, GENERATION_PARAMETER)?.trim()) || undefined;
}

function isSwitchedOn(parameters: readonly Parameter[], name: string): boolean {
  const value = lastOf(parameters, name);
  return value === '1' || value === 'true';
}

const ZERO = 0x30;

/**
 * The integer that a text means, 0 where it means none. Cost: its length; a few digits, as most are, take no pattern.
 */
function wholeOf(text: string | undefined): number {
  if (text === undefined) return 0;
  if (text.length > DIGITS_MAX) return unusualWholeOf(text);
  let whole = 0;
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - ZERO;
    if (!(digit >= 0 && digit <= 9)) return unusualWholeOf(text);
    whole = whole * 10 + digit;
  }
  return whole;
}

function unusualWholeOf(text: string): number {
  const digits = WHOLE.exec(text.trim())?.[1];
  if (digits === undefined) return 0;
  return digits.length > DIGITS_MAX ? NUMBER_MAX : Number(digits);
}
