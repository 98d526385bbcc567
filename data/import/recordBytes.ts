// The served bytes of one collection while it is imported: in memory while they are few, else in a file without a name
// that ends with the process. Positions count over everything that was added.
import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { GrowableF64 } from '../../engine/bits/growable.ts';
import { upperBound } from '../../engine/bits/lists.ts';
import { attempt } from '../files.ts';

/** So that a piece is still in the processor's cache when it is hashed and written. */
const READ_BYTES = 256 << 10;

/** Beyond this many bytes they go to the file: small collections need none, and memory stays that of the columns. */
const MEMORY_BYTES_MAX = 64 << 20;

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

/** Bytes added one piece behind the other, the first behind `before`. */
export class RecordBytes {
  /** How many bytes there are, with those before the added ones. */
  length: number;
  readonly #before: StoredBytes;
  readonly #path: string;
  readonly #memoryBytesMax: number;
  #pieces: Uint8Array[] = [];
  readonly #starts = new GrowableF64();
  #descriptor: number | undefined;

  /** `path` is where the file is made, should one be needed; its name is removed at once. */
  constructor(path: string, memoryBytesMax = MEMORY_BYTES_MAX, before = NOTHING) {
    this.#path = path;
    this.#before = before;
    this.length = before.length;
    this.#memoryBytesMax = memoryBytesMax;
  }

  /**
   * Adds bytes, which must not change afterwards; answers their position. Throws OperationError `file` on a full disk.
   */
  add(bytes: Uint8Array): number {
    const start = this.length;
    this.length += bytes.length;
    if (this.#descriptor !== undefined) this.#write(bytes);
    else {
      this.#pieces.push(bytes);
      this.#starts.push(start);
    }
    if (this.#descriptor === undefined && this.length - this.#before.length > this.#memoryBytesMax) this.#spill();
    return start;
  }

  /**
   * The runs' bytes in their order, in pieces that are each valid until the next. Cost: a copy, or a read from the
   * file.
   */
  *read({ starts, ends }: Runs): Generator<Uint8Array> {
    const staging = new Uint8Array(Math.min(READ_BYTES, this.length));
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

  /** Gives memory or file back. */
  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
    this.#pieces = [];
  }

  #spill(): void {
    this.#attempt(() => {
      this.#descriptor = openSync(this.#path, 'wx+');
      rmSync(this.#path, { force: true });
    });
    for (const bytes of this.#pieces) this.#write(bytes);
    this.#pieces = [];
  }

  #write(bytes: Uint8Array): void {
    this.#attempt(() => {
      for (let at = 0; at < bytes.length;) at += writeSync(this.#descriptor!, bytes, at, bytes.length - at);
    });
  }

  #copy(at: number, target: Uint8Array): void {
    const before = Math.min(target.length, Math.max(0, this.#before.length - at));
    if (before > 0) this.#before.read(at, target.subarray(0, before));
    if (before < target.length) this.#copyAdded(at + before, target.subarray(before));
  }

  #copyAdded(from: number, target: Uint8Array): void {
    if (this.#descriptor === undefined) return this.#copyPieces(from, target);
    const descriptor = this.#descriptor;
    const at = from - this.#before.length;
    this.#attempt(() => {
      for (let filled = 0; filled < target.length;) {
        const bytes = readSync(descriptor, target, filled, target.length - filled, at + filled);
        if (bytes === 0) throw new Error(`it ends at byte ${at + filled}`);
        filled += bytes;
      }
    });
  }

  #copyPieces(at: number, target: Uint8Array): void {
    const first = upperBound(this.#starts.view(), at, 0, this.#starts.length) - 1;
    for (let filled = 0, i = first; filled < target.length; i++) {
      const start = this.#starts.at(i);
      const part = this.#pieces[i]!.subarray(at + filled - start, at + target.length - start);
      target.set(part, filled);
      filled += part.length;
    }
  }

  #attempt(operation: () => void): void {
    attempt(`cannot hold records in ${this.#path}`, operation);
  }
}
