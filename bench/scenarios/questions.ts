// The questions of the load scenarios: pages, records and their rows, computed from the plain rows. Pure. check.ts
// compares the responses.
import assert from 'node:assert/strict';
import type { NaiveCatalogue, NaiveRow } from './naive.ts';
import { OTHER_BASE_URL } from '../processes/processes.ts';
import type { ScenarioQuestion } from './scenario.ts';

/** The page size in the design's promises. */
export const LIMIT = 100;
/** The offset in the design's promise. In a smaller catalogue, that of the last whole page. */
const DEEP_OFFSET = 90_000;
/**
 * Number of pages that a scenario requests in turn if responses may be cached. It is large enough to even out their
 * sizes.
 */
export const NEAR_PAGES = 8;
/** Pages requested in turn if they must not be in the cache: 70 MB, more than a cache holds. */
const FAR_PAGES = 200;

/** Path of the pages. */
export const LIST = '/api/v3/observations/';

/** Rows that are about a third of a catalogue: scattered, dense. */
export function citable({ rows }: NaiveCatalogue): readonly NaiveRow[] {
  return rows.filter(({ publicationState }) => publicationState === 'citable');
}

/** The deep offset of the promise, or the start of the last `pageRows` rows. */
export function deepOffset(rows: number, pageRows: number): number {
  return Math.max(0, Math.min(DEEP_OFFSET, rows - pageRows));
}

/** Whole pages one after the other; at least one page, whole or not. */
export function pagesFrom(
  rows: readonly NaiveRow[],
  filter: string,
  offset: number,
  pages: number,
): readonly ScenarioQuestion[] {
  const whole = Math.max(1, Math.min(pages, Math.floor((rows.length - offset) / LIMIT)));
  return Array.from({ length: whole }, (_, i) => pageOf(rows, filter, offset + i * LIMIT));
}

/** Whole pages spread evenly over the list, in an order in which no two are neighbours. */
export function pagesAllOver(rows: readonly NaiveRow[], filter: string): readonly ScenarioQuestion[] {
  const whole = Math.max(1, Math.floor(rows.length / LIMIT));
  const pages = Math.min(FAR_PAGES, whole);
  return Array.from({ length: pages }, (_, i) => {
    const place = (i % 2) * Math.ceil(pages / 2) + Math.floor(i / 2);
    return pageOf(rows, filter, Math.floor((place * whole) / pages) * LIMIT);
  });
}

/** One page of rows under a filter. A filter that is not empty ends in `&`. */
export function pageOf(rows: readonly NaiveRow[], filter: string, offset: number, limit = LIMIT): ScenarioQuestion {
  const end = offset + limit;
  const paging = `${limit === LIMIT ? '' : `limit=${limit}&`}offset=${offset}`;
  return {
    target: `${LIST}?format=api&${filter}${paging}`,
    status: 200,
    version: 'v3',
    expected: { kind: 'page', count: rows.length, hasNext: end < rows.length, rows: rows.slice(offset, end) },
  };
}

/** A single record. */
export function recordOf(row: NaiveRow): ScenarioQuestion {
  return { target: `${LIST}${row.id}/`, status: 200, version: 'v3', expected: { kind: 'record', row } };
}

/** The same question in v2. */
export function inV2(question: ScenarioQuestion): ScenarioQuestion {
  return { ...question, version: 'v2', target: question.target.replace('/v3/', '/v2/') };
}

/** The same question from a client that selects the other base URL. */
export function underOtherBaseUrl(question: ScenarioQuestion): ScenarioQuestion {
  return { ...question, headers: { Host: new URL(OTHER_BASE_URL).host }, baseUrl: OTHER_BASE_URL };
}

/** The same list as an HTML page, which shows the count of the filtered list and of all. */
export function inTable(question: ScenarioQuestion, { rows: { length: all } }: NaiveCatalogue): ScenarioQuestion {
  const { target, expected } = question;
  assert(expected.kind === 'page');
  const { count, rows } = expected;
  const path = target.replace(`${LIST}?format=api&`, '/browse/observations/?');
  return { ...question, target: path, expected: { kind: 'table', count, all, rows } };
}

/** The same question from a client that accepts gzip. */
export function gzipped(question: ScenarioQuestion): ScenarioQuestion {
  return { ...question, isGzipped: true };
}

/** The row whose record is closest to this many bytes. */
export function rowOfBytes(rows: readonly NaiveRow[], bytes: number): NaiveRow {
  const distance = (row: NaiveRow): number => Math.abs(row.end - row.start - bytes);
  return rows.reduce((best, row) => (distance(row) < distance(best) ? row : best));
}

/** A page of one record near an offset, with about the bytes of the first record. */
export function nearestInBytes(rows: readonly NaiveRow[], offset: number): ScenarioQuestion {
  const first = rows[0]!;
  const near = rows.slice(offset, offset + LIMIT);
  const chosen = rowOfBytes(near, first.end - first.start);
  return pageOf(rows, '', offset + near.indexOf(chosen), 1);
}

/** This many rows spread evenly over all. */
export function everyNth(rows: readonly NaiveRow[], count: number): readonly NaiveRow[] {
  const step = Math.max(1, Math.floor(rows.length / count));
  return rows.filter((_, i) => i % step === 0).slice(0, count);
}
