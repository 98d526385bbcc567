// The load scenarios of the catalogue as a table: requests, controls, and the targets of the design's performance
// table. To add one, add a row here and its line in budgets.json.
import { frequentWords, instantOf, periodOf, rowsInBox, rowsInYears, rowsWithWords } from './finding.ts';
import type { NaiveCatalogue, NaiveRow } from './naive.ts';
import {
  citable,
  deepOffset,
  everyNth,
  gzipped,
  inTable,
  inV2,
  LIMIT,
  LIST,
  NEAR_PAGES,
  nearestInBytes,
  pageOf,
  pagesAllOver,
  pagesFrom,
  recordOf,
  rowOfBytes,
  underOtherBaseUrl,
} from './questions.ts';
import { CALL_SCENARIOS } from '../authority/callScenarios.ts';
import { OTHER_BASE_URL } from '../processes/processes.ts';
import type { CatalogueScenario, Scenario, ScenarioQuestion } from './scenario.ts';

const RECORD_BYTES = 4096;
const IN_VALUES = 100;
const EXPORT_ROWS = 5000;
const RARE_PART = 0.04;
const FREQUENT_PART = 0.5;
/** Two of the generator's fifteen or so years: a few per cent of all observations. */
const PUBLISHED = ['2010-01-01', '2012-01-01'] as const;
/** The box of the question about Iceland, and its year. */
const BOX = [-25, 60, -10, 68] as const;
const YEAR = 2003;
const NOT_FOUND = '{"detail":"Not found."}';

/** The load scenarios of the catalogue. */
export const CATALOGUE_SCENARIOS: readonly CatalogueScenario[] = [
  {
    name: 'tiny',
    what: 'a 404',
    control: 'bare',
    grows: 'constant',
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
    grows: 'constant',
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
    grows: 'logarithmic',
    requests: 6000,
    pass: 3,
    great: 2.2,
    questions: ({ catalogue }) => [recordOf(rowOfBytes(catalogue.rows, RECORD_BYTES))],
  },
  {
    name: 'recordBytes',
    what: 'a record of 4 KB, beside as many bytes',
    control: 'page',
    grows: 'logarithmic',
    requests: 6000,
    questions: ({ catalogue }) => [recordOf(rowOfBytes(catalogue.rows, RECORD_BYTES))],
  },
  {
    name: 'list',
    what: 'first pages of 100',
    control: 'page',
    grows: 'page',
    requests: 1200,
    pass: 1.5,
    great: 1.15,
    questions: ({ catalogue }) => pagesFrom(catalogue.rows, '', 0, NEAR_PAGES),
  },
  {
    name: 'walk',
    what: 'pages of 100 all over the list',
    control: 'floor',
    grows: 'page',
    requests: 1200,
    pass: 1.5,
    great: 1.15,
    questions: ({ catalogue }) => pagesAllOver(catalogue.rows, ''),
  },
  {
    name: 'gzip',
    what: 'first pages of 100, gzip',
    control: { scenario: 'list' },
    grows: 'page',
    requests: 1200,
    pass: 1,
    great: 0.6,
    questions: ({ catalogue }) => pagesFrom(catalogue.rows, '', 0, NEAR_PAGES).map(gzipped),
  },
  {
    name: 'offset',
    what: 'pages of 100 from offset 90,000',
    control: { scenario: 'list', per: 'byte' },
    grows: 'page',
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
    grows: 'constant',
    requests: 6000,
    pass: 3,
    great: 2.2,
    questions: ({ catalogue: { rows } }) => [pageOf(rows, '', 0, 1)],
  },
  {
    name: 'deep',
    what: 'one record as a page, at offset 90,000',
    control: { scenario: 'first', per: 'byte' },
    grows: 'constant',
    requests: 6000,
    pass: 1.1,
    great: 1.03,
    questions: ({ catalogue: { rows } }) => [nearestInBytes(rows, deepOffset(rows.length, 1))],
  },
  {
    name: 'equality',
    what: 'publicationState=citable, first pages',
    control: { scenario: 'list', per: 'byte' },
    grows: 'page',
    requests: 400,
    pass: 1.3,
    great: 1.05,
    questions: ({ catalogue }) => pagesFrom(citable(catalogue), 'publicationState=citable&', 0, NEAR_PAGES),
  },
  {
    name: 'table',
    what: 'the same, as pages for people',
    // Both are written by JavaScript, because machines differ in the cost of JavaScript relative to copies.
    control: 'markup',
    // The values of ten fields are counted over all matching records.
    grows: 'scan',
    requests: 200,
    // A separate server: the garbage of pages would be collected during other scenarios.
    flags: ['--browse-on-api'],
    questions: ({ catalogue }) =>
      pagesFrom(citable(catalogue), 'publicationState=citable&', 0, NEAR_PAGES).map((question) =>
        inTable(question, catalogue),
      ),
  },
  {
    name: 'scattered',
    what: 'publicationState=citable, pages all over the list',
    control: 'floor',
    grows: 'page',
    requests: 400,
    pass: 2.2,
    great: 1.75,
    questions: ({ catalogue }) => pagesAllOver(citable(catalogue), 'publicationState=citable&'),
  },
  {
    name: 'gzipEquality',
    what: 'publicationState=citable, first pages, gzip',
    control: { scenario: 'equality' },
    grows: 'page',
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
    grows: 'page',
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
    grows: 'page',
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
    grows: 'scan',
    requests: 60,
    pass: 1,
    great: 0.25,
    questions: ({ catalogue: { rows }, word }) => {
      const hits = rows.filter(({ title }) => title.includes(word));
      return [pageOf(hits, `title__contains=${encodeURIComponent(word)}&`, 0, 1)];
    },
  },
  {
    name: 'search',
    what: 'search= of two words in 4 % of the records, a page of 1',
    control: { scenario: 'contains' },
    grows: 'scan',
    requests: 30,
    pass: 3,
    questions: ({ catalogue }) => [searchOf(catalogue, RARE_PART)],
  },
  {
    name: 'searchFrequent',
    what: 'search= of two words in half of the records, through the pool',
    // The abstracts have ten times the bytes of the titles, and the promise is one scan of them.
    control: 'scan',
    grows: 'scan',
    requests: 8,
    pass: 10,
    questions: ({ catalogue }) => [searchOf(catalogue, FREQUENT_PART)],
  },
  {
    name: 'bbox',
    what: 'bbox= around Iceland, a page of 1',
    control: 'scan',
    grows: 'scan',
    requests: 60,
    questions: ({ catalogue }) => [pageOf(rowsInBox(catalogue, BOX), `bbox=${BOX.join()}&`, 0, 1)],
  },
  {
    name: 'datetime',
    what: 'datetime= of a year, a page of 1',
    control: 'scan',
    grows: 'scan',
    requests: 60,
    questions: ({ catalogue }) => [
      pageOf(rowsInYears(catalogue, YEAR, YEAR), `datetime=${YEAR}-01-01/${YEAR}-12-31&`, 0, 1),
    ],
  },
  {
    name: 'v2',
    what: 'first pages of 100, links rewritten to v2',
    control: 'page',
    grows: 'page',
    requests: 300,
    pass: 2,
    great: 1.5,
    questions: ({ catalogue }) => pagesFrom(catalogue.rows, '', 0, NEAR_PAGES).map(inV2),
  },
  {
    name: 'baseUrl',
    what: 'pages of 100 all over the list, base URL from the request',
    control: 'floor',
    grows: 'page',
    requests: 600,
    pass: 2,
    great: 1.5,
    flags: ['--allow-base-url', OTHER_BASE_URL],
    questions: ({ catalogue }) => pagesAllOver(catalogue.rows, '').map(underOtherBaseUrl),
  },
  {
    name: 'icontains',
    what: 'title__icontains=, a page of 1',
    control: 'scan',
    grows: 'scan',
    requests: 30,
    questions: ({ catalogue: { rows }, word }) => {
      const hits = rows.filter(({ title }) => title.toLowerCase().includes(word));
      return [pageOf(hits, `title__icontains=${encodeURIComponent(word.toUpperCase())}&`, 0, 1)];
    },
  },
  {
    name: 'regex',
    what: 'title__regex=, a page of 1, through the pool',
    control: 'scan',
    grows: 'scan',
    requests: 16,
    questions: ({ catalogue: { rows }, word }) => {
      const pattern = `${word.slice(0, 2)}.${word.slice(3)}`;
      const expression = new RegExp(pattern, 'u');
      const hits = rows.filter(({ title }) => expression.test(title));
      return [pageOf(hits, `title__regex=${encodeURIComponent(pattern)}&`, 0, 1)];
    },
  },
  {
    name: 'range',
    what: 'dataPublishedTime__range= of two years, first pages',
    control: 'page',
    grows: 'page',
    requests: 400,
    pass: 2.2,
    great: 1.75,
    questions: ({ catalogue: { rows } }) => {
      const [from, to] = PUBLISHED;
      const hits = rows.filter(({ published }) => published !== null && isWithin(published, from, to));
      return pagesFrom(hits, `dataPublishedTime__range=${from},${to}&`, 0, NEAR_PAGES);
    },
  },
  {
    name: 'link',
    what: 'projects__uuid=, first page',
    control: 'page',
    grows: 'page',
    requests: 600,
    pass: 2.2,
    great: 1.75,
    questions: ({ catalogue: { rows }, project: { id, uuid } }) => {
      const hits = rows.filter(({ projects }) => projects.includes(id));
      return [pageOf(hits, `projects__uuid=${uuid}&`, 0)];
    },
  },
  {
    name: 'ordered',
    what: 'ordering=uuid, first pages',
    control: 'page',
    grows: 'page',
    requests: 400,
    pass: 2.2,
    great: 1.75,
    questions: ({ catalogue }) => pagesFrom(byUuid(catalogue), 'ordering=uuid&', 0, NEAR_PAGES),
  },
  {
    name: 'orderedDeep',
    what: 'ordering=uuid, from offset 90,000',
    control: { scenario: 'ordered', per: 'byte' },
    grows: 'page',
    requests: 400,
    pass: 1.1,
    great: 1.03,
    questions: ({ catalogue }) => {
      const rows = byUuid(catalogue);
      return pagesFrom(rows, 'ordering=uuid&', deepOffset(rows.length, LIMIT * NEAR_PAGES), NEAR_PAGES);
    },
  },
  {
    name: 'facets',
    what: 'facets=status,publicationState, a page of 1',
    control: { scenario: 'first' },
    grows: 'constant',
    requests: 3000,
    questions: ({ catalogue: { rows } }) => {
      const facets = {
        status: countsOf(rows.map(({ status }) => status)),
        publicationState: countsOf(rows.map(({ publicationState }) => publicationState)),
      };
      const question = pageOf(rows, 'facets=status,publicationState&', 0, 1);
      return [{ ...question, expected: { ...question.expected, facets } }];
    },
  },
  {
    name: 'orderedByLink',
    what: 'ordering=timePeriod__startTime, first pages',
    control: { scenario: 'ordered' },
    grows: 'scan',
    requests: 60,
    questions: ({ catalogue }) => pagesFrom(byStart(catalogue), 'ordering=timePeriod__startTime&', 0, NEAR_PAGES),
  },
  {
    name: 'years',
    what: 'facets=timePeriod__startTime__year, a page of 1',
    control: 'scan',
    grows: 'scan',
    requests: 60,
    questions: ({ catalogue }) => {
      const question = pageOf(catalogue.rows, 'facets=timePeriod__startTime__year&', 0, 1);
      const facets = { timePeriod__startTime__year: yearsOf(catalogue) };
      return [{ ...question, expected: { ...question.expected, facets } }];
    },
  },
  {
    name: 'expand',
    what: 'expand=timePeriod,geographicExtent, first pages of 100',
    control: 'page',
    grows: 'page',
    requests: 100,
    questions: ({ catalogue: { rows } }) =>
      pagesFrom(rows, 'expand=timePeriod,geographicExtent&', 0, NEAR_PAGES).map((question) => ({
        ...question,
        expected: { ...question.expected, expanded: { timePeriod: 'times', geographicExtent: 'bboxes' } },
      })),
  },
  {
    name: 'fields',
    what: 'fields=title,uuid, first pages of 100',
    control: { scenario: 'list' },
    grows: 'page',
    requests: 1200,
    questions: ({ catalogue: { rows } }) =>
      pagesFrom(rows, 'fields=title,uuid&', 0, NEAR_PAGES).map((question) => ({
        ...question,
        expected: { ...question.expected, keys: ['uuid', 'title'] },
      })),
  },
  {
    name: 'ndjson',
    what: 'format=ndjson&limit=5000',
    control: 'floor',
    grows: 'page',
    requests: 30,
    questions: ({ catalogue: { rows } }) => [
      {
        target: `${LIST}?format=ndjson&limit=${EXPORT_ROWS}`,
        status: 200,
        version: 'v3',
        expected: { kind: 'lines', rows: rows.slice(0, EXPORT_ROWS) },
      },
    ],
  },
  {
    name: 'threads',
    what: 'a record of 4 KB, two serving threads against one',
    control: { scenario: 'record' },
    grows: 'logarithmic',
    requests: 6000,
    pass: 1.4,
    great: 1.15,
    threads: 2,
    // The system assigns connections to threads at random: of a few, all may go to one.
    connections: 16,
    questions: ({ catalogue }) => [recordOf(rowOfBytes(catalogue.rows, RECORD_BYTES))],
  },
];

/** All load scenarios, in the order in which they are measured and printed. */
export const SCENARIOS: readonly Scenario[] = [...CATALOGUE_SCENARIOS, ...CALL_SCENARIOS];

function byUuid({ rows }: NaiveCatalogue): readonly NaiveRow[] {
  return rows.toSorted((a, b) => (a.uuid < b.uuid ? -1 : a.uuid > b.uuid ? 1 : 0));
}

/** The first page of a search of two words, each in at most this part of the records. */
function searchOf(catalogue: NaiveCatalogue, partMax: number): ScenarioQuestion {
  const words = frequentWords(catalogue, partMax);
  return pageOf(rowsWithWords(catalogue, words), `search=${words.join('+')}&`, 0, 1);
}

/** By the start of the period; rows without one are last, ties by id. */
function byStart(catalogue: NaiveCatalogue): readonly NaiveRow[] {
  const starts = new Map(catalogue.rows.map((row) => [row, startOf(catalogue, row) ?? Infinity]));
  return catalogue.rows.toSorted((a, b) => starts.get(a)! - starts.get(b)! || a.id - b.id);
}

function startOf(catalogue: NaiveCatalogue, row: NaiveRow): number | undefined {
  const start = periodOf(catalogue, row)?.startTime ?? undefined;
  return start === undefined ? undefined : instantOf(start);
}

function yearsOf(catalogue: NaiveCatalogue): Readonly<Record<string, number>> {
  const starts = catalogue.rows.map((row) => startOf(catalogue, row));
  return countsOf(starts.map((start) => (start === undefined ? 'null' : String(new Date(start).getUTCFullYear()))));
}

/** Whether a time is between two days, the start of the second included. */
function isWithin(time: string, from: string, to: string): boolean {
  const instant = instantOf(time);
  return instant >= Date.parse(from) && instant <= Date.parse(to);
}

function countsOf(values: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}
