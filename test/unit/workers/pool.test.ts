// The pool of heavy queries: results, its bounded queue, and cancellation of the right task only. Its semaphore: turns
// of connections, bounds, and clients that disconnect.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadSnapshot } from '../../../data/store/load.ts';
import type { CollectionIndex } from '../../../engine/index/table.ts';
import type { Plan } from '../../../engine/find/plan.ts';
import { openSnapshot } from '../../../engine/snapshot/open.ts';
import {
  type HeavyPool,
  POOL_LIMITS,
  type PoolLimits,
  startPool,
  CONNECTION_WAITING_MAX,
  type Permit,
  Semaphore,
  WAITING_LIMITS,
} from '../../../workers/pool.ts';
import type { HeavyQuery } from '../../../workers/protocol.ts';
import { dataSetOf, imported, temporaryDirectory } from '../../support/dataSets.ts';
import { planOf } from '../../support/lists.ts';
import { longProperties } from '../../support/longProperties.ts';
import { LeavingClient } from '../../support/requests.ts';
import { times } from '../../support/ring.ts';

const RECORDS = 40;
/** One runs, the others wait. */
const TASKS_MAX = 24;
/** A timeout that no machine is too slow for. */
const LIMITS: PoolLimits = { ...POOL_LIMITS, waitingMax: TASKS_MAX - 1, waitMsMax: 60_000 };
const BASE_URL = 'http://localhost';
const directory = temporaryDirectory();
let file: string;
let properties: CollectionIndex;
let pool: HeavyPool;
let hasty: HeavyPool;
let impatient: HeavyPool;

beforeAll(async () => {
  ({ file } = await imported(dataSetOf(directory, { 'migrationproperties.ndjson': longProperties(RECORDS) })));
  const loaded = await loadSnapshot(file, { baseUrl: BASE_URL });
  properties = openSnapshot(loaded).collection('migrationproperties');
  pool = startPool(loaded, 1, LIMITS);
  hasty = startPool(loaded, 1, { ...LIMITS, taskMsMax: -1 });
  impatient = startPool(loaded, 1, { ...LIMITS, waitMsMax: 0 });
});
afterAll(() => Promise.all([pool, hasty, impatient].map((one) => one.close())));

/** A plan that scans all texts for the properties that contain `needle`. */
function planFor(needle: string, lookup: 'contains' | 'regex' = 'contains'): Plan {
  return planOf(properties, `value__${lookup}=${needle}`, { form: { baseUrl: BASE_URL } });
}

/** A query for the page of such a plan. */
function queryFor(needle: string, lookup: 'contains' | 'regex' = 'contains'): HeavyQuery {
  return { collection: 'migrationproperties', plan: planFor(needle, lookup), wants: 'page' };
}

test('runs none of the jobs of its threads after the pool is closed', async () => {
  const closing = startPool(await loadSnapshot(file, { baseUrl: BASE_URL }), 1, LIMITS);
  const asked = closing.run(queryFor('needle7'), new LeavingClient());
  await closing.close();
  expect(await asked).toBe('gone');
});

test('returns count and rows of a heavy plan', async () => {
  const found = await pool.run(queryFor('needle7'), new LeavingClient());
  expect(found).toMatchObject({ page: { count: 1, rows: { kind: 'list', rows: Uint32Array.of(6) } } });
});

test('runs tasks of every kind within their time only', async () => {
  const asked = queryFor('needle7$', 'regex');
  expect(await pool.run(asked, new LeavingClient())).toMatchObject({ page: { count: 1 } });
  for (const query of [asked, queryFor('needle7')]) {
    expect(await hasty.run(query, new LeavingClient())).toBe('overtime');
    expect(await hasty.run({ ...query, wants: 'set' }, new LeavingClient())).toBe('overtime');
    expect(await hasty.run({ ...query, wants: 'both' }, new LeavingClient())).toBe('overtime');
  }
});

test('refuses a query that waits too long for a thread, and continues the running one', async () => {
  const tasks = Array.from({ length: 4 }, () => impatient.run(queryFor('needle'), new LeavingClient()));
  const [first, ...others] = await Promise.all(tasks);
  expect(first).toMatchObject({ page: { count: RECORDS } });
  expect(others).toContain('busy');
  expect(await impatient.run(queryFor('needle7'), new LeavingClient())).toMatchObject({ page: { count: 1 } });
});

test('refuses one query more than may run or wait, and frees every slot', async () => {
  for (let round = 0; round < times(2, 3); round++) {
    const tasks = Array.from({ length: TASKS_MAX }, () => pool.run(queryFor('needle'), new LeavingClient()));
    expect(await pool.run(queryFor('needle'), new LeavingClient())).toBe('busy');
    for (const found of await Promise.all(tasks)) expect(found).toMatchObject({ page: { count: RECORDS } });
  }
});

test('cancels queries whose clients disconnect, running or waiting, and frees their slots', async () => {
  const clients = Array.from({ length: TASKS_MAX }, () => new LeavingClient());
  const tasks = clients.map((client) => pool.run(queryFor('needle'), client));
  for (const client of clients) client.leave();
  // The first may get a result before its client disconnects.
  expect((await Promise.all(tasks)).filter((found) => found === 'gone').length).toBeGreaterThan(TASKS_MAX / 2);
  const again = Array.from({ length: TASKS_MAX }, () => pool.run(queryFor('needle'), new LeavingClient()));
  for (const found of await Promise.all(again)) expect(found).toMatchObject({ page: { count: RECORDS } });
});

test('does not wait for a client that was gone before its query came', async () => {
  const client = new LeavingClient();
  client.leave();
  expect(await pool.run(queryFor('needle'), client)).toBe('gone');
});

test('cancels no query of another client if one disconnects while it reads its response', async () => {
  const reader = new LeavingClient();
  await pool.run(queryFor('needle'), reader);
  const others = Array.from({ length: TASKS_MAX }, () => pool.run(queryFor('needle'), new LeavingClient()));
  reader.leave();
  for (const found of await Promise.all(others)) expect(found).toMatchObject({ page: { count: RECORDS } });
});

test('ends all running and waiting queries when the pool is closed', async () => {
  const { file } = await imported(dataSetOf(directory, { 'migrationproperties.ndjson': longProperties(RECORDS) }));
  const closing = startPool(await loadSnapshot(file, { baseUrl: BASE_URL }), 1, LIMITS);
  const tasks = Array.from({ length: 8 }, () => closing.run(queryFor('needle'), new LeavingClient()));
  await closing.close();
  for (const found of await Promise.all(tasks)) expect(found === 'gone' || typeof found === 'object').toBe(true);
});

const PATIENT = { ...WAITING_LIMITS, waitMsMax: 600_000 };

/** A semaphore whose one permit is held. `next` releases it and gives the name of the request that gets it. */
async function heldSemaphore() {
  const semaphore = new Semaphore(1, PATIENT);
  const got: string[] = [];
  expect(await semaphore.acquire(new LeavingClient())).toBe(0);
  const enter = (name: string, connection?: object): { client: LeavingClient; permit: Promise<Permit> } => {
    const client = Object.assign(new LeavingClient(), { connection });
    const permit = semaphore.acquire(client);
    void permit.then((one) => got.push(typeof one === 'number' ? name : `${name} ${one}`));
    return { client, permit };
  };
  const next = async (): Promise<string> => {
    semaphore.release(0);
    await new Promise((resolve) => setImmediate(resolve));
    return got.splice(0).join();
  };
  return { semaphore, enter, next };
}

test('gives each connection a permit in turn, however many of its requests wait', async () => {
  const { enter, next } = await heldSemaphore();
  const greedy = {};
  for (let i = 0; i < 4; i++) enter(`greedy ${i}`, greedy);
  for (const name of ['a', 'b']) enter(name);
  const order = [];
  for (let i = 0; i < 6; i++) order.push(await next());
  expect(order).toEqual(['greedy 0', 'a', 'b', 'greedy 1', 'greedy 2', 'greedy 3']);
});

test('lets a later connection wait for only one turn of those before it', async () => {
  const { enter, next } = await heldSemaphore();
  const greedy = {};
  for (let i = 0; i < 9; i++) enter(`greedy ${i}`, greedy);
  expect(await next()).toBe('greedy 0');
  enter('late');
  expect([await next(), await next()]).toEqual(['greedy 1', 'late']);
});

test('refuses one request more of a connection than may wait as busy, and others still wait', async () => {
  const { enter, next } = await heldSemaphore();
  const greedy = {};
  for (let i = 0; i < CONNECTION_WAITING_MAX; i++) enter(`greedy ${i}`, greedy);
  expect(await enter('beyond', greedy).permit).toBe('busy');
  enter('other');
  expect(await next()).toBe('beyond busy,greedy 0');
  expect(await next()).toBe('other');
});

test('drops the request of a disconnected client, and gives the next one its turn', async () => {
  const { semaphore, enter, next } = await heldSemaphore();
  const [a, , c] = ['a', 'b', 'c', 'd'].map((name) => enter(name));
  a!.client.leave();
  c!.client.leave();
  expect(await semaphore.acquire(a!.client)).toBe('gone');
  expect([await next(), await next()]).toEqual(['a gone,c gone,b', 'd']);
});

test('gives a permit without waiting requests to the next request', async () => {
  const semaphore = new Semaphore(2, PATIENT);
  const both = [await semaphore.acquire(new LeavingClient()), await semaphore.acquire(new LeavingClient())];
  expect(new Set(both)).toEqual(new Set([0, 1]));
  semaphore.release(1);
  expect(await semaphore.acquire(new LeavingClient())).toBe(1);
});
