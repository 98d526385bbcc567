// The memory of row sets that are kept or sent: their owned bytes, smallest form and transferable buffers. Views of the
// snapshot are in shared memory, which no set owns.
import { makeBitmap, wordsFor } from '../bits/bitmap.ts';
import { directoryBytes, selectRanks } from '../bits/ranks.ts';
import { complement, ofBitmap, type RowSet } from './rowset.ts';

/** The bytes that a kept set retains: its own buffers, and the directory of a bitmap. Cost: none. */
export function ownedBytes(set: RowSet): number {
  switch (set.kind) {
    case 'range':
      return 0;
    case 'list':
      return bufferBytes(set.rows);
    case 'bitmap':
      return bufferBytes(set.words) + directoryBytes(set.words.length);
    case 'complement':
      return ownedBytes(set.of);
  }
}

/** The upper bound of `ownedBytes` of a compact set over a table of `rows` rows: that of a bitmap. */
export function ownedBytesMax(rows: number): number {
  const words = wordsFor(rows);
  return words * Uint32Array.BYTES_PER_ELEMENT + directoryBytes(words);
}

/**
 * The same set over a table of `rows` rows in the fewest bytes: a list, a bitmap, or the complement of a list, in a
 * buffer of exactly its size. Views of shared memory stay views. Cost: at most a copy, and one pass over a bitmap's
 * words.
 */
export function compacted(set: RowSet, rows: number): RowSet {
  switch (set.kind) {
    case 'range':
      return set;
    case 'list':
      if (isShared(set.rows)) return set;
      if (set.rows.length > wordsFor(rows)) return compacted(ofBitmap(makeBitmap(set.rows, rows)), rows);
      return { kind: 'list', rows: exactlySized(set.rows) };
    case 'bitmap':
      if (isShared(set.words)) return set;
      if (set.count < set.words.length) return { kind: 'list', rows: selectRanks(set.words, 0, set.count) };
      if (rows - set.count < set.words.length) {
        const left = selectRanks(set.words, 0, rows - set.count, true);
        return { kind: 'complement', of: { kind: 'list', rows: left }, rows };
      }
      return { ...set, words: exactlySized(set.words) };
    case 'complement':
      return complement(compacted(set.of, rows), rows);
  }
}

/** The buffers of a compact set that can be transferred to another thread without a copy. */
export function ownBuffers(set: RowSet): ArrayBuffer[] {
  switch (set.kind) {
    case 'range':
      return [];
    case 'list':
      return ownBuffer(set.rows);
    case 'bitmap':
      return ownBuffer(set.words);
    case 'complement':
      return ownBuffers(set.of);
  }
}

function ownBuffer({ buffer }: Uint32Array): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer ? [buffer] : [];
}

function isShared({ buffer }: Uint32Array): boolean {
  return buffer instanceof SharedArrayBuffer;
}

function bufferBytes(array: Uint32Array): number {
  return isShared(array) ? 0 : array.buffer.byteLength;
}

/** Copies a view of a part of its buffer: keeping or sending the view would keep or send the whole buffer. */
function exactlySized(array: Uint32Array): Uint32Array {
  return array.byteLength === array.buffer.byteLength ? array : array.slice();
}
