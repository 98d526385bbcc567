// `search`, `bbox` and `datetime` on the sample: any words, boxes and intervals find the records, in the order, that
// the oracle finds by plain loops. What is no box or interval gets the oracle's messages.
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { loadSnapshot } from '../../data/store/load.ts';
import { type CollectionIndex, listHere, measuringOf, openSnapshot, SPEC_LINK_END } from '../../engine/engine.ts';
import { measured } from '../../engine/page/rows.ts';
import { dataSetIn } from '../differential/dataset.ts';
import { oracle, type OracleSettings } from '../differential/oracle.ts';
import { QUERY_OPTIONS } from '../support/lists.ts';
import { textOf } from '../support/pages.ts';
import { times } from '../support/ring.ts';
import { SAMPLE, sampleSnapshot } from '../support/sampleSnapshot.ts';

const BASE_URL = 'http://localhost:8080';
const FORM = { baseUrl: BASE_URL, version: 'v3', linkEnd: SPEC_LINK_END } as const;
const SETTINGS: OracleSettings = {
  baseUrl: BASE_URL,
  links: 'spec',
  limitMax: undefined,
  strict: false,
  filterErrors: 'fail',
  filters: 'all',
};
const DATA = dataSetIn(SAMPLE);

let observations: CollectionIndex;
/** Words of the titles and abstracts, and parts of them. */
let words: readonly string[];

beforeAll(async () => {
  const loaded = await loadSnapshot(await sampleSnapshot(), { baseUrl: BASE_URL }, () => {});
  observations = openSnapshot(loaded).collection('observations');
  const page = replica('limit=100&fields=title,abstract').text;
  words = [...new Set(page.match(/[\p{L}\p{N}]{3,}/gu))];
});

/** The status and body of a list without links to other pages. */
function replica(query: string): { readonly status: number; readonly text: string } {
  const { page, ask } = listHere(observations, query, { options: QUERY_OPTIONS, form: FORM });
  if (!page)
    return {
      status: 400,
      text: JSON.stringify(Object.fromEntries(ask.problems.map(({ key, messages }) => [key, messages]))),
    };
  return { status: 200, text: textOf(measured(measuringOf(page))) };
}

function expectSame(parameters: Readonly<Record<string, string>>): void {
  const query = new URLSearchParams({ limit: '500', fields: 'ob_id', ...parameters }).toString();
  const expected = oracle(DATA, SETTINGS, { method: 'GET', target: `/api/v3/observations/?${query}`, headers: {} });
  const { status, text } = replica(query);
  expect([status, JSON.parse(text)]).toEqual([expected.status, JSON.parse(expected.body ?? '')]);
}

const longitude = fc.oneof(fc.integer({ min: -180, max: 180 }), fc.double({ min: -181, max: 181, noNaN: true }));
const latitude = fc.oneof(fc.integer({ min: -90, max: 90 }), fc.double({ min: -91, max: 91, noNaN: true }));
const box = fc
  .tuple(longitude, latitude, longitude, latitude)
  .map((edges) => edges.map((edge) => edge.toFixed(3)).join());
const day = fc.date({ min: new Date('1970-01-01'), max: new Date('2025-01-01'), noInvalidDate: true });
const instant = fc.tuple(day, fc.constantFrom(10, 19, 24)).map(([date, length]) => date.toISOString().slice(0, length));
const end = fc.oneof({ weight: 4, arbitrary: instant }, fc.constantFrom('..', '', 'x'));
const interval = fc.oneof(
  fc.tuple(end, end).map((ends) => ends.join('/')),
  instant,
);

test('any box finds the records that overlap it', () => {
  fc.assert(
    fc.property(box, (bbox) => expectSame({ bbox })),
    { numRuns: times(40, 2000) },
  );
});

test('any interval finds the records whose period overlaps it', () => {
  fc.assert(
    fc.property(interval, (datetime) => expectSame({ datetime })),
    { numRuns: times(40, 2000) },
  );
});

test('any words find the records that contain them, the best matches first', { timeout: 600_000 }, () => {
  const word = fc.nat().chain((i) => {
    const whole = words[i % words.length]!;
    const part = fc.tuple(fc.nat(whole.length - 2), fc.integer({ min: 1, max: 9 }));
    const changed = fc.constantFrom(whole, `${whole}s`, whole.toUpperCase(), `"${whole} `, `${whole}-`);
    return fc.oneof(
      changed,
      part.map(([start, length]) => whole.slice(start, start + length)),
    );
  });
  const typed = fc.oneof(
    { weight: 5, arbitrary: fc.array(word, { maxLength: 3 }) },
    fc.array(fc.string({ unit: 'grapheme' })),
  );
  fc.assert(
    fc.property(typed, (parts) => expectSame({ search: parts.join(' ') })),
    // The oracle takes a second for each.
    { numRuns: times(10, 400) },
  );
});

test('words, a box and an interval hold together', () => {
  fc.assert(
    fc.property(fc.nat(), box, interval, (i, bbox, datetime) =>
      expectSame({ search: words[i % words.length]!, bbox, datetime }),
    ),
    { numRuns: times(40, 2000) },
  );
});
