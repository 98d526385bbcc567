// The results of a pool thread: all rows as a set, in few bytes and without a copy, or a page.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadSnapshot } from '../../../data/store/load.ts';
import {
  type CollectionIndex,
  type Counters,
  findRows,
  type LoadedSnapshot,
  newCounters,
  openSnapshot,
  type Plan,
} from '../../../engine/engine.ts';
import { ownedBytes } from '../../../engine/index/footprint.ts';
import { eachRow, type RowSet } from '../../../engine/index/rowset.ts';
import { type HeavyPool, startPool } from '../../../workers/pool.ts';
import { hitsOf, planOf as planIn } from '../../support/lists.ts';
import { STAYING } from '../../support/requests.ts';
import { sampleSnapshot } from '../../support/sampleSnapshot.ts';

const NAME = 'observations';
const SERVED = { options: { limitDefault: 5 }, form: { baseUrl: 'http://catalogue.test' } };
let loaded: LoadedSnapshot;
let collection: CollectionIndex;
let pool: HeavyPool;

beforeAll(async () => {
  loaded = await loadSnapshot(await sampleSnapshot(), SERVED.form, () => {});
  collection = openSnapshot(loaded).collection(NAME);
  pool = startPool(loaded, 1);
});
afterAll(() => pool.close());

function planOf(query: string): Plan {
  return planIn(collection, query, SERVED);
}

function rowsOf(set: RowSet): number[] {
  const rows: number[] = [];
  eachRow(set, (row) => rows.push(row));
  return rows;
}

test.each(['abstract__contains=wind', 'abstract__contains!=wind', 'abstract__contains=a', 'abstract__contains=%C3%A9'])(
  'returns all rows of %s as a set in a separate buffer',
  async (query) => {
    const planned = planOf(query);
    const found = await pool.run({ collection: NAME, plan: planned, wants: 'set' }, STAYING);
    expect(found).toMatchObject({ kind: 'set' });
    const { set } = found as { readonly set: RowSet };
    expect(rowsOf(set)).toEqual(rowsOf(findRows(collection, planned)!));
    expect(ownedBytes(set)).toBeLessThanOrEqual(collection.rows / 8 + 100);
  },
);

test('returns a posting list as a view of the shared snapshot', async () => {
  const planned = planOf('status=completed');
  const found = await pool.run({ collection: NAME, plan: planned, wants: 'set' }, STAYING);
  const { set } = found as { readonly set: Extract<RowSet, { kind: 'bitmap' }> };
  expect(set.words.buffer).toBeInstanceOf(SharedArrayBuffer);
});

test('returns a page alone if no more is wanted', async () => {
  const query = 'abstract__contains=the&offset=3';
  const planned = planOf(query);
  const found = await pool.run({ collection: NAME, plan: planned, wants: 'page' }, STAYING);
  const counters = newCounters();
  const page = hitsOf(collection, query, { ...SERVED, counters });
  expect(found).toEqual({ kind: 'page', page, counters, spentNs: expect.any(Number) });
  expect(counters.bytesScanned).toBeGreaterThan(0);
});

test('returns a page with its set, and that set saves finding it again', async () => {
  const query = 'abstract__contains=the&ordering=-title&offset=3&facets=status';
  const planned = planOf(query);
  const both = await pool.run({ collection: NAME, plan: planned, wants: 'both' }, STAYING);
  const counters = newCounters();
  expect(both).toMatchObject({ kind: 'page', page: hitsOf(collection, query, { ...SERVED, counters }) });
  const { set, counters: first } = both as { readonly set: RowSet; readonly counters: Counters };
  expect([rowsOf(set), first]).toEqual([rowsOf(findRows(collection, planned)!), counters]);
  const again = await pool.run({ collection: NAME, plan: planned, wants: 'page', set }, STAYING);
  expect(again).toMatchObject({
    page: hitsOf(collection, query, SERVED),
    counters: { bytesScanned: 0, postingsVisited: 0 },
  });
  expect(rowsOf(set)).toEqual(rowsOf(findRows(collection, planned)!));
});
