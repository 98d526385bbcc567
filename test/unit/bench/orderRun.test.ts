// The lateness of requests of a paced order. A request that finds an idle connection waits from the moment it is sent,
// any other from the moment it was due, however busy the server is. The clock is moved by hand; nothing is sent.
import { beforeEach, expect, test, vi } from 'vitest';
import { OrderRun, type OrderConnection } from '../../../bench/client/orderRun.ts';

const PER_SECOND = 1000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  return () => vi.useRealTimers();
});

/** A connection that sends requests and notes how late each is. */
function connectionOf(run: OrderRun): OrderConnection & { readonly lateMs: number[] } {
  const lateMs: number[] = [];
  const one = {
    lateMs,
    ask: () => {
      const errand = run.next(one);
      if (errand) lateMs.push(performance.now() - errand.dueMs);
    },
  };
  one.ask();
  return one;
}

function pacedRun(): OrderRun {
  const exchanges = [{ target: '/', status: 200, bytes: 4 }];
  const order = { port: 0, exchanges, requests: 100, connections: 1, withinMs: 1000, perSecond: PER_SECOND };
  return new OrderRun(order, () => undefined);
}

test('counts no wait for a request that finds an idle connection, however late the client checks', () => {
  const run = pacedRun();
  const connection = connectionOf(run);
  vi.advanceTimersByTime(1.75);
  run.tick(PER_SECOND);
  expect(connection.lateMs).toEqual([0]);
});

test('counts the wait from the due time if all connections are busy, so that a pause of the server is in each', () => {
  const run = pacedRun();
  const connection = connectionOf(run);
  for (let i = 0; i < 5; i++) {
    vi.advanceTimersByTime(1);
    run.tick(PER_SECOND);
  }
  // The first was sent at 1 ms and is answered at 5 ms: those of 2 to 5 ms have waited meanwhile.
  for (let i = 0; i < 5; i++) connection.ask();
  expect(connection.lateMs.map((ms) => Math.round(ms))).toEqual([0, 3, 2, 1, 0]);
});

test('counts no wait for as many simultaneous requests as there are idle connections', () => {
  const run = pacedRun();
  const connections = [connectionOf(run), connectionOf(run)];
  vi.advanceTimersByTime(4);
  run.tick(PER_SECOND);
  expect(connections.map(({ lateMs }) => lateMs)).toEqual([[0], [0]]);
  connections[0]!.ask();
  expect(connections[0]!.lateMs.map((ms) => Math.round(ms))).toEqual([0, 1]);
});
