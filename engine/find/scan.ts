// Looks at texts as served, or at numbers: at all of a dictionary, slice by slice, or at those of some rows. Polls for
// cancellation between slices; own URLs are put together before they are matched.
import type { CodeRange, Dictionary } from '../column/dictionary.ts';
import { hasPrefix } from '../bits/bytes.ts';
import { lowerBound } from '../bits/lists.ts';
import { PLACEHOLDER } from '../column/records.ts';
import { servedUrl, type ServedForm } from '../column/served.ts';
import type { FieldIndex } from '../index/field.ts';
import { gramCandidates, gramQuery } from '../index/grams.ts';
import { codesOfOwnUrls, isTextOrdered } from '../query/codes.ts';
import { type Counters, SLICE_ROWS } from './counters.ts';
import type { Search, TextMatcher, TextSearch } from '../query/search.ts';

/** Text between two polls, in bytes: some 50 us, so that a cancelled task ends at once and polling costs nothing. */
const SLICE_BYTES = 65_536;

/**
 * A search over a run of texts prepares itself; for fewer codes than this, as n-grams name them, one by one is faster.
 */
const RUN_CODES_MIN = 16;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const PLACEHOLDER_BYTES = encoder.encode(PLACEHOLDER);

/** What every scan is given: how own URLs are served, where to count, and whether to go on. */
export interface ScanContext {
  readonly form: ServedForm;
  readonly counters: Counters;
  isCancelled(): boolean;
}

/**
 * The codes that are a hit, ascending and disjoint; undefined when cancelled. Cost: one pass over the texts or numbers,
 * or over those that the n-gram index names.
 */
export function scanCodes(
  context: ScanContext,
  index: Pick<FieldIndex, 'dictionary' | 'grams'>,
  search: Search,
): readonly CodeRange[] | undefined {
  const { dictionary } = index;
  const hits: { start: number; end: number }[] = [];
  const onHit = (code: number): void => {
    const last = hits[hits.length - 1];
    if (last?.end === code) last.end++;
    else hits.push({ start: code, end: code + 1 });
  };
  const isHit = matcherOf(dictionary, search, context.form);
  const { eachHit, sliceBytes } = textual(search);
  for (const { part, isAsStored } of partsOf(index, search)) {
    for (let code = part.start; code < part.end;) {
      if (context.isCancelled()) return undefined;
      const slice = sliceOf(dictionary, { start: code, end: part.end }, sliceBytes);
      if (isAsStored && eachHit && slice.end - slice.start >= RUN_CODES_MIN) eachHit(dictionary, slice, onHit);
      else for (let i = slice.start; i < slice.end; i++) if (isHit(i)) onHit(i);
      context.counters.bytesScanned += bytesSeen(dictionary, search, slice);
      code = slice.end;
    }
  }
  return hits;
}

/** The rows of an ascending list that are a hit; undefined when cancelled. Cost: the texts of the rows. */
export function scanRows(
  context: ScanContext,
  index: FieldIndex,
  search: Search,
  rows: Uint32Array,
): Uint32Array | undefined {
  const { dictionary } = index;
  const isHit = matcherOf(dictionary, search, context.form);
  const { sliceBytes } = textual(search);
  const kept = new Uint32Array(rows.length);
  let length = 0;
  let polledAt = context.counters.bytesScanned;
  for (let i = 0; i < rows.length; i++) {
    if (i % SLICE_ROWS === 0 || context.counters.bytesScanned - polledAt > sliceBytes) {
      if (context.isCancelled()) return undefined;
      polledAt = context.counters.bytesScanned;
    }
    const code = index.codeAt(rows[i]!);
    if (code >= dictionary.size) continue;
    context.counters.bytesScanned += bytesSeen(dictionary, search, { start: code, end: code + 1 });
    if (isHit(code)) kept[length++] = rows[i]!;
  }
  context.counters.rowsTouched += rows.length;
  return kept.subarray(0, length);
}

/** The texts of codes, or the numbers beside them. */
function bytesSeen(dictionary: Dictionary, { kind }: Search, { start, end }: CodeRange): number {
  if (kind === 'code') return (end - start) * Float64Array.BYTES_PER_ELEMENT;
  return endOf(dictionary, end - 1) - endOf(dictionary, start - 1);
}

interface Part {
  readonly part: CodeRange;
  readonly isAsStored: boolean;
}

/**
 * In text order own URLs are neighbours, and all other texts are served as they are stored, as the n-gram index has
 * them.
 */
function partsOf(index: Pick<FieldIndex, 'dictionary' | 'grams'>, search: Search): readonly Part[] {
  const { dictionary } = index;
  const own = codesOfOwnUrls(dictionary);
  const isAsStored = isTextOrdered(dictionary);
  const candidates = candidatesOf(index, search);
  const within = ({ start, end }: CodeRange): readonly Part[] =>
    candidates
      .filter((range) => range.start < end && range.end > start)
      .map((range) => ({
        part: { start: Math.max(start, range.start), end: Math.min(end, range.end) },
        isAsStored,
      }));
  return [
    ...within({ start: 0, end: own.start }),
    { part: own, isAsStored: false },
    ...within({ start: own.end, end: dictionary.size }),
  ];
}

function candidatesOf(
  { dictionary, grams }: Pick<FieldIndex, 'dictionary' | 'grams'>,
  search: Search,
): readonly CodeRange[] {
  const needle = search.kind === 'text' ? search.needle : undefined;
  const query = grams && needle && gramQuery(grams, needle);
  return query ? gramCandidates(grams, dictionary.size, query) : [{ start: 0, end: dictionary.size }];
}

interface Slicing {
  readonly eachHit: TextSearch['eachHit'];
  readonly sliceBytes: number;
}

function textual(search: Search): Slicing {
  if (search.kind === 'code') return { eachHit: undefined, sliceBytes: SLICE_BYTES };
  return { eachHit: search.eachHit, sliceBytes: search.sliceBytes ?? SLICE_BYTES };
}

function matcherOf(dictionary: Dictionary, search: Search, form: ServedForm): (code: number) => boolean {
  return search.kind === 'code' ? search.matcherOf(dictionary) : servedMatcher(dictionary, search.matches, form);
}

/** The first codes of a range whose texts are one slice; at least one code. */
function sliceOf(dictionary: Dictionary, { start, end: partEnd }: CodeRange, bytes: number): CodeRange {
  const end = lowerBound(dictionary.ends, endOf(dictionary, start - 1) + bytes, start, partEnd);
  return { start, end: Math.max(start + 1, end) };
}

function endOf(dictionary: Dictionary, code: number): number {
  return code < 0 ? 0 : dictionary.ends[code]!;
}

/** A test of codes by their served text. The first byte tells nearly every text from an own URL. */
function servedMatcher(dictionary: Dictionary, matches: TextMatcher, form: ServedForm): (code: number) => boolean {
  const { text, ends } = dictionary;
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
