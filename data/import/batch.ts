// The result of decoding a run of lines: the served bytes, and for each column the number of the value in each row. All
// of it is typed arrays, which move between threads without a copy. Lines with errors are removed completely. Each
// thread writes its decoded records to an unnamed file, so that memory never holds all of them.
import { hasBytesAt } from '../../engine/bits/bytes.ts';
import { PLACEHOLDER } from '../../engine/column/records.ts';
import { SPEC_LINK_END } from '../../engine/column/served.ts';
import { closeSync, openSync, rmSync } from 'node:fs';
import { attempt, readAllAt, writeAllAt } from '../files.ts';
import { MISFIT_MARK, type Texts } from '../../engine/column/sort.ts';
import { listInferredKeys, type ShapeKind, type ShapeTree } from './shape.ts';
import { randomInt } from 'node:crypto';
import { threadId } from 'node:worker_threads';
import { type GrowableBytes, GrowableF64, GrowableU32 } from '../../engine/bits/growable.ts';
import { Interner } from '../../engine/column/intern.ts';

const ENCODER = new TextEncoder();

/** The part of a link after the id. */
export const LINK_SUFFIX = ENCODER.encode(SPEC_LINK_END);

/** The part of a link to a record of a collection before the id. */
export function linkPrefix(collection: string | undefined): Uint8Array {
  return ENCODER.encode(`${PLACEHOLDER}/api/v3/${collection}/`);
}

/**
 * The end of the link that begins with `prefix` at `start`, whatever follows it; -1 if there is no link. Its id is 0 to
 * 2^53 - 1.
 */
export function linkEnd(text: Uint8Array, prefix: Uint8Array, start: number): number {
  if (!hasBytesAt(text, start, prefix)) return -1;
  const idStart = start + prefix.length;
  let at = idStart;
  let id = 0;
  for (let digit = text[at]! - 0x30; digit >= 0 && digit <= 9; digit = text[++at]! - 0x30) id = id * 10 + digit;
  const isWhole = at > idStart && id <= Number.MAX_SAFE_INTEGER && hasBytesAt(text, at, LINK_SUFFIX);
  return isWhole ? at + LINK_SUFFIX.length : -1;
}

/**
 * An open file whose descriptor is shared by all threads of the process; `path` is its former name. `next[0]` is the
 * position of the next bytes. A thread advances it before it writes.
 */
export interface Spill {
  readonly path: string;
  readonly descriptor: number;
  readonly next: BigInt64Array<SharedArrayBuffer>;
}

/** Creates an unnamed file. The caller closes its descriptor. Throws OperationError `file`. */
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

/** Appends bytes from any thread. Returns their position. Throws OperationError `file`, for example on a full disk. */
export function addToSpill({ path, descriptor, next }: Spill, bytes: Uint8Array): number {
  const start = Number(Atomics.add(next, 0, BigInt(bytes.length)));
  attemptIn(path, () => writeAllAt(descriptor, bytes, start));
  return start;
}

/** Fills `target` with the bytes at a position. Throws OperationError `file`. */
export function readSpill({ path, descriptor }: Spill, from: number, target: Uint8Array): void {
  attemptIn(path, () => {
    const bytes = readAllAt(descriptor, target, from);
    if (bytes < target.length) throw new Error(`it ends at byte ${from + bytes}`);
  });
}

function attemptIn<T>(path: string, act: () => T): T {
  return attempt(`cannot hold records in ${path}`, act);
}

/** Marks a row whose value is null. */
export const NULL_NUMBER = 0xffffffff;

/**
 * The values of one column: per row the number of its text among the different texts of the column that this thread has
 * decoded (`DecodedTexts`), or `NULL_NUMBER`. Rows after the last number are null. `kinds` is the sum of the
 * `SCALAR_KIND`s (shape.ts) of an inferred column. `textBytes` is the size of its different texts so far.
 */
export interface ColumnBatch {
  readonly path: string;
  readonly table: number;
  readonly kinds: number;
  readonly numbers: Uint32Array;
  readonly textBytes: number;
}

/**
 * The different texts of a column that one thread has decoded, in the order of their numbers. `thread` is the same as
 * in the thread's batches.
 */
export interface DecodedTexts {
  readonly thread: number;
  readonly path: string;
  readonly texts: Texts;
}

/**
 * A table. For a child table, `rowEnds` has for each parent row the number of child rows up to and including its own.
 * Missing elements at the end are parent rows without child rows. `rowEnds` is empty for the root table.
 */
export interface TableBatch {
  readonly path: string;
  readonly parent: number;
  readonly rowEnds: Uint32Array;
}

/**
 * A line that was refused: its number in the file, the JSON pointer to the value, and the error. `isNull` is set if the
 * value is a null that would be right if nulls were accepted.
 */
export interface LineFault {
  readonly line: number;
  readonly pointer: string;
  readonly message: string;
  readonly isNull?: boolean;
}

/** Decoded lines. `thread` is the thread that decoded them. */
export interface Batch {
  readonly thread: number;
  /** The records, each followed by a comma; empty if they are in the spill file. */
  readonly bytes: Uint8Array;
  /** The position of the records in the spill file. */
  readonly spilledAt: number | undefined;
  readonly recordEnds: Uint32Array;
  /** Line numbers of the records. */
  readonly lines: Uint32Array;
  readonly ids: Float64Array;
  /** Positions of own URLs in the bytes. */
  readonly links: Uint32Array;
  /** The number of `links` up to and including each record. */
  readonly linkEnds: Uint32Array;
  /** Ends of top-level members, counted from the start of their record. */
  readonly members: Uint32Array;
  /** For each record the index of its keys in `outlines`. It has as many members as keys. */
  readonly outlineOf: Uint32Array;
  readonly outlines: readonly (readonly string[])[];
  /** The columns of the declared layout, then those of inferred keys in any order. `tables` likewise. */
  readonly columns: readonly ColumnBatch[];
  readonly tables: readonly TableBatch[];
  /** All inferred keys. */
  readonly keys: readonly (readonly [path: string, kind: ShapeKind])[];
  readonly faults: readonly LineFault[];
}

/** The rows of the current batch, and the texts of all batches so far. */
interface ColumnDraft {
  readonly numbers: GrowableU32;
  readonly texts: Interner;
}

/** Random for each thread, because a data set could be crafted to have texts with equal hashes. */
export const SEED = randomInt(2 ** 32);

/** The lengths of a batch between two records. Those of columns and tables follow from their rows. */
interface Mark {
  readonly bytes: number;
  readonly rows: number;
  readonly links: number;
  readonly members: number;
}

const EMPTY: Mark = { bytes: 0, rows: 0, links: 0, members: 0 };

/** A growing batch over the served bytes in `output`. Columns and tables follow `shapes`, which may grow. */
export class BatchDraft {
  readonly lines = new GrowableU32(1024);
  readonly ids = new GrowableF64();
  readonly links = new GrowableU32(1024);
  readonly members = new GrowableU32(1024);
  faults: LineFault[] = [];
  readonly #output: GrowableBytes;
  readonly #shapes: ShapeTree;
  /** A column without a value so far is a hole, which `forEach` skips. The same holds for `#rowEnds`. */
  readonly #columns: ColumnDraft[] = [];
  readonly #rowEnds: GrowableU32[] = [];
  readonly #rowCounts: number[] = [];
  readonly #keepsTexts: boolean;
  #mark = EMPTY;
  /** The column of each text that is new since the mark. */
  readonly #newTexts: number[] = [];
  readonly #recordEnds = new GrowableU32(1024);
  readonly #linkEnds = new GrowableU32(1024);
  readonly #outlineOf = new GrowableU32(1024);

  /** If `keepsTexts` is false, batches have no values of columns. */
  constructor(shapes: ShapeTree, output: GrowableBytes, keepsTexts: boolean) {
    this.#shapes = shapes;
    this.#output = output;
    this.#keepsTexts = keepsTexts;
  }

  beginRow(table: number): void {
    this.#rowCounts[table] = (this.#rowCounts[table] ?? 0) + 1;
  }

  /**
   * Adds the text `bytes[start..end)` as the value of a column in the current row of its table. Rows since the last
   * value are null. Cost: a pass over the text.
   */
  push(column: number, bytes: Uint8Array, start: number, end: number): void {
    if (!this.#keepsTexts) return;
    const { numbers, texts } = this.#columnUpTo(column);
    const before = texts.size;
    const number = texts.intern(bytes, start, end);
    if (number === before) this.#newTexts.push(column);
    numbers.push(number);
  }

  /** Adds the text of a value that does not fit the type of its column, with a mark unless the column has dates. */
  pushMisfit(column: number, text: Uint8Array): void {
    const isDate = ['date', 'dateTime'].includes(this.#shapes.columns[column]!.type);
    const bytes = isDate ? text : Buffer.concat([Buffer.of(MISFIT_MARK), text]);
    this.push(column, bytes, 0, bytes.length);
  }

  pushNull(column: number): void {
    if (this.#keepsTexts) this.#columnUpTo(column).numbers.push(NULL_NUMBER);
  }

  /** A column, filled with nulls up to the row before the current one. */
  #columnUpTo(column: number): ColumnDraft {
    const draft = (this.#columns[column] ??= { numbers: new GrowableU32(1024), texts: new Interner(SEED) });
    draft.numbers.fillTo(this.#countRows(this.#shapes.columns[column]!.table) - 1, NULL_NUMBER);
    return draft;
  }

  /** Ends the rows of a child table for the current row of its parent. */
  endRows(table: number): void {
    const ends = (this.#rowEnds[table] ??= new GrowableU32(1024));
    repeatLast(ends, this.#countRows(this.#shapes.tables[table]!.parent) - 1);
    ends.push(this.#countRows(table));
  }

  endRecord(outline: number): void {
    this.#recordEnds.push(this.#output.length);
    this.#linkEnds.push(this.links.length);
    this.#outlineOf.push(outline);
  }

  /** Marks a position between two records. */
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
   * Removes everything since the last mark, except the errors and the nulls that filled a column. The caller has rolled
   * back the shapes. Cost: the number of columns, tables and removed texts.
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
      numbers.truncate(Math.min(numbers.length, this.#countRows(this.#shapes.columns[i]!.table)));
    });
  }

  /** Between two records, the rows of a child table are those of its last array. Parents come before their children. */
  #resetTables(records: number): void {
    const { tables } = this.#shapes;
    this.#rowCounts.length = 0;
    this.#rowCounts[0] = records;
    this.#rowEnds.length = tables.length;
    this.#rowEnds.forEach((ends, i) => {
      ends.truncate(Math.min(ends.length, this.#countRows(tables[i]!.parent)));
      this.#rowCounts[i] = ends.length === 0 ? 0 : ends.at(ends.length - 1);
    });
  }

  /**
   * Copies everything into a batch and empties the draft. The records go to the spill file, if there is one. Throws
   * OperationError `file`, for example on a full disk.
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
      columns: columns.map((_, i) => this.#takeColumn(i)),
      tables: tables.map(({ path, parent }, i) => ({ path, parent, rowEnds: this.#copyRowEnds(i) })),
      keys: listInferredKeys(this.#shapes),
      faults: this.faults,
    };
    this.#cut(EMPTY);
    this.faults = [];
    return batch;
  }

  /** The texts of all columns, without a copy. */
  finish(): readonly DecodedTexts[] {
    const { columns } = this.#shapes;
    const columnTexts: DecodedTexts[] = [];
    this.#columns.forEach(({ texts }, i) => {
      columnTexts.push({ thread: threadId, path: columns[i]!.path, texts: texts.texts });
    });
    return columnTexts;
  }

  #countRows(table: number): number {
    return this.#rowCounts[table] ?? 0;
  }

  /**
   * The numbers end at the last value. Otherwise thousands of keys in one line would add as many nulls to each other
   * line.
   */
  #takeColumn(i: number): ColumnBatch {
    const { path, table } = this.#shapes.columns[i]!;
    const draft = this.#columns[i];
    const textBytes = draft?.texts.text.length ?? 0;
    return { path, table, kinds: this.#shapes.kinds[i]!, numbers: copyNumbers(draft?.numbers), textBytes };
  }

  #copyRowEnds(table: number): Uint32Array {
    return copyNumbers(this.#rowEnds[table]);
  }
}

function copyNumbers(numbers: GrowableU32 | undefined): Uint32Array {
  return numbers ? numbers.view().slice() : new Uint32Array(0);
}

/** Parents without an array have no rows: they end where the previous parent's rows end. */
function repeatLast(ends: GrowableU32, rows: number): void {
  const last = ends.length === 0 ? 0 : ends.at(ends.length - 1);
  while (ends.length < rows) ends.push(last);
}
