// Reading and writing past the page cache of the system, where it has a way to (O_DIRECT of Linux): for gigabytes that
// are copied once and of which nobody reads the most again soon. Touching memory of the cache for the first time costs
// more than the copy: without this a refresh for one licence is 0.10 of a whole import, not 0.025. Where there is no
// way, as on other systems and some file systems, the bytes are the same. Knows nothing of what files hold.
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';

/** Such transfers begin, end and lie in memory at multiples of this, which is that of all disks in use. */
const ALIGNMENT = 4096;

/** The most that is read or written at once: with a quarter of it a copy takes twice the CPU. */
export const UNCACHED_BYTES = 4 << 20;

/** What is read first where nothing before it was: no more than a disk hands out as fast as less. */
const AHEAD_BYTES = 64 << 10;

/** Memory of `UNCACHED_BYTES` that such transfers can be made with. Cost: it is touched when it is used. */
export function alignedBytes(): Uint8Array {
  const pages = UNCACHED_BYTES / 65_536;
  return new Uint8Array(new WebAssembly.Memory({ initial: pages, maximum: pages }).buffer);
}

/** The bytes of an open file, read ahead where they are read one behind the other. `close` leaves the file open. */
export class UncachedReader {
  readonly #file: UncachedDescriptor;
  readonly #window = alignedBytes();
  #start = 0;
  #filled = 0;
  #ahead = AHEAD_BYTES;

  constructor(descriptor: number) {
    this.#file = new UncachedDescriptor(descriptor, constants.O_RDONLY);
  }

  /**
   * Fills the start of `target` from `offset` on; answers how many bytes that are, none at the end of the file. Throws
   * as fs does.
   */
  read(target: Uint8Array, offset: number): number {
    const end = this.#start + this.#filled;
    if (offset < this.#start || offset >= end) this.#fill(offset, offset === end);
    const from = offset - this.#start;
    const bytes = Math.max(0, Math.min(this.#filled - from, target.length));
    target.set(this.#window.subarray(from, from + bytes));
    return bytes;
  }

  close(): void {
    this.#file.close();
  }

  #fill(offset: number, isNext: boolean): void {
    this.#ahead = isNext ? Math.min(UNCACHED_BYTES, this.#ahead * 2) : AHEAD_BYTES;
    this.#start = offset - (offset % ALIGNMENT);
    this.#filled = this.#file.read(this.#window.subarray(0, this.#ahead), this.#start);
  }
}

/**
 * A second descriptor of an open file, for transfers past the cache; without one, the first serves. `close` leaves the
 * file open, and the first serves from then on.
 */
export class UncachedDescriptor {
  readonly #plain: number;
  #uncached: number | undefined;

  constructor(plain: number, access: number) {
    this.#plain = plain;
    // Other systems have no such flag, and some no such path.
    if (!('O_DIRECT' in constants)) return;
    try {
      this.#uncached = openSync(`/proc/self/fd/${plain}`, access | constants.O_DIRECT);
    } catch {
      // A file system that cannot, a system without /proc, or no descriptor left: the one there is serves.
    }
  }

  /** Fills the start of aligned memory from a position on; answers how many bytes that are. Throws as fs does. */
  read(target: Uint8Array, position: number): number {
    return this.#attempt((descriptor) => readSync(descriptor, target, 0, target.length, position));
  }

  /** Writes the first bytes of aligned memory to a position; answers how many were. Throws as fs does. */
  write(bytes: Uint8Array, position: number): number {
    return this.#attempt((descriptor) => writeSync(descriptor, bytes, 0, bytes.length, position));
  }

  close(): void {
    if (this.#uncached !== undefined) closeSync(this.#uncached);
    this.#uncached = undefined;
  }

  /** What a transfer answers, made again with the first descriptor where the file system refuses such ones. */
  #attempt(transfer: (descriptor: number) => number): number {
    if (this.#uncached === undefined) return transfer(this.#plain);
    try {
      return transfer(this.#uncached);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error;
      this.close();
      return transfer(this.#plain);
    }
  }
}
