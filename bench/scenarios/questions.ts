// The questions of the load scenarios: pages, records and their rows, computed from the plain rows. Pure; the answers
// are compared by check.ts.
import assert from 'node:assert/strict';
import type { NaiveCatalogue, NaiveRow } from './naive.ts';
import { OTHER_BASE_URL } from '../processes/processes.ts';
import type { ScenarioQuestion } from './scenario.ts';

/** The page size of the promises. */
export const LIMIT = 100;
/** The offset of the promise; in a smaller catalogue, the last whole page. */
const DEEP_OFFSET = 90_000;
/** Pages that a scenario takes in turn where they may be in the cache: enough that their sizes even out. */
export const NEAR_PAGES = 8;
/** Pages taken in turn where they may not be: 70 MB, more than a cache holds. */
const FAR_PAGES = 200;

/** Where the pages of the bench are. */
export const LIST = '/api/v3/observations/';

/** The rows that about a third of a catalogue is: scattered, dense. */
export function citable({ rows }: NaiveCatalogue): readonly NaiveRow[] {
  return rows.filter(({ publicationState }) => publicationState === 'citable');
}

/** The deep offset of the promise, or the one at which the last `pageRows` rows begin. */
export function deepOffset(rows: number, pageRows: number): number {
  return Math.max(0, Math.min(DEEP_OFFSET, rows - pageRows));
}

/** Whole pages one after the other, at least one page, whole or not. */
export function pagesFrom(
  rows: readonly NaiveRow[],
  filter: string,
  offset: number,
  pages: number,
): readonly ScenarioQuestion[] {
  const whole = Math.max(1, Math.min(pages, Math.floor((rows.length - offset) / LIMIT)));
  return Array.from({ length: whole }, (_, i) => pageOf(rows, filter, offset + i * LIMIT));
}

/** Whole pages evenly over the list, in an order in which no two follow each other. */
export function pagesAllOver(rows: readonly NaiveRow[], filter: string): readonly ScenarioQuestion[] {
  const whole = Math.max(1, Math.floor(rows.length / LIMIT));
  const pages = Math.min(FAR_PAGES, whole);
  return Array.from({ length: pages }, (_, i) => {
    const place = (i % 2) * Math.ceil(pages / 2) + Math.floor(i / 2);
    return pageOf(rows, filter, Math.floor((place * whole) / pages) * LIMIT);
  });
}

/** One page of rows under a filter, which ends in `&` where there is one. */
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

/** The same question asked of v2. */
export function inV2(question: ScenarioQuestion): ScenarioQuestion {
  return { ...question, version: 'v2', target: question.target.replace('/v3/', '/v2/') };
}

/** The same question of a client that chooses the other base URL. */
export function underOtherBaseUrl(question: ScenarioQuestion): ScenarioQuestion {
  return { ...question, headers: { Host: new URL(OTHER_BASE_URL).host }, baseUrl: OTHER_BASE_URL };
}

/** The same list as a page for people, whose count is that of the filtered list beside that of all. */
export function inTable(question: ScenarioQuestion, { rows: { length: all } }: NaiveCatalogue): ScenarioQuestion {
  const { target, expected } = question;
  assert(expected.kind === 'page');
  const { count, rows } = expected;
  const path = target.replace(`${LIST}?format=api&`, '/browse/observations/?');
  return { ...question, target: path, expected: { kind: 'table', count, all, rows } };
}

/** The same question of a client that takes gzip. */
export function gzipped(question: ScenarioQuestion): ScenarioQuestion {
  return { ...question, isGzipped: true };
}

/** The row whose record is nearest to so many bytes. */
export function rowOfBytes(rows: readonly NaiveRow[], bytes: number): NaiveRow {
  const distance = (row: NaiveRow): number => Math.abs(row.end - row.start - bytes);
  return rows.reduce((best, row) => (distance(row) < distance(best) ? row : best));
}

/** A page of one record near an offset, of about the bytes of the first record. */
export function nearestInBytes(rows: readonly NaiveRow[], offset: number): ScenarioQuestion {
  const first = rows[0]!;
  const near = rows.slice(offset, offset + LIMIT);
  const chosen = rowOfBytes(near, first.end - first.start);
  return pageOf(rows, '', offset + near.indexOf(chosen), 1);
}

/** So many rows evenly over all. */
export function everyNth(rows: readonly NaiveRow[], count: number): readonly NaiveRow[] {
  const step = Math.max(1, Math.floor(rows.length / count));
  return rows.filter((_, i) => i % step === 0).slice(0, count);
}
