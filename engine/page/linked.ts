// Finds values and links within the served bytes of records, and puts JSON together from such bytes. Reads JSON as it
// is stored: compact and minimally escaped.
import { hasBytesAt } from '../bits/bytes.ts';
import { GrowableBytes } from '../bits/growable.ts';
import type { RecordChunk } from '../column/records.ts';
import { SPEC_LINK_END } from '../column/served.ts';
import { type CollectionIndex, type Link, rowOfId } from '../index/table.ts';
import { firstLinkOf, type Rewrite, rewrittenBytes, writePartInto } from './rewrite.ts';

/** Bytes of a page of expanded records, and of any record with linked values (A171). A usual page has 0.4 MB. */
export const EXPANDED_BYTES_MAX = 16 << 20;

/** Work for the linked values of one record, see `JsonDraft`: about 50 ms. The values of 100,000 links fit. */
const RECORD_WORK_MAX = 32 << 20;

/** The work of following a link, or of finding a field, in bytes that are scanned in the same time. */
const STEP_WORK = 256;

/** A value in the bytes of a record. */
export interface Value {
  readonly chunk: RecordChunk;
  /** The record within the chunk. */
  readonly index: number;
  readonly start: number;
  readonly end: number;
}

/** JSON of one record, or of a value of it, put together from stored bytes. */
export class JsonDraft {
  /** Whether the record is too large, or took too much work. */
  isFull = false;
  /** Work since the start of the response: bytes that were scanned, and `STEP_WORK` per step. */
  readonly work = { spent: 0 };
  readonly json = new GrowableBytes();
  readonly #rewrite: Rewrite | undefined;
  #rewritten = new Uint8Array(256);
  #workEnd = 0;

  constructor(rewrite: Rewrite | undefined) {
    this.#rewrite = rewrite;
  }

  beginRecord(): void {
    this.json.truncate(0);
    this.isFull = false;
    this.#workEnd = this.work.spent + RECORD_WORK_MAX;
  }

  /** Adds a stored value as it is served. Cost: a copy. */
  copy({ chunk, index }: Pick<Value, 'chunk' | 'index'>, start: number, end: number): void {
    const rewrite = this.#rewrite;
    const firstLink = rewrite ? linkAt(rewrite, chunk, index, start) : 0;
    const linkEnd = rewrite ? linkAt(rewrite, chunk, index, end) : 0;
    if (!rewrite || firstLink === linkEnd) this.json.push(chunk.bytes, start, end);
    else {
      const part = { start, end, firstLink, linkEnd };
      const bytes = rewrittenBytes(rewrite, chunk, part);
      if (this.#rewritten.length < bytes) this.#rewritten = new Uint8Array(bytes * 2);
      this.json.push(this.#rewritten, 0, writePartInto(rewrite, chunk, part, this.#rewritten));
    }
    this.isFull ||= this.json.length > EXPANDED_BYTES_MAX;
  }

  /**
   * Calls `use` with each element of an array, or with each value of an object and the start of its key, unless the
   * record is full. Cost: its bytes.
   */
  eachInner(outer: Value, use: (value: Value, key: number) => void): void {
    const { chunk, index } = outer;
    const { bytes } = chunk;
    const isObject = bytes[outer.start] === OPEN_BRACE;
    this.#spend(outer.end - outer.start);
    for (let at = outer.start + 1; at < outer.end - 1 && !this.isFull;) {
      const start = isObject ? endOfText(bytes, at) + 1 : at;
      const end = endOfInner(bytes, start);
      use({ chunk, index, start, end }, at);
      at = end + 1;
    }
  }

  /** Counts the work of following a link, or of finding a field. */
  step(): void {
    this.#spend(STEP_WORK);
  }

  /** The row that a link leads to, or -1 if it dangles or the text is not such a link. Cost: O(log rows). */
  follow({ to }: Link, link: Value): number {
    this.step();
    const id = linkedId(to(), link);
    return id < 0 ? -1 : rowOfId(to(), id);
  }

  #spend(work: number): void {
    this.work.spent += work;
    this.isFull ||= this.work.spent > this.#workEnd;
  }
}

/** The first own URL of a record at or after a place. Cost: O(log of the own URLs of the record). */
function linkAt({ growth }: Rewrite, chunk: RecordChunk, index: number, place: number): number {
  let [low, high] = [firstLinkOf(chunk, index), chunk.linkEnds[index]!];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (chunk.links[middle]! + growth * middle < place) low = middle + 1;
    else high = middle;
  }
  return low;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const ZERO = 0x30;
const UTF8 = new TextEncoder();
const LINK_END = UTF8.encode(`${SPEC_LINK_END}"`);

/** The first character of a value, by which its kind can be known: `"`, `[`, `{`, `n` of null, or another. */
export function firstCharacter({ chunk, start }: Value): string {
  return String.fromCharCode(chunk.bytes[start]!);
}

/** The end of the value that starts at `at` in an array or object. Cost: its bytes. */
function endOfInner(bytes: Uint8Array, at: number): number {
  let depth = 0;
  for (let i = at; ; i++) {
    const byte = bytes[i]!;
    if (byte === QUOTE) i = endOfText(bytes, i) - 1;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if (byte === COMMA && depth === 0) return i;
    else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && depth-- === 0) return i;
  }
}

function endOfText(bytes: Uint8Array, at: number): number {
  for (let i = at + 1; ; i++) {
    if (bytes[i] === BACKSLASH) i++;
    else if (bytes[i] === QUOTE) return i + 1;
  }
}

/** The start of each link to a collection, with its quote. */
const linkStarts = new WeakMap<CollectionIndex, Uint8Array>();

/** The place of the digits in the last link that was read. */
export const digits = { start: 0, end: 0 };

/**
 * The id in a link, or -1 unless the value is a link to a record of this collection. Sets `digits`. Cost: the bytes of
 * the link.
 */
export function linkedId(to: CollectionIndex, link: Value): number {
  const { bytes } = link.chunk;
  let before = linkStarts.get(to);
  if (!before) {
    before = UTF8.encode(`"${to.records.baseUrl}/api/v3/${to.declaration.name}/`);
    linkStarts.set(to, before);
  }
  digits.start = link.start + before.length;
  digits.end = link.end - LINK_END.length;
  if (digits.start >= digits.end) return -1;
  if (!hasBytesAt(bytes, link.start, before) || !hasBytesAt(bytes, digits.end, LINK_END)) return -1;
  let id = 0;
  for (let at = digits.start; at < digits.end; at++) {
    const digit = bytes[at]! - ZERO;
    if (digit < 0 || digit > 9) return -1;
    id = id * 10 + digit;
  }
  return id <= Number.MAX_SAFE_INTEGER ? id : -1;
}
