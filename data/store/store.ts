// Writes snapshot files: beside the final name first, moved there whole. load.ts loads them.
// Says how their sections are hashed: write.ts, when.
import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { HEADER_BYTES } from '../../engine/snapshot/header.ts';
import { type RunningHash, SnapshotWriter, type Sink } from '../../engine/snapshot/write.ts';
import { attempt, putInPlace } from '../files.ts';
import { unfinished } from '../leftovers.ts';
import { generationOf } from './load.ts';

const WRITE_BYTES = 4 << 20;
/** What is as long is written as it is. */
const LARGE_BYTES = 256 << 10;

/**
 * Writes the snapshot that `fill` adds sections to, first to a `partial` path of this run. Answers its bytes and
 * generation. The file appears under its name only when it is whole and on the disk, where its name then is too; a
 * failure or a signal leaves what was there before. Throws OperationError `file` when it cannot be written.
 */
export async function writeSnapshot(
  file: string,
  fill: (writer: SnapshotWriter, partial: string) => Promise<{ created: string | undefined }>,
): Promise<{ bytes: number; generation: string }> {
  return unfinished(file, async (partial) => {
    const output = attempt(`cannot write ${file}`, () => new SnapshotOutput(partial));
    try {
      const writer = new SnapshotWriter(output);
      const { created } = await fill(writer, partial);
      const { header, directory } = writer.finish(created);
      const bytes = attempt(`cannot write ${file}`, () => output.close(header));
      putInPlace(partial, file);
      return { bytes, generation: generationOf(header, directory) };
    } catch (error) {
      output.discard();
      throw error;
    }
  });
}

class SnapshotOutput implements Sink {
  readonly #descriptor: number;
  readonly #file: string;
  readonly #buffer = Buffer.allocUnsafe(WRITE_BYTES);
  #buffered = 0;
  #bytes = HEADER_BYTES;
  #isOpen = true;

  constructor(file: string) {
    this.#file = file;
    this.#descriptor = openSync(file, 'wx');
    writeSync(this.#descriptor, new Uint8Array(HEADER_BYTES));
  }

  write(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    const isLarge = bytes.length >= LARGE_BYTES;
    if (isLarge || this.#buffered + bytes.length > WRITE_BYTES) this.#flush();
    if (isLarge) this.#put(bytes);
    else {
      this.#buffer.set(bytes, this.#buffered);
      this.#buffered += bytes.length;
    }
  }

  hash(): RunningHash {
    const hash = createHash('sha256');
    return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest('hex') };
  }

  close(header: Uint8Array): number {
    this.#flush();
    writeSync(this.#descriptor, header, 0, header.length, 0);
    fsyncSync(this.#descriptor);
    this.#isOpen = false;
    closeSync(this.#descriptor);
    return this.#bytes;
  }

  discard(): void {
    if (this.#isOpen) closeSync(this.#descriptor);
    this.#isOpen = false;
    rmSync(this.#file, { force: true });
  }

  #flush(): void {
    this.#put(this.#buffer.subarray(0, this.#buffered));
    this.#buffered = 0;
  }

  #put(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      at += attempt(`cannot write ${this.#file}`, () => writeSync(this.#descriptor, bytes, at, bytes.length - at));
    }
  }
}
