// Deflates runs of records into blocks that can be concatenated into one gzip member. Small data is deflated in the
// calling thread, other data in threads that read the snapshot in shared memory.
import { crc32 } from 'node:zlib';
import { CHAINED_ROWS, SEPARATOR, WINDOW_SEPARATOR } from '../../engine/column/blocks.ts';
import { endOf, type Records, startOf } from '../../engine/column/records.ts';
import { type BlockStretch, type EarlierBlocks, openEarlier } from './earlierBlocks.ts';
import { DeflateEncoder } from './encoder.ts';
import { NO_ROW, RecordMatcher, type RecordWindow } from './recordMatcher.ts';
import { setImmediate } from 'node:timers/promises';
import type { LoadedSnapshot } from '../../engine/snapshot/loaded.ts';
import { openSnapshot } from '../../engine/snapshot/open.ts';
import { runInOrder, OrderThreads } from '../threadsInOrder.ts';

/**
 * The blocks of neighbouring rows of one chunk. Ends count from the start of the first block. `deflated` is the number
 * of rows that were not carried over completely.
 */
export interface DeflatedRun {
  readonly independent: Uint8Array<ArrayBuffer>;
  readonly independentEnds: Uint32Array<ArrayBuffer>;
  readonly chained: Uint8Array<ArrayBuffer>;
  readonly chainedEnds: Uint32Array<ArrayBuffer>;
  readonly crcs: Uint32Array<ArrayBuffer>;
  readonly deflated: number;
}

/** The rows `first` to `end` of a chunk of a collection's records. */
interface RunOfRows {
  readonly chunk: number;
  readonly first: number;
  readonly end: number;
}

/**
 * Makes the blocks of a run of rows. They depend only on these rows and the `CHAINED_ROWS` before them. So runs can be
 * deflated separately, and neither the way a chunk is cut into runs nor `matcher` changes the bytes. Cost: 0.24 to 0.48
 * of zlib's (FIGURES, Compression); about 2 us for a block that is carried over.
 */
export function deflateRun(
  encoder: DeflateEncoder,
  records: Records,
  run: RunOfRows,
  matcher?: RecordMatcher,
): DeflatedRun {
  const lead = Math.min(CHAINED_ROWS, run.first);
  const window = copyWindow(records, { ...run, first: run.first - lead });
  const output = new RunOutput(encoder, window, lead);
  const rows = matcher?.findRows(window);
  for (let n = 0; n < window.crcs.length;) {
    const end = rows ? matcher!.stretchEnd(rows, n) : n + 1;
    const row = rows?.[n] ?? NO_ROW;
    if (row === NO_ROW) output.deflate(n);
    else {
      const { earlier } = matcher!;
      // A chained block depends on the rows before it. They are the same inside a stretch, or if both chunks begin
      // here.
      const isStart = n === 0 && lead === run.first && earlier.isFirst(row);
      output.carry(
        n,
        earlier.blocks('independent', row, row + end - n),
        earlier.blocks('chained', row, row + end - n),
        isStart ? 0 : CHAINED_ROWS,
      );
    }
    n = end;
  }
  return output.run();
}

function copyWindow(records: Records, { chunk: i, first, end }: RunOfRows): RecordWindow {
  const chunk = records.chunks[i]!;
  const from = startOf(chunk, records.growth, first);
  const bytes = Buffer.from(chunk.bytes.subarray(from, endOf(chunk, records.growth, end - 1)));
  const length = end - first;
  const starts = Uint32Array.from({ length: length + 1 }, (_, n) => startOf(chunk, records.growth, first + n) - from);
  const crcs = new Uint32Array(length);
  for (let n = 0; n < length; n++) {
    crcs[n] = crc32(bytes.subarray(starts[n], starts[n + 1]! - 1));
    bytes[starts[n + 1]! - 1] = WINDOW_SEPARATOR;
  }
  return { bytes, starts, crcs };
}

/** Collects the blocks of a window's rows. The first `lead` rows get no blocks: the others are chained to them. */
class RunOutput {
  readonly #encoder: DeflateEncoder;
  readonly #window: RecordWindow;
  readonly #lead: number;
  readonly #independent: Blocks;
  readonly #chained: Blocks;
  #deflated = 0;
  /** Rows before this one have been added to the encoder, or will not be needed. */
  #added = 0;

  constructor(encoder: DeflateEncoder, window: RecordWindow, lead: number) {
    this.#encoder = encoder;
    encoder.open(window.bytes);
    this.#window = window;
    this.#lead = lead;
    const count = window.crcs.length - lead;
    const bytes = window.bytes.length - window.starts[lead]!;
    this.#independent = new Blocks(count, bytes);
    this.#chained = new Blocks(count, bytes);
  }

  deflate(n: number): void {
    if (n < this.#lead) return;
    this.#deflateInto(this.#independent, n, n);
    this.#deflateChained(n);
  }

  /**
   * Copies existing blocks of the rows from `n` on. The first `unfit` chained blocks do not fit here, so those rows are
   * deflated.
   */
  carry(n: number, independent: BlockStretch, chained: BlockStretch, unfit: number): void {
    const end = n + independent.ends.length;
    const from = Math.max(n, this.#lead);
    const fit = Math.min(end, Math.max(from, n + unfit));
    this.#independent.addAll(independent, from - n);
    for (let row = from; row < fit; row++) this.#deflateChained(row);
    this.#chained.addAll(chained, fit - n);
  }

  /** The result, in buffers that share no memory with the inputs. */
  run(): DeflatedRun {
    return {
      independent: this.#independent.bytes(),
      independentEnds: this.#independent.ends,
      chained: this.#chained.bytes(),
      chainedEnds: this.#chained.ends,
      crcs: this.#window.crcs.slice(this.#lead),
      deflated: this.#deflated,
    };
  }

  #deflateChained(n: number): void {
    this.#deflateInto(this.#chained, n, Math.max(0, n - CHAINED_ROWS));
    this.#deflated++;
  }

  /** Adds the block of row `n`, which may refer to rows from `first` on. */
  #deflateInto(blocks: Blocks, n: number, first: number): void {
    const { starts } = this.#window;
    for (let row = Math.max(this.#added, n - CHAINED_ROWS); row <= n; row++) {
      this.#encoder.add(starts[row]!, starts[row + 1]! - 1);
    }
    this.#added = n + 1;
    blocks.add(this.#encoder.block(starts[n]!, starts[n + 1]! - 1, starts[first]!));
  }
}

/** Concatenated blocks, with the separator after each. */
class Blocks {
  readonly ends: Uint32Array<ArrayBuffer>;
  #bytes: Uint8Array<ArrayBuffer>;
  #count = 0;
  #at = 0;

  constructor(count: number, bytesExpected: number) {
    this.ends = new Uint32Array(count);
    this.#bytes = new Uint8Array(bytesExpected);
  }

  add(block: Uint8Array): void {
    const end = this.#at + block.length + SEPARATOR.length;
    this.#reserve(block.length + SEPARATOR.length);
    this.#bytes.set(block, this.#at);
    this.#bytes.set(SEPARATOR, end - SEPARATOR.length);
    this.#at = this.ends[this.#count++] = end;
  }

  /** Copies blocks, without the first `from` ones. */
  addAll({ bytes, start, ends }: BlockStretch, from: number): void {
    if (from >= ends.length) return;
    const first = from === 0 ? start : ends[from - 1]!;
    this.#reserve(bytes.length - (first - start));
    this.#bytes.set(bytes.subarray(first - start), this.#at);
    for (let n = from; n < ends.length; n++) this.ends[this.#count++] = this.#at + ends[n]! - first;
    this.#at += bytes.length - (first - start);
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return;
    const larger = new Uint8Array(2 * (this.#at + bytes));
    larger.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = larger;
  }

  bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#at);
  }
}

/** The records to deflate, and existing blocks of some of them, if any. */
export interface DeflateSource {
  readonly loaded: LoadedSnapshot;
  readonly earlier: EarlierBlocks | undefined;
}

export interface DeflateOrder {
  readonly collection: string;
  readonly run: RunOfRows;
}

/** `runs` yields the results in the order of its argument. `close` stops the threads. */
export interface Deflaters {
  runs(orders: readonly DeflateOrder[]): AsyncGenerator<DeflatedRun>;
  close(): Promise<void>;
}

/** Starts deflaters in `count` threads. With 0 the calling thread deflates and does other work between two runs. */
export function startDeflaters(source: DeflateSource, count: number): Deflaters {
  if (count === 0) {
    const { deflate, close } = makeDeflater(source);
    const deflateLater = async (order: DeflateOrder): Promise<DeflatedRun> => setImmediate().then(() => deflate(order));
    return { runs: (orders) => runInOrder(orders, 1, deflateLater), close: async () => close() };
  }
  const threads = new OrderThreads(new URL('./deflateThread.ts', import.meta.url), count, source);
  return {
    runs: (orders) => runInOrder(orders, count * 2, (order) => threads.ask<DeflatedRun>(order)),
    close: () => threads.close(),
  };
}

/** The work of one thread until it is closed. Caches the matcher of one collection. */
export function makeDeflater({ loaded, earlier }: DeflateSource): {
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
