// The rows of a page as a body, and the page around them. Neighbours served as stored are views of shared memory; all
// others are gathered (page/gather.ts). Called by the catalogue's handler, for pages and single records alike.
import { chunkOf, endOf, startOf, type Records } from '../column/records.ts';
import { countRows, type Selection } from '../index/rowset.ts';
import { wholeBody, type Body } from './body.ts';
import { gatheredBody } from './gather.ts';
import type { ServedForm } from '../column/served.ts';
import { rewriteFor } from './rewrite.ts';

/**
 * The records of a selection in a form, joined by commas, without a comma at the end; no rows give an empty body.
 * Cost: for neighbours as stored a step a chunk and no copy; else see `gatheredBody`.
 */
export function rowsBody(records: Records, rows: Selection, form: ServedForm): Body {
  if (countRows(rows) === 0) return wholeBody(new Uint8Array(0));
  const rewrite = rewriteFor(records, form);
  const run = runOf(rows);
  if (rewrite || !run) return gatheredBody(records, rows, rewrite);
  return joinedBody(viewsOf(records, run.start, run.end));
}

/** A page: the head of its envelope, its rows, the tail. Cost: none; pieces never cross from one part to the next. */
export function pageBody(head: Uint8Array, rows: Body, tail: Uint8Array): Body {
  const tailStart = head.length + rows.bytes;
  return {
    bytes: tailStart + tail.length,
    pieceAt(offset) {
      if (offset < head.length) return head.subarray(offset);
      return offset < tailStart ? rows.pieceAt(offset - head.length) : tail.subarray(offset - tailStart);
    },
  };
}

/** The selection as one run of neighbours, or undefined where it has gaps. */
function runOf(rows: Selection): { readonly start: number; readonly end: number } | undefined {
  if (rows.kind === 'range') return rows;
  const start = rows.rows[0]!;
  const end = rows.rows[rows.rows.length - 1]! + 1;
  return end - start === rows.rows.length ? { start, end } : undefined;
}

/** One view for each chunk that the rows from `start` to `end` lie in, the last one without its comma. */
function viewsOf(records: Records, start: number, end: number): readonly Uint8Array[] {
  const views: Uint8Array[] = [];
  for (let row = start; row < end;) {
    const chunk = chunkOf(records, row);
    const last = Math.min(end, chunk.firstRow + chunk.ends.length) - 1;
    const from = startOf(chunk, records.growth, row - chunk.firstRow);
    const to = endOf(chunk, records.growth, last - chunk.firstRow);
    row = last + 1;
    views.push(chunk.bytes.subarray(from, row === end ? to - 1 : to));
  }
  return views;
}

/** Non-empty pieces one after another. Cost of a piece: a step a piece before it. */
function joinedBody(pieces: readonly Uint8Array[]): Body {
  if (pieces.length === 1) return wholeBody(pieces[0]!);
  return {
    bytes: pieces.reduce((sum, piece) => sum + piece.length, 0),
    pieceAt(offset) {
      let i = 0;
      while (offset >= pieces[i]!.length) offset -= pieces[i++]!.length;
      return pieces[i]!.subarray(offset);
    },
  };
}
