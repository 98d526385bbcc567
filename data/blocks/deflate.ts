// The blocks of a run of records, as engine/column/blocks.ts says: carried over from earlier blocks where the same
// records have some, else deflated. The bytes are the same either way. Knows neither file nor thread.
import { constants, crc32, deflateRawSync } from 'node:zlib';
import { CHAINED_ROWS, SEPARATOR, WINDOW_SEPARATOR } from '../../engine/column/blocks.ts';
import { endOf, startOf, type Records } from '../../engine/column/records.ts';
import type { BlockStretch } from './earlierBlocks.ts';
import { NO_ROW, type RecordMatcher, type RecordWindow } from './recordMatcher.ts';

/**
 * The blocks of some neighbouring rows of one chunk; ends count from the first one's start. `deflated` rows are not
 * carried over whole.
 */
export interface DeflatedRun {
  readonly independent: Uint8Array<ArrayBuffer>;
  readonly independentEnds: Uint32Array<ArrayBuffer>;
  readonly chained: Uint8Array<ArrayBuffer>;
  readonly chainedEnds: Uint32Array<ArrayBuffer>;
  readonly crcs: Uint32Array<ArrayBuffer>;
  readonly deflated: number;
}

/** Which rows: from `first` to `end` of a chunk of a collection's records. */
export interface RunOfRows {
  readonly chunk: number;
  readonly first: number;
  readonly end: number;
}

/**
 * 9 costs 5 % more time than 6 here and saves 3 %: records are short. zlib writes into a new buffer of `chunkSize` for
 * each record, which is garbage at once: of the usual 16 kB, memory grows by gigabytes before it is collected.
 */
const OPTIONS = { level: 9, memLevel: 6, chunkSize: 2048, finishFlush: constants.Z_SYNC_FLUSH };
/** What a sync flush ends with, and `SEPARATOR` takes the place of. */
const FLUSH_BYTES = 4;

/**
 * The blocks of rows. They follow from these and the `CHAINED_ROWS` before them alone, so that runs can be deflated
 * apart, and give the same bytes however a chunk is cut into them, and whatever `matcher` has. Cost: 35 us and 47 us
 * for a record of 3.6 kB that is deflated, 2 us for one that is carried over.
 */
export function deflateRun(records: Records, run: RunOfRows, matcher?: RecordMatcher): DeflatedRun {
  const lead = Math.min(CHAINED_ROWS, run.first);
  const window = windowOf(records, { ...run, first: run.first - lead });
  const output = new RunOutput(window, lead);
  const rows = matcher?.rowsOf(window);
  for (let n = 0; n < window.crcs.length;) {
    const end = rows ? matcher!.stretchEnd(rows, n) : n + 1;
    const row = rows?.[n] ?? NO_ROW;
    if (row === NO_ROW) output.deflate(n);
    else {
      const { earlier } = matcher!;
      // A block is chained to what stood before it: that is the same inside of a stretch, or where both chunks begin.
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

function windowOf(records: Records, { chunk: i, first, end }: RunOfRows): RecordWindow {
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

/** What becomes of a window: the blocks of all rows but for `lead` ones, which are there to be chained to. */
class RunOutput {
  readonly #window: RecordWindow;
  readonly #lead: number;
  readonly #independent: Blocks;
  readonly #chained: Blocks;
  #deflated = 0;

  constructor(window: RecordWindow, lead: number) {
    this.#window = window;
    this.#lead = lead;
    const count = window.crcs.length - lead;
    const bytes = window.bytes.length - window.starts[lead]!;
    this.#independent = new Blocks(count, bytes);
    this.#chained = new Blocks(count, bytes);
  }

  /** Deflates row `n`. */
  deflate(n: number): void {
    if (n < this.#lead) return;
    this.#independent.add(deflated(this.#record(n)));
    this.#deflateChained(n);
  }

  /** Takes blocks of rows from `n` on as they are: but the first `unfit` chained ones, which are deflated. */
  carry(n: number, independent: BlockStretch, chained: BlockStretch, unfit: number): void {
    const end = n + independent.ends.length;
    const from = Math.max(n, this.#lead);
    const fit = Math.min(end, Math.max(from, n + unfit));
    this.#independent.addAll(independent, from - n);
    for (let row = from; row < fit; row++) this.#deflateChained(row);
    this.#chained.addAll(chained, fit - n);
  }

  /** Whole, in buffers of their own. */
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

  #record(n: number): Buffer {
    const { bytes, starts } = this.#window;
    return bytes.subarray(starts[n], starts[n + 1]! - 1);
  }

  #deflateChained(n: number): void {
    const { bytes, starts } = this.#window;
    const dictionary = bytes.subarray(starts[Math.max(0, n - CHAINED_ROWS)], starts[n]);
    this.#chained.add(deflated(this.#record(n), dictionary));
    this.#deflated++;
  }
}

function deflated(record: Buffer, dictionary?: Buffer): Uint8Array {
  return deflateRawSync(record, dictionary?.length ? { ...OPTIONS, dictionary } : OPTIONS);
}

/** Blocks one after another with the separator in place of each one's flush. */
class Blocks {
  readonly ends: Uint32Array<ArrayBuffer>;
  #bytes: Uint8Array<ArrayBuffer>;
  #count = 0;
  #at = 0;

  constructor(count: number, bytesExpected: number) {
    this.ends = new Uint32Array(count);
    this.#bytes = new Uint8Array(bytesExpected);
  }

  add(flushed: Uint8Array): void {
    const end = this.#at + flushed.length - FLUSH_BYTES + SEPARATOR.length;
    this.#reserve(flushed.length + SEPARATOR.length);
    this.#bytes.set(flushed, this.#at);
    this.#bytes.set(SEPARATOR, end - SEPARATOR.length);
    this.#at = this.ends[this.#count++] = end;
  }

  /** Adds blocks as they are, but the first `from` ones. */
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

  /** The bytes in a buffer of their own size. */
  bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#at);
  }
}
