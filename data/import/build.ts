// Builds one collection from its batches: columns with dictionaries and posting lists, child tables, record bytes, and
// writes them as sections. Memory is that of the collection's columns, each let go once written.
import { randomInt } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { GrowableF64, GrowableU32 } from '../../engine/bits/growable.ts';
import { Interner } from '../../engine/column/intern.ts';
import { layoutOf, type ColumnLayout, type TableLayout } from '../../engine/schema/layout.ts';
import type { Collection } from '../../engine/schema/types.ts';
import { BITMAPS, DICTIONARY, GRAMS, POSTINGS, TABLE } from '../../engine/snapshot/sections.ts';
import type { Variant } from '../../engine/snapshot/variants.ts';
import type { SnapshotWriter } from '../../engine/snapshot/write.ts';
import { NULL_START, UNESCAPED_START, type Batch, type ColumnBatch, type TableBatch } from '../decode/batch.ts';
import { linkPrefix, LINK_SUFFIX } from '../decode/link.ts';
import type { BuiltCollection, LinkTargets } from './built.ts';
import type { EarlierCollection, EarlierColumn } from './earlier.ts';
import { combined, fieldsInRecords, inferType, type InferredType, type FieldEvidence } from './fields.ts';
import { type ColumnTexts, NULL_NUMBER, type StoredColumn } from './column.ts';
import type { ColumnMakers } from './columnMakers.ts';
import { mergedColumn } from './mergeColumn.ts';
import { ImportProfile } from '../importProfile.ts';
import { orderById, orderOfChildren, orderOfMerged, reordered, type Order, type Repeat } from './order.ts';
import { OperationError } from '../operationError.ts';
import { inOrder } from '../threadsInOrder.ts';
import { CHUNK_BYTES_MAX, RecordStore } from './recordStore.ts';
import { INFERRED_MAX, type ShapeKind } from '../decode/shape.ts';

/** The different texts of one column are at most this long together: their ends are u32, and one memory holds them. */
const TEXT_BYTES_MAX = 2 ** 32 - (1 << 27);

/** Two lines with one id, by line number; the first stays. */
export interface RepeatedId {
  readonly id: number;
  readonly line: number;
  readonly firstLine: number;
}

/** Takes the batches of one collection in file order; then `repeatedIds` and `write`, once. */
export class CollectionBuilder {
  /** Undefined once its records are written. */
  #store: RecordStore | undefined;
  readonly #ids = new GrowableF64();
  readonly #lines = new GrowableU32();
  readonly #columns = new Map<string, ColumnSlot>();
  readonly #tables = new Map<string, TableSlot>();
  readonly #keys = new Map<string, ShapeKind>();
  readonly #collection: Collection;
  readonly #earlier: EarlierCollection | undefined;
  #ordered: { order: Order; repeats: readonly Repeat[] } | undefined;

  /**
   * `spillPath` is where a file may be made for many records, without a name and for as long as the builder is used.
   * The rows of `earlier`, which has declared keys alone, come before those of batches; `keep` says which stay.
   */
  constructor(collection: Collection, spillPath: string, earlier?: EarlierCollection) {
    this.#collection = collection;
    this.#earlier = earlier;
    this.#store = new RecordStore(spillPath, earlier);
    this.#tables.set(collection.name, emptyTable());
    if (earlier) this.#begin(earlier);
  }

  #begin(earlier: EarlierCollection): void {
    for (const id of earlier.ids) this.#ids.push(id);
    const records = this.#tables.get(this.#collection.name)!;
    records.rows = records.earlierRows = earlier.ids.length;
    for (const { path, parent } of layoutOf(this.#collection).tables) {
      if (parent < 0) continue;
      const starts = earlier.rowStarts(path);
      const slot = slotIn(this.#tables, path, emptyTable);
      slot.rowEnds.pushAll(starts.subarray(1));
      slot.rows = slot.earlierRows = starts.at(-1)!;
    }
  }

  /**
   * Settles, behind the last batch, which earlier rows stay: those not 0 in `isKept`. Throws OperationError `input`
   * where two records have one id.
   */
  keep(isKept: Uint8Array): void {
    const order = orderOfMerged(this.#ids.view(), isKept.length, isKept);
    if (!order) throw new OperationError('input', `two records of ${this.#collection.name} have one id`);
    this.#ordered = { order, repeats: [] };
  }

  /** Adds a batch. Cost: one pass over its columns' texts. */
  add(batch: Batch): void {
    this.#store!.add(batch);
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
    slot.codes.fillTo(table.rows - table.earlierRows, NULL_NUMBER);
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
   * Writes all sections of the collection, its columns made by `makers`. Cost: the columns are let go as they are
   * written.
   */
  async write(writer: SnapshotWriter, makers: ColumnMakers, how: WritingOptions = {}): Promise<BuiltCollection> {
    const { without = [], chunkBytesMax = CHUNK_BYTES_MAX, profile = new ImportProfile() } = how;
    for (const { texts } of this.#columns.values()) texts.seal();
    const { order } = this.#order();
    const fields = fieldsInRecords(this.#collection, this.#evidence());
    const { tables, columns } = layoutOf(this.#collection, fields);
    const placed = this.#placed(tables);
    const made = inOrder(columns, makers.ahead, async (column): Promise<readonly [ColumnLayout, MadeColumn]> => {
      const table = slotIn(this.#tables, tables[column.table]!.path, emptyTable);
      return [column, await this.#made(column, { table, order: placed[column.table]!.order, without, makers })];
    });
    // The first columns are made while the records are written: a turn of the event loop hands them out.
    const first = made.next();
    first.catch(() => undefined);
    await turn();
    const { chunks, bytes, outlines } = profile.measure('records', () => {
      const written = this.#store!.write(writer, this.#collection.name, order, chunkBytesMax);
      tables.forEach(({ path, parent }, i) => {
        if (parent >= 0) writeTable(writer, path, placed[i]!.starts);
      });
      return written;
    });
    // The columns, as they are made, take as much again.
    this.close();
    let nulls = 0;
    const targets: LinkTargets[] = [];
    for (let next = await first; next.done !== true; next = await made.next()) {
      const [column, stored] = next.value;
      const written = profile.measure('columns', () => writeColumn(writer, column, stored));
      nulls += written.nulls;
      if (written.targets) targets.push(written.targets);
    }
    const ids = order ? Float64Array.from(order, (row) => this.#ids.view()[row]!) : this.#ids.view();
    return {
      records: ids.length,
      ids,
      chunks,
      outlines,
      recordBytes: bytes,
      columns: columns.length,
      fields,
      nulls,
      targets,
      hasUndeclared: this.#keys.size > 0,
    };
  }

  /** Gives the records' memory or file back, written or not. */
  close(): void {
    this.#store?.close();
    this.#store = undefined;
  }

  #rowsOf({ path }: TableLayout): number {
    return this.#tables.get(path)?.rows ?? 0;
  }

  #rowEnds({ path, parent }: TableLayout, tables: readonly TableLayout[]): Uint32Array {
    const slot = slotIn(this.#tables, path, emptyTable);
    while (slot.rowEnds.length < this.#rowsOf(tables[parent]!)) slot.rowEnds.push(slot.rows);
    return slot.rowEnds.view();
  }

  /** Too many keys are data, not names: nothing is learnt from them, and their columns are let go (A54). */
  #evidence(): FieldEvidence {
    const isData = this.#keys.size > INFERRED_MAX;
    if (isData) {
      for (const path of this.#keys.keys()) {
        this.#columns.delete(path);
        this.#tables.delete(path);
      }
    }
    const kinds = isData ? new Map<string, ShapeKind>() : this.#keys;
    const typeOf = (path: string): InferredType => {
      const { kinds: scalars, texts } = slotIn(this.#columns, path, emptyColumn);
      return inferType(scalars, texts.texts);
    };
    return { kinds, typeOf };
  }

  #order(): { order: Order; repeats: readonly Repeat[] } {
    return (this.#ordered ??= orderById(this.#ids.view()));
  }

  /** The order of each table's rows, and where those of each parent start. */
  #placed(tables: readonly TableLayout[]): readonly PlacedTable[] {
    const placed: PlacedTable[] = [];
    for (const table of tables) {
      const parents = placed[table.parent];
      const rows = parents && orderOfChildren(parents.order, this.#rowEnds(table, tables));
      placed.push(rows ?? { order: this.#order().order, starts: NO_STARTS });
    }
    return placed;
  }

  async #made(column: ColumnLayout, { table, order, without, makers }: Making): Promise<MadeColumn> {
    // What data say of a field that documents only show may be another column than the earlier one, which is empty.
    const earlier = this.#keys.has(column.path) ? undefined : this.#earlier?.column(column.path);
    const { texts, codes } = this.#keptTexts(column, table, earlier ? undefined : order);
    this.#columns.delete(column.path);
    const made: ColumnTexts = { column, texts: texts.texts, numbers: codes, without };
    if (!earlier || !order) return makers.make(made);
    if (earlier.dictionary.text.length + texts.text.length > TEXT_BYTES_MAX) throw tooMuchText(column);
    return mergedColumn(made, earlier, order);
  }

  /**
   * A column's texts and the number of each row's text, in the new order, or of the rows of batches as they came;
   * without the texts that only dropped rows have. Inferred links were decoded as texts: here they become the ids that
   * they point at.
   */
  #keptTexts(column: ColumnLayout, table: TableSlot, order: Order): { texts: Interner; codes: Uint32Array } {
    const { texts, codes } = slotIn(this.#columns, column.path, emptyColumn);
    codes.fillTo(table.rows - table.earlierRows, NULL_NUMBER);
    const rows = order ? reordered(behindNulls(codes.view(), table.earlierRows), order) : codes.view();
    const isInferredLink = column.type === 'link' && this.#keys.has(column.path);
    if (this.#order().repeats.length === 0 && !isInferredLink) return { texts, codes: rows };
    const left = newInterner();
    const bytes = texts.text.view();
    const [before, behind] = isInferredLink ? [linkPrefix(column.to).length, LINK_SUFFIX.length] : [0, 0];
    const known = new Uint32Array(texts.size).fill(NULL_NUMBER);
    const numberOf = (code: number): number => {
      if (known[code] === NULL_NUMBER)
        known[code] = left.intern(bytes, texts.startOf(code) + before, texts.ends.at(code) - behind);
      return known[code]!;
    };
    return { texts: left, codes: rows.map((code) => (code === NULL_NUMBER ? code : numberOf(code))) };
  }
}

type ColumnSlot = ReturnType<typeof emptyColumn>;
type TableSlot = ReturnType<typeof emptyTable>;

/** Of this process: a data set may be made to have texts of one hash. */
const SEED = randomInt(2 ** 32);

function newInterner(): Interner {
  return new Interner(SEED);
}

function emptyColumn() {
  return { texts: newInterner(), codes: new GrowableU32(), kinds: 0 };
}

/** Of its `rows` the first `earlierRows` came of no batch: columns have no codes of them. */
function emptyTable() {
  return { rowEnds: new GrowableU32(), rows: 0, earlierRows: 0 };
}

/** The numbers of rows behind so many earlier ones that have none. */
function behindNulls(numbers: Uint32Array, earlierRows: number): Uint32Array {
  if (earlierRows === 0) return numbers;
  const all = new Uint32Array(earlierRows + numbers.length).fill(NULL_NUMBER, 0, earlierRows);
  all.set(numbers, earlierRows);
  return all;
}

function slotIn<Slot>(slots: Map<string, Slot>, path: string, make: () => Slot): Slot {
  const known = slots.get(path);
  if (known) return known;
  const made = make();
  slots.set(path, made);
  return made;
}

function tooMuchText({ path }: Pick<ColumnBatch, 'path'>): OperationError {
  return new OperationError('input', `the different values of ${path} take more than ${TEXT_BYTES_MAX} bytes`);
}

/**
 * How a collection is written: without some index variants, its records in runs of at most so many bytes; what it takes
 * is told to `profile`.
 */
export interface WritingOptions {
  readonly without?: readonly Variant[];
  readonly chunkBytesMax?: number;
  readonly profile?: ImportProfile;
}

/** A column as it is made, or the one of an earlier snapshot where it would be that. */
type MadeColumn = StoredColumn | EarlierColumn;

interface Making {
  readonly table: TableSlot;
  readonly order: Order;
  readonly without: readonly Variant[];
  readonly makers: ColumnMakers;
}

/** The order of a table's rows, and where those of each parent start; the records have no parents. */
interface PlacedTable {
  readonly order: Order;
  readonly starts: Uint32Array;
}

const NO_STARTS = new Uint32Array(0);

function addCodes({ texts, codes }: ColumnSlot, { bytes, unescaped }: Batch, { starts, ends }: ColumnBatch): void {
  for (let i = 0; i < starts.length; i++) {
    const start = starts[i]!;
    if (start === NULL_START) codes.push(NULL_NUMBER);
    else if (start < UNESCAPED_START) codes.push(texts.intern(bytes, start, ends[i]!));
    else codes.push(texts.intern(unescaped, start - UNESCAPED_START, ends[i]! - UNESCAPED_START));
  }
}

function writeColumn(
  writer: SnapshotWriter,
  { path, to, isId }: ColumnLayout,
  made: MadeColumn,
): { nulls: number; targets: LinkTargets | undefined } {
  const starts = 'carry' in made ? made.carry(writer) : writeStored(writer, path, made);
  if (isId) return { nulls: 0, targets: undefined };
  const { size, numbers: ids } = made.dictionary;
  const nulls = starts[size + 1]! - starts[size]!;
  if (to === undefined) return { nulls, targets: undefined };
  const counts = new Uint32Array(size);
  for (let code = 0; code < size; code++) counts[code] = starts[code + 1]! - starts[code]!;
  return { nulls, targets: { path, to, ids: ids!, counts } };
}

/** Writes a column; answers where the rows of each code start among its rows by code, none for ids. */
function writeStored(writer: SnapshotWriter, path: string, { dictionary, grams, inverted }: StoredColumn): Uint32Array {
  writer.add(DICTIONARY, path, dictionary);
  if (grams) writer.add(GRAMS, path, grams);
  if (!inverted) return NO_STARTS;
  writer.add(POSTINGS, path, inverted);
  writer.add(BITMAPS, path, inverted);
  return inverted.starts;
}

function writeTable(writer: SnapshotWriter, path: string, starts: Uint32Array): void {
  const parents = new Uint32Array(starts[starts.length - 1]!);
  for (let parent = 0; parent + 1 < starts.length; parent++) parents.fill(parent, starts[parent], starts[parent + 1]);
  writer.add(TABLE, path, { starts, parents });
}
