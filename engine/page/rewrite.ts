// Converts the stored bytes of a record to the served ones: another base URL, version v2, links that follow the
// request. Works on parts of records, and changes only own URLs, at the positions stored with the records. The kernel
// changes the bytes.
import { slabText } from '../bits/slab.ts';
import { endOf, PLACEHOLDER, type RecordChunk, type Records, startOf } from '../column/records.ts';
import { isSpecForm, type ServedForm, SPEC_LINK_END } from '../column/served.ts';
import { BASE_AT, BASE_BYTES_MAX, END_AT, END_BYTES_MAX, FORM, KEEP_STORED } from '../kernel/layout.ts';
import { scratch } from '../kernel/own.ts';
import { type SpliceForm, splicePart } from '../kernel/splice.ts';

/**
 * A form compiled for one collection's records: the replacements for the base URL, the digit of the version (0: none)
 * and the end of links in own URLs. Undefined keeps the stored bytes.
 */
export interface Rewrite extends Omit<SpliceForm, 'origin'> {
  /** Whether all lengths stay the same. */
  readonly isPatch: boolean;
  /** Unique in the thread. */
  readonly number: number;
}

/** Counts copied bytes for tests and measurements. A page of stored neighbours copies nothing. */
export const copying = { bytes: 0 };

const STORED_LINK_END_BYTES = SPEC_LINK_END.length;
const V2_DIGIT = 0x32;

let rewrites = 0;

/** Whether a form serves the stored bytes unchanged. Cost: none. */
export function isAsStored(records: Records, form: ServedForm): boolean {
  return form.baseUrl === records.baseUrl && isSpecForm(form);
}

/** The rewriting from stored records to a form; undefined if the form serves them unchanged. Cost: none. */
export function rewriteFor(records: Records, form: ServedForm): Rewrite | undefined {
  if (isAsStored(records, form)) return undefined;
  const isSame = form.baseUrl === records.baseUrl;
  const base = isSame ? undefined : slabText(form.baseUrl);
  const end = form.linkEnd === SPEC_LINK_END ? undefined : slabText(form.linkEnd);
  if ((base?.length ?? 0) > BASE_BYTES_MAX || (end?.length ?? 0) > END_BYTES_MAX) {
    throw new Error(`a base URL of ${base?.length ?? 0} bytes or an end of links of ${end?.length ?? 0} is too long`);
  }
  return {
    growth: records.growth,
    urlBytes: PLACEHOLDER.length + records.growth,
    base,
    digit: form.version === 'v3' ? 0 : V2_DIGIT,
    end,
    isPatch: !base && !end,
    number: ++rewrites,
  };
}

/**
 * A part of one record, or of neighbours, in its chunk's bytes. No own URL crosses its ends. Parts are reused: read a
 * part before it is filled again.
 */
export interface RecordPart {
  start: number;
  end: number;
  /** First own URL in the part, as an index of the chunk's `links`. */
  firstLink: number;
  /** End of the own URLs in the part. */
  linkEnd: number;
}

/** Sets a part to `count` whole neighbours with their commas. `index` is the first row within the chunk. Cost: none. */
export function wholeRecords(
  part: RecordPart,
  chunk: RecordChunk,
  { growth, index, count }: { growth: number; index: number; count: number },
): void {
  part.start = startOf(chunk, growth, index);
  part.end = endOf(chunk, growth, index + count - 1);
  part.firstLink = firstLinkOf(chunk, index);
  part.linkEnd = chunk.linkEnds[index + count - 1]!;
}

/** The index of a record's first own URL in its chunk. Cost: none. */
export function firstLinkOf(chunk: RecordChunk, index: number): number {
  return index === 0 ? 0 : chunk.linkEnds[index - 1]!;
}

/**
 * The bytes of a part after rewriting. Without a rewriting, its own length. Cost: none; if the end of links changes, a
 * read of each own URL in it.
 */
export function rewrittenBytes(rewrite: Rewrite | undefined, chunk: RecordChunk, part: RecordPart): number {
  let bytes = part.end - part.start;
  if (!rewrite) return bytes;
  const { urlBytes, base, end } = rewrite;
  if (base) bytes += (base.length - urlBytes) * (part.linkEnd - part.firstLink);
  if (!end) return bytes;
  const at = chunk.bytes.byteOffset;
  useForm(rewrite, chunk);
  const links = chunk.kernel.countLinkEnds(at + part.start, at + part.end, part.firstLink, part.linkEnd);
  return bytes + (end.length - STORED_LINK_END_BYTES) * links;
}

/** Writes a part to the thread's own memory at `to`. Returns the address after it. Cost: a copy of its bytes. */
export function writePart(rewrite: Rewrite | undefined, chunk: RecordChunk, part: RecordPart, to: number): number {
  const { kernel } = chunk;
  const start = chunk.bytes.byteOffset + part.start;
  const end = chunk.bytes.byteOffset + part.end;
  let written = to + part.end - part.start;
  if (!rewrite) kernel.copy(to, start, part.end - part.start);
  else {
    useForm(rewrite, chunk);
    if (rewrite.isPatch) kernel.patch(start, end, part.firstLink, part.linkEnd, to);
    else written = kernel.splice(start, end, part.firstLink, part.linkEnd, to);
  }
  copying.bytes += written - to;
  return written;
}

/**
 * Writes a part to any array, which must have room for it. Returns its length. Cost: as `writePart`, at the speed of
 * JavaScript.
 */
export function writePartInto(rewrite: Rewrite, chunk: RecordChunk, part: RecordPart, target: Uint8Array): number {
  const { bytes, links } = chunk;
  const spliced = { bytes, links, start: part.start, end: part.end, first: part.firstLink, last: part.linkEnd };
  const length = splicePart(spliced, { ...rewrite, origin: 0 }, target, 0);
  copying.bytes += length;
  return length;
}

/** Copies `bytes[start..end)` to `target` at `at`. Returns the position after it. Meant for a few bytes. */
export function copyBytes(bytes: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  const length = end - start;
  if (length < SHORT_BYTES) for (let i = 0; i < length; i++) target[at + i] = bytes[start + i]!;
  else target.set(bytes.subarray(start, end), at);
  copying.bytes += length;
  return at + length;
}

/** Below this length, a loop over bytes is faster than making a view for `set`. */
const SHORT_BYTES = 32;

/**
 * The rewriting whose form is in the thread's own memory. Identified by its number, because a reference would keep the
 * snapshot of its records alive.
 */
const formInUse = { rewrite: 0 };

function useForm({ growth, urlBytes, base, digit, end, number }: Rewrite, { bytes, links }: RecordChunk): void {
  const { words } = scratch;
  words[FORM.origin / 4] = bytes.byteOffset;
  words[FORM.links / 4] = links.byteOffset;
  if (formInUse.rewrite === number) return;
  words[FORM.growth / 4] = growth;
  words[FORM.urlBytes / 4] = urlBytes;
  words[FORM.baseBytes / 4] = base?.length ?? KEEP_STORED;
  words[FORM.digit / 4] = digit;
  words[FORM.endBytes / 4] = end?.length ?? KEEP_STORED;
  if (base) scratch.bytes.set(base, BASE_AT);
  if (end) scratch.bytes.set(end, END_AT);
  formInUse.rewrite = number;
}
