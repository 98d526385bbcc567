// Seats and who waits for one: turns of connections, bounds, and who leaves. No timer here is waited for but in the one
// test that is about it.
import { expect, test } from 'vitest';
import { CONNECTION_WAITING_MAX, type Seat, Seats } from '../../../workers/seats.ts';
import { LeavingClient } from '../../support/leavingClient.ts';

const PATIENT_MS = 600_000;

/** One seat, which is taken, and what `next` gives: the name of who gets it then. */
async function oneSeat() {
  const seats = new Seats(1, PATIENT_MS);
  const got: string[] = [];
  expect(await seats.enter(new LeavingClient())).toBe(0);
  const enter = (name: string, connection?: object): { client: LeavingClient; seat: Promise<Seat> } => {
    const client = Object.assign(new LeavingClient(), { connection });
    const seat = seats.enter(client);
    void seat.then((one) => got.push(typeof one === 'number' ? name : `${name} ${one}`));
    return { client, seat };
  };
  const next = async (): Promise<string> => {
    seats.leave(0);
    await new Promise((resolve) => setImmediate(resolve));
    return got.splice(0).join();
  };
  return { seats, enter, next };
}

test('each connection gets a seat in turn, however many of its requests wait', async () => {
  const { enter, next } = await oneSeat();
  const greedy = {};
  for (let i = 0; i < 4; i++) enter(`greedy ${i}`, greedy);
  for (const name of ['a', 'b']) enter(name);
  const order = [];
  for (let i = 0; i < 6; i++) order.push(await next());
  expect(order).toEqual(['greedy 0', 'a', 'b', 'greedy 1', 'greedy 2', 'greedy 3']);
});

test('a connection that comes later waits for one turn of those before it only', async () => {
  const { enter, next } = await oneSeat();
  const greedy = {};
  for (let i = 0; i < 9; i++) enter(`greedy ${i}`, greedy);
  expect(await next()).toBe('greedy 0');
  enter('late');
  expect([await next(), await next()]).toEqual(['greedy 1', 'late']);
});

test('so many requests of one connection wait, and one more is told so, while others still may', async () => {
  const { enter, next } = await oneSeat();
  const greedy = {};
  for (let i = 0; i < CONNECTION_WAITING_MAX; i++) enter(`greedy ${i}`, greedy);
  expect(await enter('beyond', greedy).seat).toBe('busy');
  enter('other');
  expect(await next()).toBe('beyond busy,greedy 0');
  expect(await next()).toBe('other');
});

test('who leaves waits no more, and who left before never did; its seat in turn is that of the next', async () => {
  const { seats, enter, next } = await oneSeat();
  const [a, , c] = ['a', 'b', 'c', 'd'].map((name) => enter(name));
  a!.client.leave();
  c!.client.leave();
  expect(await seats.enter(a!.client)).toBe('gone');
  expect([await next(), await next()]).toEqual(['a gone,c gone,b', 'd']);
});

test('a seat that nobody waits for is free for the next one, and there are no more than were made', async () => {
  const seats = new Seats(2, PATIENT_MS);
  const both = [await seats.enter(new LeavingClient()), await seats.enter(new LeavingClient())];
  expect(new Set(both)).toEqual(new Set([0, 1]));
  seats.leave(1);
  expect(await seats.enter(new LeavingClient())).toBe(1);
});

test('nobody waits longer than the time for it', async () => {
  const seats = new Seats(1, 1);
  await seats.enter(new LeavingClient());
  expect(await seats.enter(new LeavingClient())).toBe('busy');
  seats.leave(0);
  expect(await seats.enter(new LeavingClient())).toBe(0);
});

test('when all ends, whoever waits is told', async () => {
  const { seats, enter } = await oneSeat();
  const connection = {};
  const waiting = [enter('a', connection), enter('b', connection), enter('c')];
  seats.close();
  expect(await Promise.all(waiting.map(({ seat }) => seat))).toEqual(['gone', 'gone', 'gone']);
});
