// The bodies of pages and their rows. Neighbours that are served as stored are views of shared memory. All other rows
// are gathered (page/gather.ts).
import { findChunk, endOf, type Records, startOf } from '../column/records.ts';
import { countSelected, type Selection } from '../index/rowset.ts';
import { type Body, wholeBody } from './envelope.ts';
import { csvWriter } from './csv.ts';
import { cutWriter, wholeWriter } from './cut.ts';
import { expandingWriter, type Joins } from './expand.ts';
import { gatheredBody, type Gathering, type Measuring, appendTail } from './gather.ts';
import { LINE_FEED, linesBody, stretchesOf } from './lines.ts';
import { EXPANDED_BYTES_MAX } from './linked.ts';
import type { ServedForm } from '../column/served.ts';
import { isAsStored, type Rewrite, rewriteFor } from './rewrite.ts';

export interface ServedRows {
  readonly records: Records;
  readonly rows: Selection;
  readonly form: ServedForm;
  /** Records are cut to the members with these keys. */
  readonly keys: ReadonlySet<string> | undefined;
  readonly joins?: Joins | undefined;
}

/** The bytes that one slice reads if lengths depend on them: about 0.5 ms. */
const SLICE_BYTES = 512 * 1024;
/**
 * As `SLICE_BYTES`, for CSV, whose cells are read and written byte by byte: about 0.5 ms, and 4 ms the first time in a
 * thread. As many as the second transport writes at once, so that nothing is made twice.
 */
const CELLS_SLICE_BYTES = 64 * 1024;

/**
 * The records of a selection in a form, cut to `keys` and joined by commas, without a comma at the end. If there are no
 * rows, the body is empty. Cost: for stored neighbours, a step per chunk and no copy. Otherwise see `gatheredBody`.
 */
export function jsonRows(served: ServedRows): Measuring {
  const body = readyRows(served);
  if (body) return () => body;
  const gathered = gatheredRows(served, rewriteFor(served.records, served.form), -1, 1);
  return gatheredBody(served.joins?.branches.size ? { ...gathered, bytesMax: EXPANDED_BYTES_MAX } : gathered);
}

/**
 * The same rows, if they need no measuring: no rows, or neighbours as they are stored. Otherwise undefined. Cost: a
 * step per chunk, no copy.
 */
export function readyRows({ records, rows, form, keys, joins }: ServedRows): Body | undefined {
  if (countSelected(rows) === 0) return EMPTY;
  const run = keys || joins || !isAsStored(records, form) ? undefined : runOf(rows);
  return run && runBody(records, run);
}

/** Stored neighbours, without the comma at their end. Most runs are in one chunk. */
function runBody(records: Records, run: Run): Body {
  const chunk = findChunk(records, run.start);
  const first = run.start - chunk.firstRow;
  const end = run.end - chunk.firstRow;
  if (end > chunk.ends.length) return joinedBody(viewsOf(records, run, 1));
  const { growth } = records;
  return wholeBody(chunk.bytes.subarray(startOf(chunk, growth, first), endOf(chunk, growth, end - 1) - 1));
}

/**
 * The same rows as lines: a line feed follows each record. Neighbouring records that are served as stored need not be
 * measured.
 */
export function ndjsonRows(served: ServedRows): Measuring {
  const { records, rows, form, keys, joins } = served;
  if (countSelected(rows) === 0) return () => EMPTY;
  const rewrite = rewriteFor(records, form);
  const run = rewrite || keys || joins ? undefined : runOf(rows);
  if (run) return () => linesBody(records, run.start, run.end);
  return gatheredBody(gatheredRows(served, rewrite, LINE_FEED, 0));
}

/**
 * The same rows as CSV with these columns, then those of `joins`, without a header. Cost: lengths need a pass over the
 * bytes of every row.
 */
export function csvRows({ records, rows, form, joins }: ServedRows, columns: readonly string[]): Measuring {
  if (countSelected(rows) === 0) return () => EMPTY;
  const writer = csvWriter(records, columns, rewriteFor(records, form), joins?.columns);
  return gatheredBody({
    records,
    rows,
    writer,
    separator: -1,
    openBytes: 0,
    sliceBytes: CELLS_SLICE_BYTES,
    isSlow: true,
    isCut: false,
  });
}

/** Measures all slices. */
export function measured(measuring: Measuring): Body {
  for (;;) {
    const body = measuring();
    if (body) return body;
  }
}

const EMPTY = wholeBody(new Uint8Array(0));

function gatheredRows(
  { records, rows, keys, joins }: ServedRows,
  rewrite: Rewrite | undefined,
  separator: number,
  openBytes: number,
): Gathering {
  const whole = rewrite && wholeWriter(records, rewrite);
  const plain = keys && !joins ? cutWriter(records, keys, rewrite) : whole;
  const writer = joins ? expandingWriter(records, { joins, keys }, rewrite) : plain;
  const sliceBytes = joins || rewrite?.end ? SLICE_BYTES : Infinity;
  const isCut = keys !== undefined || joins !== undefined;
  return { records, rows, writer, separator, openBytes, sliceBytes, isSlow: isCut, isCut };
}

/**
 * A page: the head of its envelope, its rows, the tail. Cost: none. If the last rows were gathered, the tail is
 * appended to their piece. This saves a write and thus a packet: a packet of two bytes costs as much as 20 KB.
 */
export function pageBody(head: Uint8Array, rows: Body, tail: Uint8Array): Body {
  return new PageBody(head, rows, tail);
}

class PageBody implements Body {
  readonly bytes: number;
  readonly isSlow: boolean;
  readonly #head: Uint8Array;
  readonly #rows: Body;
  readonly #tail: Uint8Array;

  constructor(head: Uint8Array, rows: Body, tail: Uint8Array) {
    this.bytes = head.length + rows.bytes + tail.length;
    this.isSlow = rows.isSlow === true;
    this.#head = head;
    this.#rows = rows;
    this.#tail = tail;
  }

  get retainedBytes(): number {
    return this.#rows.retainedBytes ?? 0;
  }

  pieceAt(offset: number): Uint8Array {
    const inRows = offset - this.#head.length;
    const inTail = inRows - this.#rows.bytes;
    if (inRows < 0) return partFrom(this.#head, offset);
    if (inTail >= 0) return partFrom(this.#tail, inTail);
    const piece = this.#rows.pieceAt(inRows);
    return inTail + piece.length === 0 ? (appendTail(piece, this.#tail) ?? piece) : piece;
  }
}

/** A view without the first `start` bytes. Most pieces are requested whole. */
function partFrom(bytes: Uint8Array, start: number): Uint8Array {
  return start === 0 ? bytes : bytes.subarray(start);
}

export interface Run {
  readonly start: number;
  readonly end: number;
}

/** The selection as one run of neighbours; undefined if it has gaps or a special order. Cost: none. */
export function runOf(rows: Selection): Run | undefined {
  if (rows.kind === 'range') return rows;
  if (rows.kind === 'sequence' || rows.rows.length === 0) return undefined;
  const start = rows.rows[0]!;
  const end = rows.rows[rows.rows.length - 1]! + 1;
  // They ascend without repeats.
  return end - start === rows.rows.length ? { start, end } : undefined;
}

/** One view per chunk with rows from `start` to `end`; the last one without its last `openBytes`. */
export function viewsOf(records: Records, { start, end }: Run, openBytes: number): readonly Body[] {
  const stretches = stretchesOf(records, start, end);
  const last = stretches.length - 1;
  return stretches.map(({ chunk, from, to }, i) =>
    wholeBody(chunk.bytes.subarray(from, i === last ? to - openBytes : to)),
  );
}

/** Concatenates non-empty bodies; an empty list gives an empty body. Cost of a piece: a step per body before it. */
export function joinedBody(bodies: readonly Body[]): Body {
  if (bodies.length <= 1) return bodies[0] ?? EMPTY;
  return {
    bytes: bodies.reduce((sum, { bytes }) => sum + bytes, 0),
    pieceAt(offset) {
      let i = 0;
      while (offset >= bodies[i]!.bytes) offset -= bodies[i++]!.bytes;
      return bodies[i]!.pieceAt(offset);
    },
  };
}
