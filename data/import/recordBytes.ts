// The served bytes of one collection while it is imported, in a file without a name that ends with the process, behind
// those of an earlier snapshot. Positions count over both.
import type { Batch } from './batch.ts';
import { addToSpill, closeSpill, openSpill, readSpill, type Spill } from './spill.ts';

/** So that a piece is still in the processor's cache when it is hashed and written. */
const READ_BYTES = 256 << 10;

/** Parts of the bytes, from `starts[i]` to `ends[i]`; neighbours are joined. */
export interface Runs {
  readonly starts: Float64Array;
  readonly ends: Float64Array;
}

/** Bytes that lie elsewhere: how many, and filling `target` from a position on. */
export interface StoredBytes {
  readonly length: number;
  read(at: number, target: Uint8Array): void;
}

const NOTHING: StoredBytes = { length: 0, read: () => undefined };

/** Bytes that came before, and those of batches. */
export class RecordBytes {
  /** Where decoders write the records of batches. */
  readonly spill: Spill;
  readonly #before: StoredBytes;

  /** `path` is where the file is made; its name is removed at once. Throws OperationError `file`. */
  constructor(path: string, before = NOTHING) {
    this.spill = openSpill(path);
    this.#before = before;
  }

  /** Adds the bytes of a batch, unless they are spilled; answers their position. Throws OperationError `file`. */
  add({ bytes, spilledAt }: Pick<Batch, 'bytes' | 'spilledAt'>): number {
    return this.#before.length + (spilledAt ?? addToSpill(this.spill, bytes));
  }

  /** The runs' bytes in their order, in pieces that are each valid until the next. Cost: a read from the file. */
  *read({ starts, ends }: Runs): Generator<Uint8Array> {
    const staging = new Uint8Array(READ_BYTES);
    let filled = 0;
    for (let i = 0; i < starts.length; i++) {
      for (let at = starts[i]!; at < ends[i]!;) {
        const bytes = Math.min(ends[i]! - at, staging.length - filled);
        this.#copy(at, staging.subarray(filled, filled + bytes));
        at += bytes;
        filled += bytes;
        if (filled < staging.length) continue;
        yield staging;
        filled = 0;
      }
    }
    if (filled > 0) yield staging.subarray(0, filled);
  }

  /** Gives the file back. */
  close(): void {
    closeSpill(this.spill);
  }

  #copy(at: number, target: Uint8Array): void {
    const before = Math.min(target.length, Math.max(0, this.#before.length - at));
    if (before > 0) this.#before.read(at, target.subarray(0, before));
    if (before < target.length) readSpill(this.spill, at + before - this.#before.length, target.subarray(before));
  }
}
