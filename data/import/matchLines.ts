// Which lines of a file are records of an earlier snapshot, byte for byte: those are not parsed. What differs, escapes
// and blanks included, is left to decoding, so that a mistake here costs time and no byte.
import { GrowableBytes } from '../../engine/bits/growable.ts';
import { lowerBound } from '../../engine/bits/lists.ts';
import { OperationError } from '../operationError.ts';
import type { EarlierCollection } from './earlier.ts';
import { type Lines, RUN_BYTES } from './lines.ts';
import type { StoredBytes } from './recordBytes.ts';

/** Earlier records are read in pieces of so many bytes. */
const WINDOW_BYTES = 256 << 10;

/** The id of a line that is not the record expected is looked for among so many bytes at its start. */
const ID_BYTES_MAX = 256;

const NEWLINE = 0x0a;

/** Finds lines among the records of an earlier snapshot, expecting them in order of ids, ascending or descending. */
export class LineMatcher {
  /** By row of the earlier snapshot: 1 where a line is that record. */
  readonly isKept: Uint8Array;
  readonly #ids: Float64Array;
  readonly #starts: Float64Array;
  readonly #window: Window;
  readonly #idKey: Buffer;
  #expected = 0;
  #lastRow = -1;

  constructor({ ids, runs, bytes }: EarlierCollection, idField: string) {
    this.isKept = new Uint8Array(ids.length);
    this.#ids = ids;
    this.#idKey = Buffer.from(`"${idField}":`);
    this.#window = new Window(bytes);
    this.#starts = new Float64Array(ids.length + 1);
    let [row, start] = [0, 0];
    for (const { ends } of runs) {
      for (const end of ends) this.#starts[++row] = start + end;
      start += ends.at(-1) ?? 0;
    }
  }

  /**
   * The lines that are no earlier record, in runs that nobody else holds. Throws OperationError `input` if one record
   * stands on two lines. Cost: a comparison a line.
   */
  async *unmatched(runs: AsyncIterable<Lines>): AsyncGenerator<Lines> {
    const left = new GrowableBytes();
    let read = 0;
    for await (const { bytes, fileBytesRead } of runs) {
      const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      read = fileBytesRead;
      for (let start = 0; start < lines.length;) {
        const newline = lines.indexOf(NEWLINE, start);
        const end = newline < 0 ? lines.length : newline;
        if (!this.#matches(lines, start, end)) {
          left.push(lines, start, end);
          left.pushByte(NEWLINE);
        }
        start = end + 1;
      }
      if (left.length < RUN_BYTES) continue;
      yield { bytes: left.view().slice(), firstLine: 1, fileBytesRead };
      left.truncate(0);
    }
    if (left.length > 0) yield { bytes: left.view().slice(), firstLine: 1, fileBytesRead: read };
  }

  #matches(lines: Buffer, start: number, end: number): boolean {
    const isExpected = this.#isRecord(this.#expected, lines, start, end);
    const row = isExpected ? this.#expected : this.#rowOfId(lines, start, end);
    if (row < 0) return false;
    this.#expected = row + 1 === this.#lastRow ? row - 1 : row + 1;
    this.#lastRow = row;
    if (!isExpected && !this.#isRecord(row, lines, start, end)) return false;
    if (this.isKept[row]!++ > 0) throw new OperationError('input', `id ${this.#ids[row]} stands on two lines`);
    return true;
  }

  #isRecord(row: number, lines: Buffer, start: number, end: number): boolean {
    if (row < 0 || row >= this.#ids.length) return false;
    const from = this.#starts[row]!;
    // Behind a record stands a comma.
    if (this.#starts[row + 1]! - 1 - from !== end - start) return false;
    return this.#window.equals(from, lines, start, end);
  }

  /** The earlier row with the id that a line seems to have, -1 where there is none. */
  #rowOfId(lines: Buffer, start: number, end: number): number {
    const head = lines.subarray(start, Math.min(end, start + ID_BYTES_MAX));
    const at = head.indexOf(this.#idKey);
    if (at < 0) return -1;
    const id = Number.parseInt(head.toString('latin1', at + this.#idKey.length), 10);
    const row = lowerBound(this.#ids, id);
    return this.#ids[row] === id ? row : -1;
  }
}

/** A part of the earlier bytes in memory; those that are asked for one behind the other are read together. */
class Window {
  readonly #bytes: StoredBytes;
  readonly #buffer: Buffer;
  #start = 0;
  #end = 0;
  /** Where the last one that was equal begins, and the record behind it. */
  #last = 0;
  #next = 0;

  constructor(bytes: StoredBytes) {
    this.#bytes = bytes;
    this.#buffer = Buffer.alloc(Math.min(WINDOW_BYTES, bytes.length));
  }

  /** Whether `lines[start..end)` are the bytes from a position on. */
  equals(from: number, lines: Buffer, start: number, end: number): boolean {
    const bytes = end - start;
    const behind = from + bytes;
    if (bytes <= this.#buffer.length && (from < this.#start || behind > this.#end)) {
      if (from === this.#next) this.#fill(from);
      else if (behind + 1 === this.#last) this.#fill(Math.max(0, behind - this.#buffer.length));
    }
    if (!this.#has(from, lines, start, end)) return false;
    this.#last = from;
    this.#next = behind + 1;
    return true;
  }

  #has(from: number, lines: Buffer, start: number, end: number): boolean {
    const bytes = end - start;
    if (from < this.#start || from + bytes > this.#end) {
      const apart = Buffer.alloc(bytes);
      this.#bytes.read(from, apart);
      return apart.compare(lines, start, end) === 0;
    }
    const at = from - this.#start;
    return this.#buffer.compare(lines, start, end, at, at + bytes) === 0;
  }

  #fill(from: number): void {
    const bytes = Math.min(this.#buffer.length, this.#bytes.length - from);
    this.#bytes.read(from, this.#buffer.subarray(0, bytes));
    this.#start = from;
    this.#end = from + bytes;
  }
}
