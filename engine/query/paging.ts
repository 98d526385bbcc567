// The parameters that say which page of a list is wanted: limit, offset and after, and the formats of exports, which
// have no pages. A limit or an offset has a value for every text; an id that is none is refused.
import { notTogether } from './problems.ts';
import type { Reading } from './reading.ts';
import { parseValue } from './values.ts';

/** The formats that give all rows where no limit is set, without an envelope (A62). */
export type ExportFormat = 'ndjson' | 'csv';

/** What a number of more than `DIGITS_MAX` digits counts as: exact in a double, beyond every list (A21). */
const NUMBER_MAX = 999_999_999_999_999;
const DIGITS_MAX = 15;
/** The digits behind leading zeros. They start with none of these, or long runs of zeros would take quadratic time. */
const WHOLE = /^\+?0*([1-9]\d*)$/;

/** The export that a format means, or undefined. Source: A62. */
export function exportOf(format: string | undefined): ExportFormat | undefined {
  return format === 'ndjson' || format === 'csv' ? format : undefined;
}

/** The format: an empty one is none; that of an export gives all rows. Source: A26, A62. */
export function readFormat({ page }: Reading, value: string): void {
  page.format = value || undefined;
  if (exportOf(value)) page.limit = NUMBER_MAX;
}

/** The page size: a positive integer, bounded unless it is an export's; else it stays. Source: A19, A21, A62. */
export function readLimit({ page, options }: Reading, value: string): void {
  const asked = wholeOf(value);
  if (asked > 0) page.limit = exportOf(page.format) ? asked : Math.min(asked, options.limitMax ?? asked);
}

/** The first row of the page: an integer from 0, else 0. Source: A20, A21. */
export function readOffset({ page }: Reading, value: string): void {
  page.offset = wholeOf(value);
}

/**
 * An id after which to start. It is a place in a list by id, so that it goes with no other place and no other order.
 * Source: A66.
 */
export function readAfter(reading: Reading, value: string, at: number): void {
  const parsed = parseValue('integer', value);
  const messages = parsed.kind === 'error' ? [parsed.message] : [];
  for (const other of ['ordering', 'offset']) if (reading.isGiven(other)) messages.push(notTogether(other));
  reading.refuse(at, messages);
  if (parsed.kind !== 'error') reading.page.after = Number(parsed.value);
}

const ZERO = 0x30;

/**
 * The integer that a text means, 0 where it means none. Cost: its length; a few digits, as most are, take no pattern.
 */
function wholeOf(text: string): number {
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
