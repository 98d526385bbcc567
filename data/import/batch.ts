// The result of decoding a run of lines: the served bytes, and for every column the number of the value in each row.
// They are typed arrays, which cross threads without a copy. A faulty line is cut off again and leaves nothing. Records
// are written to a file without a name by the threads that decoded them, so that they are never all in memory.
import { hasBytesAt } from '../../engine/bits/bytes.ts';
import { PLACEHOLDER } from '../../engine/column/records.ts';
import { SPEC_LINK_END } from '../../engine/column/served.ts';
import { closeSync, openSync, rmSync } from 'node:fs';
import { attempt, readAllAt, writeAllAt } from '../files.ts';
import { MISFIT_MARK, type Texts } from '../../engine/column/sort.ts';
import { inferredKeys, type ShapeKind, type ShapeTree } from './shape.ts';
import { randomInt } from 'node:crypto';
import { threadId } from 'node:worker_threads';
import { type GrowableBytes, GrowableF64, GrowableU32 } from '../../engine/bits/growable.ts';
import { Interner } from '../../engine/column/intern.ts';

const ENCODER = new TextEncoder();

/** What stands behind the id. */
export const LINK_SUFFIX = ENCODER.encode(SPEC_LINK_END);

/** What stands before it in links to records of a collection. */
export function linkPrefix(collection: string | undefined): Uint8Array {
  return ENCODER.encode(`${PLACEHOLDER}/api/v3/${collection}/`);
}

/**
 * Where a link ends that begins with `prefix` at `start`, whatever stands behind it; -1 where none does. Its id is from
 * 0 to 2^53 - 1.
 */
export function endOfLink(text: Uint8Array, prefix: Uint8Array, start: number): number {
  if (!hasBytesAt(text, start, prefix)) return -1;
  const idStart = start + prefix.length;
  let at = idStart;
  let id = 0;
  for (let digit = text[at]! - 0x30; digit >= 0 && digit <= 9; digit = text[++at]! - 0x30) id = id * 10 + digit;
  const isWhole = at > idStart && id <= Number.MAX_SAFE_INTEGER && hasBytesAt(text, at, LINK_SUFFIX);
  return isWhole ? at + LINK_SUFFIX.length : -1;
}

/**
 * An open file, whose descriptor all threads of the process share; `path` is the name that it had. `next[0]` is where
 * the next bytes go: who adds some moves it before they are written.
 */
export interface Spill {
  readonly path: string;
  readonly descriptor: number;
  readonly next: BigInt64Array<SharedArrayBuffer>;
}

/** A new one, whose descriptor the caller closes. Throws OperationError `file`. */
export function openSpill(path: string): Spill {
  return attemptIn(path, () => {
    const descriptor = openSync(path, 'wx+');
    try {
      rmSync(path, { force: true });
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
    return { path, descriptor, next: new BigInt64Array(new SharedArrayBuffer(8)) };
  });
}

/** Adds bytes, in any thread; answers where they stand. Throws OperationError `file` on a full disk. */
export function addToSpill({ path, descriptor, next }: Spill, bytes: Uint8Array): number {
  const start = Number(Atomics.add(next, 0, BigInt(bytes.length)));
  attemptIn(path, () => writeAllAt(descriptor, bytes, start));
  return start;
}

/** Fills `target` with what stands from a place on. Throws OperationError `file`. */
export function readSpill({ path, descriptor }: Spill, from: number, target: Uint8Array): void {
  attemptIn(path, () => {
    const bytes = readAllAt(descriptor, target, from);
    if (bytes < target.length) throw new Error(`it ends at byte ${from + bytes}`);
  });
}

function attemptIn<T>(path: string, act: () => T): T {
  return attempt(`cannot hold records in ${path}`, act);
}

/** The number of the text of a row that has none. */
export const NULL_NUMBER = 0xffffffff;

/**
 * The values of one column, one a row of its table: the number of each among the different texts that the thread has
 * met of the column (`DecodedTexts`), `NULL_NUMBER` for null. Rows behind them are null. `kinds` is the sum of the
 * `SCALAR_KIND`s (shape.ts) among the values of an inferred column, `textBytes` what its different texts take so far.
 */
export interface ColumnBatch {
  readonly path: string;
  readonly table: number;
  readonly kinds: number;
  readonly numbers: Uint32Array;
  readonly textBytes: number;
}

/**
 * The different texts that a thread has met of a column of one collection, in the order of their numbers. `thread` says
 * which one, as in its batches.
 */
export interface DecodedTexts {
  readonly thread: number;
  readonly path: string;
  readonly texts: Texts;
}

/**
 * One table: for a child table, `rowEnds` counts its rows up to and with each row of its parent; those behind them have
 * no array. The root's is empty.
 */
export interface TableBatch {
  readonly path: string;
  readonly parent: number;
  readonly rowEnds: Uint32Array;
}

/**
 * A line that could not be taken: its number in the file, the JSON pointer to the value and what is wrong with it.
 * `isNull` where that is a null which would be none if nulls were taken.
 */
export interface LineFault {
  readonly line: number;
  readonly pointer: string;
  readonly message: string;
  readonly isNull?: boolean;
}

/**
 * Decoded lines. `bytes` holds the records, each followed by a comma, ending at `recordEnds`; where they are spilled,
 * it is empty, and `spilledAt` their place in the file. `lines` are their line numbers; `ids` their ids. `links` are
 * the positions of own URLs in the bytes, `linkEnds` how many stand up to and with each record. `members` are the ends
 * of top-level members, from the start of their record; `outlineOf` is the number of each record's keys among
 * `outlines`, as many as it has members. `columns` and `tables` begin with those of the declared layout; those of
 * inferred keys follow, in any order. `keys` are all inferred keys with what their values are. `thread` is the one that
 * decoded it.
 */
export interface Batch {
  readonly thread: number;
  readonly bytes: Uint8Array;
  readonly spilledAt: number | undefined;
  readonly recordEnds: Uint32Array;
  readonly lines: Uint32Array;
  readonly ids: Float64Array;
  readonly links: Uint32Array;
  readonly linkEnds: Uint32Array;
  readonly members: Uint32Array;
  readonly outlineOf: Uint32Array;
  readonly outlines: readonly (readonly string[])[];
  readonly columns: readonly ColumnBatch[];
  readonly tables: readonly TableBatch[];
  readonly keys: readonly (readonly [path: string, kind: ShapeKind])[];
  readonly faults: readonly LineFault[];
}

/** The rows of the batch, and the texts of all batches so far. */
interface ColumnDraft {
  readonly numbers: GrowableU32;
  readonly texts: Interner;
}

/** Of this thread: a data set may be made to have texts of one hash. */
const SEED = randomInt(2 ** 32);

/** How much a batch held between two records: what columns and tables held follows from their rows. */
interface Mark {
  readonly bytes: number;
  readonly rows: number;
  readonly links: number;
  readonly members: number;
}

const EMPTY: Mark = { bytes: 0, rows: 0, links: 0, members: 0 };

/**
 * A growing batch over the served bytes in `output`, with a column and a table for each of `shapes`, however many it
 * gets.
 */
export class BatchDraft {
  readonly lines = new GrowableU32(1024);
  readonly ids = new GrowableF64();
  readonly links = new GrowableU32(1024);
  readonly members = new GrowableU32(1024);
  faults: LineFault[] = [];
  readonly #output: GrowableBytes;
  readonly #shapes: ShapeTree;
  /** With a hole for a column that has no value yet, which `forEach` passes over; so have `#rowEnds`. */
  readonly #columns: ColumnDraft[] = [];
  readonly #rowEnds: GrowableU32[] = [];
  readonly #rowCounts: number[] = [];
  readonly #keepsTexts: boolean;
  #mark = EMPTY;
  /** The columns of texts that were not met before the mark, once for each. */
  readonly #newTexts: number[] = [];
  readonly #recordEnds = new GrowableU32(1024);
  readonly #linkEnds = new GrowableU32(1024);
  readonly #outlineOf = new GrowableU32(1024);

  /** Without `keepsTexts` batches have no values of columns. */
  constructor(shapes: ShapeTree, output: GrowableBytes, keepsTexts: boolean) {
    this.#shapes = shapes;
    this.#output = output;
    this.#keepsTexts = keepsTexts;
  }

  beginRow(table: number): void {
    this.#rowCounts[table] = (this.#rowCounts[table] ?? 0) + 1;
  }

  /**
   * Adds a column's value in the current row of its table, the text `bytes[start..end)`. Rows since its last value are
   * null. Cost: a pass over the text.
   */
  push(column: number, bytes: Uint8Array, start: number, end: number): void {
    if (!this.#keepsTexts) return;
    const { numbers, texts } = this.#columnUpTo(column);
    const before = texts.size;
    const number = texts.intern(bytes, start, end);
    if (number === before) this.#newTexts.push(column);
    numbers.push(number);
  }

  /** Adds the text of a value that does not fit the type of its column, marked unless it is one of dates. */
  pushMisfit(column: number, text: Uint8Array): void {
    const isDate = ['date', 'dateTime'].includes(this.#shapes.columns[column]!.type);
    const bytes = isDate ? text : Buffer.concat([Buffer.of(MISFIT_MARK), text]);
    this.push(column, bytes, 0, bytes.length);
  }

  pushNull(column: number): void {
    if (this.#keepsTexts) this.#columnUpTo(column).numbers.push(NULL_NUMBER);
  }

  /** A column, filled up to the row before the current one of its table. */
  #columnUpTo(column: number): ColumnDraft {
    const draft = (this.#columns[column] ??= { numbers: new GrowableU32(1024), texts: new Interner(SEED) });
    draft.numbers.fillTo(this.#rowsOf(this.#shapes.columns[column]!.table) - 1, NULL_NUMBER);
    return draft;
  }

  /** Ends the rows that a child table has for the current row of its parent. */
  endRows(table: number): void {
    const ends = (this.#rowEnds[table] ??= new GrowableU32(1024));
    repeatLast(ends, this.#rowsOf(this.#shapes.tables[table]!.parent) - 1);
    ends.push(this.#rowsOf(table));
  }

  endRecord(outline: number): void {
    this.#recordEnds.push(this.#output.length);
    this.#linkEnds.push(this.links.length);
    this.#outlineOf.push(outline);
  }

  /** Marks a place between two records. */
  mark(): void {
    this.#newTexts.length = 0;
    this.#mark = {
      bytes: this.#output.length,
      rows: this.#recordEnds.length,
      links: this.links.length,
      members: this.members.length,
    };
  }

  /**
   * Cuts everything but the faults back to the last mark; what no shape has any more goes. Nulls that filled a column
   * up to the mark stay. Cost: the number of columns, tables and texts that go.
   */
  reset(): void {
    for (const column of this.#newTexts) this.#columns[column]!.texts.forgetLast();
    this.#cut(this.#mark);
  }

  #cut(mark: Mark): void {
    this.#output.truncate(mark.bytes);
    for (const list of [this.#recordEnds, this.lines, this.#linkEnds, this.#outlineOf, this.ids])
      list.truncate(mark.rows);
    this.links.truncate(mark.links);
    this.members.truncate(mark.members);
    this.#resetTables(mark.rows);
    this.#columns.length = this.#shapes.columns.length;
    this.#columns.forEach(({ numbers }, i) => {
      numbers.truncate(Math.min(numbers.length, this.#rowsOf(this.#shapes.columns[i]!.table)));
    });
  }

  /** Between two records the rows of a child table are those of the last array; parents stand before their children. */
  #resetTables(records: number): void {
    const { tables } = this.#shapes;
    this.#rowCounts.length = 0;
    this.#rowCounts[0] = records;
    this.#rowEnds.length = tables.length;
    this.#rowEnds.forEach((ends, i) => {
      ends.truncate(Math.min(ends.length, this.#rowsOf(tables[i]!.parent)));
      this.#rowCounts[i] = ends.length === 0 ? 0 : ends.at(ends.length - 1);
    });
  }

  /**
   * A copy of all as a batch, its records to a file where there is one; the draft is empty afterwards. Throws
   * OperationError `file` where that takes no more.
   */
  take(outlines: Batch['outlines'], spill: Spill | undefined): Batch {
    const { columns, tables } = this.#shapes;
    const batch: Batch = {
      thread: threadId,
      bytes: spill ? new Uint8Array(0) : this.#output.view().slice(),
      spilledAt: spill && addToSpill(spill, this.#output.view()),
      recordEnds: this.#recordEnds.view().slice(),
      lines: this.lines.view().slice(),
      ids: this.ids.view().slice(),
      links: this.links.view().slice(),
      linkEnds: this.#linkEnds.view().slice(),
      members: this.members.view().slice(),
      outlineOf: this.#outlineOf.view().slice(),
      outlines,
      columns: columns.map((_, i) => this.#columnOf(i)),
      tables: tables.map(({ path, parent }, i) => ({ path, parent, rowEnds: this.#rowEndsOf(i) })),
      keys: inferredKeys(this.#shapes),
      faults: this.faults,
    };
    this.#cut(EMPTY);
    this.faults = [];
    return batch;
  }

  /** The texts of all columns, without a copy. */
  finish(): readonly DecodedTexts[] {
    const { columns } = this.#shapes;
    const found: DecodedTexts[] = [];
    this.#columns.forEach(({ texts }, i) => {
      found.push({ thread: threadId, path: columns[i]!.path, texts: texts.texts });
    });
    return found;
  }

  #rowsOf(table: number): number {
    return this.#rowCounts[table] ?? 0;
  }

  /** Up to the last value: thousands of keys that one line has would be as many nulls for each other line. */
  #columnOf(i: number): ColumnBatch {
    const { path, table } = this.#shapes.columns[i]!;
    const draft = this.#columns[i];
    const textBytes = draft?.texts.text.length ?? 0;
    return { path, table, kinds: this.#shapes.kinds[i]!, numbers: copyOf(draft?.numbers), textBytes };
  }

  #rowEndsOf(table: number): Uint32Array {
    return copyOf(this.#rowEnds[table]);
  }
}

function copyOf(numbers: GrowableU32 | undefined): Uint32Array {
  return numbers ? numbers.view().slice() : new Uint32Array(0);
}

/** Parents without an array have no rows: they end where the parent before them does. */
function repeatLast(ends: GrowableU32, rows: number): void {
  const last = ends.length === 0 ? 0 : ends.at(ends.length - 1);
  while (ends.length < rows) ends.push(last);
}
