// An export of neighbouring records as newline-delimited JSON: the stored records with a line feed instead of each
// comma. Copies the records in pieces and patches each piece.
import { findChunk, endOf, type RecordChunk, type Records, startOf } from '../column/records.ts';
import { ROOM_AT } from '../kernel/layout.ts';
import { scratch } from '../kernel/own.ts';
import type { Body } from './envelope.ts';
import { copying } from './rewrite.ts';
import { reserveRoom, gatheredBytes, noteContents, isGathered, newBodyNumber, SCRATCH_BYTES } from './gather.ts';

export const LINE_FEED = 0x0a;

/** The part of a run of records in one chunk: `from` to `to` in its bytes, from `start` on in the body. */
interface Stretch {
  readonly chunk: RecordChunk;
  readonly from: number;
  readonly to: number;
  readonly start: number;
}

/**
 * The body of rows `start` to `end`, at least one, each followed by a line feed. Cost: a step per chunk. A piece costs
 * one copy of its bytes, and a step per record in it.
 */
export function linesBody(records: Records, start: number, end: number): Body {
  const stretches = stretchesOf(records, start, end);
  const last = stretches.at(-1)!;
  const number = newBodyNumber();
  const bytes = last.start + last.to - last.from;
  return {
    bytes,
    pieceAt(offset) {
      if (!isGathered(number, offset)) {
        let i = stretches.length - 1;
        while (stretches[i]!.start > offset) i--;
        const stretch = stretches[i]!;
        noteContents(number, offset, offset + fill(stretch, records.growth, stretch.from + offset - stretch.start));
      }
      return gatheredBytes(offset, bytes);
    },
  };
}

/** The stretches of rows `start` to `end`, ascending; an empty list if there are no rows. Cost: a step per chunk. */
export function stretchesOf(records: Records, start: number, end: number): readonly Stretch[] {
  const stretches: Stretch[] = [];
  let bytes = 0;
  for (let row = start; row < end;) {
    const chunk = findChunk(records, row);
    const last = Math.min(end, chunk.firstRow + chunk.ends.length) - 1;
    const from = startOf(chunk, records.growth, row - chunk.firstRow);
    const to = endOf(chunk, records.growth, last - chunk.firstRow);
    stretches.push({ chunk, from, to, start: bytes });
    bytes += to - from;
    row = last + 1;
  }
  return stretches;
}

/**
 * Copies the bytes of a stretch from `at` on, as far as they fit, to the room and patches them. Returns their number.
 */
function fill({ chunk, to }: Stretch, growth: number, at: number): number {
  const end = Math.min(to, at + reserveRoom(SCRATCH_BYTES));
  chunk.kernel.copy(ROOM_AT, chunk.bytes.byteOffset + at, end - at);
  copying.bytes += end - at;
  const target = scratch.bytes;
  for (let i = firstEndAfter(chunk, growth, at); i < chunk.ends.length; i++) {
    const recordEnd = endOf(chunk, growth, i);
    if (recordEnd > end) break;
    target[ROOM_AT + recordEnd - 1 - at] = LINE_FEED;
  }
  return end - at;
}

/** The first record of a chunk that ends after `at`. Cost: O(log records). */
function firstEndAfter(chunk: RecordChunk, growth: number, at: number): number {
  let low = 0;
  let high = chunk.ends.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (endOf(chunk, growth, middle) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}
