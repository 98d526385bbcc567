// Who makes the columns of an import: threads, which several columns keep busy at once, or the calling thread, for
// small ones and where no threads are wanted. Knows no file.
import { OrderThreads } from '../threadsInOrder.ts';
import { type ColumnTexts, storedColumn, type StoredColumn } from './column.ts';
import { cpuMicros } from './profile.ts';

/** A column of less is made before a thread would have heard of it. */
const THREAD_BYTES_MIN = 256 << 10;

/**
 * Makes columns; `ahead` are worth having under way at once. Their memory is handed over; `close` ends the threads.
 * `micros`: CPU time so far.
 */
export interface ColumnMakers {
  readonly micros: number;
  readonly ahead: number;
  make(column: ColumnTexts): Promise<StoredColumn>;
  close(): Promise<void>;
}

/** Makers in `count` threads, which start with the first column that is worth it; 0 makes all in the calling thread. */
export function columnMakers(count: number): ColumnMakers {
  let threads: OrderThreads | undefined;
  let micros = 0;
  const make = (column: ColumnTexts): Promise<StoredColumn> => {
    if (count === 0 || column.texts.bytes.length + column.numbers.byteLength < THREAD_BYTES_MIN) {
      const before = cpuMicros();
      const stored = storedColumn(column);
      micros += cpuMicros() - before;
      return Promise.resolve(stored);
    }
    threads ??= new OrderThreads(new URL('./columnThread.ts', import.meta.url), count);
    return threads.ask<StoredColumn>(column);
  };
  // Two a thread wait behind the one that it makes, since some take a hundred times as long as others.
  return {
    get micros() {
      return micros + (threads?.micros ?? 0);
    },
    ahead: Math.max(1, count * 3),
    make,
    close: async () => threads?.close(),
  };
}
