// What is worth doing row by row where few rows are left: checking their codes and texts, asking only what they relate
// to. Decided while planning by bounds, and again while executing by the rows that are there.
import { longestText } from '../column/dictionary.ts';
import type { FieldIndex } from '../index/field.ts';
import { rowsPerParentMax } from '../index/table.ts';
import { type ConditionStep, URL_SCAN_BYTES } from './conditionStep.ts';
import { codesOfOwnUrls } from '../query/codes.ts';
import { lookupNamed, scanCostOf } from '../query/lookups.ts';
import type { LinkStep, ManyStep } from '../query/path.ts';

/** A row check is chosen when it sees this many times less text than a scan: rows are scattered, texts neighbours. */
const ROW_CHECK_GAIN = 4;

/** Only related rows are asked where they are this many times fewer than all: finding them one by one costs more. */
const NARROWING_GAIN = 16;

/** Codes are looked up row by row where the rows are this many times fewer than those that a set is put together of. */
const CODE_CHECK_GAIN = 4;

/** Whether looking up the codes of so many rows is better than putting a set together of `gathered` rows. */
export function isWorthChecking(rows: number, gathered: number): boolean {
  return rows * CODE_CHECK_GAIN <= gathered;
}

/**
 * How much text a check of so many rows sees at most, counted as a scan is; undefined where a scan is better, being
 * about as cheap as a rule, or maybe cheaper, or where no text is searched. Cost: none; the first time a pass over the
 * ends of the texts.
 */
export function rowCheckBytes(step: ConditionStep, { dictionary }: FieldIndex, rows: number): number | undefined {
  const lookup = lookupNamed(step.lookup)!;
  if (!lookup.search) return undefined;
  const { size, text } = dictionary;
  const mean = Math.ceil(text.length / Math.max(1, size));
  if (scanCostOf(lookup, { codes: rows, bytes: rows * mean }) * ROW_CHECK_GAIN > step.scanBytes) return undefined;
  const { start, end } = codesOfOwnUrls(dictionary);
  const urls = Math.min(rows, end - start) * URL_SCAN_BYTES;
  const most = scanCostOf(lookup, { codes: rows, bytes: rows * longestText(dictionary) }) + urls;
  return most <= step.scanBytes ? most : undefined;
}

/**
 * At most how many rows are related to so many rows at hand. Cost: none; the first time a pass over a child table's
 * parents.
 */
export function relatedRowsMax(step: LinkStep | Pick<ManyStep, 'kind' | 'table'>, rows: number): number {
  return step.kind === 'many' ? rows * rowsPerParentMax(step.table) : rows;
}

/** Whether asking only the rows related to those at hand is better than asking all rows of a relation. */
export function isWorthNarrowing(related: number, all: number): boolean {
  return related * NARROWING_GAIN <= all;
}
