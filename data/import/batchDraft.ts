// A batch while it grows: typed arrays that can be cut back to a mark, so that a faulty line leaves nothing behind.
// Values are numbered where they are decoded, in as many threads as there are; columns are filled up with nulls when
// their next value comes, so that what is missing costs nothing.
import { randomInt } from 'node:crypto';
import { threadId } from 'node:worker_threads';
import { type GrowableBytes, GrowableF64, GrowableU32 } from '../../engine/bits/growable.ts';
import { Interner } from '../../engine/column/intern.ts';
import { MISFIT_MARK } from '../../engine/column/sort.ts';
import { NULL_NUMBER, type Batch, type ColumnBatch, type DecodedTexts, type LineFault } from './batch.ts';
import { inferredKeys, type ShapeTree } from './shape.ts';
import { addToSpill, type Spill } from './spill.ts';

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

  /** Begins a row of a table. */
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

  /** Adds null in the current row of a column's table. */
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

  /** Ends a record at the end of the output. */
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
