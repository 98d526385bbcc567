// The threads of a pool: started with the first task, and again if they died or could not start.
import { type Counters, newCounters, type Purpose } from '../engine/engine.ts';
import { resourceLimits } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import { isOutOfHeap, isStarved, type OnLostThread } from './starvation.ts';
import type { HeavyResult, HeavyTask, PoolData } from './protocol.ts';

/**
 * `place`: in the serving thread (`inline`), in its `pool`, or nowhere since all rows and counts were kept (`cache`).
 * `isKept`: the rows of the filter were kept from a request before. `isShared`: the same work was under way for another
 * request, whose counters these are. `spentNs`: the work that was paid, in nanoseconds of the table of costs.
 * `ranOutAt`: the part of the list at which the budget of the serving thread ran out.
 */
export interface Trace {
  place: 'inline' | 'pool' | 'cache';
  isKept: boolean;
  isShared: boolean;
  spentNs: number;
  ranOutAt: Purpose | undefined;
  readonly counters: Counters;
}

export function newTrace(): Trace {
  return { place: 'inline', isKept: false, isShared: false, spentNs: 0, ranOutAt: undefined, counters: newCounters() };
}

/** How long a task may go on past its time before its thread is ended, which has to start, and to come to a poll. */
const GRACE_MS = 5000;

/** A library's pool, while it works. `lost` is why it does not any more; `gone` counts threads that have ended. */
interface Started {
  readonly piscina: Piscina<HeavyTask, HeavyResult>;
  gone: number;
  lost: unknown;
}

/** Up to `threads` threads. `onLost` is called for each that died or could not start. */
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
   * Runs a task, or says `busy` where there is no thread or no memory for it now. One that does not end in its time, a
   * pattern in one long text, loses its thread: `overtime`. A rejection is our bug.
   */
  async run(task: HeavyTask): Promise<HeavyResult | 'busy'> {
    let started: Started | undefined;
    let gone = 0;
    let signal: AbortSignal | undefined;
    try {
      started = await (this.#started ??= this.#start());
      ({ gone } = started);
      signal = AbortSignal.timeout(this.#workerData.taskMsMax + GRACE_MS);
      return await started.piscina.run(task, { signal });
    } catch (error) {
      const reason = started?.lost ?? error;
      if (signal?.aborted && reason instanceof Error && reason.cause === signal.reason) return 'overtime';
      // If the library cannot be read now, no thread can start either.
      if (!started || isStarved(reason)) {
        if (!started?.lost) this.#starve(reason);
        return 'busy';
      }
      if (!started.lost && started.gone > gone) this.#onLost(reason, false);
      if (isOutOfHeap(reason)) return 'busy';
      throw reason;
    }
  }

  /**
   * Ends the threads, in which nothing runs any more: the library's `close` would hold their data for 30 s. Another
   * task starts them again.
   */
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
      // Those of the thread that has the pool.
      resourceLimits,
    });
    const started: Started = { piscina, gone: 0, lost: undefined };
    piscina.on('workerDestroy', () => started.gone++);
    // A thread without a task: it could not start, or died idle. The library keeps a task that waits for it for good.
    piscina.on('error', (error: unknown) => {
      if (started.lost) return;
      started.lost = error;
      if (isStarved(error)) this.#starve(error);
      else {
        this.#started = undefined;
        this.#onLost(error, false);
      }
      void piscina.destroy();
    });
    return started;
  }

  /** The next task starts other threads. */
  #starve(reason: unknown): void {
    this.#started = undefined;
    this.#onLost(reason, true);
  }
}
