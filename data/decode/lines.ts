// Runs of whole lines, as they go from who reads them to who decodes them, and the memory that they lie in, which goes
// back: what is touched for the first time costs more than what is read into it.

/** Whole lines of one file: `bytes` ends behind a line, the first of which has number `firstLine`. */
export interface Lines {
  readonly bytes: Uint8Array;
  readonly firstLine: number;
  readonly fileBytesRead: number;
}

/** A run holds at least this many bytes, so that decoding it is worth a thread's while. */
export const RUN_BYTES = 2 << 20;

/** What is read at once. */
export const READ_BYTES = 1 << 20;

/** A run and what is read behind it. */
const RUN_CAPACITY = RUN_BYTES + READ_BYTES;

/** Memory of runs that are used up, for the next ones; all of one length, but for a run of longer lines. */
export class LineMemory {
  readonly #spare: ArrayBuffer[] = [];

  /** Memory of a run, used before or new; what it holds is left over. */
  take(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#spare.pop() ?? new ArrayBuffer(RUN_CAPACITY));
  }

  /** Takes back the memory of a run, which nobody uses any more; lets go of any other. */
  give({ buffer }: Uint8Array): void {
    if (buffer instanceof ArrayBuffer && buffer.byteLength === RUN_CAPACITY) this.#spare.push(buffer);
  }
}
