// What people and counters are told of threads that are lost, by a clock that the test moves.
import { beforeEach, describe, expect, test } from 'vitest';
import type { ServiceEvent } from '../../../../server/observe/events.ts';
import { ThreadLosses } from '../../../../server/threads/threadLosses.ts';

const MINUTE_MS = 60_000;

let now = 0;
let lines: string[] = [];
let events: ServiceEvent[] = [];
let losses: ThreadLosses;

beforeEach(() => {
  now = 5;
  lines = [];
  events = [];
  losses = new ThreadLosses(
    (line) => void lines.push(line),
    (batch) => void events.push(...batch),
    () => now,
  );
});

describe('a thread that cannot start for want of something', () => {
  test('is told of once a minute, with the reason and the cure, and counted each time', () => {
    for (now = 5; now < 5 + 2 * MINUTE_MS; now += MINUTE_MS / 4) losses.starved('pool', 'EAGAIN');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^a pool thread cannot start \(EAGAIN\) and is tried again; .*threads or memory$/);
    expect(lines[0]).not.toContain('report');
    expect(events).toHaveLength(8);
    expect(events[0]).toMatchObject({ kind: 'threadStarved', thread: 'pool', reason: 'EAGAIN' });
  });

  test('is told that it wants another start where what is missing is its program', () => {
    losses.starved('pool', 'ERR_MODULE_NOT_FOUND');
    expect(lines).toEqual([expect.stringMatching(/ 503: the program is not where it was .*: start the server again$/)]);
  });

  test('is told of in a minute of its own for each kind, and for descriptors', () => {
    losses.starved('pool', 'EAGAIN');
    losses.starved('signing', 'ENOMEM');
    losses.exhausted('EMFILE');
    losses.exhausted('EMFILE');
    expect(lines.map((line) => /\((\w+)\)/.exec(line)?.[1])).toEqual(['EAGAIN', 'ENOMEM', 'EMFILE']);
  });

  test('is no death', () => {
    for (let i = 0; i < 9; i++) losses.starved('pool', 'EAGAIN');
    expect(ThreadLosses.isHopeless(losses.died('pool', 'Error: x'))).toBe(false);
  });
});

describe('a thread that died', () => {
  test('is told of and counted each time, as what is to be reported', () => {
    losses.died('serving', 'Error: x');
    losses.died('serving', 'Error: y');
    expect(lines).toEqual([
      'a serving thread died and is replaced, please report it: Error: x',
      'a serving thread died and is replaced, please report it: Error: y',
    ]);
    expect(events.map(({ kind }) => kind)).toEqual(['threadDied', 'threadDied']);
  });

  test('is hopeless as the fifth of its kind within a minute, not of another kind or time', () => {
    const deaths = (thread: 'pool' | 'serving', times: number): number[] =>
      Array.from({ length: times }, () => losses.died(thread, 'Error: x'));
    expect(deaths('pool', 4)).toEqual([1, 2, 3, 4]);
    expect(deaths('serving', 1)).toEqual([1]);
    now += MINUTE_MS;
    const again = deaths('pool', 5);
    expect(again).toEqual([1, 2, 3, 4, 5]);
    expect(again.map(ThreadLosses.isHopeless)).toEqual([false, false, false, false, true]);
  });
});
