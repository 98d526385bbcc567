// Builds one collection from its batches and writes it as sections: columns with dictionaries and posting lists, child
// tables, and record bytes. Memory: the columns of the collection, each released once written.
import { setImmediate as turn } from 'node:timers/promises';
import { GrowableF64, GrowableU32 } from '../../engine/bits/growable.ts';
import type { Texts } from '../../engine/column/sort.ts';
import { type ColumnLayout, layoutOf, type TableLayout } from '../../engine/schema/layout.ts';
import type { Collection } from '../../engine/schema/types.ts';
import { BITMAPS, DICTIONARY, GRAMS, POSTINGS, TABLE, type Variant, WORDS } from '../../engine/snapshot/sections.ts';
import type { SnapshotWriter } from '../../engine/snapshot/write.ts';
import {
  type Batch,
  type ColumnBatch,
  type DecodedTexts,
  LINK_SUFFIX,
  linkPrefix,
  NULL_NUMBER,
  type Spill,
  type TableBatch,
} from './batch.ts';
import {
  type BuiltCollection,
  type ColumnCodes,
  type ColumnTexts,
  listGenericTargets,
  type LinkTargets,
  type StoredColumn,
  countTextBytes,
} from './column.ts';
import { type EarlierCollection, type EarlierColumn, mergeColumn } from './earlier.ts';
import { combineKinds, type FieldEvidence, inferFields, type InferredType, inferType } from './fields.ts';
import { ImportProfile } from '../importProfile.ts';
import { type Order, orderById, orderChildren, orderMerged, reorder, type Repeat } from './order.ts';
import { OperationError } from '../operationError.ts';
import { runInOrder } from '../threadsInOrder.ts';
import { CHUNK_BYTES_MAX, RecordStore } from './recordStore.ts';
import type { ImportThreads } from './threads.ts';
import { INFERRED_MAX, type ShapeKind } from './shape.ts';

/**
 * Limit of the texts of one column together. Their ends are u32. The rest of 4 GiB is for texts that are decoded before
 * the limit is noticed, because one memory holds all.
 */
const TEXT_BYTES_MAX = 2 ** 32 - (1 << 29);

/** Two lines with the same id, by line number. The first one is used. */
export interface RepeatedId {
  readonly id: number;
  readonly line: number;
  readonly firstLine: number;
}

/**
 * Takes the batches of one collection in file order, then their texts. After that, `findRepeatedIds` and `write` are
 * called once.
 */
export class CollectionBuilder {
  /** Undefined once the records have been written. */
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
   * Creates an unnamed file for the records at `spillPath`, which exists as long as the builder is used. The rows of
   * `earlier`, which has documented keys only, come before those of batches; `keep` selects among them.
   */
  constructor(collection: Collection, spillPath: string, earlier?: EarlierCollection) {
    this.#collection = collection;
    this.#earlier = earlier;
    this.#tables.set(collection.name, emptyTable());
    if (earlier) this.#begin(earlier);
    // Last, because no one would close its file if reading `earlier` fails.
    this.#store = new RecordStore(spillPath, earlier);
  }

  #begin(earlier: EarlierCollection): void {
    for (const id of earlier.ids) this.#ids.push(id);
    const records = this.#tables.get(this.#collection.name)!;
    records.rows = records.earlierRows = earlier.ids.length;
    for (const { path, parent } of layoutOf(this.#collection).tables) {
      if (parent < 0) continue;
      const starts = earlier.rowStarts(path);
      const slot = findOrAddSlot(this.#tables, path, emptyTable);
      slot.rowEnds.pushAll(starts.subarray(1));
      slot.rows = slot.earlierRows = starts.at(-1)!;
    }
  }

  /**
   * Selects the earlier rows to keep: those that are not 0 in `isKept`. Call it after the last batch. Throws
   * OperationError `input` if two records have the same id.
   */
  keep(isKept: Uint8Array): void {
    const order = orderMerged(this.#ids.view(), isKept.length, isKept);
    if (!order) throw new OperationError('input', `two records of ${this.#collection.name} have the same id`);
    this.#ordered = { order, repeats: [] };
  }

  /** The file for the records of batches. */
  get spill(): Spill {
    return this.#store!.spill;
  }

  /** Adds a batch and keeps its columns. Cost: that of its records and columns, not of their texts. */
  add(batch: Batch): void {
    this.#store!.add(batch);
    for (const id of batch.ids) this.#ids.push(id);
    this.#lines.pushAll(batch.lines);
    for (const [path, kind] of batch.keys) {
      const known = this.#keys.get(path);
      this.#keys.set(path, known ? combineKinds(known, kind) : kind);
    }
    for (const column of batch.columns) this.#addColumn(batch, column);
    const before = new Map([...this.#tables].map(([path, { rows }]) => [path, rows]));
    for (const table of batch.tables) this.#addTable(batch, table, before);
    this.#tables.get(this.#collection.name)!.rows += batch.recordEnds.length;
  }

  #addColumn({ thread, tables }: Batch, { path, table, kinds, numbers, textBytes }: ColumnBatch): void {
    const slot = findOrAddSlot(this.#columns, path, emptyColumn);
    const { rows } = findOrAddSlot(this.#tables, tables[table]!.path, emptyTable);
    slot.kinds |= kinds;
    slot.textBytes.set(thread, textBytes);
    if (numbers.length > 0) slot.parts.push({ thread, firstRow: rows, numbers });
    let allBytes = 0;
    for (const bytes of slot.textBytes.values()) allBytes += bytes;
    if (allBytes > TEXT_BYTES_MAX) throw tooMuchText(path);
  }

  /** Adds the texts that the numbers in the batches refer to. */
  addTexts(columns: readonly DecodedTexts[]): void {
    for (const { thread, path, texts } of columns)
      findOrAddSlot(this.#columns, path, emptyColumn).texts.set(thread, texts);
  }

  #addTable(batch: Batch, { path, parent, rowEnds }: TableBatch, before: ReadonlyMap<string, number>): void {
    if (parent < 0) return;
    const slot = findOrAddSlot(this.#tables, path, emptyTable);
    const parentRows = before.get(batch.tables[parent]!.path) ?? 0;
    while (slot.rowEnds.length < parentRows) slot.rowEnds.push(slot.rows);
    slot.rowEnds.pushAll(rowEnds, slot.rows);
    slot.rows = slot.rowEnds.length === 0 ? 0 : slot.rowEnds.at(slot.rowEnds.length - 1);
  }

  /** The lines that repeat the id of an earlier line, ascending. `write` skips them. */
  findRepeatedIds(): readonly RepeatedId[] {
    const ids = this.#ids.view();
    const repeated = this.#order().repeats.map(({ row, firstRow }) => {
      return { id: ids[row]!, line: this.#lines.at(row), firstLine: this.#lines.at(firstRow) };
    });
    return repeated.sort((a, b) => a.line - b.line);
  }

  /** Writes all sections of the collection. `threads` make its columns, which are released as they are written. */
  async write(writer: SnapshotWriter, threads: ImportThreads, options: WritingOptions = {}): Promise<BuiltCollection> {
    const { without = [], chunkBytesMax = CHUNK_BYTES_MAX, profile = new ImportProfile() } = options;
    const { order } = this.#order();
    const fields = inferFields(this.#collection, this.#evidence());
    const layout = layoutOf(this.#collection, fields);
    const { tables, columns } = layout;
    const placed = this.#placeTables(tables);
    const results = runInOrder(columns, threads.ahead, async (column): Promise<readonly [ColumnLayout, MadeColumn]> => {
      const table = findOrAddSlot(this.#tables, tables[column.table]!.path, emptyTable);
      return [column, await this.#makeColumn(column, { table, order: placed[column.table]!.order, without, threads })];
    });
    // The first columns are made while the records are written: the event loop turn sends them to the threads.
    const first = results.next();
    first.catch(() => undefined);
    await turn();
    const { chunks, bytes, outlines } = profile.measure('records', () => {
      const written = this.#store!.write(writer, this.#collection.name, order, chunkBytesMax);
      tables.forEach(({ path, parent }, i) => {
        if (parent >= 0) writeTable(writer, path, placed[i]!.starts);
      });
      return written;
    });
    // Frees the records first: making the columns needs as much memory again.
    this.close();
    let [nulls, hasMisfits] = [0, false];
    const targets: LinkTargets[] = [];
    const generic = layout.genericLinks.flatMap(({ id, discriminator }) => [columns[id]!, columns[discriminator]!]);
    const codes = new Map<ColumnLayout, ColumnCodes>();
    for (let next = await first; next.done !== true; next = await results.next()) {
      const [column, stored] = next.value;
      hasMisfits ||= stored.dictionary.fitting < stored.dictionary.size;
      const written = profile.measure('columns', () => writeColumn(writer, column, stored));
      nulls += written.nulls;
      if (written.targets) targets.push(written.targets);
      if (generic.includes(column)) codes.set(column, readCodes(stored));
    }
    targets.push(...listGenericTargets(layout, (i) => codes.get(columns[i]!)!));
    const ids = order ? Float64Array.from(order, (row) => this.#ids.view()[row]!) : this.#ids.view();
    return {
      records: ids.length,
      ids,
      chunks,
      outlines,
      recordBytes: bytes,
      fields,
      nulls,
      targets,
      hasUndeclared: this.#keys.size > 0,
      // Lines that were matched with an earlier import have no known line numbers.
      lineOf: hasMisfits && !this.#earlier ? (id) => this.#lines.at(this.#ids.view().indexOf(id)) : undefined,
    };
  }

  close(): void {
    this.#store?.close();
    this.#store = undefined;
  }

  #countRows({ path }: TableLayout): number {
    return this.#tables.get(path)?.rows ?? 0;
  }

  #rowEnds({ path, parent }: TableLayout, tables: readonly TableLayout[]): Uint32Array {
    const slot = findOrAddSlot(this.#tables, path, emptyTable);
    while (slot.rowEnds.length < this.#countRows(tables[parent]!)) slot.rowEnds.push(slot.rows);
    return slot.rowEnds.view();
  }

  /** Too many keys are data, not names: nothing is inferred from them, and their columns are dropped (A54). */
  #evidence(): FieldEvidence {
    const isData = this.#keys.size > INFERRED_MAX;
    if (isData) {
      for (const path of this.#keys.keys()) {
        this.#columns.delete(path);
        this.#tables.delete(path);
      }
    }
    const kinds = isData ? new Map<string, ShapeKind>() : this.#keys;
    const inferColumnType = (path: string): InferredType => {
      const { kinds: scalars, texts } = findOrAddSlot(this.#columns, path, emptyColumn);
      return inferType(scalars, [...texts.values()]);
    };
    return { kinds, typeOf: inferColumnType };
  }

  #order(): { order: Order; repeats: readonly Repeat[] } {
    return (this.#ordered ??= orderById(this.#ids.view()));
  }

  /** The order of each table's rows, and the start of each parent's rows. */
  #placeTables(tables: readonly TableLayout[]): readonly PlacedTable[] {
    const placed: PlacedTable[] = [];
    for (const table of tables) {
      const parents = placed[table.parent];
      const rows = parents && orderChildren(parents.order, this.#rowEnds(table, tables));
      placed.push(rows ?? { order: this.#order().order, starts: NO_STARTS });
    }
    return placed;
  }

  async #makeColumn(column: ColumnLayout, { table, order, without, threads }: Making): Promise<MadeColumn> {
    const earlier = this.#earlier?.column(column.path);
    const slot = findOrAddSlot(this.#columns, column.path, emptyColumn);
    this.#columns.delete(column.path);
    const numbers = numberRows(slot, table.rows, earlier ? table.earlierRows : 0);
    // Inferred links were decoded as texts: cut them to the ids of their targets.
    const isInferredLink = column.type === 'link' && this.#keys.has(column.path);
    const columnTexts: ColumnTexts = {
      column,
      sources: [...slot.texts.values()],
      numbers: earlier ? numbers : reorder(numbers, order),
      cut: isInferredLink ? { before: linkPrefix(column.to).length, after: LINK_SUFFIX.length } : undefined,
      without,
    };
    if (!earlier || !order) return threads.make(columnTexts);
    if (earlier.dictionary.text.length + countTextBytes(columnTexts.sources) > TEXT_BYTES_MAX)
      throw tooMuchText(column.path);
    return mergeColumn(columnTexts, earlier, order);
  }
}

type ColumnSlot = ReturnType<typeof emptyColumn>;
type TableSlot = ReturnType<typeof emptyTable>;

function emptyColumn() {
  return {
    parts: [] as { readonly thread: number; readonly firstRow: number; readonly numbers: Uint32Array }[],
    texts: new Map<number, Texts>(),
    textBytes: new Map<number, number>(),
    kinds: 0,
  };
}

/** The first `earlierRows` of `rows` are not from a batch, and columns have no numbers for them. */
function emptyTable() {
  return { rowEnds: new GrowableU32(), rows: 0, earlierRows: 0 };
}

/** For each row from `firstRow` on, the number of its text, counted over the texts of all threads. */
function numberRows({ parts, texts }: ColumnSlot, rows: number, firstRow: number): Uint32Array {
  const firstNumbers = new Map<number, number>();
  let first = 0;
  for (const [thread, { ends }] of texts) {
    firstNumbers.set(thread, first);
    first += ends.length;
  }
  const all = new Uint32Array(rows - firstRow).fill(NULL_NUMBER);
  for (const part of parts) {
    const before = firstNumbers.get(part.thread)!;
    const { numbers } = part;
    for (let i = 0, row = part.firstRow - firstRow; i < numbers.length; i++, row++)
      if (numbers[i] !== NULL_NUMBER) all[row] = numbers[i]! + before;
  }
  return all;
}

function findOrAddSlot<Slot>(slots: Map<string, Slot>, path: string, make: () => Slot): Slot {
  const known = slots.get(path);
  if (known) return known;
  const slot = make();
  slots.set(path, slot);
  return slot;
}

function tooMuchText(path: string): OperationError {
  const excess = `the different values of ${path} take more than ${TEXT_BYTES_MAX} bytes`;
  return new OperationError('input', `${excess}, counted once for each thread that decodes them: try fewer --threads`);
}

/**
 * `without` are the index variants to skip. Records are written in runs of at most `chunkBytesMax`. `profile` gets the
 * CPU times.
 */
export interface WritingOptions {
  readonly without?: readonly Variant[];
  readonly chunkBytesMax?: number;
  readonly profile?: ImportProfile;
}

/** A new column, or that of an earlier snapshot if it would be the same. */
type MadeColumn = StoredColumn | EarlierColumn;

interface Making {
  readonly table: TableSlot;
  readonly order: Order;
  readonly without: readonly Variant[];
  readonly threads: ImportThreads;
}

/** The order of a table's rows, and the start of each parent's rows. Records have no parents. */
interface PlacedTable {
  readonly order: Order;
  readonly starts: Uint32Array;
}

const NO_STARTS = new Uint32Array(0);

function writeColumn(
  writer: SnapshotWriter,
  { path, to, isId }: ColumnLayout,
  column: MadeColumn,
): { nulls: number; targets: LinkTargets | undefined } {
  const starts = 'carry' in column ? column.carry(writer) : writeStored(writer, path, column);
  if (isId) return { nulls: 0, targets: undefined };
  const { size, numbers: ids } = column.dictionary;
  const nulls = starts[size + 1]! - starts[size]!;
  if (to === undefined) return { nulls, targets: undefined };
  const counts = new Uint32Array(size);
  for (let code = 0; code < size; code++) counts[code] = starts[code + 1]! - starts[code]!;
  return { nulls, targets: { path, to, ids: ids!, counts } };
}

function readCodes(made: MadeColumn): ColumnCodes {
  const { text, ...dictionary } = made.dictionary;
  const codes = 'carry' in made ? made.codes : made.inverted!.codes;
  return { codes, dictionary: { ...dictionary, text: text instanceof Uint8Array ? text : Buffer.concat(text) } };
}

/** Writes a column. Returns the start of each code's rows in the rows sorted by code; empty for ids. */
function writeStored(
  writer: SnapshotWriter,
  path: string,
  { dictionary, grams, words, inverted }: StoredColumn,
): Uint32Array {
  const { fitting, size } = dictionary;
  writer.add(DICTIONARY, path, { ...dictionary, fitting: fitting < size ? Uint32Array.of(fitting) : undefined });
  if (grams) writer.add(GRAMS, path, grams);
  if (words) writer.add(WORDS, path, words);
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
