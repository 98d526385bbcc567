// Writes snapshot files: to a partial file first, then renamed. Provides the hash of their sections; write.ts decides
// when to hash. load.ts loads them.
import { createHash } from 'node:crypto';
import { closeSync, constants, fsyncSync, openSync, writeSync } from 'node:fs';
import { DIRECTORY_BYTES_MAX, HEADER_BYTES } from '../../engine/snapshot/header.ts';
import { type RunningHash, SnapshotWriter, type Sink } from '../../engine/snapshot/write.ts';
import { attempt, activateFile } from '../files.ts';
import { withPartialPath } from '../leftovers.ts';
import { OperationError } from '../operationError.ts';
import { alignedBytes, UncachedDescriptor } from '../uncached.ts';
import { hashGeneration } from './load.ts';

/** Pieces of at least this length are written without buffering. */
const LARGE_BYTES = 256 << 10;

/**
 * Writes a snapshot whose sections are added by `fill`. The bytes go to a `partial` path first. The file gets its name
 * only when it is complete and synced to the disk, and then the name is synced too. A failure or a signal leaves the
 * previous file. `isUncached` writes past the page cache. Returns the bytes and the generation. Throws OperationError
 * `file` if the file cannot be written, and `input` if its directory would be too long.
 */
export async function writeSnapshot(
  file: string,
  fill: (writer: SnapshotWriter, partial: string) => Promise<{ created: string | undefined }>,
  options: { isUncached?: boolean } = {},
): Promise<{ bytes: number; generation: string }> {
  return withPartialPath(file, async (partial) => {
    const output = attempt(`cannot write ${file}`, () => new SnapshotOutput(partial, options));
    try {
      const writer = new SnapshotWriter(output);
      const { created } = await fill(writer, partial);
      const { header, directory } = writer.finish(created);
      assertReadable(directory);
      const bytes = attempt(`cannot write ${file}`, () => output.close(header));
      activateFile(partial, file);
      return { bytes, generation: hashGeneration(header, directory) };
    } catch (error) {
      output.discard();
      throw error;
    }
  });
}

/** Throws OperationError `input` if the names of columns are longer than the limit of a directory. */
function assertReadable({ length }: Uint8Array): void {
  if (length <= DIRECTORY_BYTES_MAX) return;
  const reason = `the keys of records and their paths take ${length} bytes of the directory`;
  throw new OperationError('input', `${reason}, more than the limit of ${DIRECTORY_BYTES_MAX}: remove some keys`);
}

class SnapshotOutput implements Sink {
  readonly #descriptor: number;
  readonly #file: string;
  readonly #uncached: UncachedDescriptor | undefined;
  readonly #buffer = alignedBytes();
  /** Leaves room for the header, which is written last. */
  #buffered = HEADER_BYTES;
  #written = 0;
  #isOpen = true;

  constructor(file: string, { isUncached = false }) {
    this.#file = file;
    this.#descriptor = openSync(file, 'wx');
    this.#uncached = isUncached ? new UncachedDescriptor(this.#descriptor, constants.O_WRONLY) : undefined;
  }

  write(bytes: Uint8Array): void {
    if (!this.#uncached && bytes.length >= LARGE_BYTES) {
      this.#flush();
      this.#put(bytes);
      return;
    }
    // Uncached writes are only of whole buffers, which are aligned and as large as possible.
    for (let at = 0; at < bytes.length;) {
      if (this.#buffered === this.#buffer.length) this.#flush();
      const part = bytes.subarray(at, at + this.#buffer.length - this.#buffered);
      this.#buffer.set(part, this.#buffered);
      this.#buffered += part.length;
      at += part.length;
    }
  }

  hash(): RunningHash {
    const hash = createHash('sha256');
    return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest('hex') };
  }

  close(header: Uint8Array): number {
    this.#uncached?.close();
    this.#flush();
    writeSync(this.#descriptor, header, 0, header.length, 0);
    fsyncSync(this.#descriptor);
    this.#isOpen = false;
    closeSync(this.#descriptor);
    return this.#written;
  }

  /** Closes the file. The caller removes it as a partial file. */
  discard(): void {
    this.#uncached?.close();
    if (this.#isOpen) closeSync(this.#descriptor);
    this.#isOpen = false;
  }

  #flush(): void {
    this.#put(this.#buffer.subarray(0, this.#buffered));
    this.#buffered = 0;
  }

  #put(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      const rest = bytes.subarray(at);
      const written = attempt(`cannot write ${this.#file}`, () =>
        this.#uncached
          ? this.#uncached.write(rest, this.#written)
          : writeSync(this.#descriptor, rest, 0, rest.length, this.#written),
      );
      at += written;
      this.#written += written;
    }
  }
}
