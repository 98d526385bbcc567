// The scheduler of sliced work, with a clock that the test moves and turns of the event loop that it runs one by one.
import { expect, test } from 'vitest';
import { WAITING_LIMITS } from '../../../workers/pool.ts';
import { type Lane, SLICED_RUNNING_MAX, Slices, type UnfinishedReason } from '../../../workers/slices.ts';
import { LeavingClient } from '../../support/requests.ts';

/** A thread whose turns are run by `turn`. A step of `work` notes its name and takes this many milliseconds. */
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
  const run = async <T>(
    lane: Lane,
    work: () => T | undefined,
    client = new LeavingClient(),
  ): Promise<T | UnfinishedReason> => slices.run(lane, work, client);
  /** The steps in the next turn of the event loop. */
  const turn = async (): Promise<readonly string[]> => {
    // Tasks get their permits first.
    await new Promise((resolve) => setImmediate(resolve));
    const take = next;
    next = undefined;
    take?.();
    return taken.splice(0);
  };
  return {
    slices,
    run,
    taken,
    pass: (ms: number) => void (now += ms),
    isIdle: () => next === undefined,
    turn,
    /** The first step of each of `count` turns. */
    async turns(count: number): Promise<readonly (string | undefined)[]> {
      const steps = [];
      for (let i = 0; i < count; i++) steps.push((await turn())[0]);
      return steps;
    },
    /** This many steps, the last of which has a result. */
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

test('takes one long step of all tasks in a turn, and each task gets its step in turn', async () => {
  const { slices, run, work, turn, isIdle } = newThread();
  const done = ['a', 'b', 'c'].map((name, i) => run('exports', work(name, i + 1, 4)));
  const steps: string[] = [];
  do steps.push((await turn()).join());
  while (!isIdle());
  expect(steps).toEqual(['a', 'b', 'c', 'b', 'c', 'c']);
  expect(slices.queuedSteps).toBe(6);
  expect(await Promise.all(done)).toEqual(['a done', 'b done', 'c done']);
});

test('shares a turn among short steps until its time is over', async () => {
  const { run, work, turn } = newThread();
  for (const name of ['a', 'b', 'c']) void run('exports', work(name, 9, 0.3));
  expect([await turn(), await turn(), await turn()].map((steps) => steps.join(''))).toEqual(['abca', 'bcab', 'cabc']);
});

test('takes no longer for a turn than one task, however many run', async () => {
  const { run, work, turn } = newThread();
  for (let i = 0; i < SLICED_RUNNING_MAX + WAITING_LIMITS.waitingMax; i++) void run('exports', work(String(i), 3, 4));
  for (let i = 0; i < 100; i++) expect(await turn()).toHaveLength(1);
});

test('leaves a queued step the turn after work that is done at once, in which nothing else has time', async () => {
  const { slices, run, work, turn, pass } = newThread();
  void run('exports', work('queued', 5, 1));
  for (let i = 0; i < 3; i++) {
    let times = 0;
    while (slices.hasTime()) {
      const sinceMs = slices.now();
      pass(0.5);
      slices.spend(sinceMs);
      times++;
    }
    expect(times).toBe(6);
    expect([await turn(), slices.hasTime()]).toEqual([[], false]);
    expect(await turn()).toEqual(['queued']);
    expect(slices.hasTime()).toBe(true);
  }
});

test('shares the turn after work that was done at once among short steps', async () => {
  const { slices, run, work, turn, pass } = newThread();
  for (const name of ['a', 'b']) void run('exports', work(name, 9, 0.3));
  const sinceMs = slices.now();
  pass(5);
  slices.spend(sinceMs);
  expect([await turn(), await turn()].map((steps) => steps.join(''))).toEqual(['', 'abab']);
});

test('finishes work written as a step sooner than at once', async () => {
  const { slices, turn, pass } = newThread();
  const isUpBehind = (ms: number): boolean => {
    const sinceMs = slices.now();
    pass(ms);
    return slices.isUp(sinceMs);
  };
  const seen: boolean[] = [];
  slices.queue(() => seen.push(isUpBehind(0.9), isUpBehind(1)) === 0);
  await turn();
  expect(seen).toEqual([false, true]);
  expect([isUpBehind(1), isUpBehind(2.9), isUpBehind(3)]).toEqual([false, false, true]);
});

test('forgets time spent at once with its turn, also if nothing is queued', async () => {
  const { slices, turn, pass, isIdle } = newThread();
  const sinceMs = slices.now();
  expect(slices.isUp(sinceMs)).toBe(false);
  pass(5);
  expect(slices.isUp(sinceMs)).toBe(true);
  slices.spend(sinceMs);
  expect(slices.hasTime()).toBe(false);
  expect(await turn()).toEqual([]);
  expect([slices.hasTime(), isIdle()]).toEqual([true, true]);
});

test('runs a bounded number of tasks, keeps others waiting in their order, and refuses one more', async () => {
  const { run, work, turns, taken } = newThread();
  const running = Array.from({ length: SLICED_RUNNING_MAX }, (_, i) => run('exports', work(`r${i}`, 2, 4)));
  const waiting = Array.from({ length: WAITING_LIMITS.waitingMax }, (_, i) => run('exports', work(`w${i}`, 1, 4)));
  expect(await run('exports', work('refused', 1, 4))).toBe('busy');
  const names = await turns(2 * SLICED_RUNNING_MAX + WAITING_LIMITS.waitingMax);
  const runners = running.map((_, i) => `r${i}`);
  expect(names.slice(0, 2 * SLICED_RUNNING_MAX)).toEqual([...runners, ...runners]);
  expect(names.slice(2 * SLICED_RUNNING_MAX)).toEqual(waiting.map((_, i) => `w${i}`));
  expect(taken).toEqual([]);
  expect(await Promise.all([...running, ...waiting])).not.toContain('busy');
});

test('removes a task whose client disconnects at once, running or waiting, and starts the next one', async () => {
  const { run, work, turns } = newThread();
  const clients = Array.from({ length: SLICED_RUNNING_MAX + 2 }, () => new LeavingClient());
  const works = clients.map((client, i) => run('exports', work(String(i), 2, 4), client));
  clients[SLICED_RUNNING_MAX]!.leave();
  clients[0]!.leave();
  clients[1]!.leave();
  expect(await Promise.all([works[0], works[1], works[SLICED_RUNNING_MAX]])).toEqual(['gone', 'gone', 'gone']);
  const names = await turns(SLICED_RUNNING_MAX);
  expect(names).toEqual([
    ...Array.from({ length: SLICED_RUNNING_MAX - 2 }, (_, i) => String(i + 2)),
    `${SLICED_RUNNING_MAX + 1}`,
    '2',
  ]);
  expect(await run('exports', work('never', 1, 4), clients[0])).toBe('gone');
});

test('takes a queued step once a round, and never after it was dropped', async () => {
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
  expect([await turn(), await turn(), await turn(), await turn(), await turn()].flat()).toEqual([
    'again',
    'dropped',
    'once',
    'again',
    'dropped',
  ]);
  slices.drop(dropped);
  expect([await turn(), await turn()].flat()).toEqual(['again', 'again']);
});

test('rejects a task that throws, and stops no other task for a step that throws', async () => {
  const { slices, run, work, turn } = newThread();
  const failing = run('exports', () => {
    throw new Error('a bug');
  });
  slices.queue(() => {
    throw new Error('another');
  });
  const done = run('exports', work('a', 1, 4));
  await expect(turn()).rejects.toThrow('another');
  expect(await turn()).toEqual(['a']);
  await expect(failing).rejects.toThrow('a bug');
  expect(await done).toBe('a done');
});

test('keeps tasks of a lane independent of those of another, and gives each lane its places', async () => {
  const { run, work, turns } = newThread();
  const exports = Array.from({ length: SLICED_RUNNING_MAX }, (_, i) => run('exports', work(`e${i}`, 9, 4)));
  const pages = Array.from({ length: WAITING_LIMITS.waitingMax + SLICED_RUNNING_MAX }, (_, i) =>
    run('pages', work(`p${i}`, 1, 4)),
  );
  expect(await run('pages', work('refused', 1, 4))).toBe('busy');
  const query = run('queries', () => 'query');
  // However many pages wait, they get no more steps than the exports.
  const round = await turns(2 * SLICED_RUNNING_MAX + 1);
  expect(round.filter((name) => name?.startsWith('p'))).toHaveLength(SLICED_RUNNING_MAX);
  expect(await query).toBe('query');
  await turns(2 * (WAITING_LIMITS.waitingMax + 9 * SLICED_RUNNING_MAX));
  expect(new Set(await Promise.all([...exports, ...pages])).has('p0 done')).toBe(true);
});

test('does work at once while there is time, and a task of one step in a later turn', async () => {
  const { slices, run, turns, taken, pass, work } = newThread();
  for (let i = 0; i <= SLICED_RUNNING_MAX; i++) void run('exports', work(`long ${i}`, 2, 4));
  const single = (name: string) => (): string => {
    taken.push(name);
    pass(4);
    return name;
  };
  expect([slices.runNow(single('now')), slices.runNow(single('too late'))]).toEqual(['now', undefined]);
  expect(taken.splice(0)).toEqual(['now']);
  const later = run('queries', single('later'));
  // `now` has already used up the time of the first turn.
  expect((await turns(SLICED_RUNNING_MAX + 2)).at(-1)).toBe('later');
  expect(await later).toBe('later');
});
