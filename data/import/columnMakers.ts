// Who makes the columns of an import: threads, which several columns keep busy at once, or the calling thread, for
// small ones and where no threads are wanted. Knows no file.
import { OrderThreads } from '../threadsInOrder.ts';
import { type ColumnTexts, storedColumn, type StoredColumn } from './column.ts';
import { ImportProfile } from '../importProfile.ts';

/** A column of less is made before a thread would have heard of it. */
const THREAD_BYTES_MIN = 256 << 10;

/** Makes columns, whose memory is handed over; `ahead` are worth having under way. `close` ends the threads. */
export interface ColumnMakers {
  readonly ahead: number;
  make(column: ColumnTexts): Promise<StoredColumn>;
  close(): Promise<void>;
}

/**
 * Makers in `count` threads, which start with the first column that is worth it; 0 makes all in the calling thread.
 * What they take is told to `profile`.
 */
export function columnMakers(count: number, profile = new ImportProfile()): ColumnMakers {
  const onMicros = (micros: number): void => profile.add('making', micros);
  let threads: OrderThreads | undefined;
  const make = (column: ColumnTexts): Promise<StoredColumn> => {
    if (count === 0 || column.texts.bytes.length + column.numbers.byteLength < THREAD_BYTES_MIN)
      return Promise.resolve(profile.measure('making', () => storedColumn(column)));
    threads ??= new OrderThreads(new URL('./columnThread.ts', import.meta.url), count, { onMicros });
    return threads.ask<StoredColumn>(column);
  };
  // One a thread waits behind the one that it makes, since some take a hundred times as long as others; a third would
  // save no time and hold a twentieth more memory.
  return {
    ahead: Math.max(1, count * 2),
    make,
    close: async () => threads?.close(),
  };
}
