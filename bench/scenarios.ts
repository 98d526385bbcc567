// The load scenarios as a table: what is asked, what the answer must be, and which control the cost is divided by.
// Targets are those of the design's performance table; what to ask is computed from the plain rows. Measures nothing.
import type { NaiveCatalogue, NaiveRow } from './naive.ts';

/**
 * What a scenario's cost is divided by. `bare`: 300 bytes. `page`: one view of as many bytes for each question, the same
 * every time, so as much in the cache as its pages are. `floor`: one view of as many bytes that is not in the cache. `scan`:
 * one pass over all titles. A scenario of that name: what that costs, a byte each, since no two pages are of one size; or a
 * request each, where the same pages are asked for in another form.
 */
export type Control =
  'bare' | 'page' | 'floor' | 'scan' | { readonly scenario: string; readonly each: 'byte' | 'request' };

/** The rows an answer must hold: `record` alone, or a page of a list of `count` records with a next page or none. */
export type Expected =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'record'; readonly row: NaiveRow }
  | { readonly kind: 'page'; readonly count: number; readonly hasNext: boolean; readonly rows: readonly NaiveRow[] };

/**
 * One request of a scenario and what must come back. With `isRevalidated` it is measured as the request of a client that has
 * this answer already, and must get a 304; with `isGzipped` as that of one that takes gzip, and must get it.
 */
export interface Question {
  readonly target: string;
  readonly status: number;
  readonly isRevalidated?: boolean;
  readonly isGzipped?: boolean;
  readonly version: 'v2' | 'v3';
  readonly expected: Expected;
}

/**
 * One scenario. `requests` is how many a round takes, enough for 30 ms of CPU. `pass` and `great` are the ratios of the
 * design. Where `pass` is not reached yet, `guard` is the ratio that may not be passed any more, and says why.
 */
export interface Scenario {
  readonly name: string;
  readonly what: string;
  readonly control: Control;
  readonly requests: number;
  readonly pass: number;
  readonly great: number;
  readonly guard?: { readonly ratio: number; readonly reason: string };
  questions(choice: Choice): readonly Question[];
}

/** What scenarios choose from: the rows, and a word and a prefix of titles that fit their purpose. */
export interface Choice {
  readonly catalogue: NaiveCatalogue;
  readonly word: string;
  readonly prefix: string;
}

const LIMIT = 100;
/** The offset of the promise; in a smaller catalogue, the last whole page. */
const DEEP_OFFSET = 90_000;
/** Pages that a scenario takes in turn where they may be in the cache: enough that their sizes even out. */
const NEAR_PAGES = 8;
/** Pages taken in turn where they may not be: 70 MB, more than a cache holds. */
const FAR_PAGES = 200;
const RECORD_BYTES = 4096;
const IN_VALUES = 100;

const LIST = '/api/v3/observations/';

/** All load scenarios, in the order in which they are measured and told. */
export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'tiny',
    what: 'a 404',
    control: 'bare',
    requests: 6000,
    pass: 1.5,
    great: 1.25,
    questions: () => [
      { target: `${LIST}999999999/`, status: 404, version: 'v3', expected: { kind: 'text', text: NOT_FOUND } },
    ],
  },
  {
    name: '304',
    what: 'pages of 100 that the client has already',
    control: 'bare',
    requests: 6000,
    pass: 1.5,
    great: 1.25,
    questions: ({ catalogue }) =>
      pagesAllOver(catalogue.rows, '').map((question) => ({ ...question, isRevalidated: true })),
  },
  {
    name: 'record',
    what: 'a record of 4 KB',
    control: 'bare',
    requests: 6000,
    pass: 3,
    great: 2.2,
    questions: ({ catalogue }) => [recordOf(rowOfBytes(catalogue.rows, RECORD_BYTES))],
  },
  {
    name: 'list',
    what: 'first pages of 100',
    control: 'page',
    requests: 1200,
    pass: 1.5,
    great: 1.15,
    questions: ({ catalogue }) => pagesFrom(catalogue.rows, '', 0, NEAR_PAGES),
  },
  {
    name: 'walk',
    what: 'pages of 100 all over the list',
    control: 'floor',
    requests: 1200,
    pass: 1.5,
    great: 1.15,
    questions: ({ catalogue }) => pagesAllOver(catalogue.rows, ''),
  },
  {
    name: 'gzip',
    what: 'first pages of 100, gzip',
    control: { scenario: 'list', each: 'request' },
    requests: 1200,
    pass: 1,
    great: 0.6,
    questions: ({ catalogue }) => pagesFrom(catalogue.rows, '', 0, NEAR_PAGES).map(gzipped),
  },
  {
    name: 'offset',
    what: 'pages of 100 from offset 90,000',
    control: { scenario: 'list', each: 'byte' },
    requests: 1200,
    pass: 1.1,
    great: 1.03,
    questions: ({ catalogue: { rows } }) =>
      pagesFrom(rows, '', deepOffset(rows.length, LIMIT * NEAR_PAGES), NEAR_PAGES),
  },
  {
    name: 'first',
    what: 'the first record as a page of 1',
    control: 'bare',
    requests: 6000,
    pass: 3,
    great: 2.2,
    questions: ({ catalogue: { rows } }) => [pageOf(rows, '', 0, 1)],
  },
  {
    name: 'deep',
    what: 'one record as a page, at offset 90,000',
    control: { scenario: 'first', each: 'byte' },
    requests: 6000,
    pass: 1.1,
    great: 1.03,
    questions: ({ catalogue: { rows } }) => [nearestInBytes(rows, deepOffset(rows.length, 1))],
  },
  {
    name: 'equality',
    what: 'publicationState=citable, first pages',
    control: { scenario: 'list', each: 'byte' },
    requests: 400,
    pass: 1.3,
    great: 1.05,
    questions: ({ catalogue }) => pagesFrom(citable(catalogue), 'publicationState=citable&', 0, NEAR_PAGES),
  },
  {
    name: 'scattered',
    what: 'publicationState=citable, pages all over the list',
    control: 'floor',
    requests: 400,
    pass: 2.2,
    great: 1.75,
    questions: ({ catalogue }) => pagesAllOver(citable(catalogue), 'publicationState=citable&'),
  },
  {
    name: 'gzipEquality',
    what: 'publicationState=citable, first pages, gzip',
    control: { scenario: 'equality', each: 'request' },
    requests: 400,
    pass: 1,
    great: 0.6,
    questions: ({ catalogue }) =>
      pagesFrom(citable(catalogue), 'publicationState=citable&', 0, NEAR_PAGES).map(gzipped),
  },
  {
    name: 'in',
    what: 'ob_id__in= of 100 ids',
    control: 'page',
    requests: 300,
    pass: 2.2,
    great: 1.75,
    questions: ({ catalogue: { rows } }) => {
      const chosen = everyNth(rows, IN_VALUES);
      return [pageOf(chosen, `ob_id__in=${chosen.map(({ id }) => id).join(',')}&`, 0)];
    },
  },
  {
    name: 'startswith',
    what: 'title__startswith=, first page',
    control: 'page',
    requests: 600,
    pass: 2.2,
    great: 1.75,
    questions: ({ catalogue: { rows }, prefix }) => {
      const hits = rows.filter(({ title }) => title.startsWith(prefix));
      return [pageOf(hits, `title__startswith=${encodeURIComponent(prefix)}&`, 0)];
    },
  },
  {
    name: 'contains',
    what: 'title__contains=, a page of 1',
    control: 'scan',
    requests: 60,
    pass: 1,
    great: 0.25,
    questions: ({ catalogue: { rows }, word }) => {
      const hits = rows.filter(({ title }) => title.includes(word));
      return [pageOf(hits, `title__contains=${encodeURIComponent(word)}&`, 0, 1)];
    },
  },
  {
    name: 'v2',
    what: 'first pages of 100, links rewritten to v2',
    control: 'page',
    requests: 300,
    pass: 2,
    great: 1.5,
    questions: ({ catalogue }) => pagesFrom(catalogue.rows, '', 0, NEAR_PAGES).map(inV2),
  },
];

const NOT_FOUND = '{"detail":"Not found."}';

function citable({ rows }: NaiveCatalogue): readonly NaiveRow[] {
  return rows.filter(({ publicationState }) => publicationState === 'citable');
}

function deepOffset(rows: number, pageRows: number): number {
  return Math.max(0, Math.min(DEEP_OFFSET, rows - pageRows));
}

/** Whole pages one after the other, at least one page, whole or not. */
function pagesFrom(rows: readonly NaiveRow[], filter: string, offset: number, pages: number): readonly Question[] {
  const whole = Math.max(1, Math.min(pages, Math.floor((rows.length - offset) / LIMIT)));
  return Array.from({ length: whole }, (_, i) => pageOf(rows, filter, offset + i * LIMIT));
}

/** Whole pages evenly over the list, in an order in which no two follow each other. */
function pagesAllOver(rows: readonly NaiveRow[], filter: string): readonly Question[] {
  const whole = Math.max(1, Math.floor(rows.length / LIMIT));
  const pages = Math.min(FAR_PAGES, whole);
  return Array.from({ length: pages }, (_, i) => {
    const place = (i % 2) * Math.ceil(pages / 2) + Math.floor(i / 2);
    return pageOf(rows, filter, Math.floor((place * whole) / pages) * LIMIT);
  });
}

function pageOf(rows: readonly NaiveRow[], filter: string, offset: number, limit = LIMIT): Question {
  const end = offset + limit;
  const paging = `${limit === LIMIT ? '' : `limit=${limit}&`}offset=${offset}`;
  return {
    target: `${LIST}?format=api&${filter}${paging}`,
    status: 200,
    version: 'v3',
    expected: { kind: 'page', count: rows.length, hasNext: end < rows.length, rows: rows.slice(offset, end) },
  };
}

function recordOf(row: NaiveRow): Question {
  return { target: `${LIST}${row.id}/`, status: 200, version: 'v3', expected: { kind: 'record', row } };
}

function inV2(question: Question): Question {
  return { ...question, version: 'v2', target: question.target.replace('/v3/', '/v2/') };
}

function gzipped(question: Question): Question {
  return { ...question, isGzipped: true };
}

function rowOfBytes(rows: readonly NaiveRow[], bytes: number): NaiveRow {
  const distance = (row: NaiveRow): number => Math.abs(row.end - row.start - bytes);
  return rows.reduce((best, row) => (distance(row) < distance(best) ? row : best));
}

/** A page of one record near an offset, of about the bytes of the first record. */
function nearestInBytes(rows: readonly NaiveRow[], offset: number): Question {
  const first = rows[0]!;
  const near = rows.slice(offset, offset + LIMIT);
  const chosen = rowOfBytes(near, first.end - first.start);
  return pageOf(rows, '', offset + near.indexOf(chosen), 1);
}

function everyNth(rows: readonly NaiveRow[], count: number): readonly NaiveRow[] {
  const step = Math.max(1, Math.floor(rows.length / count));
  return rows.filter((_, i) => i % step === 0).slice(0, count);
}
