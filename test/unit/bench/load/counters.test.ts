// Guards without noise: the counted cost of a page is the same at every offset. No clock.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { beforeAll, describe, expect, test } from 'vitest';
import { copying } from '../../../../engine/page/rewrite.ts';
import { measured } from '../../../../engine/page/rows.ts';
import {
  measuringOf,
  newCounters,
  openSnapshot,
  type CollectionIndex,
  type Counters,
  type Representation,
  type ServedForm,
} from '../../../../engine/engine.ts';
import type { ListSteps } from '../../../../engine/list.ts';
import { loadSnapshot } from '../../../../data/store/load.ts';
import { BUDGET_NS } from '../../../../workers/router.ts';
import { hitsIfAny, stepsOf } from '../../../support/lists.ts';
import { sampleSnapshot } from '../../../support/sampleSnapshot.ts';

const BASE_URL = 'http://catalogue.example.org';
const LIMIT = 20;

const PAGES = 100;
const SLAB_BYTES = 65_536;

let observations: CollectionIndex;

beforeAll(async () => {
  const loaded = await loadSnapshot(await sampleSnapshot(), { baseUrl: BASE_URL }, () => {});
  observations = openSnapshot(loaded).collection('observations');
});

/** The cost of a page: the engine's counters, the bytes copied to read it, and the bytes of its records. */
interface Cost {
  readonly counters: Counters;
  readonly copied: number;
  readonly bytes: number;
  readonly count: number;
  readonly isWithinBudget: boolean;
}

function costOf(query: string, form?: Partial<ServedForm>): Cost {
  const counters = newCounters();
  const { hits, page } = asked(query, form, counters);
  const before = copying.bytes;
  const bytes = readAll(page) - page.head.length - page.tail.length;
  return { counters, copied: copying.bytes - before, bytes, count: hits.count, isWithinBudget: isWithinBudget(query) };
}

function isWithinBudget(query: string): boolean {
  const differing = { options: { limitDefault: LIMIT }, form: { baseUrl: BASE_URL }, budgetNs: BUDGET_NS };
  return hitsIfAny(observations, query, differing) !== undefined;
}

function asked(query: string, form: Partial<ServedForm> = {}, counters = newCounters()): Required<ListSteps> {
  const differing = { options: { limitDefault: LIMIT }, form: { baseUrl: BASE_URL, ...form }, counters };
  return stepsOf(observations, query, differing) as Required<ListSteps>;
}

function readAll(page: Representation): number {
  const body = measured(measuringOf(page));
  let at = 0;
  while (at < body.bytes) at += body.pieceAt(at).length;
  return at;
}

function lastWholePage(count: number): number {
  return (Math.floor(count / LIMIT) - 1) * LIMIT;
}

describe.each([
  ['all records', ''],
  ['an equality', 'publicationState=citable&'],
  ['a negated equality', 'publicationState!=citable&'],
  ['a prefix', 'result_field__dataPath__startswith=%2Fbadc&'],
  ['an embedded record', 'discoveryKeywords__name=GEMINI&'],
])('a list of %s', (_what, filter) => {
  test('costs the same work on its last page as on its first', () => {
    const first = costOf(`${filter}offset=0`);
    const offset = lastWholePage(first.count);
    expect(offset).toBeGreaterThan(LIMIT);
    expect(costOf(`${filter}offset=${offset}`).counters).toEqual(first.counters);
  });

  test('never leaves the thread', () => {
    expect(costOf(filter).isWithinBudget).toBe(true);
  });
});

test('copies no byte of a page of adjacent rows and touches its own rows only, at any offset', () => {
  const { count } = costOf('');
  for (const offset of [0, 1, 137, lastWholePage(count)]) {
    const { copied, counters } = costOf(`offset=${offset}`);
    expect({ offset, copied, ...counters }).toEqual({
      offset,
      copied: 0,
      ...newCounters(),
      rowsTouched: LIMIT,
    });
  }
});

test.each(['ordering=-uuid', 'ordering=status', 'ordering=-ob_id', ''])(
  'touches only the own rows of a page by %s, at any offset, and stays in the thread',
  (order) => {
    const { count } = costOf(order);
    for (const offset of [0, 1, 137, lastWholePage(count)]) {
      const { counters, isWithinBudget } = costOf(`${order}&offset=${offset}`);
      expect(isWithinBudget).toBe(true);
      expect(counters).toEqual({ ...newCounters(), rowsTouched: LIMIT });
    }
  },
);

test('touches for a page after an id what it touches for the page at that offset', () => {
  for (const filter of ['', 'publicationState=citable&']) {
    const { counters } = costOf(filter);
    for (const id of [0, 400]) expect(costOf(`${filter}after=${id}`).counters).toEqual(counters);
  }
});

test('copies no byte of a single record', () => {
  expect(costOf('limit=1&offset=77').copied).toBe(0);
});

test('copies each byte of a page of scattered rows once', () => {
  const { copied, bytes } = costOf('publicationState=citable');
  expect(copied).toBeGreaterThan(0);
  // Every record is copied with its comma; the last comma is not sent.
  expect(copied).toBe(bytes + 1);
});

test('copies each byte of a page once if its links are rewritten to v2', () => {
  const { copied, bytes } = costOf('', { version: 'v2' });
  expect(copied).toBe(bytes + 1);
});

/** Bytes of buffers that a call leaves, after a collection of what earlier calls left. */
function grownBy(call: () => void): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const before = process.memoryUsage().arrayBuffers;
  call();
  return process.memoryUsage().arrayBuffers - before;
}

describe.each([
  ['neighbours', 'format=api&offset=100', {}],
  ['rows of a dense value', 'publicationState=citable&offset=40', {}],
  ['rows without one', 'publicationState!=citable&offset=40', {}],
  ['rows in v2', 'offset=100', { version: 'v2' as const }],
  ['rows under another base URL', 'publicationState=citable', { baseUrl: 'https://elsewhere.example' }],
])('a page of %s', (_what, query, form) => {
  test('allocates no buffer except one slab in a hundred pages', () => {
    const page = (): number => readAll(asked(query, form).page);
    page();
    // Without whole slabs. The buffers of the test runner count too, so the least of three results counts.
    const grown = [1, 2, 3].map(() => grownBy(() => Array.from({ length: PAGES }, page)));
    expect(Math.max(...grown)).toBeLessThanOrEqual(3 * SLAB_BYTES);
    expect(Math.min(...grown.map((bytes) => Math.abs(bytes) % SLAB_BYTES))).toBeLessThan(PAGES * 16);
  });
});

test('visits no posting and no text for an equality, whose rows are ready', () => {
  const { counters } = costOf('publicationState=citable');
  expect(counters).toEqual({ ...newCounters(), rowsTouched: LIMIT });
});
