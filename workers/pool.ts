// The pool of a serving thread: runs heavy plans in threads of their own, with a bounded queue and cancellation.
// Owned by one serving thread, so that a heavy client of one cannot fill the queue of another. A running task is
// cancelled by a flag that it polls: to abort it in Piscina would end its thread.
import type { Piscina } from 'piscina';
import type { LoadedSnapshot } from '../engine/engine.ts';
import { REGEX_MS_MAX } from './budget.ts';
import { TaskFlag, type HeavyFound, type HeavyQuery, type HeavyResult, type HeavyTask } from './protocol.ts';
import type { Missed, PoolData } from './protocol.ts';
import type { Disconnection } from './waiter.ts';

/**
 * Heavy queries that run or wait at once; one more is answered `busy` (503). Bounds memory and the wait of the last.
 */
export const TASKS_MAX = 64;

/** Runs a heavy query off this thread, or says why not. It takes the query at once; a rejection is our bug. */
export type RunHeavy = (query: HeavyQuery, waiter: Disconnection) => Promise<HeavyFound | Missed>;

/** A pool over one snapshot. `close` cancels all and ends the threads; no `run` behind it. */
export interface HeavyPool {
  readonly run: RunHeavy;
  close(): Promise<void>;
}

/**
 * A pool of `threads` threads. Its library is read, and threads start, with the first heavy query. `regexMsMax` as in
 * protocol.ts.
 */
export function startPool(loaded: LoadedSnapshot, threads: number, regexMsMax: number = REGEX_MS_MAX): HeavyPool {
  const flags = new Int32Array(new SharedArrayBuffer(TASKS_MAX * Int32Array.BYTES_PER_ELEMENT));
  const free = Array.from({ length: TASKS_MAX }, (_, slot) => slot);
  const workerData: PoolData = { loaded, flags, regexMsMax };
  let piscina: Promise<Piscina<HeavyTask, HeavyResult>> | undefined;
  const start = async (): Promise<Piscina<HeavyTask, HeavyResult>> => {
    const library = await import('piscina');
    return new library.Piscina({
      filename: new URL('./heavy.ts', import.meta.url).href,
      name: 'runPlan',
      minThreads: 0,
      maxThreads: threads,
      idleTimeout: 60_000,
      workerData,
    });
  };
  const underWay = new Set<Promise<unknown>>();
  const run: RunHeavy = async (query, waiter) => {
    const slot = free.pop();
    if (slot === undefined) return 'busy';
    Atomics.store(flags, slot, TaskFlag.wanted);
    // A client may also leave while it reads the answer, when the slot is another task's already.
    let isHeld = true;
    waiter.onGone(() => {
      if (isHeld) Atomics.store(flags, slot, TaskFlag.cancelled);
    });
    piscina ??= start();
    const task = piscina.then((pool) => pool.run({ ...query, slot }));
    underWay.add(task);
    try {
      return (await task) ?? 'gone';
    } finally {
      underWay.delete(task);
      isHeld = false;
      free.push(slot);
    }
  };
  const close: HeavyPool['close'] = async () => {
    flags.fill(TaskFlag.cancelled);
    // Piscina waits for what runs only, and takes what is queued behind it for a failure.
    await Promise.allSettled(underWay);
    await (await piscina)?.close();
  };
  return { run, close };
}
