// The pool of heavy queries: results, its bounded queue, and cancellation that hits the right task only.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadSnapshot } from '../../../data/store/load.ts';
import type { CollectionIndex } from '../../../engine/index/table.ts';
import type { Plan } from '../../../engine/query/plan.ts';
import { openSnapshot } from '../../../engine/snapshot/open.ts';
import { startPool, TASKS_MAX, type HeavyPool } from '../../../workers/pool.ts';
import type { HeavyQuery } from '../../../workers/protocol.ts';
import type { Disconnection } from '../../../workers/waiter.ts';
import { dataSetOf, imported, temporaryDirectory } from '../../support/dataSets.ts';
import { planOf } from '../../support/lists.ts';
import { longProperties } from '../../support/longProperties.ts';

const RECORDS = 40;
const BASE_URL = 'http://localhost';
const directory = temporaryDirectory();
let properties: CollectionIndex;
let pool: HeavyPool;
let hasty: HeavyPool;

beforeAll(async () => {
  const { file } = await imported(dataSetOf(directory, { 'migrationproperties.ndjson': longProperties(RECORDS) }));
  const loaded = await loadSnapshot(file, { baseUrl: BASE_URL });
  properties = openSnapshot(loaded).collection('migrationproperties');
  pool = startPool(loaded, 1);
  hasty = startPool(loaded, 1, -1);
});
afterAll(() => Promise.all([pool.close(), hasty.close()]));

/** A plan that scans all texts; the properties whose text holds `needle`. */
function planFor(needle: string, lookup: 'contains' | 'regex' = 'contains'): Plan {
  return planOf(properties, `value__${lookup}=${needle}`, { form: { baseUrl: BASE_URL } });
}

/** A query for the page of such a plan. */
function queryFor(needle: string, lookup: 'contains' | 'regex' = 'contains'): HeavyQuery {
  return { collection: 'migrationproperties', plan: planFor(needle, lookup), wants: 'page' };
}

/** A client that leaves when the test says so. */
class Client implements Disconnection {
  #isGone = false;
  readonly #listeners: (() => void)[] = [];

  isGone(): boolean {
    return this.#isGone;
  }

  isComingBack(): boolean {
    return false;
  }

  onGone(listener: () => void): void {
    if (this.#isGone) listener();
    else this.#listeners.push(listener);
  }

  leave(): void {
    this.#isGone = true;
    for (const listener of this.#listeners) listener();
  }
}

test('a heavy plan gives its count and its rows', async () => {
  expect(planFor('needle7').isHeavy).toBe(true);
  const found = await pool.run(queryFor('needle7'), new Client());
  expect(found).toMatchObject({ page: { count: 1, rows: { kind: 'list', rows: Uint32Array.of(6) } } });
});

test('regular expressions are matched in the pool, within their time only, which other queries do not have', async () => {
  const asked = queryFor('needle7$', 'regex');
  expect(asked.plan.isHeavy).toBe(true);
  expect(await pool.run(asked, new Client())).toMatchObject({ page: { count: 1 } });
  expect(await hasty.run(asked, new Client())).toBe('overtime');
  expect(await hasty.run({ ...asked, wants: 'set' }, new Client())).toBe('overtime');
  expect(await hasty.run(queryFor('needle7'), new Client())).toMatchObject({ page: { count: 1 } });
});

test('as many queries as there are slots run or wait, one more is told so, and every slot comes back', async () => {
  for (let round = 0; round < 3; round++) {
    const tasks = Array.from({ length: TASKS_MAX }, () => pool.run(queryFor('needle'), new Client()));
    expect(await pool.run(queryFor('needle'), new Client())).toBe('busy');
    for (const found of await Promise.all(tasks)) expect(found).toMatchObject({ page: { count: RECORDS } });
  }
});

test('queries whose clients leave are cancelled, running or waiting, and their slots come back', async () => {
  const clients = Array.from({ length: TASKS_MAX }, () => new Client());
  const tasks = clients.map((client) => pool.run(queryFor('needle'), client));
  for (const client of clients) client.leave();
  // The first may have been answered before its client left.
  expect((await Promise.all(tasks)).filter((found) => found === 'gone').length).toBeGreaterThan(TASKS_MAX / 2);
  const again = Array.from({ length: TASKS_MAX }, () => pool.run(queryFor('needle'), new Client()));
  for (const found of await Promise.all(again)) expect(found).toMatchObject({ page: { count: RECORDS } });
});

test('a client that was gone before its query came is not waited for', async () => {
  const client = new Client();
  client.leave();
  expect(await pool.run(queryFor('needle'), client)).toBe('gone');
});

test('a client that leaves while it reads its answer cancels no query of another', async () => {
  const reader = new Client();
  await pool.run(queryFor('needle'), reader);
  const others = Array.from({ length: TASKS_MAX }, () => pool.run(queryFor('needle'), new Client()));
  reader.leave();
  for (const found of await Promise.all(others)) expect(found).toMatchObject({ page: { count: RECORDS } });
});

test('a pool that closes while queries run and wait ends them all', async () => {
  const { file } = await imported(dataSetOf(directory, { 'migrationproperties.ndjson': longProperties(RECORDS) }));
  const closing = startPool(await loadSnapshot(file, { baseUrl: BASE_URL }), 1);
  const tasks = Array.from({ length: 8 }, () => closing.run(queryFor('needle'), new Client()));
  await closing.close();
  for (const found of await Promise.all(tasks)) expect(found === 'gone' || typeof found === 'object').toBe(true);
});
