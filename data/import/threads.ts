// The workers of an import: threads that decode runs of lines and make columns, or the calling thread if the count is
// 0. The memory of lines, batches and columns is transferred between threads, not copied.
import type { Batch, DecodedTexts, Spill } from './batch.ts';
import { type DecodeOrder, type DecoderOptions, newDecoder, type Lines } from './decode.ts';
import { ImportProfile } from '../importProfile.ts';
import { runInOrder, OrderThreads } from '../threadsInOrder.ts';
import { type ColumnTexts, storeColumn, type StoredColumn, countTextBytes } from './column.ts';

/** A smaller column is made faster than it is sent to a thread. */
const COLUMN_BYTES_MIN = 256 << 10;

/** A batch, and the number of file bytes read up to it. */
export interface ReadBatch {
  readonly batch: Batch;
  readonly fileBytesRead: number;
}

/** `count` threads, or the calling one if 0. `profile` gets their CPU times. */
export class ImportThreads {
  readonly #threads: OrderThreads | undefined;
  readonly #decode: ReturnType<typeof newDecoder>;
  readonly #profile: ImportProfile;

  constructor(count: number, options: DecoderOptions, profile = new ImportProfile()) {
    const program = new URL('./importThread.ts', import.meta.url);
    this.#threads = count === 0 ? undefined : new OrderThreads(program, count, options);
    this.#decode = newDecoder(options);
    this.#profile = profile;
  }

  /**
   * The number of orders to keep in progress: two per thread, one of them waiting, because some orders take a hundred
   * times as long as others. A third would save no time and take a twentieth more memory.
   */
  get ahead(): number {
    return this.#threads ? this.#threads.count * 2 : 1;
  }

  get isSerial(): boolean {
    return !this.#threads;
  }

  /**
   * Decodes runs of lines into batches, in the order of the runs. Records go to `spill`, if set. When it ends, for
   * whatever reason, no order is in progress.
   */
  batches(collection: string, runs: AsyncIterable<Lines>, spill?: Spill): AsyncGenerator<ReadBatch> {
    return runInOrder(runs, this.ahead, async (lines): Promise<ReadBatch> => {
      const [done] = await this.#runOrder<{ batch: Batch }>({ collection, lines, spill });
      return { batch: done!.batch, fileBytesRead: lines.fileBytesRead };
    });
  }

  /** The texts of a collection. Call it after the last batch. */
  async texts(collection: string): Promise<readonly DecodedTexts[]> {
    return (await this.#runOrder<{ texts: readonly DecodedTexts[] }>({ collection })).flatMap(({ texts }) => texts);
  }

  /** Makes a column. Its memory is transferred. */
  make(column: ColumnTexts): Promise<StoredColumn> {
    if (!this.#threads || countTextBytes(column.sources) + column.numbers.byteLength < COLUMN_BYTES_MIN)
      return Promise.resolve(this.#profile.measure('making', () => storeColumn(column)));
    return this.#threads.ask<StoredColumn>(column, (micros) => this.#profile.add('making', micros));
  }

  async close(): Promise<void> {
    await this.#threads?.close();
  }

  /** The replies to an order: those of all threads if it has no lines. */
  async #runOrder<Reply>(order: DecodeOrder): Promise<readonly Reply[]> {
    if (!this.#threads) return [this.#profile.measure('decoding', () => this.#decode(order)) as Reply];
    if (!order.lines) return this.#threads.askAll<Reply>(order);
    return [await this.#threads.ask<Reply>(order, (micros) => this.#profile.add('decoding', micros))];
  }
}
