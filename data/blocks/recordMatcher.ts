// Finds records that already have blocks: by their CRC-32, then by comparing them byte for byte with the inflated
// blocks. Records that are not found are deflated, so that a miss costs time but never changes a byte.
import { constants, inflateRawSync } from 'node:zlib';
import { CHAINED_ROWS, WINDOW_SEPARATOR } from '../../engine/column/blocks.ts';
import type { RecordsWithBlocks, BlockStretch } from './earlierBlocks.ts';

/**
 * Neighbouring records of one chunk in the form that is deflated, each followed by `WINDOW_SEPARATOR`. `starts` has the
 * start of each record and the end of the last one; `crcs` has their CRC-32.
 */
export interface RecordWindow {
  readonly bytes: Buffer;
  readonly starts: Uint32Array;
  readonly crcs: Uint32Array;
}

/** Longest probe sequence. It bounds the cost of many records with equal checksums. */
const STEPS_MAX = 64;

/** The result of `RecordMatcher` for a record without blocks. */
export const NO_ROW = -1;

export class RecordMatcher {
  readonly earlier: RecordsWithBlocks;
  /**
   * A hash table with linear probing: the row plus one at the lowest bits of its CRC-32, or at the next free place. 0
   * is free.
   */
  readonly #places: Uint32Array;

  /** Cost: one step a row, and 8 to 16 bytes of memory a row. */
  constructor(earlier: RecordsWithBlocks) {
    this.earlier = earlier;
    const { crcs } = earlier;
    this.#places = new Uint32Array(2 ** Math.ceil(Math.log2(2 * crcs.length + 1)));
    const mask = this.#places.length - 1;
    for (let row = 0; row < crcs.length; row++) {
      let step = 0;
      while (step < STEPS_MAX && this.#places[(crcs[row]! + step) & mask] !== 0) step++;
      if (step < STEPS_MAX) this.#places[(crcs[row]! + step) & mask] = row + 1;
    }
  }

  /** The earlier row of each record, or `NO_ROW`. Cost: the matching blocks are inflated once. */
  findRows(window: RecordWindow): Int32Array {
    const rows = new Int32Array(window.crcs.length);
    for (let n = 0, before = NO_ROW; n < rows.length; n++) {
      const next = this.#findRow(window.crcs[n]!, before + 1);
      rows[n] = next;
      before = next === NO_ROW ? before : next;
    }
    for (let n = 0; n < rows.length;) {
      const end = this.stretchEnd(rows, n);
      // A stretch is rejected as a whole: equal checksums of different records are too rare to inflate anything twice.
      if (rows[n] !== NO_ROW && !this.#isEqual(window, n, end, rows[n]!)) rows.fill(NO_ROW, n, end);
      n = end;
    }
    return rows;
  }

  /** The end of the stretch of records from `n` on whose earlier rows are neighbours in one chunk. */
  stretchEnd(rows: Int32Array, n: number): number {
    let end = n + 1;
    if (rows[n] === NO_ROW) return end;
    while (end < rows.length && rows[end] === rows[end - 1]! + 1 && !this.earlier.isFirst(rows[end]!)) end++;
    return end;
  }

  /** A row with this checksum, preferably `expected`. */
  #findRow(crc: number, expected: number): number {
    const { crcs } = this.earlier;
    if (expected < crcs.length && crcs[expected] === crc) return expected;
    const mask = this.#places.length - 1;
    for (let step = 0; step < STEPS_MAX; step++) {
      const row = this.#places[(crc + step) & mask]! - 1;
      if (row === NO_ROW || crcs[row] === crc) return row;
    }
    return NO_ROW;
  }

  #isEqual({ bytes, starts }: RecordWindow, n: number, end: number, row: number): boolean {
    const firstEnd = Math.min(row + end - n, row + CHAINED_ROWS);
    const blocks = [
      separateRecords(this.earlier.blocks('independent', row, firstEnd)),
      separateRecords(this.earlier.blocks('chained', firstEnd, row + end - n)),
    ];
    const expected = bytes.subarray(starts[n], starts[end]);
    // One byte more than expected, so that zlib fills this buffer and never requests another one.
    const chunkSize = Math.max(CHUNK_BYTES_MIN, expected.length + 1);
    const limits = { chunkSize, maxOutputLength: chunkSize, finishFlush: constants.Z_SYNC_FLUSH };
    try {
      return inflateRawSync(Buffer.concat(blocks), limits).equals(expected);
    } catch {
      // Forged blocks: they are invalid, or have more bytes than these records.
      return false;
    }
  }
}

/** The smallest chunk size that zlib accepts. */
const CHUNK_BYTES_MIN = 64;

/** Copies blocks and puts the window's separator between the records. */
function separateRecords({ bytes, start, ends }: BlockStretch): Uint8Array {
  const copy = bytes.slice();
  for (const end of ends) copy[end - start - 1] = WINDOW_SEPARATOR;
  return copy;
}
