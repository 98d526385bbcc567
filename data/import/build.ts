// Builds one collection from its batches: columns with dictionaries and posting lists, child tables, record bytes, and
// writes them as sections. Memory is that of the collection's columns, each let go once written.
import { GrowableF64, GrowableU32 } from '../../engine/bits/growable.ts';
import { Interner } from '../../engine/column/intern.ts';
import { sortDictionary } from '../../engine/column/sort.ts';
import type { Dictionary } from '../../engine/column/dictionary.ts';
import type { Outlines } from '../../engine/column/outline.ts';
import { buildGrams, hasGrams } from '../../engine/index/grams.ts';
import { invert } from '../../engine/index/invert.ts';
import { parseInstant } from '../../engine/query/instant.ts';
import { layoutOf, type ColumnLayout, type TableLayout } from '../../engine/schema/layout.ts';
import type { Collection, Field } from '../../engine/schema/types.ts';
import { BITMAPS, DICTIONARY, GRAMS, POSTINGS, TABLE } from '../../engine/snapshot/sections.ts';
import type { Variant } from '../../engine/snapshot/variants.ts';
import type { SnapshotWriter } from '../../engine/snapshot/write.ts';
import { NULL_START, UNESCAPED_START, type Batch, type ColumnBatch, type TableBatch } from '../decode/batch.ts';
import { combined, fieldsInRecords, inferType, ownLink, type InferredType, type FieldEvidence } from './fields.ts';
import { orderById, orderOfChildren, reordered, type Order, type Repeat } from './order.ts';
import { OperationError } from '../operationError.ts';
import { CHUNK_BYTES_MAX, RecordStore } from './recordStore.ts';
import { INFERRED_MAX, type ShapeKind } from '../decode/shape.ts';

const NULL_CODE = 0xffffffff;

/** The different texts of one column are at most this long together: their ends are u32, and one memory holds them. */
const TEXT_BYTES_MAX = 2 ** 32 - (1 << 27);

/** Where a link column points: the path of the column, the ids in code order, and how many links have each. */
export interface LinkTargets {
  readonly path: string;
  readonly to: string;
  readonly ids: Float64Array;
  readonly counts: Uint32Array;
}

/** What a finished collection consists of. `ids` ascend. */
export interface BuiltCollection {
  readonly records: number;
  readonly ids: Float64Array;
  readonly chunks: number;
  readonly outlines: Outlines;
  readonly recordBytes: number;
  readonly columns: number;
  readonly fields: readonly Field[];
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
  readonly #store: RecordStore;
  readonly #ids = new GrowableF64();
  readonly #lines = new GrowableU32();
  readonly #columns = new Map<string, ColumnSlot>();
  readonly #tables = new Map<string, TableSlot>();
  readonly #keys = new Map<string, ShapeKind>();
  readonly #collection: Collection;
  #ordered: { order: Order; repeats: readonly Repeat[] } | undefined;

  /**
   * `spillPath` is where a file may be made for many records, without a name and for as long as the builder is used.
   */
  constructor(collection: Collection, spillPath: string) {
    this.#collection = collection;
    this.#store = new RecordStore(spillPath);
    this.#tables.set(collection.name, emptyTable());
  }

  /** Adds a batch. Cost: one pass over its columns' texts. */
  add(batch: Batch): void {
    this.#store.add(batch);
    for (const id of batch.ids) this.#ids.push(id);
    this.#lines.pushAll(batch.lines);
    for (const [path, kind] of batch.keys) {
      const known = this.#keys.get(path);
      this.#keys.set(path, known ? combined(known, kind) : kind);
    }
    for (const column of batch.columns) this.#addColumn(batch, column);
    const before = new Map([...this.#tables].map(([path, { rows }]) => [path, rows]));
    for (const table of batch.tables) this.#addTable(batch, table, before);
    this.#tables.get(this.#collection.name)!.rows += batch.recordEnds.length;
  }

  /** Rows before a column's first value in this batch have none. */
  #addColumn(batch: Batch, column: ColumnBatch): void {
    const slot = slotIn(this.#columns, column.path, emptyColumn);
    const table = slotIn(this.#tables, batch.tables[column.table]!.path, emptyTable);
    fillUp(slot.codes, table.rows);
    slot.kinds |= column.kinds;
    addCodes(slot, batch, column);
    if (slot.texts.text.length > TEXT_BYTES_MAX) throw tooMuchText(column);
  }

  #addTable(batch: Batch, { path, parent, rowEnds }: TableBatch, before: ReadonlyMap<string, number>): void {
    if (parent < 0) return;
    const slot = slotIn(this.#tables, path, emptyTable);
    const parentRows = before.get(batch.tables[parent]!.path) ?? 0;
    while (slot.rowEnds.length < parentRows) slot.rowEnds.push(slot.rows);
    slot.rowEnds.pushAll(rowEnds, slot.rows);
    slot.rows = slot.rowEnds.length === 0 ? 0 : slot.rowEnds.at(slot.rowEnds.length - 1);
  }

  /** The lines whose id stands on an earlier line too, ascending; `write` leaves them out. */
  repeatedIds(): readonly RepeatedId[] {
    const ids = this.#ids.view();
    const repeated = this.#order().repeats.map(({ row, firstRow }) => {
      return { id: ids[row]!, line: this.#lines.at(row), firstLine: this.#lines.at(firstRow) };
    });
    return repeated.sort((a, b) => a.line - b.line);
  }

  /**
   * Writes all sections of the collection but those `without`, its records in runs of at most `chunkBytesMax` bytes.
   */
  write(writer: SnapshotWriter, chunkBytesMax = CHUNK_BYTES_MAX, without: readonly Variant[] = []): BuiltCollection {
    const { order } = this.#order();
    const fields = fieldsInRecords(this.#collection, this.#evidence());
    const { tables, columns } = layoutOf(this.#collection, fields);
    const { chunks, bytes, outlines } = this.#store.write(writer, this.#collection.name, order, chunkBytesMax);
    const orders: Order[] = [order];
    tables.forEach((table, i) => {
      if (i > 0) orders[i] = writeTable(writer, table.path, orders[table.parent], this.#rowEnds(table, tables));
    });
    let nulls = 0;
    const targets: LinkTargets[] = [];
    for (const column of columns) {
      const rowCount = this.#rowsOf(tables[column.table]!);
      const written = this.#writeColumn({ writer, without }, column, rowCount, orders[column.table]);
      nulls += written.nulls;
      if (written.targets) targets.push(written.targets);
      this.#columns.delete(column.path);
    }
    const ids = order ? Float64Array.from(order, (row) => this.#ids.view()[row]!) : this.#ids.view();
    const recordBytes = bytes;
    return { records: ids.length, ids, chunks, outlines, recordBytes, columns: columns.length, fields, nulls, targets };
  }

  /** Gives the records' memory or file back, written or not. */
  close(): void {
    this.#store.close();
  }

  #rowsOf({ path }: TableLayout): number {
    return this.#tables.get(path)?.rows ?? 0;
  }

  #rowEnds({ path, parent }: TableLayout, tables: readonly TableLayout[]): Uint32Array {
    const slot = slotIn(this.#tables, path, emptyTable);
    while (slot.rowEnds.length < this.#rowsOf(tables[parent]!)) slot.rowEnds.push(slot.rows);
    return slot.rowEnds.view();
  }

  /** Too many keys are data, not names: nothing is learnt from them (A54). */
  #evidence(): FieldEvidence {
    const kinds = this.#keys.size > INFERRED_MAX ? new Map<string, ShapeKind>() : this.#keys;
    const typeOf = (path: string): InferredType => {
      const { kinds: scalars, texts } = slotIn(this.#columns, path, emptyColumn);
      return inferType(scalars, textsOf(texts));
    };
    return { kinds, typeOf };
  }

  #order(): { order: Order; repeats: readonly Repeat[] } {
    return (this.#ordered ??= orderById(this.#ids.view()));
  }

  #writeColumn(
    { writer, without }: Output,
    column: ColumnLayout,
    rowCount: number,
    order: Order,
  ): { nulls: number; targets: LinkTargets | undefined } {
    const { texts, codes } = this.#keptTexts(column, rowCount, order);
    const { dictionary, codes: sorted } = sortDictionary(column.type, texts, parseInstant);
    writeDictionary({ writer, without }, column.path, dictionary);
    if (column.isId) return { nulls: 0, targets: undefined };
    const rows = codes.map((code) => (code === NULL_CODE ? dictionary.size : sorted[code]!));
    const inverted = invert(rows, dictionary.size, !without.includes(BITMAPS.variant));
    writer.add(POSTINGS, column.path, inverted);
    writer.add(BITMAPS, column.path, inverted);
    const { starts } = inverted;
    const counts = Uint32Array.from({ length: dictionary.size }, (_, code) => starts[code + 1]! - starts[code]!);
    const nulls = rows.length - starts[dictionary.size]!;
    return {
      nulls,
      targets:
        column.to === undefined ? undefined : { path: column.path, to: column.to, ids: dictionary.numbers!, counts },
    };
  }

  /**
   * A column's texts and the number of each row's text, in the new order; without the texts that only dropped rows
   * have. Inferred links were decoded as texts: here they become the ids that they point at.
   */
  #keptTexts(column: ColumnLayout, rowCount: number, order: Order): { texts: Interner; codes: Uint32Array } {
    const { texts, codes } = slotIn(this.#columns, column.path, emptyColumn);
    fillUp(codes, rowCount);
    const rows = reordered(codes.view(), order);
    const isInferredLink = column.type === 'link' && this.#keys.has(column.path);
    if (this.#order().repeats.length === 0 && !isInferredLink) return { texts, codes: rows };
    const left = new Interner();
    const bytes = texts.text.view();
    const intern = (code: number): number => {
      const [start, end] = [texts.startOf(code), texts.ends.at(code)];
      if (!isInferredLink) return left.intern(bytes, start, end);
      const id = new TextEncoder().encode(ownLink(DECODER.decode(bytes.subarray(start, end)))!.id);
      return left.intern(id, 0, id.length);
    };
    const known = new Map<number, number>();
    const numberOf = (code: number): number => {
      const number = known.get(code) ?? intern(code);
      known.set(code, number);
      return number;
    };
    return { texts: left, codes: rows.map((code) => (code === NULL_CODE ? code : numberOf(code))) };
  }
}

type ColumnSlot = ReturnType<typeof emptyColumn>;
type TableSlot = ReturnType<typeof emptyTable>;

const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

function emptyColumn() {
  return { texts: new Interner(), codes: new GrowableU32(), kinds: 0 };
}

function emptyTable() {
  return { rowEnds: new GrowableU32(), rows: 0 };
}

function slotIn<Slot>(slots: Map<string, Slot>, path: string, make: () => Slot): Slot {
  const known = slots.get(path);
  if (known) return known;
  const made = make();
  slots.set(path, made);
  return made;
}

function fillUp(codes: GrowableU32, rows: number): void {
  while (codes.length < rows) codes.push(NULL_CODE);
}

function* textsOf(texts: Interner): Generator<string> {
  const bytes = texts.text.view();
  for (let i = 0; i < texts.size; i++) yield DECODER.decode(bytes.subarray(texts.startOf(i), texts.ends.at(i)));
}

function tooMuchText({ path }: ColumnBatch): OperationError {
  return new OperationError('input', `the different values of ${path} take more than ${TEXT_BYTES_MAX} bytes`);
}

/** Where sections go, and the index variants that are left out. */
interface Output {
  readonly writer: SnapshotWriter;
  readonly without: readonly Variant[];
}

function addCodes({ texts, codes }: ColumnSlot, { bytes, unescaped }: Batch, { starts, ends }: ColumnBatch): void {
  for (let i = 0; i < starts.length; i++) {
    const start = starts[i]!;
    if (start === NULL_START) codes.push(NULL_CODE);
    else if (start < UNESCAPED_START) codes.push(texts.intern(bytes, start, ends[i]!));
    else codes.push(texts.intern(unescaped, start - UNESCAPED_START, ends[i]! - UNESCAPED_START));
  }
}

function writeDictionary({ writer, without }: Output, path: string, dictionary: Dictionary): void {
  writer.add(DICTIONARY, path, dictionary);
  if (!without.includes(GRAMS.variant) && hasGrams(dictionary)) writer.add(GRAMS, path, buildGrams(dictionary));
}

function writeTable(writer: SnapshotWriter, path: string, parents: Order, rowEnds: Uint32Array): Order {
  const { order, starts } = orderOfChildren(parents, rowEnds);
  const parentOfRow = new Uint32Array(starts[starts.length - 1]!);
  for (let parent = 0; parent + 1 < starts.length; parent++)
    parentOfRow.fill(parent, starts[parent], starts[parent + 1]);
  writer.add(TABLE, path, { starts, parents: parentOfRow });
  return order;
}
