// Searches texts as served, or numbers: all of a dictionary, slice by slice, or those of some rows. Own URLs are
// converted to their served form before they are matched.
import type { CodeRange, Dictionary } from '../column/dictionary.ts';
import { clearBit, setBit } from '../bits/bitmap.ts';
import { hasPrefix } from '../bits/bytes.ts';
import { lowerBound, startOfPart } from '../bits/lists.ts';
import { PLACEHOLDER } from '../column/records.ts';
import { type ServedForm, servedUrl } from '../column/served.ts';
import type { FieldIndex } from '../index/field.ts';
import { codesOfBlocks, gramBlocks, gramQuery } from '../index/grams.ts';
import { eachRow, ofBitmap } from '../index/rowset.ts';
import { findWord } from '../index/words.ts';
import { codesOfOwnUrls, isTextOrdered } from '../query/codes.ts';
import type { Lookup } from '../query/lookups.ts';
import type { Meter } from './counters.ts';
import { COST } from './passes.ts';
import type { Search } from '../query/dateParts.ts';

/** Bytes of text that are paid at once: 65 us, so that a cancelled task stops soon. */
const SLICE_BYTES = 65_536;

/**
 * Searching a run of texts has a setup cost. For fewer codes than this, as n-grams select them, searching one by one is
 * faster.
 */
const RUN_CODES_MIN = 16;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const PLACEHOLDER_BYTES = encoder.encode(PLACEHOLDER);

export interface ScanContext {
  /** The form in which own URLs are served. */
  readonly form: ServedForm;
  readonly meter: Meter;
}

/** Cost in ns of scanning neighbouring codes whose texts have this many bytes. */
export function scanNs({ pace = 'plain' }: Pick<Lookup, 'pace'>, codes: number, bytes: number): number {
  return pace === 'datePart' ? codes * COST.datePart : codes * COST.scannedText + bytes * COST.byte[pace];
}

/** Cost in ns of one text that is searched on its own. */
function textNs({ pace = 'plain' }: Pick<Lookup, 'pace'>, bytes: number): number {
  return pace === 'datePart' ? COST.datePart + COST.row : COST.text + bytes * COST.byte[pace];
}

/** The matching codes, ascending and disjoint. */
export function scanCodes(
  { form, meter }: ScanContext,
  index: Pick<FieldIndex, 'dictionary' | 'grams'>,
  lookup: Lookup,
  search: Search,
): readonly CodeRange[] {
  const { dictionary } = index;
  const hits: { start: number; end: number }[] = [];
  const onHit = (code: number): void => {
    const last = hits[hits.length - 1];
    if (last?.end === code) last.end++;
    else hits.push({ start: code, end: code + 1 });
  };
  const isHit = matcherOf(dictionary, search, form);
  const { sliceBytes = SLICE_BYTES } = search;
  // Numbers are not searched as texts in a run.
  const eachHit = isTextOrdered(dictionary) ? search.eachHit : undefined;
  const parts = partsOf(meter, index, search);
  let ns = 0;
  for (const { part, isOwn } of parts) ns += partNs(dictionary, lookup, part, isOwn);
  meter.foresee(ns);
  for (const { part, isOwn } of parts) {
    for (let code = part.start; code < part.end;) {
      const slice = sliceOf(dictionary, { start: code, end: part.end }, sliceBytes);
      meter.spend(partNs(dictionary, lookup, slice, isOwn));
      if (!isOwn && eachHit && slice.end - slice.start >= RUN_CODES_MIN) eachHit(dictionary, slice, onHit);
      else for (let i = slice.start; i < slice.end; i++) if (isHit(i)) onHit(i);
      meter.counters.bytesScanned += bytesSeen(dictionary, search, slice);
      code = slice.end;
    }
  }
  return hits;
}

function partNs(dictionary: Dictionary, lookup: Lookup, part: CodeRange, isOwn: boolean): number {
  const codes = part.end - part.start;
  if (codes <= 0) return 0;
  const bytes = bytesOf(dictionary, part);
  const urlsNs = isOwn ? codes * COST.url : 0;
  return urlsNs + (codes < RUN_CODES_MIN ? codes * textNs(lookup, bytes / codes) : scanNs(lookup, codes, bytes));
}

/**
 * The codes of a bitmap whose text contains the word of a search, found by the word index. `undefined` if no index
 * can help.
 */
export function codesWithWord(
  { form, meter }: ScanContext,
  { dictionary, words }: FieldIndex,
  lookup: Lookup,
  search: Search,
): Uint32Array | undefined {
  if (!words || !search.word) return undefined;
  meter.spend(words.vocabulary.text.length * COST.byte.plain);
  const hits = findWord(words, search.word, (bytes) => meter.spend(bytes * COST.listByte));
  if (!hits) return undefined;
  const { codes, isExact } = hits;
  const isHit = matcherOf(dictionary, search, form);
  const check = (code: number): void => {
    const bytes = bytesSeen(dictionary, search, { start: code, end: code + 1 });
    meter.spend(textNs(lookup, bytes));
    meter.counters.bytesScanned += bytes;
    if (isHit(code)) setBit(codes, code);
    else clearBit(codes, code);
  };
  if (!isExact) eachRow(ofBitmap(codes.slice()), check);
  // The index has own URLs as they are stored.
  const own = codesOfOwnUrls(dictionary);
  meter.spend((own.end - own.start) * COST.url);
  for (let code = own.start; code < own.end; code++) check(code);
  return codes;
}

/** Cost in ns of `scanRows` for this many rows, assuming texts of mean length. */
export function scanRowsNs(lookup: Lookup, { dictionary }: FieldIndex, rows: number): number {
  return rows * (COST.row + textNs(lookup, dictionary.text.length / Math.max(1, dictionary.size)));
}

/** The matching rows of an ascending list. */
export function scanRows(
  { form, meter }: ScanContext,
  index: FieldIndex,
  lookup: Lookup,
  search: Search,
  rows: Uint32Array,
): Uint32Array {
  const { dictionary } = index;
  const isHit = matcherOf(dictionary, search, form);
  const own = codesOfOwnUrls(dictionary);
  meter.foresee(rows.length * textNs(lookup, 0));
  const kept = new Uint32Array(rows.length);
  let length = 0;
  for (let i = 0; i < rows.length; i++) {
    const code = index.codeAt(rows[i]!);
    if (code >= dictionary.size) {
      meter.spend(COST.row);
      continue;
    }
    const bytes = bytesSeen(dictionary, search, { start: code, end: code + 1 });
    meter.spend(COST.row + textNs(lookup, bytes) + (code >= own.start && code < own.end ? COST.url : 0));
    meter.counters.bytesScanned += bytes;
    if (isHit(code)) kept[length++] = rows[i]!;
  }
  meter.counters.rowsTouched += rows.length;
  return kept.subarray(0, length);
}

function bytesSeen(dictionary: Dictionary, { kind }: Search, { start, end }: CodeRange): number {
  if (kind === 'code') return (end - start) * Float64Array.BYTES_PER_ELEMENT;
  return bytesOf(dictionary, { start, end });
}

function bytesOf({ ends }: Dictionary, { start, end }: CodeRange): number {
  return startOfPart(ends, end) - startOfPart(ends, start);
}

interface Part {
  readonly part: CodeRange;
  readonly isOwn: boolean;
}

/**
 * Splits the codes to search into parts. In text order, own URLs are neighbours, and all other texts are served as they
 * are stored and as the n-gram index has them.
 */
function partsOf(meter: Meter, index: Pick<FieldIndex, 'dictionary' | 'grams'>, search: Search): readonly Part[] {
  const { dictionary } = index;
  const own = codesOfOwnUrls(dictionary);
  const candidates = candidatesOf(meter, index, search);
  const within = ({ start, end }: CodeRange): readonly Part[] =>
    candidates
      .filter((range) => range.start < end && range.end > start)
      .map((range) => ({
        part: { start: Math.max(start, range.start), end: Math.min(end, range.end) },
        isOwn: false,
      }));
  return [
    ...within({ start: 0, end: own.start }),
    { part: own, isOwn: true },
    ...within({ start: own.end, end: dictionary.size }),
  ];
}

function candidatesOf(
  meter: Meter,
  { dictionary, grams }: Pick<FieldIndex, 'dictionary' | 'grams'>,
  search: Search,
): readonly CodeRange[] {
  const { needle } = search;
  if (grams && needle) meter.spend(needle.length * COST.gram);
  const query = grams && needle && gramQuery(grams, needle);
  if (!query) return [{ start: 0, end: dictionary.size }];
  const blocks = gramBlocks(grams, query.lists, (bytes) => meter.spend(bytes * COST.listByte));
  meter.spend(blocks.length * COST.range);
  return codesOfBlocks(grams, dictionary.size, blocks);
}

/** The first codes of a range whose texts make one slice; at least one code. */
function sliceOf({ ends }: Dictionary, { start, end: partEnd }: CodeRange, bytes: number): CodeRange {
  const end = lowerBound(ends, startOfPart(ends, start) + bytes, start, partEnd);
  return { start, end: Math.max(start + 1, end) };
}

/**
 * Makes a test of codes by their numbers, or by their served text. The first byte distinguishes nearly every text from
 * an own URL.
 */
function matcherOf(dictionary: Dictionary, search: Search, form: ServedForm): (code: number) => boolean {
  if (search.kind === 'code') return search.matcherOf(dictionary);
  const { text, ends } = dictionary;
  const { matches } = search;
  return (code) => {
    const start = code === 0 ? 0 : ends[code - 1]!;
    const end = ends[code]!;
    if (text[start] !== PLACEHOLDER_BYTES[0] || !hasPrefix(text, PLACEHOLDER_BYTES, start, end)) {
      return matches(text, start, end);
    }
    const served = encoder.encode(servedUrl(decoder.decode(text.subarray(start, end)), form));
    return matches(served, 0, served.length);
  };
}
