// Repeated rounds: only a race that looks lost gets more rounds, at most eight times and within a time limit. The
// client counts requests and sends none; the clock is moved by hand.
import { beforeEach, expect, test, vi } from 'vitest';
import type { LoadClient } from '../../../bench/client/loadClient.ts';
import { measure, measureAgain, type Race } from '../../../bench/load/rounds.ts';

const SCHEDULE = { rounds: 3, warmUp: 1 };
const RACES = ['steady and far longer than the other', 'doubtful'].map(raceOf);

function raceOf(name: string): Race {
  const loadOf = () => ({ process: { pid: process.pid, port: 0 } as never, exchanges: [], requests: name.length });
  return { name, loads: [loadOf(), loadOf()] };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  return () => vi.useRealTimers();
});

/**
 * A load client that records the number of requests of each run, which is the length of the race's name. A request
 * takes a millisecond.
 */
function countingClient(): { readonly client: LoadClient; readonly asked: number[] } {
  const asked: number[] = [];
  const run = ({ requests }: { readonly requests: number }): Promise<object> => {
    asked.push(requests);
    vi.advanceTimersByTime(requests);
    return Promise.resolve({ requests });
  };
  return { client: { run } as never, asked };
}

async function measuredWith(isLost: (race: number, rounds: number) => boolean) {
  const { client, asked } = countingClient();
  const again: (readonly string[])[] = [];
  const measured = await measureAgain(client, RACES, SCHEDULE, {
    onRound: () => {},
    onAgain: (names) => void again.push(names),
    isLost: (race, loads) => isLost(race, loads[0]!.length),
  });
  return { again, asked, rounds: measured.map((loads) => loads.map(({ length }) => length)) };
}

test('measures a race once if it holds its budget', async () => {
  const { again, rounds, asked } = await measuredWith(() => false);
  expect([again, rounds]).toEqual([
    [],
    [
      [3, 3],
      [3, 3],
    ],
  ]);
  expect(asked.length).toBe(2 * 2 * (3 + 1));
});

test('warms up a load of two races once, and with at most 6,000 requests', async () => {
  const { client, asked } = countingClient();
  const [{ loads }] = RACES as [Race];
  const long = loads.map((load) => ({ ...load, requests: 700 }));
  const races = ['one', 'two'].map((name) => ({ name, loads: long }));
  await measure(client, races, { rounds: 1, warmUp: 10 }, () => undefined);
  expect(asked).toEqual([6000, 6000, 700, 700, 700, 700]);
});

test('gives a race that looks lost more rounds, and stops once it holds', async () => {
  const { again, rounds } = await measuredWith((race, count) => race === 1 && count < 6);
  expect([again, rounds]).toEqual([
    [['doubtful']],
    [
      [3, 3],
      [6, 6],
    ],
  ]);
});

test('counts a race as lost if it is still lost after eight more times', async () => {
  const { again, rounds } = await measuredWith((race) => race === 1);
  expect([again, rounds]).toEqual([
    Array.from({ length: 8 }, () => ['doubtful']),
    [
      [3, 3],
      [27, 27],
    ],
  ]);
});

test('repeats nothing once the repeats have taken twice the first measurement', async () => {
  const { again, rounds } = await measuredWith(() => true);
  expect([again.length, rounds]).toEqual([
    3,
    [
      [12, 12],
      [12, 12],
    ],
  ]);
});
