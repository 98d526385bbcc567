// Finds values and links within the served bytes of records, and puts JSON together from such bytes. Reads JSON as it
// is stored: compact and minimally escaped.
import { hasBytesAt } from '../bits/bytes.ts';
import { GrowableBytes } from '../bits/growable.ts';
import { jsonText } from '../bits/json.ts';
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
  copy({ chunk, index }: Value, start: number, end: number): void {
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

  /** Counts the work of scanning a value. */
  scan({ start, end }: Value): void {
    this.#spend(end - start);
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
const NULL_START = 0x6e;
const ZERO = 0x30;
const UTF8 = new TextEncoder();
const LINK_END = UTF8.encode(`${SPEC_LINK_END}"`);

/** A key of an object with its quotes and colon. */
export function keyText(key: string): Uint8Array {
  return UTF8.encode(`${jsonText(key)}:`);
}

export function isText({ chunk, start }: Value): boolean {
  return chunk.bytes[start] === QUOTE;
}

export function isArray({ chunk, start }: Value): boolean {
  return chunk.bytes[start] === OPEN_BRACKET;
}

export function isRecord({ chunk, start }: Value): boolean {
  return chunk.bytes[start] === OPEN_BRACE;
}

export function isNull({ chunk, start }: Value): boolean {
  return chunk.bytes[start] === NULL_START;
}

/** Calls `use` with each element of an array. Cost: its bytes. */
export function eachElement(array: Value, use: (element: Value) => void): void {
  const { bytes } = array.chunk;
  for (let at = array.start + 1; bytes[at] !== CLOSE_BRACKET;) {
    const end = endOfValue(bytes, at);
    use({ ...array, start: at, end });
    at = bytes[end] === COMMA ? end + 1 : end;
  }
}

/** Calls `use` with each value of an object and the start of its key. Cost: its bytes. */
export function eachMember(object: Value, use: (key: number, value: Value) => void): void {
  const { bytes } = object.chunk;
  for (let at = object.start + 1; bytes[at] !== CLOSE_BRACE;) {
    const start = endOfText(bytes, at) + 1;
    const end = endOfValue(bytes, start);
    use(at, { ...object, start, end });
    at = bytes[end] === COMMA ? end + 1 : end;
  }
}

/** The end of the JSON value that starts at `at`. Cost: its bytes. */
function endOfValue(bytes: Uint8Array, at: number): number {
  if (bytes[at] === QUOTE) return endOfText(bytes, at);
  const isNested = bytes[at] === OPEN_BRACE || bytes[at] === OPEN_BRACKET;
  let depth = 0;
  for (let i = at; ;) {
    const byte = bytes[i]!;
    if (byte === QUOTE) {
      i = endOfText(bytes, i);
      continue;
    }
    const isClosing = byte === CLOSE_BRACE || byte === CLOSE_BRACKET;
    if (!isNested && (isClosing || byte === COMMA)) return i;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if (isClosing && --depth === 0) return i + 1;
    i++;
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
