// The scenarios of the load bench as counts, compared with bench/budgets.json: guards without noise. No clock, no
// sockets.
import assert from 'node:assert/strict';
import { beforeAll, describe, expect, test } from 'vitest';
import { BUDGETS, placeOfBudget } from '../../../../bench/budgets.ts';
import { prepareDataSet } from '../../../../bench/load/dataSet.ts';
import { BENCH_BASE_URL } from '../../../../bench/processes/processes.ts';
import { choiceFor } from '../../../../bench/scenarios/choice.ts';
import { readNaively } from '../../../../bench/scenarios/naive.ts';
import { type ScenarioQuestion } from '../../../../bench/scenarios/scenario.ts';
import { CATALOGUE_SCENARIOS } from '../../../../bench/scenarios/scenarios.ts';
import { loadSnapshot } from '../../../../data/store/load.ts';
import { type ServedForm, SPEC_LINK_END } from '../../../../engine/column/served.ts';
import { openSnapshot } from '../../../../engine/engine.ts';
import { type Counters, Meter, newCounters } from '../../../../engine/find/counters.ts';
import { type CollectionIndex, rowOfId } from '../../../../engine/index/table.ts';
import { listHere } from '../../../../engine/list.ts';
import { measuringOf, recordRepresentation, type Representation } from '../../../../engine/page/representation.ts';
import { copying } from '../../../../engine/page/rewrite.ts';
import { measured } from '../../../../engine/page/rows.ts';
import { queryOptionsOf } from '../../../../server/catalogue/queryOptions.ts';
import { readSettings } from '../../../../server/settings/declarations.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { BUDGET_NS } from '../../../../workers/router.ts';

/**
 * The engine's counters and three more. `copies`: copies of each body byte, rounded up, so 0 if none was copied.
 * `hops`: hops into the pool. `bufferBytes`: bytes of array buffers made for the request, without those in V8's own
 * heap (at most 64 bytes each).
 */
interface Counts extends Counters {
  readonly copies: number;
  readonly hops: number;
  readonly bufferBytes: number;
}

const OPTIONS = queryOptionsOf(readSettings({}, {}));

/**
 * Runs a request once, so that the buffers of the thread have their size, then twice more, and counts. The smaller
 * `bufferBytes` counts, because one response in a hundred begins a slab for all of them.
 */
function countsOf(collection: CollectionIndex, question: ScenarioQuestion): Counts {
  answer(collection, question, newCounters());
  const [one, other] = [counted(collection, question), counted(collection, question)];
  return { ...other, bufferBytes: Math.min(one.bufferBytes, other.bufferBytes) };
}

function counted(collection: CollectionIndex, question: ScenarioQuestion): Counts {
  const counters = newCounters();
  const copied = copying.bytes;
  const buffers = process.memoryUsage().arrayBuffers;
  const { bodyBytes, hops } = answer(collection, question, counters);
  const bufferBytes = Math.max(0, process.memoryUsage().arrayBuffers - buffers);
  return { ...counters, copies: Math.ceil((copying.bytes - copied) / Math.max(1, bodyBytes)), hops, bufferBytes };
}

interface Answer {
  readonly bodyBytes: number;
  readonly hops: number;
}

/** Makes and reads a response. Returns the length of its body and its number of hops. */
function answer(collection: CollectionIndex, question: ScenarioQuestion, counters: Counters): Answer {
  const { target, version, baseUrl = BENCH_BASE_URL, expected } = question;
  const [path = '', query] = target.split('?');
  const form: ServedForm = { baseUrl, version, linkEnd: SPEC_LINK_END };
  if (expected.kind === 'record' || expected.kind === 'text') {
    const row = rowOfId(collection, Number(/(\d+)\/$/.exec(path)?.[1]));
    if (row < 0) return { bodyBytes: 0, hops: 0 };
    const rows = { kind: 'range', start: row, end: row + 1 } as const;
    const record = recordRepresentation({ records: collection.records, rows, form, keys: undefined }, false);
    return { bodyBytes: readAll(record), hops: 0 };
  }
  assert(expected.kind !== 'table', 'pages for people are none of the engine');
  const { page } = listHere(collection, query, { options: OPTIONS, form, path, meter: new Meter(BUDGET_NS, counters) });
  if (page) return { bodyBytes: readAll(page), hops: 0 };
  const pooled = listHere(collection, query, { options: OPTIONS, form, path, meter: new Meter(Infinity, counters) });
  return { bodyBytes: readAll(pooled.page!), hops: 1 };
}

function readAll(representation: Representation): number {
  const body = measured(measuringOf(representation));
  for (let at = 0; at < body.bytes;) at += body.pieceAt(at).length;
  return body.bytes;
}

const cacheDirectory = temporaryDirectory();
const counts = new Map<string, Counts>();

/**
 * The scenarios that request rows in the plain form from the engine. 304 and gzip have other tests, and pages are not
 * made by the engine.
 */
const COUNTED = CATALOGUE_SCENARIOS.filter(({ name }) => !/^(?:304$|gzip|table$)/.test(name));
const NAMES = COUNTED.map(({ name }) => name);

beforeAll(async () => {
  const data = await prepareDataSet({ observations: 1000, seed: 5, cacheDirectory }, () => {});
  const choice = choiceFor(await readNaively(data.directory));
  const loaded = await loadSnapshot(data.snapshot, { baseUrl: BENCH_BASE_URL }, () => {});
  const observations = openSnapshot(loaded).collection('observations');
  for (const { name, questions } of COUNTED) {
    const [question] = questions(choice);
    counts.set(name, countsOf(observations, question!));
  }
});

test('has a budget of counts for every scenario in the plain form, and no other such budget', () => {
  expect(Object.keys(BUDGETS.counters).toSorted(), 'counters of bench/budgets.json').toEqual(NAMES.toSorted());
});

describe.each(NAMES)('one request of %s', (name) => {
  const { most, reason } = BUDGETS.counters[name] ?? { most: {}, reason: '' };
  test.each(Object.entries(most))(`counts, as %s, at most %d: ${reason}`, (counter, limit) => {
    expect(counts.get(name)).toHaveProperty(counter);
    const place = placeOfBudget('counters', name);
    expect(counts.get(name)![counter as keyof Counts], `${counter} is beyond ${place}`).toBeLessThanOrEqual(limit);
  });
});

test.each([
  ['offset', 'list'],
  ['deep', 'first'],
  ['orderedDeep', 'ordered'],
])('does for %s the work of %s: the same rows, postings, copies and hops', (deep, near) => {
  const workOf = ({ rowsTouched, postingsVisited, rowsOrdered, hops }: Counts) => {
    return { rowsTouched, postingsVisited, rowsOrdered, hops };
  };
  expect(workOf(counts.get(deep)!)).toEqual(workOf(counts.get(near)!));
});
