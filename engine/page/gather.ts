// Rows that cannot be served where they lie, gathered into one buffer per thread: scattered rows and rewritten records.
// A body holds no page bytes of its own, so that a page of any size costs eight bytes a row. Called by page/rows.ts.
import { chunkOf, endOf, startOf, type Records } from '../column/records.ts';
import { countRows, type Selection } from '../index/rowset.ts';
import { upperBound } from '../bits/lists.ts';
import type { Body } from './body.ts';
import { copyBytes, rewrittenBytes, writeRecord, type Rewrite } from './rewrite.ts';

/** What the buffer starts with: a page of 70 typical records. It grows to the largest record served and stays so. */
const SCRATCH_BYTES = 256 * 1024;

let scratch = new Uint8Array(SCRATCH_BYTES);

/** Whose bytes the buffer holds: a body by its number (not the body, which would keep its snapshot alive), and which. */
const held = { body: 0, start: 0, end: 0 };
let bodies = 0;

/** The rows of one page, with the end of each record and its comma in the body. */
interface Gathering {
  readonly number: number;
  readonly records: Records;
  readonly rows: Selection;
  readonly rewrite: Rewrite | undefined;
  readonly ends: Float64Array;
}

/**
 * The records of at least one row, joined by commas. Pieces are views of the thread's buffer.
 * Cost: lengths for every row at once, without touching record bytes unless `linkEnd` changes; then one copy of the bytes.
 */
export function gatheredBody(records: Records, rows: Selection, rewrite: Rewrite | undefined): Body {
  const gathering = { number: ++bodies, records, rows, rewrite, ends: endsOf(records, rows, rewrite) };
  const bytes = gathering.ends[gathering.ends.length - 1]! - 1;
  return {
    bytes,
    pieceAt(offset) {
      if (held.body !== gathering.number || offset < held.start || offset >= held.end) gather(gathering, offset);
      return scratch.subarray(offset - held.start, Math.min(held.end, bytes) - held.start);
    },
  };
}

function endsOf(records: Records, rows: Selection, rewrite: Rewrite | undefined): Float64Array {
  const ends = new Float64Array(countRows(rows));
  let end = 0;
  for (let i = 0; i < ends.length; i++) {
    const row = rowAt(rows, i);
    const chunk = chunkOf(records, row);
    const index = row - chunk.firstRow;
    end += rewrite
      ? rewrittenBytes(rewrite, chunk, index)
      : endOf(chunk, records.growth, index) - startOf(chunk, records.growth, index);
    ends[i] = end;
  }
  return ends;
}

/** Fills the buffer with whole records, from the one in which `offset` lies. */
function gather(gathering: Gathering, offset: number): void {
  const { ends } = gathering;
  let i = upperBound(ends, offset);
  const start = i === 0 ? 0 : ends[i - 1]!;
  if (scratch.length < ends[i]! - start) scratch = new Uint8Array(ends[i]! - start);
  const end = upperBound(ends, start + scratch.length);
  while (i < end) i = gathering.rewrite ? addRewritten(gathering, start, i) : addNeighbours(gathering, start, i, end);
  held.body = gathering.number;
  held.start = start;
  held.end = ends[end - 1]!;
}

function addRewritten({ records, rows, rewrite, ends }: Gathering, start: number, i: number): number {
  const row = rowAt(rows, i);
  const chunk = chunkOf(records, row);
  writeRecord(rewrite!, chunk, row - chunk.firstRow, scratch, (i === 0 ? 0 : ends[i - 1]!) - start);
  return i + 1;
}

/** Copies the record of place `i` and the ones that lie right behind it in its chunk; answers the place behind them. */
function addNeighbours({ records, rows, ends }: Gathering, start: number, i: number, end: number): number {
  const row = rowAt(rows, i);
  const chunk = chunkOf(records, row);
  const rowsLeft = chunk.ends.length - (row - chunk.firstRow);
  let length = 1;
  while (length < rowsLeft && i + length < end && rowAt(rows, i + length) === row + length) length++;
  const first = row - chunk.firstRow;
  const from = startOf(chunk, records.growth, first);
  const to = endOf(chunk, records.growth, first + length - 1);
  copyBytes(chunk.bytes, from, to, scratch, (i === 0 ? 0 : ends[i - 1]!) - start);
  return i + length;
}

function rowAt(rows: Selection, i: number): number {
  return rows.kind === 'range' ? rows.start + i : rows.rows[i]!;
}
