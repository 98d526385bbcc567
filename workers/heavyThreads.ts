// The threads of a pool. They start with the first task, and again if they died or could not start.
import { type Counters, newCounters, type Purpose } from '../engine/engine.ts';
import { resourceLimits } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import { isOutOfHeap, isStarved, type OnLostThread } from './starvation.ts';
import type { HeavyResult, HeavyTask, PoolData } from './protocol.ts';

/** Where a list ran, and its work. */
export interface Trace {
  /** In the serving thread (`inline`), in its `pool`, or nowhere because all rows and counts were cached (`cache`). */
  place: 'inline' | 'pool' | 'cache';
  /** The rows of the filter were cached by an earlier request. */
  isKept: boolean;
  /** The same work was already running for another request; these are its counters. */
  isShared: boolean;
  /** The work that was paid, in nanoseconds of the table of costs. */
  spentNs: number;
  /** The part of the list at which the budget of the serving thread ran out. */
  ranOutAt: Purpose | undefined;
  readonly counters: Counters;
}

export function newTrace(): Trace {
  return { place: 'inline', isKept: false, isShared: false, spentNs: 0, ranOutAt: undefined, counters: newCounters() };
}

/**
 * Milliseconds beyond its time after which a task's thread is stopped. The thread has to start and to reach a poll
 * first.
 */
const GRACE_MS = 5000;

/** A running Piscina pool. `failure` is the error that ended it; `exited` counts threads that have exited. */
interface Started {
  readonly piscina: Piscina<HeavyTask, HeavyResult>;
  exited: number;
  failure: unknown;
}

/** At most `threads` threads. `onLost` is called for each that died or could not start. */
export class HeavyThreads {
  readonly #threads: number;
  readonly #workerData: PoolData;
  readonly #onLost: OnLostThread;
  #started: Promise<Started> | undefined;

  constructor(threads: number, workerData: PoolData, onLost: OnLostThread) {
    this.#threads = threads;
    this.#workerData = workerData;
    this.#onLost = onLost;
  }

  /**
   * Runs a task. Returns `busy` if no thread or memory is available now. A task that does not stop in time, such as a
   * pattern in one long text, loses its thread: `overtime`. A rejection is a bug.
   */
  async run(task: HeavyTask): Promise<HeavyResult | 'busy'> {
    let started: Started | undefined;
    let exited = 0;
    let signal: AbortSignal | undefined;
    try {
      started = await (this.#started ??= this.#start());
      ({ exited } = started);
      signal = AbortSignal.timeout(this.#workerData.taskMsMax + GRACE_MS);
      return await started.piscina.run(task, { signal });
    } catch (error) {
      const reason = started?.failure ?? error;
      if (signal?.aborted && reason instanceof Error && reason.cause === signal.reason) return 'overtime';
      // If Piscina cannot be loaded now, no thread can start either.
      if (!started || isStarved(reason)) {
        if (!started?.failure) this.#starve(reason);
        return 'busy';
      }
      if (!started.failure && started.exited > exited) this.#onLost(reason, false);
      if (isOutOfHeap(reason)) return 'busy';
      throw reason;
    }
  }

  /** Ends idle threads. Piscina's `close` would keep their data for 30 s. The next task starts new threads. */
  async close(): Promise<void> {
    const ending = this.#started;
    this.#started = undefined;
    const started = await ending?.catch(() => undefined);
    await started?.piscina.destroy();
  }

  async #start(): Promise<Started> {
    const { Piscina } = await import('piscina');
    const piscina = new Piscina<HeavyTask, HeavyResult>({
      filename: new URL('./heavy.ts', import.meta.url).href,
      name: 'runPlan',
      minThreads: 0,
      maxThreads: this.#threads,
      idleTimeout: 60_000,
      workerData: this.#workerData,
      // The limits of the thread that owns the pool.
      resourceLimits,
    });
    const started: Started = { piscina, exited: 0, failure: undefined };
    piscina.on('workerDestroy', () => started.exited++);
    // A thread without a task: it could not start, or died idle. Piscina never settles a task that waits for it.
    piscina.on('error', (error: unknown) => {
      if (started.failure) return;
      started.failure = error;
      if (isStarved(error)) this.#starve(error);
      else {
        this.#started = undefined;
        this.#onLost(error, false);
      }
      void piscina.destroy();
    });
    return started;
  }

  /** Makes the next task start new threads. */
  #starve(reason: unknown): void {
    this.#started = undefined;
    this.#onLost(reason, true);
  }
}
