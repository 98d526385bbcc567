// The semaphore: turns of connections, bounds, and clients that leave.
import { expect, test } from 'vitest';
import { CONNECTION_WAITING_MAX, type Permit, Semaphore, WAITING_LIMITS } from '../../../workers/pool.ts';
import { LeavingClient } from '../../support/leavingClient.ts';

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

test('each connection gets a permit in turn, however many of its requests wait', async () => {
  const { enter, next } = await heldSemaphore();
  const greedy = {};
  for (let i = 0; i < 4; i++) enter(`greedy ${i}`, greedy);
  for (const name of ['a', 'b']) enter(name);
  const order = [];
  for (let i = 0; i < 6; i++) order.push(await next());
  expect(order).toEqual(['greedy 0', 'a', 'b', 'greedy 1', 'greedy 2', 'greedy 3']);
});

test('a connection that comes later waits for one turn of those before it only', async () => {
  const { enter, next } = await heldSemaphore();
  const greedy = {};
  for (let i = 0; i < 9; i++) enter(`greedy ${i}`, greedy);
  expect(await next()).toBe('greedy 0');
  enter('late');
  expect([await next(), await next()]).toEqual(['greedy 1', 'late']);
});

test('one request more of a connection than may wait is busy, and others still wait', async () => {
  const { enter, next } = await heldSemaphore();
  const greedy = {};
  for (let i = 0; i < CONNECTION_WAITING_MAX; i++) enter(`greedy ${i}`, greedy);
  expect(await enter('beyond', greedy).permit).toBe('busy');
  enter('other');
  expect(await next()).toBe('beyond busy,greedy 0');
  expect(await next()).toBe('other');
});

test('a client that leaves waits no more, and the next one has its turn', async () => {
  const { semaphore, enter, next } = await heldSemaphore();
  const [a, , c] = ['a', 'b', 'c', 'd'].map((name) => enter(name));
  a!.client.leave();
  c!.client.leave();
  expect(await semaphore.acquire(a!.client)).toBe('gone');
  expect([await next(), await next()]).toEqual(['a gone,c gone,b', 'd']);
});

test('a permit that nobody waits for is free for the next request', async () => {
  const semaphore = new Semaphore(2, PATIENT);
  const both = [await semaphore.acquire(new LeavingClient()), await semaphore.acquire(new LeavingClient())];
  expect(new Set(both)).toEqual(new Set([0, 1]));
  semaphore.release(1);
  expect(await semaphore.acquire(new LeavingClient())).toBe(1);
});
