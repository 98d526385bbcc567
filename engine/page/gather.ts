// Rows that cannot be served where they lie, put together in the thread's own memory: scattered, rewritten, cut, or as CSV.
// A body holds no page bytes of its own, so that a page of any size costs eight bytes a row. Called by page/rows.ts.
import { chunkOf, endOf, startOf, type RecordChunk, type Records } from '../column/records.ts';
import { countSelected, selectedRow, type Selection } from '../index/rowset.ts';
import { upperBound } from '../bits/lists.ts';
import type { Kernel } from '../kernel/contract.ts';
import { RANGES_AT, RANGES_MAX, ROOM_AT } from '../kernel/layout.ts';
import { own } from '../kernel/own.ts';
import type { Body } from './body.ts';
import { copying } from './rewrite.ts';
import { emptied, heldBytes, hold, isHeld, newBodyNumber } from './scratch.ts';

/** How much is measured at once, before other requests get their turn: rows by their positions, about 0.5 ms. */
const SLICE_ROWS = 4096;

/**
 * Writes records in one way. `bytes` is what `write` will write of one, with what stands behind it; `write` writes `count`
 * neighbours to the thread's own memory at `at` and answers the address behind them. `index` is the (first) row within the
 * chunk.
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
 * What to gather: at least one row. Without a `writer` records are copied as stored. `separator` replaces the byte behind
 * each record; -1 leaves it. `openBytes` of the end are left out. `sliceBytes` bounds what is measured at once, for
 * writers that must look at the bytes.
 */
export interface Gathered {
  readonly records: Records;
  readonly rows: Selection;
  readonly writer: RecordWriter | undefined;
  readonly separator: number;
  readonly openBytes: number;
  readonly sliceBytes: number;
}

/** A body that is being measured: each call measures a slice and answers the body once its length is known. */
export type Measuring = () => Body | undefined;

/** The rows, and the end of each record in the body where these are its own. */
interface Gathering extends Gathered {
  readonly number: number;
  readonly count: number;
  readonly ends: Float64Array | undefined;
}

/** The ends of the body of few rows that was measured last in this thread: no page allocates, and few are asked again. */
const shared = { ends: new Float64Array(SLICE_ROWS), body: 0 };

/**
 * The body of gathered rows, to be measured; up to 4,096 rows take one call. Pieces are views of the thread's buffer.
 * Cost: the writer's `bytes` for every row, then its `write` once for each piece that is read.
 */
export function gatheredBody(gathered: Gathered): Measuring {
  const count = countSelected(gathered.rows);
  const isLong = count > SLICE_ROWS || gathered.sliceBytes < Infinity;
  const gathering = {
    ...gathered,
    number: newBodyNumber(),
    count,
    ends: isLong ? new Float64Array(count) : undefined,
  };
  let measured = 0;
  return () => {
    const ends = gathering.ends ?? shared.ends;
    if (!isLong) shared.body = gathering.number;
    measured = measure(gathering, ends, measured);
    return measured === count ? bodyOf(gathering, ends[count - 1]!) : undefined;
  };
}

function bodyOf(gathering: Gathering, end: number): Body {
  const bytes = end - gathering.openBytes;
  return {
    bytes,
    pieceAt(offset) {
      if (!isHeld(gathering.number, offset)) gather(gathering, offset);
      return heldBytes(offset, bytes);
    },
  };
}

/** The ends of a body that was measured; measured again where another one has taken their place. */
function endsOf(gathering: Gathering): Float64Array {
  if (gathering.ends) return gathering.ends;
  if (shared.body !== gathering.number) {
    measure(gathering, shared.ends, 0);
    shared.body = gathering.number;
  }
  return shared.ends;
}

/** Finds the ends of the next slice of rows; answers the row behind it. */
function measure({ records, rows, writer, count, sliceBytes }: Gathering, ends: Float64Array, from: number): number {
  const to = Math.min(count, from + SLICE_ROWS);
  const start = from === 0 ? 0 : ends[from - 1]!;
  let end = start;
  let i = from;
  for (; i < to && end - start < sliceBytes; i++) {
    const row = selectedRow(rows, i);
    const chunk = chunkOf(records, row);
    const index = row - chunk.firstRow;
    end += writer
      ? writer.bytes(chunk, index)
      : endOf(chunk, records.growth, index) - startOf(chunk, records.growth, index);
    ends[i] = end;
  }
  return i;
}

/** Fills the room with whole records, from the one in which `offset` lies. */
function gather(gathering: Gathering, offset: number): void {
  const { count, separator } = gathering;
  const ends = endsOf(gathering);
  const first = upperBound(ends, offset, 0, count);
  const start = first === 0 ? 0 : ends[first - 1]!;
  const end = upperBound(ends, start + emptied(ends[first]! - start), first, count);
  if (gathering.writer) writeRows(gathering, gathering.writer, first, end);
  else copyRows(gathering, first, end);
  const { bytes } = own;
  if (separator >= 0) for (let i = first; i < end; i++) bytes[ROOM_AT + ends[i]! - 1 - start] = separator;
  hold(gathering.number, start, ends[end - 1]!);
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
function copyRows({ records, rows }: Gathering, first: number, end: number): void {
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
    const bytes = endOf(chunk, records.growth, row - chunk.firstRow + count - 1) - from;
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
