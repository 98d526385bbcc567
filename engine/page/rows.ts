// The rows of a page as a body, and the page around them. Neighbours served as stored are views of shared memory; all
// others are gathered (page/gather.ts).
import { chunkOf, endOf, type Records, startOf } from '../column/records.ts';
import { countSelected, type Selection } from '../index/rowset.ts';
import { type Body, wholeBody } from './envelope.ts';
import { csvWriter } from './csv.ts';
import { cutWriter, wholeWriter } from './cut.ts';
import { gatheredBody, type Gathering, type Measuring, withTail } from './gather.ts';
import { LINE_FEED, linesBody, stretchesOf } from './lines.ts';
import type { ServedForm } from '../column/served.ts';
import { isAsStored, type Rewrite, rewriteFor } from './rewrite.ts';

/** Rows to be served. With `keys` records are cut to the members of these keys. */
export interface ServedRows {
  readonly records: Records;
  readonly rows: Selection;
  readonly form: ServedForm;
  readonly keys: ReadonlySet<string> | undefined;
}

/** The bytes that are looked at in one slice of measuring where lengths need a look at them: about 0.5 ms. */
const SLICE_BYTES = 512 * 1024;
/**
 * Those of CSV, whose cells are looked at and written byte by byte: about 0.5 ms, and 4 the first time in a thread. As
 * many as the second transport writes at once, so that nothing is made twice.
 */
const CELLS_SLICE_BYTES = 64 * 1024;

/**
 * The records of a selection in a form, joined by commas, without a comma at the end; no rows give an empty body.
 * Cost: for neighbours as stored a step a chunk and no copy; else see `gatheredBody`, all measured at once.
 */
export function rowsBody(records: Records, rows: Selection, form: ServedForm): Body {
  return measured(jsonRows({ records, rows, form, keys: undefined }));
}

/** What `rowsBody` answers, measured slice by slice, and cut where `keys` say so. */
export function jsonRows(served: ServedRows): Measuring {
  const body = readyRows(served);
  if (body) return () => body;
  return gatheredBody(gatheredRows(served, rewriteFor(served.records, served.form), -1, 1));
}

/**
 * The same rows where they need no measuring: none, or neighbours as they are stored; undefined for all others. Cost: a
 * step a chunk, no copy.
 */
export function readyRows({ records, rows, form, keys }: ServedRows): Body | undefined {
  if (countSelected(rows) === 0) return EMPTY;
  const run = keys || !isAsStored(records, form) ? undefined : runOf(rows);
  return run && runBody(records, run);
}

/** Neighbours as stored, without the comma at their end. Most lie in one chunk. */
function runBody(records: Records, run: Run): Body {
  const chunk = chunkOf(records, run.start);
  const first = run.start - chunk.firstRow;
  const end = run.end - chunk.firstRow;
  if (end > chunk.ends.length) return joinedBody(viewsOf(records, run, 1));
  const { growth } = records;
  return wholeBody(chunk.bytes.subarray(startOf(chunk, growth, first), endOf(chunk, growth, end - 1) - 1));
}

/** The same rows as lines: a line feed behind each record. Cost: neighbours as stored need no measuring. */
export function ndjsonRows(served: ServedRows): Measuring {
  const { records, rows, form, keys } = served;
  if (countSelected(rows) === 0) return () => EMPTY;
  const rewrite = rewriteFor(records, form);
  const run = rewrite || keys ? undefined : runOf(rows);
  if (run) return () => linesBody(records, run.start, run.end);
  return gatheredBody(gatheredRows(served, rewrite, LINE_FEED, 0));
}

/** The same rows as CSV of these columns, without a header. Cost: lengths need a pass over the bytes of every row. */
export function csvRows({ records, rows, form }: ServedRows, columns: readonly string[]): Measuring {
  if (countSelected(rows) === 0) return () => EMPTY;
  const writer = csvWriter(records, columns, rewriteFor(records, form));
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

/** Measures to the end. */
export function measured(measuring: Measuring): Body {
  for (;;) {
    const body = measuring();
    if (body) return body;
  }
}

const EMPTY = wholeBody(new Uint8Array(0));

function gatheredRows(
  { records, rows, keys }: ServedRows,
  rewrite: Rewrite | undefined,
  separator: number,
  openBytes: number,
): Gathering {
  const whole = rewrite && wholeWriter(records, rewrite);
  const writer = keys ? cutWriter(records, keys, rewrite) : whole;
  const sliceBytes = rewrite?.end ? SLICE_BYTES : Infinity;
  const isCut = keys !== undefined;
  return { records, rows, writer, separator, openBytes, sliceBytes, isSlow: isCut, isCut };
}

/**
 * A page: the head of its envelope, its rows, the tail. Cost: none. The tail comes with the last rows where these were
 * gathered: a write less, which is a packet less, and a packet of two bytes costs what 20 KB cost.
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

  pieceAt(offset: number): Uint8Array {
    const inRows = offset - this.#head.length;
    const inTail = inRows - this.#rows.bytes;
    if (inRows < 0) return partFrom(this.#head, offset);
    if (inTail >= 0) return partFrom(this.#tail, inTail);
    const piece = this.#rows.pieceAt(inRows);
    return inTail + piece.length === 0 ? (withTail(piece, this.#tail) ?? piece) : piece;
  }
}

/** A view of all but the first bytes; pieces are mostly asked for whole. */
function partFrom(bytes: Uint8Array, start: number): Uint8Array {
  return start === 0 ? bytes : bytes.subarray(start);
}

export interface Run {
  readonly start: number;
  readonly end: number;
}

/**
 * The selection as one run of neighbours, or undefined where it has gaps or an order of its own. Cost: none.
 */
export function runOf(rows: Selection): Run | undefined {
  if (rows.kind === 'range') return rows;
  if (rows.kind === 'sequence' || rows.rows.length === 0) return undefined;
  const start = rows.rows[0]!;
  const end = rows.rows[rows.rows.length - 1]! + 1;
  // They ascend, and none is there twice.
  return end - start === rows.rows.length ? { start, end } : undefined;
}

/** One view for each chunk that the rows from `start` to `end` lie in, the last one without its last `openBytes`. */
export function viewsOf(records: Records, { start, end }: Run, openBytes: number): readonly Body[] {
  const stretches = stretchesOf(records, start, end);
  const last = stretches.length - 1;
  return stretches.map(({ chunk, from, to }, i) =>
    wholeBody(chunk.bytes.subarray(from, i === last ? to - openBytes : to)),
  );
}

/** Non-empty bodies one after another; none give an empty one. Cost of a piece: a step a body before it. */
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
