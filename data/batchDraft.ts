// A batch while it grows: typed arrays that can be cut back to a mark, so that a faulty line leaves nothing behind.
// Filled by decode.ts; knows neither JSON nor the declaration beyond the number of its columns and tables.
import { GrowableBytes, GrowableF64, GrowableU32 } from '../engine/bits/growable.ts';
import type { Layout } from '../engine/schema/layout.ts';
import { UNESCAPED_START, type Batch, type LineFault } from './batch.ts';

interface ColumnDraft {
  readonly starts: GrowableU32;
  readonly ends: GrowableU32;
}

/** How much a batch held at one moment. */
export interface Mark {
  readonly bytes: number;
  readonly unescaped: number;
  readonly rows: number;
  readonly links: number;
  readonly columns: readonly number[];
  readonly rowEnds: readonly number[];
  readonly rowCounts: Uint32Array;
}

const EMPTY: Mark = {
  bytes: 0,
  unescaped: 0,
  rows: 0,
  links: 0,
  columns: [],
  rowEnds: [],
  rowCounts: new Uint32Array(0),
};

/** A growing batch over the served bytes in `output`. The fields are those of `Batch`; `rowCounts` counts rows by table. */
export class BatchDraft {
  readonly lines = new GrowableU32(1024);
  readonly ids = new GrowableF64();
  readonly links = new GrowableU32(1024);
  readonly rowCounts: Uint32Array;
  faults: LineFault[] = [];
  private readonly output: GrowableBytes;
  private readonly columns: readonly ColumnDraft[];
  private readonly rowEnds: readonly GrowableU32[];
  private readonly unescaped = new GrowableBytes();
  private readonly recordEnds = new GrowableU32(1024);
  private readonly linkEnds = new GrowableU32(1024);

  constructor(layout: Layout, output: GrowableBytes) {
    this.output = output;
    this.columns = layout.columns.map(() => ({ starts: new GrowableU32(1024), ends: new GrowableU32(1024) }));
    this.rowEnds = layout.tables.map(() => new GrowableU32(1024));
    this.rowCounts = new Uint32Array(layout.tables.length);
  }

  /** Adds a column's next value: a part of the output, or `NULL_START`. */
  push(column: number, start: number, end: number): void {
    const draft = this.columns[column]!;
    draft.starts.push(start);
    draft.ends.push(end);
  }

  /** Adds a column's next value whose text differs from its written form. */
  pushUnescaped(column: number, text: Uint8Array): void {
    const start = UNESCAPED_START + this.unescaped.length;
    this.unescaped.push(text);
    this.push(column, start, UNESCAPED_START + this.unescaped.length);
  }

  /** Ends the rows that a child table has for the current row of its parent. */
  endRows(table: number): void {
    this.rowEnds[table]!.push(this.rowCounts[table]!);
  }

  /** Ends a record at the end of the output. */
  endRecord(): void {
    this.recordEnds.push(this.output.length);
    this.linkEnds.push(this.links.length);
  }

  /** How much there is now. Cost: the number of columns. */
  mark(): Mark {
    return {
      bytes: this.output.length,
      unescaped: this.unescaped.length,
      rows: this.recordEnds.length,
      links: this.links.length,
      columns: this.columns.map((column) => column.starts.length),
      rowEnds: this.rowEnds.map((ends) => ends.length),
      rowCounts: this.rowCounts.slice(),
    };
  }

  /** Cuts everything but the faults back to a mark. */
  reset(mark: Mark): void {
    this.output.truncate(mark.bytes);
    this.unescaped.truncate(mark.unescaped);
    for (const list of [this.recordEnds, this.lines, this.linkEnds, this.ids]) list.truncate(mark.rows);
    this.links.truncate(mark.links);
    this.columns.forEach((column, i) => {
      column.starts.truncate(mark.columns[i] ?? 0);
      column.ends.truncate(mark.columns[i] ?? 0);
    });
    this.rowEnds.forEach((ends, i) => ends.truncate(mark.rowEnds[i] ?? 0));
    this.rowCounts.forEach((_, i) => (this.rowCounts[i] = mark.rowCounts[i] ?? 0));
  }

  /** A copy of all as a batch; the draft is empty afterwards. */
  take(): Batch {
    const batch: Batch = {
      bytes: this.output.view().slice(),
      unescaped: this.unescaped.view().slice(),
      recordEnds: this.recordEnds.view().slice(),
      lines: this.lines.view().slice(),
      ids: this.ids.view().slice(),
      links: this.links.view().slice(),
      linkEnds: this.linkEnds.view().slice(),
      columns: this.columns.map(({ starts, ends }) => ({ starts: starts.view().slice(), ends: ends.view().slice() })),
      rowEnds: this.rowEnds.map((ends) => ends.view().slice()),
      faults: this.faults,
    };
    this.reset(EMPTY);
    this.faults = [];
    return batch;
  }
}
