// Makes the pages of a Parquet file. The values of one column are found in the records by their positions;
// hyparquet-writer compresses and writes them.
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js';
import { writeDataPageV2 } from 'hyparquet-writer/src/datapage.js';
import { snappyCompress } from 'hyparquet-writer/src/snappy.js';
import { smallInteger } from '../column/dictionary.ts';
import { findChunk, endOf, type RecordChunk, startOf } from '../column/records.ts';
import { selectedRow } from '../index/rowset.ts';
import { ROOM_AT } from '../kernel/layout.ts';
import { scratch } from '../kernel/own.ts';
import { unescapeInPlace } from './cell.ts';
import { membersByOutline, membersPart, newPart, recordStart } from './cut.ts';
import { type JoinedColumn, readJoined } from './joined.ts';
import { JsonDraft } from './linked.ts';
import { type ColumnKind, elementOf, type TypedColumn } from './parquetColumns.ts';
import { type Rewrite, rewriteFor, rewrittenBytes, writePart } from './rewrite.ts';
import type { ServedRows } from './rows.ts';
import { reserveRoom } from './gather.ts';

/**
 * Limit of a page's cost: the bytes of its values, and `ROW_COST` per row. Takes about 1 ms. One value may exceed it.
 */
const PAGE_COST = 128 * 1024;
/** Pages are made in one slice up to this cost. */
export const SLICE_COST = PAGE_COST / 2;
/** The cost of a row, in addition to the bytes of its value. */
export const ROW_COST = 64;
/** Limit of the bytes of records per page, because everything before a value is read. */
const PAGE_RECORD_BYTES = 8 << 20;
/** Pages are combined into pieces up to this size, because each piece is a packet. */
export const PIECE_BYTES = 65_536;
/** The writer's buffer is reused up to this size. */
const KEPT_BYTES_MAX = 4 * PIECE_BYTES;

const QUOTE = 0x22;
const NULL_START = 0x6e;
const TRUE_START = 0x74;

/** A value of a page. The bytes of a text are a view of the thread's room. */
type Value = Uint8Array | bigint | number | boolean | null;

/**
 * Makes pages of these columns, one after another. The members describe the last page, `bytes` all pages since the last
 * `clear`.
 */
export class PageMaker {
  cost = 0;
  /** Bytes of the records that were read. */
  recordBytes = 0;
  /** Bytes of the page before compression. */
  uncompressed = 0;
  /** Whether a joined value was too large. */
  isTooLarge = false;
  /** Number of null values. */
  nulls = 0;
  /** Smallest integer. */
  least: bigint | undefined;
  /** Greatest integer. */
  greatest: bigint | undefined;
  readonly #served: ServedRows;
  readonly #columns: readonly (TypedColumn & { readonly encoder: Encoder })[];
  readonly #rewrite: Rewrite | undefined;
  readonly #membersOf: (outline: number) => Int32Array;
  readonly #part = newPart();
  readonly #draft: JsonDraft;
  #writer = new ByteWriter(PIECE_BYTES);
  #values: Value[] = [];
  #levels: number[] = [];
  /** The position of the next text in the room, and the end of the room. */
  #at = ROOM_AT;
  #roomEnd = ROOM_AT;

  constructor(served: ServedRows, columns: readonly TypedColumn[]) {
    this.#served = served;
    this.#columns = columns.map((column) => ({ ...column, encoder: encoderOf(column) }));
    this.#rewrite = rewriteFor(served.records, served.form);
    this.#draft = new JsonDraft(this.#rewrite);
    const keys = columns.filter(({ joined }) => !joined).map(({ key }) => key);
    this.#membersOf = membersByOutline(served.records.outlines, keys);
  }

  /** The bytes of all pages since `clear`. */
  get bytes(): number {
    return this.#writer.offset;
  }

  /** Discards the pages. */
  clear(): void {
    // A long value makes the buffer grow; the next pages do not need that.
    if (this.#writer.buffer.byteLength > KEPT_BYTES_MAX) this.#writer = new ByteWriter(PIECE_BYTES);
    this.#writer.offset = this.#writer.index = 0;
  }

  /** Returns the pages since `clear`. Later pages do not overwrite them. */
  takeBytes(): Uint8Array<ArrayBuffer> {
    const bytes = this.#writer.getBytes();
    this.#writer = new ByteWriter(PIECE_BYTES);
    return bytes;
  }

  /**
   * Adds a page of a column that starts at place `from`. It ends at `to`, or earlier if it is full. Returns its end.
   */
  make(column: number, from: number, to: number): number {
    const { kind, encoder } = this.#columns[column]!;
    const end = this.#fill(column, from, to);
    this.least = this.greatest = undefined;
    if (kind === 'integer') this.#bounds();
    const pageData = {
      values: this.#values,
      definitionLevels: this.#levels,
      repetitionLevels: [],
      maxDefinitionLevel: 1,
    };
    this.uncompressed = writeDataPageV2({ writer: this.#writer, column: encoder, encoding: 'PLAIN', pageData });
    return end;
  }

  #bounds(): void {
    for (const value of this.#values as (bigint | null)[]) {
      if (value === null) continue;
      if (this.least === undefined || value < this.least) this.least = value;
      if (this.greatest === undefined || value > this.greatest) this.greatest = value;
    }
  }

  #fill(column: number, from: number, to: number): number {
    const { records, rows } = this.#served;
    this.#roomEnd = ROOM_AT + reserveRoom(0);
    this.#at = ROOM_AT;
    this.#values = [];
    this.#levels = [];
    this.cost = this.recordBytes = this.nulls = 0;
    let i = from;
    for (; i < to && this.cost < PAGE_COST && this.recordBytes < PAGE_RECORD_BYTES; i++) {
      const row = selectedRow(rows, i);
      const chunk = findChunk(records, row);
      const index = row - chunk.firstRow;
      const { spent } = this.#draft.work;
      const value = this.#valueOf(column, chunk, index);
      if (value === undefined) break;
      this.cost += this.#draft.work.spent - spent;
      this.#values.push(value);
      this.#levels.push(value === null ? 0 : 1);
      if (value === null) this.nulls++;
      this.recordBytes += endOf(chunk, records.growth, index) - startOf(chunk, records.growth, index);
      this.cost += ROW_COST + (value instanceof Uint8Array ? value.length : 0);
    }
    return i;
  }

  /**
   * The value of a record. Returns undefined if it does not fit in the room, which never happens for the first value of
   * a page.
   */
  #valueOf(column: number, chunk: RecordChunk, index: number): Value | undefined {
    const { kind, joined } = this.#columns[column]!;
    if (joined) return this.#joinedValue(kind, joined, chunk, index);
    const members = this.#membersOf(chunk.outlines[index]!);
    const member = members[column * 2]!;
    if (member < 0) return null;
    const part = this.#part;
    recordStart(part, chunk, index);
    membersPart(part, chunk, { growth: this.#served.records.growth, index, first: member, last: member });
    part.start += members[column * 2 + 1]!;
    const { bytes } = chunk;
    const first = bytes[part.start];
    if (first === NULL_START) return null;
    if (kind !== 'text' && kind !== 'json') return scalarIn(kind, bytes, part.start, part.end);
    if (!this.#hasRoom(rewrittenBytes(this.#rewrite, chunk, part))) return undefined;
    return this.#take(writePart(this.#rewrite, chunk, part, this.#at), kind === 'text' && first === QUOTE);
  }

  #joinedValue(kind: ColumnKind, joined: JoinedColumn, chunk: RecordChunk, index: number): Value | undefined {
    this.#draft.beginRecord();
    readJoined(this.#draft, joined, chunk, index);
    this.isTooLarge ||= this.#draft.isFull;
    const json = this.#draft.json.view();
    if (json[0] === NULL_START) return null;
    if (kind !== 'text' && kind !== 'json') return scalarIn(kind, json, 0, json.length);
    if (!this.#hasRoom(json.length)) return undefined;
    scratch.bytes.set(json, this.#at);
    return this.#take(this.#at + json.length, kind === 'text' && json[0] === QUOTE);
  }

  /** Whether the room has space for a value. It always has for the first value of a page. */
  #hasRoom(bytes: number): boolean {
    if (this.#at + bytes <= this.#roomEnd) return true;
    if (this.#at > ROOM_AT) return false;
    this.#roomEnd = ROOM_AT + reserveRoom(bytes);
    return true;
  }

  /** The value that ends at `end` in the room, unescaped if it is a text. */
  #take(end: number, isText: boolean): Uint8Array {
    const at = this.#at;
    this.#at = end;
    if (!isText) return scratch.bytes.subarray(at, this.#at);
    const text = scratch.bytes.subarray(at + 1, this.#at - 1);
    const bytes = unescapeInPlace(text);
    return bytes === text.length ? text : text.subarray(0, bytes);
  }
}

type Encoder = Parameters<typeof writeDataPageV2>[0]['column'];

const COMPRESSORS = { SNAPPY: snappyCompress };

function encoderOf(column: TypedColumn): Encoder {
  const element = elementOf(column);
  return {
    columnName: column.key,
    element,
    schemaPath: [{ name: '' }, element],
    codec: 'SNAPPY',
    compressors: COMPRESSORS,
    stats: false,
    pageSize: 0,
    columnIndex: false,
    offsetIndex: false,
  };
}

function scalarIn(kind: 'integer' | 'float' | 'boolean', bytes: Uint8Array, start: number, end: number): Value {
  if (kind === 'boolean') return bytes[start] === TRUE_START;
  return kind === 'integer' ? integerIn(bytes, start, end) : floatIn(bytes, start, end);
}

/** Parses an integer; null for a misfit. */
function integerIn(bytes: Uint8Array, start: number, end: number): bigint | null {
  const small = smallInteger(bytes, start, end);
  if (small !== undefined) return BigInt(small);
  const token = asciiIn(bytes, start, end);
  return /^-?\d+$/.test(token) ? BigInt(token) : null;
}

/** Parses a number; null for a misfit. */
function floatIn(bytes: Uint8Array, start: number, end: number): number | null {
  const value = Number(asciiIn(bytes, start, end));
  return Number.isNaN(value) ? null : value;
}

const LATIN1 = new TextDecoder('latin1');
/** Longer numbers are decoded at once: concatenating their characters would take 32 bytes each. */
const SHORT_DIGITS = 64;

function asciiIn(bytes: Uint8Array, start: number, end: number): string {
  if (end - start > SHORT_DIGITS) return LATIN1.decode(bytes.slice(start, end));
  let text = '';
  for (let i = start; i < end; i++) text += String.fromCharCode(bytes[i]!);
  return text;
}
