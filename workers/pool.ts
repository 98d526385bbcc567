// The pool of a serving thread: runs heavy plans in threads of their own, with a bounded queue and cancellation.
// Owned by one serving thread, so that a heavy client of one cannot fill the queue of another.
import { Piscina } from 'piscina';
import type { LoadedSnapshot, Plan } from '../engine/engine.ts';
import { REGEX_MS_MAX } from './budget.ts';
import { TaskFlag, type HeavyResult, type HeavyTask, type PoolData } from './protocol.ts';

/** Who waits for a result, and how to learn that they do no longer. */
export interface Waiter {
  isGone(): boolean;
  onGone(listener: () => void): void;
}

/** Heavy queries that run or wait at once; one more is answered `busy` (503). Bounds memory and the wait of the last. */
export const TASKS_MAX = 64;

/** A pool over one snapshot. `run` rejects for bugs of ours only. `close` cancels all and ends the threads; no `run` behind it. */
export interface HeavyPool {
  run(collection: string, plan: Plan, waiter: Waiter): Promise<NonNullable<HeavyResult> | 'busy' | 'gone'>;
  close(): Promise<void>;
}

/** A pool of `threads` threads. Threads start with the first heavy query. `regexMsMax` as in protocol.ts. */
export function startPool(loaded: LoadedSnapshot, threads: number, regexMsMax: number = REGEX_MS_MAX): HeavyPool {
  const flags = new Int32Array(new SharedArrayBuffer(TASKS_MAX * Int32Array.BYTES_PER_ELEMENT));
  const free = Array.from({ length: TASKS_MAX }, (_, slot) => slot);
  const workerData: PoolData = { loaded, flags, regexMsMax };
  let piscina: Piscina<HeavyTask, HeavyResult> | undefined;
  const started = (): Piscina<HeavyTask, HeavyResult> =>
    (piscina ??= new Piscina({
      filename: new URL('./heavy.ts', import.meta.url).href,
      name: 'runPlan',
      minThreads: 0,
      maxThreads: threads,
      idleTimeout: 60_000,
      workerData,
    }));
  const underWay = new Set<Promise<unknown>>();
  const run: HeavyPool['run'] = async (collection, plan, waiter) => {
    const slot = free.pop();
    if (slot === undefined) return 'busy';
    Atomics.store(flags, slot, TaskFlag.wanted);
    // A client may also leave while it reads the answer, when the slot is another task's already.
    let isHeld = true;
    waiter.onGone(() => {
      if (isHeld) Atomics.store(flags, slot, TaskFlag.cancelled);
    });
    const task = started().run({ collection, plan, slot });
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
    await piscina?.close();
  };
  return { run, close };
}
