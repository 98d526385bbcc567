// A batch while it grows: typed arrays that can be cut back to a mark, so that a faulty line leaves nothing behind.
// Columns are filled up with nulls when their next value comes, so that what is missing costs nothing.
import { GrowableBytes, GrowableF64, GrowableU32 } from '../../engine/bits/growable.ts';
import { NULL_START, UNESCAPED_START, type Batch, type LineFault } from './batch.ts';
import { inferredKeys, type ShapeTree } from './shape.ts';

interface ColumnDraft {
  readonly starts: GrowableU32;
  readonly ends: GrowableU32;
}

/** How much a batch held between two records. */
export interface Mark {
  readonly bytes: number;
  readonly unescaped: number;
  readonly rows: number;
  readonly links: number;
  readonly members: number;
}

const EMPTY: Mark = { bytes: 0, unescaped: 0, rows: 0, links: 0, members: 0 };

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
  readonly #unescaped = new GrowableBytes();
  readonly #recordEnds = new GrowableU32(1024);
  readonly #linkEnds = new GrowableU32(1024);
  readonly #outlineOf = new GrowableU32(1024);

  constructor(shapes: ShapeTree, output: GrowableBytes) {
    this.#shapes = shapes;
    this.#output = output;
  }

  /** Begins a row of a table. */
  beginRow(table: number): void {
    this.#rowCounts[table] = (this.#rowCounts[table] ?? 0) + 1;
  }

  /**
   * Adds a column's value in the current row of its table: a part of the output. Rows since its last value are null.
   */
  push(column: number, start: number, end: number): void {
    const draft = (this.#columns[column] ??= { starts: new GrowableU32(1024), ends: new GrowableU32(1024) });
    fillUp(draft, this.#rowsOf(this.#shapes.columns[column]!.table) - 1);
    draft.starts.push(start);
    draft.ends.push(end);
  }

  /** Adds a column's next value whose text differs from its written form. */
  pushUnescaped(column: number, text: Uint8Array): void {
    const start = UNESCAPED_START + this.#unescaped.length;
    this.#unescaped.push(text);
    this.push(column, start, UNESCAPED_START + this.#unescaped.length);
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

  /** How much there is now, between two records: what columns and tables hold follows from their rows. */
  mark(): Mark {
    return {
      bytes: this.#output.length,
      unescaped: this.#unescaped.length,
      rows: this.#recordEnds.length,
      links: this.links.length,
      members: this.members.length,
    };
  }

  /**
   * Cuts everything but the faults back to a mark; what no shape has any more goes. Nulls that filled a column up to
   * the mark stay. Cost: the number of columns and tables.
   */
  reset(mark: Mark): void {
    this.#output.truncate(mark.bytes);
    this.#unescaped.truncate(mark.unescaped);
    for (const list of [this.#recordEnds, this.lines, this.#linkEnds, this.#outlineOf, this.ids])
      list.truncate(mark.rows);
    this.links.truncate(mark.links);
    this.members.truncate(mark.members);
    this.#resetTables(mark.rows);
    this.#columns.length = this.#shapes.columns.length;
    this.#columns.forEach(({ starts, ends }, i) => {
      const rows = Math.min(starts.length, this.#rowsOf(this.#shapes.columns[i]!.table));
      starts.truncate(rows);
      ends.truncate(rows);
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

  /** A copy of all as a batch; the draft is empty afterwards. */
  take(outlines: Batch['outlines']): Batch {
    const { columns, tables, kinds } = this.#shapes;
    const batch: Batch = {
      bytes: this.#output.view().slice(),
      unescaped: this.#unescaped.view().slice(),
      recordEnds: this.#recordEnds.view().slice(),
      lines: this.lines.view().slice(),
      ids: this.ids.view().slice(),
      links: this.links.view().slice(),
      linkEnds: this.#linkEnds.view().slice(),
      members: this.members.view().slice(),
      outlineOf: this.#outlineOf.view().slice(),
      outlines,
      columns: columns.map(({ path, table }, i) => ({ path, table, kinds: kinds[i]!, ...this.#columnOf(i) })),
      tables: tables.map(({ path, parent }, i) => ({ path, parent, rowEnds: this.#rowEndsOf(i) })),
      keys: inferredKeys(this.#shapes),
      faults: this.faults,
    };
    this.reset(EMPTY);
    this.faults = [];
    return batch;
  }

  #rowsOf(table: number): number {
    return this.#rowCounts[table] ?? 0;
  }

  /** Up to the last value: thousands of keys that one line has would be as many nulls for each other line. */
  #columnOf(i: number): { starts: Uint32Array; ends: Uint32Array } {
    const draft = this.#columns[i];
    return { starts: copyOf(draft?.starts), ends: copyOf(draft?.ends) };
  }

  #rowEndsOf(table: number): Uint32Array {
    return copyOf(this.#rowEnds[table]);
  }
}

function copyOf(numbers: GrowableU32 | undefined): Uint32Array {
  return numbers ? numbers.view().slice() : new Uint32Array(0);
}

function fillUp({ starts, ends }: ColumnDraft, rows: number): void {
  while (starts.length < rows) {
    starts.push(NULL_START);
    ends.push(0);
  }
}

/** Parents without an array have no rows: they end where the parent before them does. */
function repeatLast(ends: GrowableU32, rows: number): void {
  const last = ends.length === 0 ? 0 : ends.at(ends.length - 1);
  while (ends.length < rows) ends.push(last);
}
