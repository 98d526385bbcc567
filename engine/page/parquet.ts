// Writes rows as a Parquet file: row groups of column chunks of pages. hyparquet-writer writes pages and footer. The
// values of a page are read from the records whenever it is requested, so that a file of any size is made in constant
// memory.
import type { ColumnChunk, RowGroup, Statistics } from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js';
import { writeMetadata } from 'hyparquet-writer/src/metadata.js';
import { GrowableF64, GrowableU32 } from '../bits/growable.ts';
import { upperBound } from '../bits/lists.ts';
import { countSelected } from '../index/rowset.ts';
import type { Body } from './envelope.ts';
import type { Measuring } from './gather.ts';
import { elementOf, type TypedColumn, typedColumns } from './parquetColumns.ts';
import { PageMaker, PIECE_BYTES, ROW_COST, SLICE_COST } from './parquetPages.ts';
import type { Representation } from './representation.ts';
import type { ServedRows } from './rows.ts';

//  4 bytes    PAR1
//  pages      of the first column in the first row group, of its second column, and so on
//  footer     schema, and the position of each column of each row group: Thrift, its length in 4 bytes, PAR1

/**
 * A row group ends after the page of its first column that reaches the limit of rows or that of record bytes. Both are
 * multiplied by the number of columns / `GROUP_COLUMNS`, rounded up.
 */
const GROUP_ROWS = 131_072;
const GROUP_RECORD_BYTES = 128 << 20;
const GROUP_COLUMNS = 64;

/** The end of a page and its first row. */
const BYTES_BY_PAGE = 12;

const MAGIC = Uint8Array.of(0x50, 0x41, 0x52, 0x31);
const ROOT = 'root';

/** Measures the file of a list or record, as `parquetRows` does. The first call prepares its columns. */
export function parquetMeasuring({ rows, collection }: Representation): Measuring {
  let measuring: Measuring | undefined;
  return () => (measuring ??= parquetRows(rows, typedColumns(collection!, rows.keys, rows.joins?.columns)))();
}

/**
 * Measures the rows as a file of these columns. Each call makes pages for 1 to 2 ms to learn their lengths. Cost: all
 * pages once, and again when they are read. Memory: 12 bytes per page, and the footer.
 */
export function parquetRows(served: ServedRows, columns: readonly TypedColumn[]): Measuring {
  const body = new ParquetBody(served, columns);
  return () => (body.measureSlice() ? body : undefined);
}

/** The statistics of a column chunk, collected while its pages are measured. */
interface ChunkNotes {
  readonly start: number;
  uncompressed: number;
  nulls: number;
  least: bigint | undefined;
  greatest: bigint | undefined;
}

class ParquetBody implements Body {
  bytes = 0;
  isTooLarge = false;
  readonly isSlow = true;
  readonly #pages: PageMaker;
  readonly #columns: readonly TypedColumn[];
  readonly #count: number;
  /** By page: its end in the file. */
  readonly #ends = new GrowableF64();
  /** By page: its first row. */
  readonly #firstRows = new GrowableU32();
  /** By chunk: its first page. */
  readonly #firstPages = new GrowableU32();
  /** By row group: the end of its rows. */
  readonly #groupEnds = new GrowableU32();
  #groups: RowGroup[] = [];
  #chunks: ColumnChunk[] = [];
  #notes: ChunkNotes | undefined;
  #row = 0;
  #groupStart = 0;
  #groupRecordBytes = 0;
  #pagesEnd = MAGIC.length;
  #footer: Uint8Array | undefined;
  /** The last piece that was read. A full socket requests the rest of it again. */
  #piece = { start: 0, bytes: MAGIC };

  constructor(served: ServedRows, columns: readonly TypedColumn[]) {
    this.#pages = new PageMaker(served, columns);
    this.#columns = columns;
    this.#count = countSelected(served.rows);
  }

  /** The arrays by page, which may be twice as long as needed; the footer, the writer and the last piece. */
  get retainedBytes(): number {
    return this.#ends.length * 2 * BYTES_BY_PAGE + (this.#footer?.length ?? 0) + 4 * PIECE_BYTES;
  }

  /**
   * Measures a slice, and makes the footer unless the last pages used up the slice. Returns whether it was the last
   * one.
   */
  measureSlice(): boolean {
    let cost = 0;
    for (; this.#row < this.#count && fitsSlice(cost, this.#rowsLeft()); cost += this.#pages.cost) {
      this.#measurePage();
      this.isTooLarge = this.#pages.isTooLarge;
      if (this.isTooLarge) return true;
    }
    if (this.#row < this.#count || cost > SLICE_COST) return false;
    this.#footer = footerOf(this.#columns, this.#groups, this.#count);
    this.#groups = [];
    this.bytes = this.#pagesEnd + this.#footer.length;
    return true;
  }

  /** Rows of the current column chunk that are not in a page yet. */
  #rowsLeft(): number {
    return this.#groupEnd() - this.#row;
  }

  #groupEnd(): number {
    return this.#chunks.length === 0 ? this.#count : this.#groupEnds.at(this.#groups.length);
  }

  #measurePage(): void {
    const column = this.#chunks.length;
    const groupEnd = this.#groupEnd();
    this.#notes ??= this.#newChunk();
    const pages = this.#pages;
    pages.clear();
    this.#firstRows.push(this.#row);
    this.#row = pages.make(column, this.#row, groupEnd);
    this.#pagesEnd += pages.bytes;
    this.#ends.push(this.#pagesEnd);
    this.#note(this.#notes);
    if (column === 0) this.#groupRecordBytes += pages.recordBytes;
    if (column === 0 && this.#isGroupFull()) this.#groupEnds.push(this.#row);
    else if (this.#row < groupEnd) return;
    this.#endChunk(this.#notes);
  }

  #newChunk(): ChunkNotes {
    this.#firstPages.push(this.#ends.length);
    return { start: this.#pagesEnd, uncompressed: 0, nulls: 0, least: undefined, greatest: undefined };
  }

  #note(notes: ChunkNotes): void {
    const { uncompressed, nulls, least, greatest } = this.#pages;
    notes.uncompressed += uncompressed;
    notes.nulls += nulls;
    if (least === undefined) return;
    if (notes.least === undefined || least < notes.least) notes.least = least;
    if (notes.greatest === undefined || greatest! > notes.greatest) notes.greatest = greatest;
  }

  /** Whether the row group ends at the current row. Only its first column decides this. */
  #isGroupFull(): boolean {
    const scale = Math.ceil(this.#columns.length / GROUP_COLUMNS);
    const isLong = this.#row - this.#groupStart >= GROUP_ROWS * scale;
    return isLong || this.#groupRecordBytes >= GROUP_RECORD_BYTES * scale || this.#row === this.#count;
  }

  #endChunk(notes: ChunkNotes): void {
    const rows = this.#row - this.#groupStart;
    this.#chunks.push(chunkOfNotes(this.#columns[this.#chunks.length]!, notes, rows, this.#pagesEnd));
    this.#notes = undefined;
    if (this.#chunks.length < this.#columns.length) this.#row = this.#groupStart;
    else {
      const sizes = this.#chunks.map(({ meta_data: data }) => data!.total_uncompressed_size);
      const total = sizes.reduce((sum, size) => sum + size, 0n);
      this.#groups.push({ columns: this.#chunks, total_byte_size: total, num_rows: BigInt(rows) });
      this.#chunks = [];
      this.#groupStart = this.#row;
      this.#groupRecordBytes = 0;
    }
  }

  pieceAt(offset: number): Uint8Array {
    if (offset >= this.#pagesEnd) return this.#footer!.subarray(offset - this.#pagesEnd);
    const { start, bytes } = this.#piece;
    if (offset < start || offset >= start + bytes.length) this.#make(offset);
    return this.#piece.bytes.subarray(offset - this.#piece.start);
  }

  /** Makes the pages from the one that contains `offset`. */
  #make(offset: number): void {
    if (offset < MAGIC.length) return void (this.#piece = { start: 0, bytes: MAGIC });
    const pages = this.#pages;
    const ends = this.#ends.view();
    const firstPages = this.#firstPages.view();
    let page = upperBound(ends, offset, 0, ends.length);
    const start = page === 0 ? MAGIC.length : ends[page - 1]!;
    pages.clear();
    for (let cost = 0; pages.bytes < PIECE_BYTES && page < ends.length; page++) {
      const chunk = upperBound(firstPages, page, 0, firstPages.length) - 1;
      const isLast = page + 1 === (firstPages[chunk + 1] ?? ends.length);
      const from = this.#firstRows.at(page);
      const to = isLast ? this.#groupEnds.at(Math.floor(chunk / this.#columns.length)) : this.#firstRows.at(page + 1);
      if (!fitsSlice(cost, to - from)) break;
      pages.make(chunk % this.#columns.length, from, to);
      cost += pages.cost;
    }
    this.#piece = { start, bytes: pages.takeBytes() };
  }
}

/** Whether a page of `rows` rows fits in a slice with pages of this cost. The first page always does. */
function fitsSlice(cost: number, rows: number): boolean {
  return cost === 0 || cost + rows * ROW_COST <= SLICE_COST;
}

/** The footer entry of a column chunk that ends at `end`. */
function chunkOfNotes(column: TypedColumn, notes: ChunkNotes, rows: number, end: number): ColumnChunk {
  const { start, uncompressed, nulls, least, greatest } = notes;
  const bounds = least === undefined ? {} : { min_value: least, max_value: greatest! };
  const statistics: Statistics = { null_count: BigInt(nulls), ...bounds };
  return {
    file_offset: BigInt(start),
    meta_data: {
      type: elementOf(column).type!,
      encodings: ['PLAIN'],
      path_in_schema: [column.key],
      codec: 'SNAPPY',
      num_values: BigInt(rows),
      total_uncompressed_size: BigInt(uncompressed),
      total_compressed_size: BigInt(end - start),
      data_page_offset: BigInt(start),
      statistics,
    },
  };
}

/** The bytes after the pages. Cost: a few us per column of each row group. */
function footerOf(columns: readonly TypedColumn[], groups: RowGroup[], rows: number): Uint8Array {
  const writer = new ByteWriter();
  const schema = [{ name: ROOT, num_children: columns.length }, ...columns.map(elementOf)];
  const file = { version: 2, created_by: 'hyparquet', schema, num_rows: BigInt(rows), row_groups: groups };
  writeMetadata(writer, { ...file, metadata_length: 0 });
  writer.appendBytes(MAGIC);
  return writer.getBytes();
}
