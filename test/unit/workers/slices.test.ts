// The scheduler of sliced work, by a clock that the test moves and turns of the event loop that it takes one by one.
import { expect, test } from 'vitest';
import { SLICED_RUNNING_MAX, Slices, SLICED_WAIT_MS_MAX, SLICED_WAITING_MAX } from '../../../workers/slices.ts';
import { STAYING } from '../../support/requests.ts';
import { LeavingClient } from '../../support/leavingClient.ts';

/** A thread whose turns are taken by `turn`; a step of `work` notes its name and takes so many milliseconds. */
function newThread() {
  let now = 1000;
  let next: (() => void) | undefined;
  const slices = new Slices(
    () => now,
    (turn) => {
      expect(next).toBeUndefined();
      next = turn;
    },
  );
  const taken: string[] = [];
  return {
    slices,
    taken,
    pass: (ms: number) => void (now += ms),
    isIdle: () => next === undefined,
    /** The steps that the next turn of the event loop takes. */
    turn(): readonly string[] {
      const turn = next;
      next = undefined;
      turn?.();
      return taken.splice(0);
    },
    /** So many steps, the last of which has a result. */
    work(name: string, steps: number, ms: number): () => string | undefined {
      let left = steps;
      return () => {
        taken.push(name);
        now += ms;
        return --left > 0 ? undefined : `${name} done`;
      };
    },
  };
}

test('a turn takes one long step of all works together, and each work its step in turn', async () => {
  const { slices, work, turn, isIdle } = newThread();
  const done = ['a', 'b', 'c'].map((name, i) => slices.run('exports', work(name, i + 1, 4), STAYING));
  const turns: string[] = [];
  while (!isIdle()) turns.push(turn().join());
  expect(turns).toEqual(['a', 'b', 'c', 'b', 'c', 'c']);
  expect(slices.taken).toBe(6);
  expect(await Promise.all(done)).toEqual(['a done', 'b done', 'c done']);
});

test('short steps share a turn until its time is over', () => {
  const { slices, work, turn } = newThread();
  for (const name of ['a', 'b', 'c']) void slices.run('exports', work(name, 9, 0.3), STAYING);
  expect([turn(), turn(), turn()].map((steps) => steps.join(''))).toEqual(['abca', 'bcab', 'cabc']);
});

test('however many works run, a turn takes no longer than one of them', () => {
  const { slices, work, turn } = newThread();
  for (let i = 0; i < SLICED_RUNNING_MAX + SLICED_WAITING_MAX; i++)
    void slices.run('exports', work(String(i), 3, 4), STAYING);
  for (let i = 0; i < 100; i++) expect(turn()).toHaveLength(1);
});

test('what is done at once leaves a queued step the turn behind it, in which nothing else has time', () => {
  const { slices, work, turn, pass } = newThread();
  void slices.run('exports', work('queued', 5, 1), STAYING);
  for (let i = 0; i < 3; i++) {
    let times = 0;
    while (slices.hasTime()) {
      const sinceMs = slices.now();
      pass(0.5);
      slices.spend(sinceMs);
      times++;
    }
    expect(times).toBe(6);
    expect([turn(), slices.hasTime()]).toEqual([[], false]);
    expect(turn()).toEqual(['queued']);
    expect(slices.hasTime()).toBe(true);
  }
});

test('short steps share the turn behind one that was spent at once', () => {
  const { slices, work, turn, pass } = newThread();
  for (const name of ['a', 'b']) void slices.run('exports', work(name, 9, 0.3), STAYING);
  const sinceMs = slices.now();
  pass(5);
  slices.spend(sinceMs);
  expect([turn(), turn()].map((steps) => steps.join(''))).toEqual(['', 'abab']);
});

test('what is written as a step is over sooner than at once', () => {
  const { slices, turn, pass } = newThread();
  const isUpBehind = (ms: number): boolean => {
    const sinceMs = slices.now();
    pass(ms);
    return slices.isUp(sinceMs);
  };
  const seen: boolean[] = [];
  slices.queue(() => seen.push(isUpBehind(0.9), isUpBehind(1)) === 0);
  turn();
  expect(seen).toEqual([false, true]);
  expect([isUpBehind(1), isUpBehind(2.9), isUpBehind(3)]).toEqual([false, false, true]);
});

test('time spent at once is forgotten with its turn, where nothing is queued too', () => {
  const { slices, turn, pass, isIdle } = newThread();
  const sinceMs = slices.now();
  expect(slices.isUp(sinceMs)).toBe(false);
  pass(5);
  expect(slices.isUp(sinceMs)).toBe(true);
  slices.spend(sinceMs);
  expect(slices.hasTime()).toBe(false);
  expect(turn()).toEqual([]);
  expect([slices.hasTime(), isIdle()]).toEqual([true, true]);
});

test('so many works run, others wait in the order in which they came, and one more is told so', async () => {
  const { slices, work, turn, taken } = newThread();
  const running = Array.from({ length: SLICED_RUNNING_MAX }, (_, i) =>
    slices.run('exports', work(`r${i}`, 2, 4), STAYING),
  );
  const waiting = Array.from({ length: SLICED_WAITING_MAX }, (_, i) =>
    slices.run('exports', work(`w${i}`, 1, 4), STAYING),
  );
  expect(await slices.run('exports', work('refused', 1, 4), STAYING)).toBe('busy');
  const names = Array.from({ length: 2 * SLICED_RUNNING_MAX + SLICED_WAITING_MAX }, () => turn()[0]);
  const runners = running.map((_, i) => `r${i}`);
  expect(names.slice(0, 2 * SLICED_RUNNING_MAX)).toEqual([...runners, ...runners]);
  expect(names.slice(2 * SLICED_RUNNING_MAX)).toEqual(waiting.map((_, i) => `w${i}`));
  expect(taken).toEqual([]);
  expect(await Promise.all([...running, ...waiting])).not.toContain('busy');
});

test('nothing waits longer than its time before it is told so, and what runs goes on', async () => {
  const { slices, work, turn, pass } = newThread();
  const long = Array.from({ length: SLICED_RUNNING_MAX }, (_, i) =>
    slices.run('exports', work(`r${i}`, 3, 4), STAYING),
  );
  const early = slices.run('exports', work('early', 1, 4), STAYING);
  pass(SLICED_WAIT_MS_MAX - 1);
  const late = slices.run('exports', work('late', 1, 4), STAYING);
  expect(turn()).toEqual(['r0']);
  pass(1);
  expect(turn()).toEqual(['r1']);
  expect(await early).toBe('busy');
  while (turn().length > 0);
  expect(await late).toBe('late done');
  expect(await long[SLICED_RUNNING_MAX - 1]).toBe(`r${SLICED_RUNNING_MAX - 1} done`);
});

test('a work whose client leaves is out at once, running or waiting, and the next one begins', async () => {
  const { slices, work, turn } = newThread();
  const clients = Array.from({ length: SLICED_RUNNING_MAX + 2 }, () => new LeavingClient());
  const works = clients.map((client, i) => slices.run('exports', work(String(i), 2, 4), client));
  clients[SLICED_RUNNING_MAX]!.leave();
  clients[0]!.leave();
  clients[1]!.leave();
  expect(await Promise.all([works[0], works[1], works[SLICED_RUNNING_MAX]])).toEqual(['gone', 'gone', 'gone']);
  const names = Array.from({ length: SLICED_RUNNING_MAX }, () => turn()[0]);
  expect(names).toEqual([
    ...Array.from({ length: SLICED_RUNNING_MAX - 2 }, (_, i) => String(i + 2)),
    `${SLICED_RUNNING_MAX + 1}`,
    '2',
  ]);
  expect(await slices.run('exports', work('never', 1, 4), clients[0]!)).toBe('gone');
});

test('a queued step is taken once a round, and never when it was dropped', () => {
  const { slices, turn, taken, pass } = newThread();
  const step = (name: string, isMore: boolean) => () => {
    taken.push(name);
    pass(4);
    return isMore;
  };
  const dropped = step('dropped', true);
  slices.queue(step('again', true));
  slices.queue(dropped);
  slices.queue(dropped);
  slices.queue(step('once', false));
  expect([turn(), turn(), turn(), turn(), turn()].flat()).toEqual(['again', 'dropped', 'once', 'again', 'dropped']);
  slices.drop(dropped);
  expect([turn(), turn()].flat()).toEqual(['again', 'again']);
});

test('a work that throws rejects, and a step that throws stops no other', async () => {
  const { slices, work, turn } = newThread();
  const failing = slices.run(
    'exports',
    () => {
      throw new Error('a bug');
    },
    STAYING,
  );
  slices.queue(() => {
    throw new Error('another');
  });
  const done = slices.run('exports', work('a', 1, 4), STAYING);
  expect(() => turn()).toThrow('another');
  expect(turn()).toEqual(['a']);
  await expect(failing).rejects.toThrow('a bug');
  expect(await done).toBe('a done');
});

test('works of a lane wait for none of another, and take no place of it', async () => {
  const { slices, work, turn } = newThread();
  const exports = Array.from({ length: SLICED_RUNNING_MAX }, (_, i) =>
    slices.run('exports', work(`e${i}`, 9, 4), STAYING),
  );
  const pages = Array.from({ length: SLICED_WAITING_MAX + SLICED_RUNNING_MAX }, (_, i) =>
    slices.run('pages', work(`p${i}`, 1, 4), STAYING),
  );
  expect(await slices.run('pages', work('refused', 1, 4), STAYING)).toBe('busy');
  const single = slices.soon(() => 'single', STAYING);
  // Of as many pages as there are, no more are among the steps at once than of exports.
  const round = Array.from({ length: 2 * SLICED_RUNNING_MAX + 1 }, () => turn().join());
  expect(round.filter((name) => name.startsWith('p'))).toHaveLength(SLICED_RUNNING_MAX);
  expect(await single).toBe('single');
  for (let i = 0; i < 2 * (SLICED_WAITING_MAX + 9 * SLICED_RUNNING_MAX); i++) turn();
  expect(new Set(await Promise.all([...exports, ...pages])).has('p0 done')).toBe(true);
});

test('work of one step is done at once or in a turn to come, whatever runs, and is bounded in number', async () => {
  const { slices, work, turn, taken, pass } = newThread();
  const long = Array.from({ length: SLICED_RUNNING_MAX + 1 }, (_, i) =>
    slices.run('exports', work(`long ${i}`, 2, 4), STAYING),
  );
  const single = (name: string) => (): string => {
    taken.push(name);
    pass(4);
    return name;
  };
  expect([slices.atOnce(single('now')), slices.atOnce(single('too late'))]).toEqual(['now', undefined]);
  expect(taken.splice(0)).toEqual(['now']);
  const client = new LeavingClient();
  const singles = [STAYING, client, STAYING].map((waiter, i) => slices.soon(single(`single ${i}`), waiter));
  client.leave();
  expect(await singles[1]).toBe('gone');
  // The first turn was spent at once.
  const names = Array.from({ length: SLICED_RUNNING_MAX + 3 }, () => turn()[0]);
  expect(names.slice(-2)).toEqual(['single 0', 'single 2']);
  expect(await Promise.all([singles[0], singles[2]])).toEqual(['single 0', 'single 2']);
  const many = Array.from({ length: SLICED_WAITING_MAX }, () => slices.soon(single('many'), STAYING));
  expect([await slices.soon(single('one more'), STAYING), await slices.soon(single('never'), client)]).toEqual([
    'busy',
    'gone',
  ]);
  const failing = () => {
    throw new Error('a bug');
  };
  for (let i = 0; i < 2 * SLICED_WAITING_MAX; i++) turn();
  expect(new Set(await Promise.all([...many, ...long.slice(0, -1)])).size).toBe(1 + SLICED_RUNNING_MAX);
  const failed = slices.soon(failing, STAYING);
  for (let i = 0; i < 4; i++) turn();
  await expect(failed).rejects.toThrow('a bug');
});
