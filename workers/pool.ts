// The pool of a serving thread: runs heavy plans in threads of their own, with a bounded queue and cancellation.
// Owned by one serving thread, so that a heavy client of one cannot fill the queue of another. A running task is
// cancelled by a flag that it polls; to abort it in Piscina ends its thread, and is for one that does not come to poll.
import type { LoadedSnapshot } from '../engine/engine.ts';
import type { HeavyThreads } from './heavyThreads.ts';
import type { Seats } from './seats.ts';
import type { OnLostThread } from './starvation.ts';
import { TaskFlag, type HeavyFinding, type HeavyQuery, type MissReason, type PoolData } from './protocol.ts';
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
export type RunHeavy = (query: HeavyQuery, waiter: Disconnection) => Promise<HeavyFinding | MissReason>;

/** What a pool does now, and what came of all queries since its start. */
export interface PoolStatistics {
  readonly running: number;
  readonly waiting: number;
  readonly outcomes: Readonly<Record<'found' | MissReason, number>>;
}

/**
 * A pool over one snapshot. A thread that dies takes its task with it, and another is started for the next one. Where
 * none can start, for want of descriptors, threads or memory, tasks are `busy` until it is tried again. `close` cancels
 * all and ends the threads; no `run` behind it. `retire` ends the threads once nothing runs or waits, for a snapshot
 * that new queries do not ask: what comes late is run all the same, and then the threads end again.
 */
export interface HeavyPool {
  readonly run: RunHeavy;
  statistics(): PoolStatistics;
  close(): Promise<void>;
  retire(): Promise<void>;
}

interface Started {
  readonly heavy: HeavyThreads;
  readonly seats: Seats;
}

/** Undefined where the program itself cannot be read, for want of descriptors: whoever comes next may try again. */
async function startThreads(
  data: PoolData,
  threads: number,
  waitMsMax: number,
  onLost: OnLostThread,
): Promise<Started | undefined> {
  try {
    const [{ HeavyThreads }, { Seats }] = await Promise.all([import('./heavyThreads.ts'), import('./seats.ts')]);
    return { heavy: new HeavyThreads(threads, data, onLost), seats: new Seats(threads, waitMsMax) };
  } catch (error) {
    onLost(error, true);
    return undefined;
  }
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
  const workerData: PoolData = { loaded, flags, taskMsMax };
  let started: Promise<Started | undefined> | undefined;
  let isRetired = false;
  let isClosing = false;
  const underWay = new Set<Promise<unknown>>();
  const runIn = async (query: HeavyQuery, waiter: Disconnection): Promise<HeavyFinding | MissReason> => {
    const starting = (started ??= startThreads(workerData, threads, waitMsMax, onLost));
    const pool = await starting;
    if (!pool && started === starting) started = undefined;
    if (!pool) return 'busy';
    const { heavy, seats } = pool;
    const slot = await seats.enter(waiter);
    if (typeof slot === 'string') return slot;
    try {
      if (isClosing) return 'gone';
      return (await wanted(flags, slot, waiter, () => heavy.run({ ...query, slot }))) ?? 'gone';
    } finally {
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
      if (isRetired) await endIdle();
    }
  };
  const endIdle = async (): Promise<void> => {
    if (underWay.size > 0) return;
    const ending = started;
    started = undefined;
    await (await ending)?.heavy.close();
  };
  const retire: HeavyPool['retire'] = async () => {
    isRetired = true;
    await endIdle();
  };
  const close: HeavyPool['close'] = async () => {
    isClosing = true;
    const ending = await started;
    ending?.seats.close();
    flags.fill(TaskFlag.cancelled);
    // Piscina waits for what runs only, and takes what is queued behind it for a failure.
    await Promise.allSettled(underWay);
    await ending?.heavy.close();
  };
  return { ...counted(run, threads, underWay), close, retire };
}

/** Does work whose flag says whether somebody waits for it. */
async function wanted<T>(flags: Int32Array, slot: number, waiter: Disconnection, work: () => Promise<T>): Promise<T> {
  Atomics.store(flags, slot, TaskFlag.wanted);
  // A client may also leave while it reads the answer, when the slot is another task's already.
  let isHeld = true;
  waiter.onGone(() => {
    if (isHeld) Atomics.store(flags, slot, TaskFlag.cancelled);
  });
  try {
    return await work();
  } finally {
    isHeld = false;
  }
}

/** The same, and what came of it. */
function counted(
  run: RunHeavy,
  threads: number,
  underWay: { readonly size: number },
): Pick<HeavyPool, 'run' | 'statistics'> {
  const outcomes = { found: 0, busy: 0, gone: 0, overtime: 0 };
  return {
    run: async (query, waiter) => {
      const found = await run(query, waiter);
      outcomes[typeof found === 'string' ? found : 'found']++;
      return found;
    },
    statistics: () => {
      const running = Math.min(underWay.size, threads);
      return { running, waiting: underWay.size - running, outcomes };
    },
  };
}
