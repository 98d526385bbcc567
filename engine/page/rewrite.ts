// How the stored bytes of a record become the ones to serve: another base URL, version v2, links that follow the request.
// Works on parts of records; touches own URLs only, at the positions stored with the records. Called by the writers of rows.
import { endOf, startOf, type RecordChunk, type Records } from '../column/records.ts';
import { isSpecForm, SPEC_LINK_END, type ServedForm } from '../column/served.ts';

/** A form compiled for one collection's records; `undefined` members leave that part of the bytes as stored. */
export interface Rewrite {
  readonly growth: number;
  readonly storedUrlBytes: number;
  readonly baseUrl: Uint8Array | undefined;
  readonly version: Uint8Array | undefined;
  readonly linkEnd: Uint8Array | undefined;
}

/** Counts what was copied, for tests and measurements: a page of neighbours as stored copies nothing. */
export const copying = { bytes: 0 };

const UTF8 = new TextEncoder();
const STORED_API = UTF8.encode('/api/v3/');
const V2_API = UTF8.encode('/api/v2/');
const STORED_LINK_END = UTF8.encode(SPEC_LINK_END);
/** Where the digit stands in `/api/v3/`. */
const DIGIT_AT = 6;
const QUOTE = 0x22;
const SLASH = 0x2f;
const ZERO = 0x30;
const NINE = 0x39;
const BACKSLASH = 0x5c;
/** Below this a loop over bytes beats making a view for `set`. */
const SHORT_BYTES = 32;
/** Below this one copy byte by byte takes less time than two copies. */
const STAGED_BYTES_MIN = 256;
/** What V8 copies at once. */
const WORD_BYTES = 8;
/** Holds nearly every record whole; small enough to stay in the cache. */
const staging = new Uint8Array(32 * 1024);

/** The rewriting that brings stored records into a form, or undefined where they are served as stored. Cost: none. */
export function rewriteFor(records: Records, form: ServedForm): Rewrite | undefined {
  const isSame = form.baseUrl === records.baseUrl;
  if (isSame && isSpecForm(form)) return undefined;
  return {
    growth: records.growth,
    storedUrlBytes: UTF8.encode(records.baseUrl).length,
    baseUrl: isSame ? undefined : UTF8.encode(form.baseUrl),
    version: form.version === 'v3' ? undefined : V2_API,
    linkEnd: form.linkEnd === SPEC_LINK_END ? undefined : UTF8.encode(form.linkEnd),
  };
}

/**
 * A part of one record in its chunk's bytes: from `start` to `end`, with the own URLs `firstLink` to `linkEnd` in it, none of
 * which crosses its ends. Parts are reused: whoever fills one has it read before it is filled again.
 */
export interface RecordPart {
  start: number;
  end: number;
  firstLink: number;
  linkEnd: number;
}

/** Makes a part a whole record with its comma. `index` is the row within the chunk. Cost: none. */
export function wholeRecord(part: RecordPart, chunk: RecordChunk, growth: number, index: number): void {
  part.start = startOf(chunk, growth, index);
  part.end = endOf(chunk, growth, index);
  part.firstLink = firstLinkOf(chunk, index);
  part.linkEnd = chunk.linkEnds[index]!;
}

/** The number of a record's first own URL in its chunk. Cost: none. */
export function firstLinkOf(chunk: RecordChunk, index: number): number {
  return index === 0 ? 0 : chunk.linkEnds[index - 1]!;
}

/**
 * Bytes of a part once rewritten; as they are without a rewriting. Cost: none, but a look at each of its own URLs where
 * `linkEnd` changes.
 */
export function rewrittenBytes(rewrite: Rewrite | undefined, chunk: RecordChunk, part: RecordPart): number {
  let bytes = part.end - part.start;
  if (!rewrite) return bytes;
  const { growth, storedUrlBytes, baseUrl, linkEnd } = rewrite;
  if (baseUrl) bytes += (baseUrl.length - storedUrlBytes) * (part.linkEnd - part.firstLink);
  if (!linkEnd) return bytes;
  for (let n = part.firstLink; n < part.linkEnd; n++) {
    const path = chunk.links[n]! + growth * n + storedUrlBytes;
    if (linkEndAt(chunk.bytes, path) >= 0) bytes += linkEnd.length - STORED_LINK_END.length;
  }
  return bytes;
}

/** Writes a part to `target` at `at`; answers the position behind it. Cost: a copy of its bytes. */
export function writePart(
  rewrite: Rewrite | undefined,
  chunk: RecordChunk,
  part: RecordPart,
  target: Uint8Array,
  at: number,
): number {
  if (!rewrite) return copyBytes(chunk.bytes, part.start, part.end, target, at);
  const isPatch = !rewrite.baseUrl && !rewrite.linkEnd;
  return isPatch ? patched(rewrite, chunk, part, target, at) : spliced(rewrite, chunk, part, target, at);
}

/** Copies `bytes[start..end)` to `target` at `at`; answers the position behind it. */
export function copyBytes(bytes: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  const length = end - start;
  if (length < SHORT_BYTES) for (let i = 0; i < length; i++) target[at + i] = bytes[start + i]!;
  else if (length < STAGED_BYTES_MIN) target.set(bytes.subarray(start, end), at);
  else copyStaged(bytes, start, end, target, at);
  copying.bytes += length;
  return at + length;
}

/**
 * Out of shared memory V8 copies words only where source and target are aligned alike, and single bytes else. So the bytes
 * are put down aligned alike first and copied on from there, as fast as unshared memory is: 100 scattered records take
 * 18 us instead of 71.
 */
function copyStaged(bytes: Uint8Array, start: number, end: number, target: Uint8Array, at: number): void {
  for (let from = start; from < end;) {
    const shift = (bytes.byteOffset + from) % WORD_BYTES;
    const to = Math.min(end, from + staging.length - shift);
    staging.set(bytes.subarray(from, to), shift);
    target.set(staging.subarray(shift, shift + to - from), at + from - start);
    from = to;
  }
}

/** Only the version differs: the lengths stay, so the part is copied whole and its digits set. */
function patched(rewrite: Rewrite, chunk: RecordChunk, part: RecordPart, target: Uint8Array, at: number): number {
  const { growth, storedUrlBytes } = rewrite;
  const end = copyBytes(chunk.bytes, part.start, part.end, target, at);
  for (let n = part.firstLink; n < part.linkEnd; n++) {
    const path = chunk.links[n]! + growth * n + storedUrlBytes;
    if (isAt(chunk.bytes, path, STORED_API)) target[at + path - part.start + DIGIT_AT] = V2_API[DIGIT_AT]!;
  }
  return end;
}

/** The lengths change: the part is put together from what lies between its own URLs and what replaces them. */
function spliced(rewrite: Rewrite, chunk: RecordChunk, part: RecordPart, target: Uint8Array, at: number): number {
  const { growth, storedUrlBytes, baseUrl, version = STORED_API, linkEnd } = rewrite;
  const { bytes } = chunk;
  let from = part.start;
  for (let n = part.firstLink; n < part.linkEnd; n++) {
    const url = chunk.links[n]! + growth * n;
    const path = url + storedUrlBytes;
    at = copyBytes(bytes, from, baseUrl ? url : path, target, at);
    if (baseUrl) at = copyBytes(baseUrl, 0, baseUrl.length, target, at);
    from = path;
    if (!isAt(bytes, path, STORED_API)) continue;
    at = copyBytes(version, 0, version.length, target, at);
    from = path + STORED_API.length;
    const tail = linkEnd ? linkEndAt(bytes, path) : -1;
    if (tail < 0) continue;
    at = copyBytes(bytes, from, tail, target, at);
    at = copyBytes(linkEnd!, 0, linkEnd!.length, target, at);
    from = tail + STORED_LINK_END.length;
  }
  return copyBytes(bytes, from, part.end, target, at);
}

/**
 * Where `/?format=api` starts in the own URL whose path starts at `path`, or -1 where the text up to its quote is not
 * exactly `/api/v3/<collection>/<id>/?format=api`. Cost: the URL.
 */
function linkEndAt(bytes: Uint8Array, path: number): number {
  if (!isAt(bytes, path, STORED_API)) return -1;
  let at = path + STORED_API.length;
  const name = at;
  while (at < bytes.length && bytes[at] !== SLASH && bytes[at] !== QUOTE && bytes[at] !== BACKSLASH) at++;
  if (at === name || bytes[at] !== SLASH) return -1;
  const id = ++at;
  while (bytes[at]! >= ZERO && bytes[at]! <= NINE) at++;
  const isWhole = isAt(bytes, at, STORED_LINK_END) && bytes[at + STORED_LINK_END.length] === QUOTE;
  return at > id && isWhole ? at : -1;
}

function isAt(bytes: Uint8Array, at: number, expected: Uint8Array): boolean {
  for (let i = 0; i < expected.length; i++) if (bytes[at + i] !== expected[i]) return false;
  return true;
}
