// Reads and writes past the page cache of the system (O_DIRECT of Linux), for gigabytes that are copied once and most
// of which are not read again soon. The first use of the cache's memory costs more than the copy: without this a
// refresh for one licence takes 0.10 of a whole import, not 0.025. On other systems, and on file systems without it,
// the bytes are the same. Knows nothing about the content of files.
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';

/** Such transfers must be aligned to this in the file and in memory. It suits all disks in use. */
const ALIGNMENT = 4096;

/** Limit of one transfer. With a quarter of it a copy takes twice the CPU. */
export const UNCACHED_BYTES = 4 << 20;

/** Bytes of the first read at a new position. A disk is not faster with fewer. */
const AHEAD_BYTES = 64 << 10;

/** Allocates `UNCACHED_BYTES` of aligned memory. Pages are touched only when they are used. */
export function alignedBytes(): Uint8Array {
  const pages = UNCACHED_BYTES / 65_536;
  return new Uint8Array(new WebAssembly.Memory({ initial: pages, maximum: pages }).buffer);
}

/** Reads an open file, ahead if it is read sequentially. `close` leaves the file open. */
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
   * Fills the start of `target` from `offset` on. Returns the number of bytes, 0 at the end of the file. Throws like
   * fs.
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
 * A second descriptor of an open file, for transfers past the cache. If that is impossible, and after `close`, the
 * first descriptor is used. The file stays open.
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
      // The file system does not support it, /proc is missing, or no descriptor is left: use the first descriptor.
    }
  }

  /** Fills the start of aligned memory from a position on. Returns the number of bytes. Throws like fs. */
  read(target: Uint8Array, position: number): number {
    return this.#attempt((descriptor) => readSync(descriptor, target, 0, target.length, position));
  }

  /** Writes the first bytes of aligned memory at a position. Returns how many were written. Throws like fs. */
  write(bytes: Uint8Array, position: number): number {
    return this.#attempt((descriptor) => writeSync(descriptor, bytes, 0, bytes.length, position));
  }

  close(): void {
    if (this.#uncached !== undefined) closeSync(this.#uncached);
    this.#uncached = undefined;
  }

  /** Does a transfer, and repeats it with the first descriptor if the file system refuses it. */
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
