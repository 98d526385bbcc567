// Rows that cannot be served where they lie, gathered into one buffer per thread: scattered, rewritten, cut, or as CSV.
// A body holds no page bytes of its own, so that a page of any size costs eight bytes a row. Called by page/rows.ts.
import { chunkOf, endOf, startOf, type RecordChunk, type Records } from '../column/records.ts';
import { countSelected, selectedRow, type Selection } from '../index/rowset.ts';
import { upperBound } from '../bits/lists.ts';
import type { Body } from './body.ts';
import { copyBytes } from './rewrite.ts';
import { emptied, hold, isHeld, newBodyNumber, scratch } from './scratch.ts';

/** How much is measured at once, before other requests get their turn: rows by their positions, about 0.5 ms. */
const SLICE_ROWS = 4096;

/**
 * Writes records in one way. `bytes` is what `write` will write, with what stands behind the record; `write` answers the
 * position behind it. `index` is the row within the chunk.
 */
export interface RecordWriter {
  bytes(chunk: RecordChunk, index: number): number;
  write(chunk: RecordChunk, index: number, target: Uint8Array, at: number): number;
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

/** The rows with the end of each record in the body. */
interface Gathering extends Gathered {
  readonly number: number;
  readonly ends: Float64Array;
}

/**
 * The body of gathered rows, to be measured; up to 4,096 rows take one call. Pieces are views of the thread's buffer.
 * Cost: the writer's `bytes` for every row, then its `write` once for each piece that is read.
 */
export function gatheredBody(gathered: Gathered): Measuring {
  const gathering = { ...gathered, number: newBodyNumber(), ends: new Float64Array(countSelected(gathered.rows)) };
  let measured = 0;
  return () => {
    measured = measure(gathering, measured);
    return measured === gathering.ends.length ? bodyOf(gathering) : undefined;
  };
}

function bodyOf(gathering: Gathering): Body {
  const bytes = gathering.ends[gathering.ends.length - 1]! - gathering.openBytes;
  return {
    bytes,
    pieceAt(offset) {
      if (!isHeld(gathering.number, offset)) gather(gathering, offset);
      return scratch.bytes.subarray(offset - scratch.start, Math.min(scratch.end, bytes) - scratch.start);
    },
  };
}

/** Finds the ends of the next slice of rows; answers the row behind it. */
function measure({ records, rows, writer, ends, sliceBytes }: Gathering, from: number): number {
  const to = Math.min(ends.length, from + SLICE_ROWS);
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

/** Fills the buffer with whole records, from the one in which `offset` lies. */
function gather(gathering: Gathering, offset: number): void {
  const { ends, separator } = gathering;
  const first = upperBound(ends, offset);
  const start = first === 0 ? 0 : ends[first - 1]!;
  const target = emptied(ends[first]! - start);
  const end = upperBound(ends, start + target.length);
  for (let i = first; i < end;) {
    i = gathering.writer
      ? addWritten(gathering, target, start, i)
      : addNeighbours(gathering, target, { start, i, end });
  }
  if (separator >= 0) for (let i = first; i < end; i++) target[ends[i]! - 1 - start] = separator;
  hold(gathering.number, start, ends[end - 1]!);
}

function addWritten({ records, rows, writer, ends }: Gathering, target: Uint8Array, start: number, i: number): number {
  const row = selectedRow(rows, i);
  const chunk = chunkOf(records, row);
  writer!.write(chunk, row - chunk.firstRow, target, (i === 0 ? 0 : ends[i - 1]!) - start);
  return i + 1;
}

/** Copies the record of place `i` and the ones that lie right behind it in its chunk; answers the place behind them. */
function addNeighbours(
  { records, rows, ends }: Gathering,
  target: Uint8Array,
  { start, i, end }: { start: number; i: number; end: number },
): number {
  const row = selectedRow(rows, i);
  const chunk = chunkOf(records, row);
  const rowsLeft = chunk.ends.length - (row - chunk.firstRow);
  let length = 1;
  while (length < rowsLeft && i + length < end && selectedRow(rows, i + length) === row + length) length++;
  const first = row - chunk.firstRow;
  const from = startOf(chunk, records.growth, first);
  const to = endOf(chunk, records.growth, first + length - 1);
  copyBytes(chunk.bytes, from, to, target, (i === 0 ? 0 : ends[i - 1]!) - start);
  return i + length;
}
