// Puts together rows that cannot be served from the snapshot as they are, in the thread's own memory: scattered,
// rewritten, cut, or as CSV. A body has no page bytes of its own, so that a page of any size costs eight bytes a row.
import { RANGES_AT, RANGES_MAX, ROOM_AT } from '../kernel/layout.ts';
import { own, takeRoom } from '../kernel/own.ts';
import { chunkOf, endOf, type RecordChunk, type Records, startOf } from '../column/records.ts';
import { countSelected, selectedRow, type Selection } from '../index/rowset.ts';
import { upperBound } from '../bits/lists.ts';
import type { Kernel } from '../kernel/contract.ts';
import type { Body } from './envelope.ts';
import { copying } from './rewrite.ts';

/** How much is put together at once: a page of 100 typical records is one write. A larger record has more room. */
export const SCRATCH_BYTES = 512 * 1024;

/**
 * The room holds the bytes `start` to `end` of one body: by its number, since the body itself would keep its snapshot
 * alive, and as long as nobody else used the room. Number 0 is no body.
 */
const held = { body: 0, start: 0, end: 0, use: 0 };

let bodies = 0;

export function newBodyNumber(): number {
  return ++bodies;
}

/** Whether the room holds the byte at `offset` of a body. Cost: none. */
export function isHeld(body: number, offset: number): boolean {
  return held.body === body && held.use === own.uses && offset >= held.start && offset < held.end;
}

/** The room, empty: at least `SCRATCH_BYTES`, and as many more as `bytes` asks for. Cost: none but when it grows. */
export function emptied(bytes: number): number {
  const room = Math.max(SCRATCH_BYTES, bytes);
  takeRoom(own, room);
  return room;
}

/** Says whose bytes the room holds now, from `ROOM_AT` on. */
export function hold(body: number, start: number, end: number): void {
  held.body = body;
  held.start = start;
  held.end = end;
  held.use = own.uses;
}

/**
 * A piece with `tail` right behind it where the piece ends the room's contents, so that both are written at once;
 * undefined where it lies elsewhere. The byte behind the piece is no longer that of the body. Cost: a copy of the tail.
 */
export function withTail(piece: Uint8Array, tail: Uint8Array): Uint8Array | undefined {
  const end = piece.byteOffset + piece.length;
  if (piece.buffer !== own.bytes.buffer || end + tail.length > own.bytes.length) return undefined;
  own.bytes.set(tail, end);
  return own.bytes.subarray(piece.byteOffset, end + tail.length);
}

/** What the room holds of the body it holds, from `offset` to before `end`. Cost: a view. */
export function heldBytes(offset: number, end: number): Uint8Array {
  return own.bytes.subarray(ROOM_AT + offset - held.start, ROOM_AT + Math.min(held.end, end) - held.start);
}

/** How much is measured at once, before other requests get their turn: rows by their positions, about 0.5 ms. */
const SLICE_ROWS = 4096;

/** Members and own URLs of records to be cut that are measured or written at once: 0.5 ms, 2 where all are kept. */
const SLICE_MEMBERS = 131_072;

/** Of so few records to be cut nothing is counted, which takes 0.06 of their time: an uncut page looks at as much. */
const UNCOUNTED_ROWS = 128;

/**
 * Writes records in one way. `bytes` is what `write` will write of one, with what stands behind it; `write` writes
 * `count` neighbours to the thread's own memory at `at` and answers the address behind them. `index` is the (first) row
 * within the chunk.
 */
export interface RecordWriter {
  bytes(chunk: RecordChunk, index: number): number;
  write(chunk: RecordChunk, index: number, count: number, at: number): number;
}

/** Neighbours written one by one, by what writes one. */
export function eachOf(write: (chunk: RecordChunk, index: number, at: number) => number): RecordWriter['write'] {
  return (chunk, index, count, at) => {
    for (let i = index; i < index + count; i++) at = write(chunk, i, at);
    return at;
  };
}

/**
 * What to gather: at least one row. Without a `writer` records are copied as stored. `separator` replaces the byte
 * behind each record; -1 leaves it. `openBytes` of the end are left out. `sliceBytes` bounds what is measured at once,
 * for writers that must look at the bytes, and what is written at once; `isSlow` where that takes as long. `isCut`
 * where most of what is looked at may be left out.
 */
export interface Gathering {
  readonly records: Records;
  readonly rows: Selection;
  readonly writer: RecordWriter | undefined;
  readonly separator: number;
  readonly openBytes: number;
  readonly sliceBytes: number;
  readonly isSlow: boolean;
  readonly isCut: boolean;
}

/** A body that is being measured: each call measures a slice and answers the body once its length is known. */
export type Measuring = () => Body | undefined;

/**
 * The ends of the body of few rows that was measured last in this thread: no page allocates, and few are asked again.
 */
const shared = { ends: new Float64Array(SLICE_ROWS), body: 0 };

/**
 * The body of gathered rows, to be measured; up to 4,096 rows of ordinary size take one call. Pieces are views of the
 * thread's buffer. Cost: the writer's `bytes` for every row, then its `write` once for each piece that is read.
 */
export function gatheredBody(gathered: Gathering): Measuring {
  const body = new GatheredBody(gathered);
  return () => (body.measureSlice() ? body : undefined);
}

/** A class, since scattered pages are as common as any: no closure is made for one. */
class GatheredBody implements Body {
  bytes = 0;
  readonly isSlow: boolean;
  readonly #gathered: Gathering;
  readonly #number = newBodyNumber();
  readonly #count: number;
  /** The end of each record in the body, where these are its own: of a body that takes several slices. */
  #ends: Float64Array | undefined;
  #measured = 0;

  constructor(gathered: Gathering) {
    this.#gathered = gathered;
    this.#count = countSelected(gathered.rows);
    this.isSlow = gathered.isSlow;
    const isLong = this.#count > SLICE_ROWS || gathered.sliceBytes < Infinity;
    this.#ends = isLong ? new Float64Array(this.#count) : undefined;
  }

  /** Measures a slice; whether that was the last one, so that `bytes` is known. */
  measureSlice(): boolean {
    const ends = this.#ends ?? shared.ends;
    if (!this.#ends) shared.body = this.#number;
    this.#measured = measure(this.#gathered, this.#count, ends, this.#measured);
    if (this.#measured < this.#count) {
      // Another body may be measured before the next slice.
      this.#ends ??= ownEnds(this.#count, ends.subarray(0, this.#measured));
      return false;
    }
    this.bytes = ends[this.#count - 1]! - this.#gathered.openBytes;
    return true;
  }

  pieceAt(offset: number): Uint8Array {
    if (!isHeld(this.#number, offset)) this.#gather(offset);
    return heldBytes(offset, this.bytes);
  }

  /** The ends of the records; measured again where another body has taken their place. */
  #endsAgain(): Float64Array {
    if (this.#ends) return this.#ends;
    if (shared.body !== this.#number) {
      measure(this.#gathered, this.#count, shared.ends, 0);
      shared.body = this.#number;
    }
    return shared.ends;
  }

  /** Fills the room with whole records, from the one in which `offset` lies. */
  #gather(offset: number): void {
    const { writer, separator, sliceBytes, isCut } = this.#gathered;
    const ends = this.#endsAgain();
    const first = upperBound(ends, offset, 0, this.#count);
    const start = first === 0 ? 0 : ends[first - 1]!;
    const least = ends[first]! - start;
    const fitting = upperBound(ends, start + Math.min(emptied(least), Math.max(least, sliceBytes)), first, this.#count);
    // What is measured in one slice may be written in one.
    const end = this.#ends && isCut ? endOfSlice(this.#gathered, first, fitting) : fitting;
    if (writer) writeRows(this.#gathered, writer, first, end);
    else copyRows(this.#gathered, ends, first, end);
    const { bytes } = own;
    if (separator >= 0) for (let i = first; i < end; i++) bytes[ROOM_AT + ends[i]! - 1 - start] = separator;
    hold(this.#number, start, ends[end - 1]!);
  }
}

function ownEnds(count: number, known: Float64Array): Float64Array {
  const ends = new Float64Array(count);
  ends.set(known);
  return ends;
}

/** The place behind the rows from `first` on that are cut at once, one at least, at most `end`. */
function endOfSlice({ records, rows }: Gathering, first: number, end: number): number {
  let i = first;
  for (let members = 0; i < end && members < SLICE_MEMBERS; i++) {
    const row = selectedRow(rows, i);
    const chunk = chunkOf(records, row);
    members += membersAt(chunk, row - chunk.firstRow);
  }
  return i;
}

/** The members and own URLs of a record: cutting it looks at most of them, whatever is kept. */
function membersAt({ memberEnds, linkEnds }: RecordChunk, index: number): number {
  const before = index === 0 ? 0 : memberEnds[index - 1]! + linkEnds[index - 1]!;
  return memberEnds[index]! + linkEnds[index]! - before;
}

/** Finds the ends of the next slice of rows; answers the row behind it. */
function measure(
  { records, rows, writer, sliceBytes, isCut }: Gathering,
  count: number,
  ends: Float64Array,
  from: number,
): number {
  const to = Math.min(count, from + SLICE_ROWS);
  const start = from === 0 ? 0 : ends[from - 1]!;
  let end = start;
  const isCounted = isCut && count > UNCOUNTED_ROWS;
  let members = 0;
  let i = from;
  for (; i < to && end - start < sliceBytes && members < SLICE_MEMBERS; i++) {
    const row = selectedRow(rows, i);
    const chunk = chunkOf(records, row);
    const index = row - chunk.firstRow;
    end += writer
      ? writer.bytes(chunk, index)
      : endOf(chunk, records.growth, index) - startOf(chunk, records.growth, index);
    if (isCounted) members += membersAt(chunk, index);
    ends[i] = end;
  }
  return i;
}

function writeRows({ records, rows }: Gathering, writer: RecordWriter, first: number, end: number): void {
  let at = ROOM_AT;
  for (let i = first; i < end;) {
    const row = selectedRow(rows, i);
    const chunk = chunkOf(records, row);
    const count = neighboursAt(rows, i, Math.min(end, i + rowsLeft(chunk, row)));
    at = writer.write(chunk, row - chunk.firstRow, count, at);
    i += count;
  }
}

/** Notes the ranges in which the rows lie, and has them copied at once: for each kernel that they lie with. */
function copyRows({ records, rows }: Gathering, ends: Float64Array, first: number, end: number): void {
  const { words } = own;
  let kernel: Kernel | undefined;
  let to = ROOM_AT;
  let ranges = 0;
  for (let i = first; i < end;) {
    const row = selectedRow(rows, i);
    const chunk = chunkOf(records, row);
    if (kernel && (kernel !== chunk.kernel || ranges === RANGES_MAX)) {
      to = kernel.gather(RANGES_AT, ranges, to);
      ranges = 0;
    }
    kernel = chunk.kernel;
    const count = neighboursAt(rows, i, Math.min(end, i + rowsLeft(chunk, row)));
    const from = startOf(chunk, records.growth, row - chunk.firstRow);
    words[RANGES_AT / 4 + ranges * 2] = chunk.bytes.byteOffset + from;
    const bytes = ends[i + count - 1]! - (i === 0 ? 0 : ends[i - 1]!);
    words[RANGES_AT / 4 + ranges * 2 + 1] = bytes;
    copying.bytes += bytes;
    ranges++;
    i += count;
  }
  kernel?.gather(RANGES_AT, ranges, to);
}

function rowsLeft(chunk: RecordChunk, row: number): number {
  return chunk.ends.length - (row - chunk.firstRow);
}

/** How many rows from place `i` on, before `end`, follow one another. */
function neighboursAt(rows: Selection, i: number, end: number): number {
  if (rows.kind === 'range') return end - i;
  let count = 1;
  while (i + count < end && rows.rows[i + count] === rows.rows[i]! + count) count++;
  return count;
}
