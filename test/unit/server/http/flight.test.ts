// How long a turn goes on with what it read, by a clock that the test moves and turns that it takes one by one.
import { expect, test } from 'vitest';
import {
  CONNECTION_REQUESTS,
  Flight,
  SPARE_REQUESTS,
  TURN_MS_MAX,
  UNCOUNTED_REQUESTS,
} from '../../../../server/http/flight.ts';

/** A turn whose requests take so many milliseconds each; `answered` is how many of a flood it takes at once. */
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
    answered(connections: number, flood: number): number {
      flight.connections = connections;
      let answered = 0;
      for (; answered < flood && !flight.isTurnOver(); answered++) now += requestMs;
      next?.();
      next = undefined;
      return answered;
    },
  };
}

test('a flood of dear requests ends with the time of a turn, and the next turn begins anew', () => {
  const turn = newTurn(1);
  const most = SPARE_REQUESTS + CONNECTION_REQUESTS;
  expect([turn.answered(1, 8000), turn.answered(1, 8000)]).toEqual([most, most]);
});

test('requests that are cheap together are all taken', () => {
  expect(newTurn(TURN_MS_MAX / 8000).answered(1, 8000)).toBe(8000);
});

test('forty requests of each of many connections are taken, however long they take', () => {
  expect(newTurn(1).answered(1000, 40_000)).toBe(40_000);
  expect(newTurn(1).answered(1000, 80_000)).toBe(SPARE_REQUESTS + CONNECTION_REQUESTS * 1000);
});

test('time counts from the request that is looked at first, whatever came in turns before', () => {
  const turn = newTurn(TURN_MS_MAX);
  for (let i = 0; i < 100; i++) expect(turn.answered(1, UNCOUNTED_REQUESTS - 2)).toBe(UNCOUNTED_REQUESTS - 2);
});
