// Who does the work of an import: threads, which decode runs of lines and make columns, or the calling thread, where
// none are wanted. The memory of lines, batches and columns is handed from thread to thread, and not copied.
import type { Batch, DecodedTexts, Spill } from './batch.ts';
import { type DecodeOrder, type DecoderOptions, decodingBy, type Lines } from './decode.ts';
import { ImportProfile } from '../importProfile.ts';
import { inOrder, OrderThreads } from '../threadsInOrder.ts';
import { type ColumnTexts, storedColumn, type StoredColumn, textBytesOf } from './column.ts';

/** A column of less is made before a thread would have heard of it. */
const COLUMN_BYTES_MIN = 256 << 10;

/** A batch, and how much of the file was read for it. */
export interface ReadBatch {
  readonly batch: Batch;
  readonly fileBytesRead: number;
}

/**
 * `count` threads, 0 for the calling one, whose decoders read as `options` say. What they take is told to `profile`.
 */
export class ImportThreads {
  readonly #threads: OrderThreads | undefined;
  readonly #decode: ReturnType<typeof decodingBy>;
  readonly #profile: ImportProfile;

  constructor(count: number, options: DecoderOptions, profile = new ImportProfile()) {
    const program = new URL('./importThread.ts', import.meta.url);
    this.#threads = count === 0 ? undefined : new OrderThreads(program, count, options);
    this.#decode = decodingBy(options);
    this.#profile = profile;
  }

  /**
   * How many orders are worth having under way: one a thread waits behind the one that it does, since some take a
   * hundred times as long as others; a third would save no time and hold a twentieth more memory.
   */
  get ahead(): number {
    return this.#threads ? this.#threads.count * 2 : 1;
  }

  get isSerial(): boolean {
    return !this.#threads;
  }

  /**
   * Runs of lines as batches, in the order of the runs, records to `spill` where there is one. None is under way any
   * more however it ends.
   */
  batches(collection: string, runs: AsyncIterable<Lines>, spill?: Spill): AsyncGenerator<ReadBatch> {
    return inOrder(runs, this.ahead, async (lines): Promise<ReadBatch> => {
      const [done] = await this.#decoded<{ batch: Batch }>({ collection, lines, spill });
      return { batch: done!.batch, fileBytesRead: lines.fileBytesRead };
    });
  }

  /** The texts of a collection, behind its last batch. */
  async texts(collection: string): Promise<readonly DecodedTexts[]> {
    return (await this.#decoded<{ texts: readonly DecodedTexts[] }>({ collection })).flatMap(({ texts }) => texts);
  }

  /** Makes a column, whose memory is handed over. */
  make(column: ColumnTexts): Promise<StoredColumn> {
    if (!this.#threads || textBytesOf(column.sources) + column.numbers.byteLength < COLUMN_BYTES_MIN)
      return Promise.resolve(this.#profile.measure('making', () => storedColumn(column)));
    return this.#threads.ask<StoredColumn>(column, (micros) => this.#profile.add('making', micros));
  }

  async close(): Promise<void> {
    await this.#threads?.close();
  }

  /** The replies to an order: of all threads where it has no lines. */
  async #decoded<Reply>(order: DecodeOrder): Promise<readonly Reply[]> {
    if (!this.#threads) return [this.#profile.measure('decoding', () => this.#decode(order)) as Reply];
    if (!order.lines) return this.#threads.askAll<Reply>(order);
    return [await this.#threads.ask<Reply>(order, (micros) => this.#profile.add('decoding', micros))];
  }
}
