// The pool of a serving thread: runs heavy plans in threads of their own, with a bounded queue and cancellation.
// Owned by one serving thread, so that a heavy client of one cannot fill the queue of another. A running task is
// cancelled by a flag that it polls: to abort it in Piscina would end its thread.
import type { LoadedSnapshot } from '../engine/engine.ts';
import type { HeavyThreads } from './heavyThreads.ts';
import type { Seats } from './seats.ts';
import type { OnLostThread } from './starvation.ts';
import { TaskFlag, type HeavyFound, type HeavyQuery, type Missed, type PoolData } from './protocol.ts';
import type { Disconnection } from './waiter.ts';

/**
 * What bounds a pool. `tasksMax` heavy queries run or wait at once, which bounds memory, none of them waits longer than
 * `waitMsMax`, and none runs longer than `taskMsMax`. One beyond is answered 503 (A108).
 */
export interface PoolLimits {
  readonly tasksMax: number;
  readonly waitMsMax: number;
  readonly taskMsMax: number;
}

/** The limits of every server: in its time a task looks at 1 GB of text, at the speed of an ordinary pattern. */
export const POOL_LIMITS: PoolLimits = { tasksMax: 256, waitMsMax: 5000, taskMsMax: 10_000 };

/** Runs a heavy query off this thread, or says why not. It takes the query at once; a rejection is our bug. */
export type RunHeavy = (query: HeavyQuery, waiter: Disconnection) => Promise<HeavyFound | Missed>;

/**
 * A pool over one snapshot. A thread that dies takes its task with it, and another is started for the next one. Where
 * none can start, for want of descriptors, threads or memory, tasks are `busy` until it is tried again. `close` cancels
 * all and ends the threads; no `run` behind it.
 */
export interface HeavyPool {
  readonly run: RunHeavy;
  close(): Promise<void>;
}

interface Started {
  readonly heavy: HeavyThreads;
  readonly seats: Seats;
}

/** A pool of `threads` threads. Its library is read, and threads start, with the first heavy query. */
export function startPool(
  loaded: LoadedSnapshot,
  threads: number,
  limits: PoolLimits = POOL_LIMITS,
  onLost: OnLostThread = () => undefined,
): HeavyPool {
  const { tasksMax, waitMsMax, taskMsMax } = limits;
  const flags = new Int32Array(new SharedArrayBuffer(threads * Int32Array.BYTES_PER_ELEMENT));
  let started: Promise<Started> | undefined;
  /** Undefined where the program itself cannot be read, for want of descriptors: whoever comes next may try again. */
  const startedNow = async (): Promise<Started | undefined> => {
    try {
      return await (started ??= startedWith(threads, { loaded, flags, taskMsMax }, waitMsMax, onLost));
    } catch (error) {
      started = undefined;
      onLost(error, true);
      return undefined;
    }
  };
  const underWay = new Set<Promise<unknown>>();
  const runIn = async (query: HeavyQuery, waiter: Disconnection): Promise<HeavyFound | Missed> => {
    const pool = await startedNow();
    if (!pool) return 'busy';
    const { heavy, seats } = pool;
    const slot = await seats.enter(waiter);
    if (typeof slot === 'string') return slot;
    Atomics.store(flags, slot, TaskFlag.wanted);
    // A client may also leave while it reads the answer, when the slot is another task's already.
    let isHeld = true;
    waiter.onGone(() => {
      if (isHeld) Atomics.store(flags, slot, TaskFlag.cancelled);
    });
    try {
      return (await heavy.run({ ...query, slot })) ?? 'gone';
    } finally {
      isHeld = false;
      seats.leave(slot);
    }
  };
  const run: RunHeavy = async (query, waiter) => {
    if (underWay.size >= tasksMax) return 'busy';
    const task = runIn(query, waiter);
    underWay.add(task);
    try {
      return await task;
    } finally {
      underWay.delete(task);
    }
  };
  const close: HeavyPool['close'] = async () => {
    const ending = await started?.catch(() => undefined);
    ending?.seats.close();
    flags.fill(TaskFlag.cancelled);
    // The library waits for what runs only, and takes what is queued behind it for a failure.
    await Promise.allSettled(underWay);
    await ending?.heavy.close();
  };
  return { run, close };
}

async function startedWith(threads: number, data: PoolData, waitMsMax: number, onLost: OnLostThread): Promise<Started> {
  const [{ HeavyThreads }, { Seats }] = await Promise.all([import('./heavyThreads.ts'), import('./seats.ts')]);
  return { heavy: new HeavyThreads(threads, data, onLost), seats: new Seats(threads, waitMsMax) };
}
