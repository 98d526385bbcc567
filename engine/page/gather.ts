// Assembles rows that cannot be served directly from the snapshot in the thread's own memory: scattered, rewritten,
// cut, or as CSV. Bodies do not store the bytes of a page, so that a page of any size costs eight bytes per row.
import { RANGES_AT, RANGES_MAX, ROOM_AT } from '../kernel/layout.ts';
import { scratch, reserve } from '../kernel/own.ts';
import { findChunk, endOf, type RecordChunk, type Records, startOf } from '../column/records.ts';
import { countSelected, selectedRow, type Selection } from '../index/rowset.ts';
import { upperBound } from '../bits/lists.ts';
import type { Kernel } from '../kernel/contract.ts';
import type { Body } from './envelope.ts';
import { copying } from './rewrite.ts';

/** The bytes that are assembled at once: a page of 100 typical records is one write. A larger record gets more room. */
export const SCRATCH_BYTES = 512 * 1024;

/**
 * The contents of the room: the bytes `start` to `end` of one body, until the room is reserved again. The body is
 * identified by its number, because a reference would keep its snapshot alive. Number 0 is no body.
 */
const contents = { body: 0, start: 0, end: 0, use: 0 };

let bodies = 0;

/** Returns a number for a new body. */
export function newBodyNumber(): number {
  return ++bodies;
}

/** Whether the room contains the byte at `offset` of a body. Cost: none. */
export function isGathered(body: number, offset: number): boolean {
  return contents.body === body && contents.use === scratch.uses && offset >= contents.start && offset < contents.end;
}

/** Reserves the room: `SCRATCH_BYTES`, or `bytes` if that is more. Returns its size. Cost: none unless it grows. */
export function reserveRoom(bytes: number): number {
  const room = Math.max(SCRATCH_BYTES, bytes);
  reserve(scratch, room);
  return room;
}

/** Records that the room, from `ROOM_AT` on, contains the bytes `start` to `end` of a body. */
export function noteContents(body: number, start: number, end: number): void {
  contents.body = body;
  contents.start = start;
  contents.end = end;
  contents.use = scratch.uses;
}

/**
 * Appends `tail` to a piece at the end of the room's contents, so that both can be written at once. The byte after the
 * piece is then no longer that of the body. Returns undefined if the piece is elsewhere. Cost: a copy of the tail.
 */
export function appendTail(piece: Uint8Array, tail: Uint8Array): Uint8Array | undefined {
  const end = piece.byteOffset + piece.length;
  if (piece.buffer !== scratch.bytes.buffer || end + tail.length > scratch.bytes.length) return undefined;
  scratch.bytes.set(tail, end);
  return scratch.bytes.subarray(piece.byteOffset, end + tail.length);
}

/** The bytes of the current body from `offset` to `end` (exclusive), as far as the room contains them. Cost: a view. */
export function gatheredBytes(offset: number, end: number): Uint8Array {
  return scratch.bytes.subarray(
    ROOM_AT + offset - contents.start,
    ROOM_AT + Math.min(contents.end, end) - contents.start,
  );
}

/**
 * Rows that are measured at once, before other requests get their turn. Measuring them by their positions takes about
 * 0.5 ms.
 */
const SLICE_ROWS = 4096;

/** Members and own URLs of cut records that are measured or written at once: 0.5 ms, or 2 ms if all are kept. */
const SLICE_MEMBERS = 131_072;

/**
 * Up to this many cut records, members are not counted, which would take 0.06 of their time. An uncut page reads as
 * much.
 */
const UNCOUNTED_ROWS = 128;

/** Work over links (linked.ts) that is done in one slice: about 1 ms. A record may take more. */
const SLICE_WORK = 512 * 1024;
const NO_WORK = { spent: 0 };

/** Writes records in one form. `index` is the (first) row within the chunk. */
export interface RecordWriter {
  /** The work over links so far. */
  readonly work?: { readonly spent: number };
  /** The bytes that `write` writes for a record, including its separator. Infinite if they are too many. */
  bytes(chunk: RecordChunk, index: number): number;
  /** Writes `count` neighbouring records to the thread's own memory at `at`. Returns the address after them. */
  write(chunk: RecordChunk, index: number, count: number, at: number): number;
}

/** Writes neighbours one by one with a function that writes one record. */
export function writeEach(write: (chunk: RecordChunk, index: number, at: number) => number): RecordWriter['write'] {
  return (chunk, index, count, at) => {
    for (let i = index; i < index + count; i++) at = write(chunk, i, at);
    return at;
  };
}

/** The rows to gather, at least one, and their form. */
export interface Gathering {
  readonly records: Records;
  readonly rows: Selection;
  /** Undefined to copy records as stored. */
  readonly writer: RecordWriter | undefined;
  /** Byte that replaces the one after each record; -1 leaves it. */
  readonly separator: number;
  /** Bytes to omit at the end. */
  readonly openBytes: number;
  /** Limit of the bytes measured or written at once, for writers that must read the bytes. */
  readonly sliceBytes: number;
  /** True if a slice takes long (see `Body`). */
  readonly isSlow: boolean;
  /** True if most of the bytes read may be omitted. */
  readonly isCut: boolean;
  /** A body with more bytes is too large. */
  readonly bytesMax?: number;
}

/**
 * Measures a body in slices. Each call measures one slice. Returns the body once its length is known, undefined before.
 */
export type Measuring = () => Body | undefined;

/**
 * The row ends of the last short body measured in this thread. Sharing them avoids an allocation per page. Few pages
 * are read again after another page.
 */
const shared = { ends: new Float64Array(SLICE_ROWS), body: 0 };

/**
 * Measures and reads a body of gathered rows. Up to 4,096 rows of ordinary size take one call. Pieces are views of the
 * thread's buffer. Cost: the writer's `bytes` for every row, then its `write` once for each piece that is read.
 */
export function gatheredBody(gathered: Gathering): Measuring {
  const body = new GatheredBody(gathered);
  return () => (body.measureSlice() ? body : undefined);
}

/** A class, because scattered pages are common, and it needs no closure. */
class GatheredBody implements Body {
  bytes = 0;
  isTooLarge = false;
  readonly isSlow: boolean;
  readonly #gathered: Gathering;
  readonly #number = newBodyNumber();
  readonly #count: number;
  /** The end of each record in the body. Undefined if the body takes one slice and uses the shared ends. */
  #ends: Float64Array | undefined;
  #measured = 0;

  constructor(gathered: Gathering) {
    this.#gathered = gathered;
    this.#count = countSelected(gathered.rows);
    this.isSlow = gathered.isSlow;
    const isLong = this.#count > SLICE_ROWS || gathered.sliceBytes < Infinity;
    this.#ends = isLong ? new Float64Array(this.#count) : undefined;
  }

  get retainedBytes(): number {
    return this.#ends?.byteLength ?? 0;
  }

  /** Measures a slice. Returns whether it was the last one, so that `bytes` is set. */
  measureSlice(): boolean {
    const ends = this.#ends ?? shared.ends;
    if (!this.#ends) shared.body = this.#number;
    this.#measured = measure(this.#gathered, this.#count, ends, this.#measured);
    if (ends[this.#measured - 1]! > (this.#gathered.bytesMax ?? Number.MAX_VALUE)) {
      this.isTooLarge = true;
      return true;
    }
    if (this.#measured < this.#count) {
      // Another body may be measured before the next slice.
      this.#ends ??= copyEnds(this.#count, ends.subarray(0, this.#measured));
      return false;
    }
    this.bytes = ends[this.#count - 1]! - this.#gathered.openBytes;
    return true;
  }

  pieceAt(offset: number): Uint8Array {
    if (!isGathered(this.#number, offset)) this.#gather(offset);
    return gatheredBytes(offset, this.bytes);
  }

  /** The ends of the records. Measures them again if another body has replaced them. */
  #endsAgain(): Float64Array {
    if (this.#ends) return this.#ends;
    if (shared.body !== this.#number) {
      measure(this.#gathered, this.#count, shared.ends, 0);
      shared.body = this.#number;
    }
    return shared.ends;
  }

  /** Fills the room with whole records, starting with the one that contains `offset`. */
  #gather(offset: number): void {
    const { writer, separator, sliceBytes, isCut } = this.#gathered;
    const ends = this.#endsAgain();
    const first = upperBound(ends, offset, 0, this.#count);
    const start = first === 0 ? 0 : ends[first - 1]!;
    const least = ends[first]! - start;
    const fitting = upperBound(
      ends,
      start + Math.min(reserveRoom(least), Math.max(least, sliceBytes)),
      first,
      this.#count,
    );
    // A slice that may be measured at once may also be written at once.
    let end = this.#ends && isCut ? endOfSlice(this.#gathered, first, fitting) : fitting;
    if (writer) end = writeRows(this.#gathered, writer, first, end);
    else copyRows(this.#gathered, ends, first, end);
    const { bytes } = scratch;
    if (separator >= 0) for (let i = first; i < end; i++) bytes[ROOM_AT + ends[i]! - 1 - start] = separator;
    noteContents(this.#number, start, ends[end - 1]!);
  }
}

function copyEnds(count: number, known: Float64Array): Float64Array {
  const ends = new Float64Array(count);
  ends.set(known);
  return ends;
}

/** The end of the rows from `first` on that are cut at once: at least one, at most up to `end`. */
function endOfSlice({ records, rows }: Gathering, first: number, end: number): number {
  let i = first;
  for (let members = 0; i < end && members < SLICE_MEMBERS; i++) {
    const row = selectedRow(rows, i);
    const chunk = findChunk(records, row);
    members += membersAt(chunk, row - chunk.firstRow);
  }
  return i;
}

/** Upper bound of the reads that cutting a record takes: the number of its members and own URLs. */
function membersAt({ memberEnds, linkEnds }: RecordChunk, index: number): number {
  const before = index === 0 ? 0 : memberEnds[index - 1]! + linkEnds[index - 1]!;
  return memberEnds[index]! + linkEnds[index]! - before;
}

/** Computes the ends of the next slice of rows. Returns the row after it. */
function measure(
  { records, rows, writer, sliceBytes, isCut, bytesMax = Number.MAX_VALUE }: Gathering,
  count: number,
  ends: Float64Array,
  from: number,
): number {
  const to = Math.min(count, from + SLICE_ROWS);
  const start = from === 0 ? 0 : ends[from - 1]!;
  let end = start;
  const isCounted = isCut && count > UNCOUNTED_ROWS;
  const work = writer?.work ?? NO_WORK;
  const workEnd = work.spent + SLICE_WORK;
  let members = 0;
  let i = from;
  for (; i < to && end - start < sliceBytes && members < SLICE_MEMBERS; i++) {
    if (end > bytesMax || work.spent >= workEnd) break;
    const row = selectedRow(rows, i);
    const chunk = findChunk(records, row);
    const index = row - chunk.firstRow;
    end += writer
      ? writer.bytes(chunk, index)
      : endOf(chunk, records.growth, index) - startOf(chunk, records.growth, index);
    if (isCounted) members += membersAt(chunk, index);
    ends[i] = end;
  }
  return i;
}

/** Writes rows to the room until the work of a slice is done. Returns the end of the rows. */
function writeRows({ records, rows }: Gathering, writer: RecordWriter, first: number, end: number): number {
  const work = writer.work ?? NO_WORK;
  const workEnd = work.spent + SLICE_WORK;
  let at = ROOM_AT;
  let i = first;
  while (i < end && work.spent < workEnd) {
    const row = selectedRow(rows, i);
    const chunk = findChunk(records, row);
    const last = writer.work ? i + 1 : Math.min(end, i + rowsLeft(chunk, row));
    const count = neighboursAt(rows, i, last);
    at = writer.write(chunk, row - chunk.firstRow, count, at);
    i += count;
  }
  return i;
}

/**
 * Copies the rows to the room. Lists their byte ranges, and calls `gather` once for up to RANGES_MAX ranges of one
 * kernel.
 */
function copyRows({ records, rows }: Gathering, ends: Float64Array, first: number, end: number): void {
  const { words } = scratch;
  let kernel: Kernel | undefined;
  let to = ROOM_AT;
  let ranges = 0;
  for (let i = first; i < end;) {
    const row = selectedRow(rows, i);
    const chunk = findChunk(records, row);
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

/** The number of consecutive rows from place `i` on, before `end`. */
function neighboursAt(rows: Selection, i: number, end: number): number {
  if (rows.kind === 'range') return end - i;
  let count = 1;
  while (i + count < end && rows.rows[i + count] === rows.rows[i]! + count) count++;
  return count;
}
