// Runs of records in, their blocks out, in order: deflating in threads, or in this one for small data. Threads read the
// snapshot in shared memory, so that an order is a few numbers.
import { setImmediate } from 'node:timers/promises';
import type { LoadedSnapshot } from '../../engine/snapshot/loaded.ts';
import { openSnapshot } from '../../engine/snapshot/open.ts';
import { inOrder, OrderThreads } from '../threadsInOrder.ts';
import { deflateRun, type DeflatedRun, type RunOfRows } from './deflate.ts';
import { type EarlierBlocks, openEarlier } from './earlierBlocks.ts';
import { DeflateEncoder } from './encoder.ts';
import { RecordMatcher } from './recordMatcher.ts';

/** What is deflated, and the blocks that some of its records have, perhaps. */
export interface DeflateSource {
  readonly loaded: LoadedSnapshot;
  readonly earlier: EarlierBlocks | undefined;
}

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
export function startDeflaters(source: DeflateSource, threads: number): Deflaters {
  return threads === 0 ? inline(source) : threaded(source, threads);
}

/** What one thread deflates with, until it is closed. It remembers of one collection which records have blocks. */
export function deflaterOf({ loaded, earlier }: DeflateSource): {
  deflate(order: DeflateOrder): DeflatedRun;
  close(): void;
} {
  const catalogue = openSnapshot(loaded);
  const encoder = new DeflateEncoder();
  const blocks = earlier === undefined ? undefined : openEarlier(earlier);
  let known: { readonly name: string; readonly matcher: RecordMatcher } | undefined;
  return {
    deflate: ({ collection: name, run }) => {
      if (blocks && known?.name !== name) known = { name, matcher: new RecordMatcher(blocks.collection(name)) };
      return deflateRun(encoder, catalogue.collection(name).records, run, known?.matcher);
    },
    close: () => blocks?.close(),
  };
}

function inline(source: DeflateSource): Deflaters {
  const { deflate, close } = deflaterOf(source);
  return {
    runs: async function* (orders) {
      for (const order of orders) {
        yield deflate(order);
        await setImmediate();
      }
    },
    close: () => Promise.resolve(close()),
  };
}

function threaded(source: DeflateSource, count: number): Deflaters {
  const threads = new OrderThreads(new URL('./deflateThread.ts', import.meta.url), count, source);
  return {
    runs: (orders) => inOrder(orders, count * 2, (order) => threads.ask<DeflatedRun>(order)),
    close: () => threads.close(),
  };
}
