// Which records have blocks already: found by their CRC-32, and compared, byte for byte, with what those blocks inflate
// to. What is not found is deflated, so that a mistake here costs time and no byte.
import { constants, inflateRawSync } from 'node:zlib';
import { CHAINED_ROWS, WINDOW_SEPARATOR } from '../../engine/column/blocks.ts';
import type { RecordsWithBlocks, BlockStretch } from './earlierBlocks.ts';

/**
 * Neighbouring records of one chunk as deflate sees them, `WINDOW_SEPARATOR` behind each: where they start, and last
 * where they end, and their CRC-32.
 */
export interface RecordWindow {
  readonly bytes: Buffer;
  readonly starts: Uint32Array;
  readonly crcs: Uint32Array;
}

/** So far from where its sum leads a row is looked for, that records of one sum cost no more than others. */
const STEPS_MAX = 64;

/** What `RecordMatcher` answers for a record that has no blocks. */
export const NO_ROW = -1;

/** Finds records among the earlier blocks of a collection. */
export class RecordMatcher {
  readonly earlier: RecordsWithBlocks;
  /** One more than the rows, by the lowest bits of their CRC-32 or the next place that was free. */
  readonly #places: Uint32Array;

  /** Cost: a step a row, and 8 to 16 bytes of memory. */
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

  /** The earlier row of each record, `NO_ROW` where there is none. Cost: their blocks are inflated once. */
  rowsOf(window: RecordWindow): Int32Array {
    const rows = new Int32Array(window.crcs.length);
    for (let n = 0, before = NO_ROW; n < rows.length; n++) {
      const next = this.#rowOf(window.crcs[n]!, before + 1);
      rows[n] = next;
      before = next === NO_ROW ? before : next;
    }
    for (let n = 0; n < rows.length;) {
      const end = this.stretchEnd(rows, n);
      // All of a stretch is given up: equal sums of unequal records are no reason to inflate anything twice.
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

  /** A row with this sum, `expected` if that one has it. */
  #rowOf(crc: number, expected: number): number {
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
    const alone = Math.min(row + end - n, row + CHAINED_ROWS);
    const blocks = [
      separated(this.earlier.blocks('independent', row, alone)),
      separated(this.earlier.blocks('chained', alone, row + end - n)),
    ];
    const expected = bytes.subarray(starts[n], starts[end]);
    // One byte more, so that all fits into one buffer that is not asked to be larger.
    const chunkSize = Math.max(CHUNK_BYTES_MIN, expected.length + 1);
    const limits = { chunkSize, maxOutputLength: chunkSize, finishFlush: constants.Z_SYNC_FLUSH };
    try {
      return inflateRawSync(Buffer.concat(blocks), limits).equals(expected);
    } catch {
      // Somebody forged them: they are none, or of more than these records.
      return false;
    }
  }
}

/** The least that zlib takes. */
const CHUNK_BYTES_MIN = 64;

/** A copy of blocks, between which stands what the window has between records. */
function separated({ bytes, start, ends }: BlockStretch): Uint8Array {
  const copy = bytes.slice();
  for (const end of ends) copy[end - start - 1] = WINDOW_SEPARATOR;
  return copy;
}
