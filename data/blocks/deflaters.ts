// Runs of records in, their blocks out, in order: deflating in threads, or in this one for small data. Threads read the
// snapshot in shared memory, so that an order is a few numbers.
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { LoadedSnapshot } from '../../engine/snapshot/loaded.ts';
import { openSnapshot } from '../../engine/snapshot/open.ts';
import { endWorkers, inOrder, replyOf } from '../threadsInOrder.ts';
import { deflateRun, type DeflatedRun, type RunOfRows } from './deflate.ts';

/** What a deflating thread is sent. */
export interface DeflateOrder {
  readonly collection: string;
  readonly run: RunOfRows;
}

/** Deflates runs. `runs` keeps their order; `close` ends the threads. */
export interface Deflaters {
  runs(orders: readonly DeflateOrder[]): AsyncGenerator<DeflatedRun>;
  close(): Promise<void>;
}

/** Deflaters in `threads` threads; 0 deflates in the calling thread, other work between two runs. */
export function startDeflaters(loaded: LoadedSnapshot, threads: number): Deflaters {
  return threads === 0 ? inline(loaded) : threaded(loaded, threads);
}

function inline(loaded: LoadedSnapshot): Deflaters {
  const catalogue = openSnapshot(loaded);
  return {
    runs: async function* (orders) {
      for (const { collection, run } of orders) {
        yield deflateRun(catalogue.collection(collection).records, run);
        await setImmediate();
      }
    },
    close: () => Promise.resolve(),
  };
}

function threaded(loaded: LoadedSnapshot, threads: number): Deflaters {
  const script = new URL('./deflateThread.ts', import.meta.url);
  const workers = Array.from({ length: threads }, () => new Worker(script, { workerData: loaded }));
  return {
    runs: (orders) => inOrder(workers, orders, (worker, order) => replyOf<DeflatedRun>(worker, order)),
    close: () => endWorkers(workers),
  };
}
