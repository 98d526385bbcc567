// Runs of whole lines, which go from the reader of a file to a decoder.

/** Whole lines of one file: `bytes` ends behind a line, the first of which has number `firstLine`. */
export interface Lines {
  readonly bytes: Uint8Array;
  readonly firstLine: number;
  readonly fileBytesRead: number;
}

/** A run holds at least this many bytes, so that decoding it is worth a thread's while. */
export const RUN_BYTES = 2 << 20;
