// Builds one collection from its batches: columns with dictionaries and posting lists, child tables, record bytes, and
// writes them as sections. Memory is that of the collection's own sections. Called by import.ts.
import { GrowableF64, GrowableU32 } from '../engine/bits/growable.ts';
import { Interner } from '../engine/column/intern.ts';
import { sortDictionary } from '../engine/column/sort.ts';
import type { Dictionary } from '../engine/column/dictionary.ts';
import { invert } from '../engine/index/invert.ts';
import { parseInstant } from '../engine/query/instant.ts';
import { layoutOf, type ColumnLayout, type Layout } from '../engine/schema/layout.ts';
import type { Collection } from '../engine/schema/types.ts';
import type { SnapshotWriter } from '../engine/snapshot/write.ts';
import { NULL_START, UNESCAPED_START, type Batch } from './batch.ts';
import { orderById, orderOfChildren, reordered, type Order, type Repeat } from './order.ts';
import { OperationError } from './operationError.ts';
import { CHUNK_BYTES_MAX, RecordStore } from './recordStore.ts';

const NULL_CODE = 0xffffffff;

/** The different texts of one column are at most this long together: their ends are u32, and one memory holds them. */
const TEXT_BYTES_MAX = 2 ** 32 - (1 << 27);

/** Where a link column points, for counting links without a record: ids, and how many links have each. */
export interface LinkTargets {
  readonly to: string;
  readonly ids: Float64Array;
  readonly counts: Uint32Array;
}

/** What a finished collection consists of. `ids` ascend. */
export interface BuiltCollection {
  readonly records: number;
  readonly ids: Float64Array;
  readonly chunks: number;
  readonly recordBytes: number;
  readonly columns: number;
  readonly nulls: number;
  readonly targets: readonly LinkTargets[];
}

/** Two lines with one id, by line number; the first stays. */
export interface RepeatedId {
  readonly id: number;
  readonly line: number;
  readonly firstLine: number;
}

/** Takes the batches of one collection in file order; then `repeatedIds` and `write`, once. */
export class CollectionBuilder {
  private readonly layout: Layout;
  private readonly store = new RecordStore();
  private readonly ids = new GrowableF64();
  private readonly lines = new GrowableU32();
  private readonly columns: readonly { readonly texts: Interner; readonly codes: GrowableU32 }[];
  private readonly rowEnds: readonly GrowableU32[];
  private ordered: { order: Order; repeats: readonly Repeat[] } | undefined;

  constructor(collection: Collection) {
    this.layout = layoutOf(collection);
    this.columns = this.layout.columns.map(() => ({ texts: new Interner(), codes: new GrowableU32() }));
    this.rowEnds = this.layout.tables.map(() => new GrowableU32());
  }

  /** Adds a batch. Cost: one pass over its columns' texts. */
  add(batch: Batch): void {
    this.store.add(batch);
    for (const id of batch.ids) this.ids.push(id);
    this.lines.pushAll(batch.lines);
    this.columns.forEach(({ texts, codes }, i) => {
      addColumn(texts, codes, batch, i);
      if (texts.text.length > TEXT_BYTES_MAX) throw tooMuchText(this.layout.columns[i]!);
    });
    this.rowEnds.forEach((ends, table) => {
      ends.pushAll(batch.rowEnds[table]!, ends.length === 0 ? 0 : ends.at(ends.length - 1));
    });
  }

  /** The lines whose id stands on an earlier line too, ascending; `write` leaves them out. */
  repeatedIds(): readonly RepeatedId[] {
    const ids = this.ids.view();
    const repeated = this.order().repeats.map(({ row, kept }) => {
      return { id: ids[row]!, line: this.lines.at(row), firstLine: this.lines.at(kept) };
    });
    return repeated.sort((a, b) => a.line - b.line);
  }

  /** Writes all sections of the collection, its records in runs of at most `chunkBytesMax` bytes. */
  write(writer: SnapshotWriter, chunkBytesMax = CHUNK_BYTES_MAX): BuiltCollection {
    const { order } = this.order();
    const { collection, tables, columns } = this.layout;
    const { chunks, bytes } = this.store.write(writer, collection.name, order, chunkBytesMax);
    const orders: Order[] = [order];
    tables.forEach((table, i) => {
      if (i > 0) orders[i] = writeTable(writer, table.path, orders[table.parent], this.rowEnds[i]!.view());
    });
    let nulls = 0;
    const targets: LinkTargets[] = [];
    columns.forEach((column, i) => {
      const written = this.writeColumn(writer, column, i, orders[column.table]);
      nulls += written.nulls;
      if (written.targets) targets.push(written.targets);
    });
    const ids = order ? Float64Array.from(order, (row) => this.ids.view()[row]!) : this.ids.view();
    return { records: ids.length, ids, chunks, recordBytes: bytes, columns: columns.length, nulls, targets };
  }

  private order(): { order: Order; repeats: readonly Repeat[] } {
    return (this.ordered ??= orderById(this.ids.view()));
  }

  private writeColumn(
    writer: SnapshotWriter,
    column: ColumnLayout,
    i: number,
    order: Order,
  ): { nulls: number; targets: LinkTargets | undefined } {
    const { texts, codes } = this.keptTexts(i, order);
    const { dictionary, codes: sorted } = sortDictionary(column.type, texts, parseInstant);
    writeDictionary(writer, column.path, dictionary);
    if (column.isId) return { nulls: 0, targets: undefined };
    const rows = codes.map((code) => (code === NULL_CODE ? dictionary.size : sorted[code]!));
    const { starts, postings, dense, bitmaps } = invert(rows, dictionary.size);
    writer.add(`${column.path}.codes`, [rows]);
    writer.add(`${column.path}.postingStarts`, [starts]);
    writer.add(`${column.path}.postings`, [postings]);
    writer.add(`${column.path}.dense`, [dense]);
    writer.add(`${column.path}.bitmaps`, [bitmaps]);
    const counts = Uint32Array.from({ length: dictionary.size }, (_, code) => starts[code + 1]! - starts[code]!);
    const nulls = rows.length - starts[dictionary.size]!;
    return {
      nulls,
      targets: column.to === undefined ? undefined : { to: column.to, ids: dictionary.numbers!, counts },
    };
  }

  /** A column's texts and the number of each row's text, in the new order; without the texts that only dropped rows have. */
  private keptTexts(i: number, order: Order): { texts: Interner; codes: Uint32Array } {
    const { texts, codes } = this.columns[i]!;
    const kept = reordered(codes.view(), order);
    if (this.order().repeats.length === 0) return { texts, codes: kept };
    const left = new Interner();
    const bytes = texts.text.view();
    const intern = (code: number): number => left.intern(bytes, texts.startOf(code), texts.ends.at(code));
    return { texts: left, codes: kept.map((code) => (code === NULL_CODE ? code : intern(code))) };
  }
}

function tooMuchText({ path }: ColumnLayout): OperationError {
  return new OperationError('input', `the different values of ${path} take more than ${TEXT_BYTES_MAX} bytes`);
}

function addColumn(texts: Interner, codes: GrowableU32, batch: Batch, column: number): void {
  const { starts, ends } = batch.columns[column]!;
  const { bytes, unescaped } = batch;
  for (let i = 0; i < starts.length; i++) {
    const start = starts[i]!;
    if (start === NULL_START) codes.push(NULL_CODE);
    else if (start < UNESCAPED_START) codes.push(texts.intern(bytes, start, ends[i]!));
    else codes.push(texts.intern(unescaped, start - UNESCAPED_START, ends[i]! - UNESCAPED_START));
  }
}

function writeDictionary(writer: SnapshotWriter, path: string, dictionary: Dictionary): void {
  writer.add(`${path}.text`, [dictionary.text]);
  writer.add(`${path}.textEnds`, [dictionary.ends]);
  if (dictionary.numbers) writer.add(`${path}.numbers`, [dictionary.numbers]);
}

function writeTable(writer: SnapshotWriter, path: string, parents: Order, rowEnds: Uint32Array): Order {
  const { order, starts } = orderOfChildren(parents, rowEnds);
  const parentOfRow = new Uint32Array(starts[starts.length - 1]!);
  for (let parent = 0; parent + 1 < starts.length; parent++)
    parentOfRow.fill(parent, starts[parent], starts[parent + 1]);
  writer.add(`${path}.rowStarts`, [starts]);
  writer.add(`${path}.parents`, [parentOfRow]);
  return order;
}
