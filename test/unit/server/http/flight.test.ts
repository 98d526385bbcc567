// The time that a turn spends on requests that it has read, with a clock that the test moves and turns that it runs one
// by one.
import { expect, test } from 'vitest';
import {
  CLOCKED_REQUESTS,
  CONNECTION_REQUESTS,
  COUNTED_CONNECTIONS,
  Flight,
  LONG_QUERY_BYTES,
  SPARE_REQUESTS,
  TURN_MS_MAX,
} from '../../../../server/http/listener.ts';

/**
 * A turn whose requests take this many milliseconds each; `answered` counts the requests of a flood that it serves at
 * once.
 */
function newTurn(requestMs: number) {
  let now = 1000;
  let next: (() => void) | undefined;
  const flight = new Flight(
    () => now,
    (taken) => {
      expect(next).toBeUndefined();
      next = taken;
    },
  );
  return {
    pass: (ms: number) => void (now += ms),
    answered(connections: number, flood: number, queryBytes = 0, isEnded = true): number {
      flight.connections = connections;
      let answered = 0;
      for (; answered < flood && !flight.isTurnOver(queryBytes); answered++) now += requestMs;
      if (isEnded) {
        next?.();
        next = undefined;
      }
      return answered;
    },
  };
}

test('ends a flood of expensive requests with the time of a turn, and starts from scratch in the next turn', () => {
  const turn = newTurn(1);
  const most = SPARE_REQUESTS + CONNECTION_REQUESTS;
  expect([turn.answered(1, 8000), turn.answered(1, 8000)]).toEqual([most, most]);
});

test('counts a long query as many requests, so that a turn ends with its time', () => {
  expect(newTurn(1).answered(60, 60, 60_000)).toBe(TURN_MS_MAX);
  expect(newTurn(1).answered(60, 60, LONG_QUERY_BYTES - 1)).toBe(60);
  expect(newTurn(0.1).answered(60, 60, 60_000)).toBe(60);
});

test('delays no other request for the long queries of a turn', () => {
  const turn = newTurn(1);
  turn.answered(1, 1, 60_000, false);
  expect(turn.answered(1, 40)).toBe(40);
});

test('serves all requests that are cheap together', () => {
  expect(newTurn(TURN_MS_MAX / 8000).answered(1, 8000)).toBe(8000);
});

test('serves forty requests of each of many connections, however long they take', () => {
  expect(newTurn(1).answered(50, 40 * 50)).toBe(40 * 50);
  for (const connections of [COUNTED_CONNECTIONS, 10 * COUNTED_CONNECTIONS]) {
    const most = SPARE_REQUESTS + CONNECTION_REQUESTS * COUNTED_CONNECTIONS;
    expect(newTurn(1).answered(connections, 80_000)).toBe(most);
  }
});

test('delays requests that lose nothing by it once a turn is long', () => {
  let now = 0;
  const flight = new Flight(
    () => now++,
    () => undefined,
  );
  const isLong = Array.from({ length: CLOCKED_REQUESTS + TURN_MS_MAX + 1 }, () => flight.isTurnLong());
  expect(isLong.indexOf(true)).toBe(CLOCKED_REQUESTS - 1 + TURN_MS_MAX - 1);
});

test('counts time from the first timed request, whatever came in earlier turns', () => {
  const turn = newTurn(0.1);
  for (let i = 0; i < 3; i++) expect(turn.answered(1, CLOCKED_REQUESTS / 4)).toBe(CLOCKED_REQUESTS / 4);
  turn.pass(10 * TURN_MS_MAX);
  const [before, clocked] = [CLOCKED_REQUESTS / 4 - 1, TURN_MS_MAX / 0.1];
  const answered = turn.answered(1, 8000);
  // The rounding error of a sum of tenths may count as one more.
  expect(answered - before - clocked).toBeGreaterThanOrEqual(0);
  expect(answered - before - clocked).toBeLessThan(2);
});

test('ends the responses of data from before a swap, and none of a thread that started after it', () => {
  const ended: string[] = [];
  const answerOf = (name: string) => ({ cut: () => void ended.push(name) });
  const [flight, later] = [new Flight(() => 0), new Flight(() => 0)];
  for (const swap of [1, 2]) {
    flight.enter(answerOf(`before swap ${swap}`));
    flight.swapped(swap);
  }
  flight.enter(answerOf('current'));
  later.enter(answerOf('of a later thread'));
  expect([flight.load().replacedReaders, later.load().replacedReaders]).toEqual([2, 0]);
  flight.cutReaders(1);
  expect(ended).toEqual(['before swap 1']);
  for (const one of [flight, later]) one.cutReaders(2);
  expect(new Set(ended)).toEqual(new Set(['before swap 1', 'before swap 2']));
});
