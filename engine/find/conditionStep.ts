// One condition on a table's rows: which index answers it, how many rows it leaves and how much text it looks at.
// Bounds from dictionaries and posting lists; a matcher never runs here.
import { longestText, type CodeRange, type Dictionary } from '../column/dictionary.ts';
import { isSpecForm, type ServedForm } from '../column/served.ts';
import type { FieldIndex } from '../index/field.ts';
import { gramBlocks, gramQuery, type GramQuery, type Grams } from '../index/grams.ts';
import { type Counting, mostRowsOf } from '../index/mostRows.ts';
import { codesOfOwnUrls, without } from '../query/codes.ts';
import { lookupNamed, scanCostOf, type Lookup } from '../query/lookups.ts';
import type { Condition } from '../query/ask.ts';
import type { Operand } from '../query/values.ts';

/**
 * How a condition finds its rows. `posting list`: the rows of one code. `code range`: those of neighbouring codes.
 * `code list`: those of several codes or ranges. `scan`: a matcher over all texts of the dictionary, then the rows of
 * the codes that hit. `n-gram`: the same over those texts that the n-gram index names. `row check`: the matcher over
 * the texts of the rows that are left, where they are few. `nothing`: none.
 */
export type Access = 'nothing' | 'posting list' | 'code range' | 'code list' | 'scan' | 'n-gram' | 'row check';

/**
 * One condition on a table's rows. `estimate` is the number of rows that match: exact where the codes are known, else
 * an upper bound: the rows of the texts that a search looks at. `scanBytes` is how much text a matcher sees at most,
 * each byte counted as often as `contains` is faster than this matcher, and own URLs that are to be written as they
 * are served; 0 without either. `rowsGathered` is how many rows putting the set together looks at, at most where a
 * search finds the codes: 0 where it lies ready in the snapshot; `rowsJoined` how many more joining several such sets
 * does. `codes` are those that match, where they were found while planning.
 */
export interface ConditionStep {
  readonly kind: 'condition';
  readonly path: readonly string[];
  readonly lookup: string;
  readonly isNegated: boolean;
  readonly operand: Operand;
  readonly access: Access;
  readonly estimate: number;
  readonly scanBytes: number;
  readonly rowsGathered: number;
  readonly rowsJoined: number;
  readonly codes: readonly CodeRange[] | undefined;
}

/** A condition with its step, in the index that answers it. */
export interface SizedCondition {
  readonly step: ConditionStep;
  readonly index: FieldIndex;
}

/**
 * In which form own URLs are served, and what may still be looked at for a plan: codes that are counted, values that
 * are searched for, and bytes of n-gram lists.
 */
export interface Sizing extends Counting {
  readonly form: ServedForm;
  valuesToFind: number;
  listBytesToRead: number;
}

/** Members whose rows are counted while planning; beyond, the count would cost as much as the query. */
const COUNTED_VALUES_MAX = 64;

/** Bytes of n-gram lists that are read while planning: some 10 us, and as much again for what they name. */
const COUNTED_LIST_BYTES_MAX = 4096;

/** Lists of one needle that are read while planning, rarest first: a third seldom leaves less. */
const COUNTED_LISTS = 2;

/** Own URLs that are written as they are served while planning: some 30 us. */
const READ_URLS_MAX = 16;

/** What writing one costs later, in bytes of text that a matcher sees in that time: 2 us. */
export const URL_SCAN_BYTES = 2048;

/**
 * The step of a condition on the rows of an index. Cost: a binary search for each of at most 64 values; n-gram lists
 * up to 4 kB; codes that are counted for bounds; of all these no more than may still be looked at.
 */
export function sizedCondition(condition: Condition, index: FieldIndex, context: Sizing): SizedCondition {
  const { lookup, operand } = condition;
  const named = lookupNamed(lookup)!;
  const urls = named.readsUrls && !isSpecForm(context.form) ? codesOfOwnUrls(index.dictionary) : NO_URLS;
  const count = urls.end - urls.start;
  const values = operand.values.length;
  // The two ends of a range are no list.
  const valuesMax = Math.max(2, Math.min(COUNTED_VALUES_MAX, context.valuesToFind));
  if (values > valuesMax || count > READ_URLS_MAX) {
    const estimate = uncounted(index, operand, context);
    const scanBytes = count * URL_SCAN_BYTES;
    return {
      step: stepOf(condition, {
        access: 'code list',
        estimate,
        scanBytes,
        rowsGathered: estimate,
        rowsJoined: 0,
        codes: undefined,
      }),
      index,
    };
  }
  context.valuesToFind -= values;
  const codes = named.codes(index.dictionary, operand, context.form);
  if (!codes) return { step: stepOf(condition, searched(index, named, operand, context)), index };
  let rowsGathered = 0;
  let rowsJoined = 0;
  let estimate = 0;
  for (let i = 0; i < codes.length; i++) {
    rowsGathered += index.rowsGathered(codes[i]!);
    if (codes.length > 1) rowsJoined += index.rowsJoined(codes[i]!);
    estimate += index.countOf(codes[i]!);
  }
  const found = { access: accessOf(codes), estimate, scanBytes: 0, rowsGathered, rowsJoined, codes };
  return { step: stepOf(condition, found), index };
}

const NO_URLS: CodeRange = { start: 0, end: 0 };

type Found = Pick<ConditionStep, 'access' | 'estimate' | 'scanBytes' | 'rowsGathered' | 'rowsJoined' | 'codes'>;

/** Member by member: what stands behind a spread is defined by a call of the runtime each, 0.1 us. */
function stepOf({ path, lookup, isNegated, operand }: Condition, found: Found): ConditionStep {
  const { access, estimate, scanBytes, rowsGathered, rowsJoined, codes } = found;
  return {
    kind: 'condition',
    path,
    lookup,
    isNegated,
    operand,
    access,
    estimate,
    scanBytes,
    rowsGathered,
    rowsJoined,
    codes,
  };
}

/** A served URL may be stored in several forms, so that its values bound nothing. */
function uncounted(index: FieldIndex, { values }: Operand, counting: Counting): number {
  const { start, end } = codesOfOwnUrls(index.dictionary);
  const all = rowsOfCodes(index, 0, index.dictionary.size);
  return start < end ? all : Math.min(all, mostRowsOf(index, values.length, counting));
}

/** What a search looks at, all texts or those that n-grams name, and the rows that have these: null is never a hit. */
function searched(index: FieldIndex, lookup: Lookup, operand: Operand, sizing: Sizing): Found {
  const { dictionary, grams } = index;
  const estimate = rowsOfCodes(index, 0, dictionary.size);
  const own = codesOfOwnUrls(dictionary);
  // A pattern has no needle, and making its search compiles it.
  const search = grams && !lookup.isPooled ? lookup.search?.(operand) : undefined;
  const needle = search?.kind === 'text' ? search.needle : undefined;
  const query = grams && needle && gramQuery(grams, needle);
  if (!query) {
    const scanBytes = scanBytesIn(dictionary, own, lookup, dictionary.text.length);
    const rowsGathered = rowsFound(index, estimate);
    return { access: 'scan', estimate, scanBytes, rowsGathered, rowsJoined: 0, codes: undefined };
  }
  if (query.bytes <= Math.min(COUNTED_LIST_BYTES_MAX, sizing.listBytesToRead)) {
    sizing.listBytesToRead -= query.bytes;
    return candidates(index, grams, query, lookup);
  }
  // An entry of a list has at least one byte, so that a list has at most as many blocks as bytes.
  const codes = Math.min(dictionary.size, query.bytes * grams.block);
  const bytes = Math.min(dictionary.text.length, codes * longestText(dictionary) + bytesOf(dictionary, own));
  const most = Math.min(estimate, mostRowsOf(index, codes, sizing) + rowsOfCodes(index, own.start, own.end));
  return {
    access: 'n-gram',
    estimate: most,
    scanBytes: scanBytesIn(dictionary, own, lookup, bytes) + query.bytes,
    rowsGathered: rowsFound(index, most),
    rowsJoined: 0,
    codes: undefined,
  };
}

/** Own URLs are served otherwise than the index has them: all of them are candidates. */
function candidates(index: FieldIndex, grams: Grams, query: GramQuery, lookup: Lookup): Found {
  const { dictionary } = index;
  const own = codesOfOwnUrls(dictionary);
  const found = { rows: rowsOfCodes(index, own.start, own.end), bytes: bytesOf(dictionary, own) };
  const blocks = gramBlocks(grams, shortLists(query));
  for (let i = 0; i < blocks.length; i++) {
    const start = blocks[i]! * grams.block;
    const block = { start, end: Math.min(dictionary.size, start + grams.block) };
    const parts = block.start < own.end && block.end > own.start ? without(block, own) : [block];
    for (const part of parts) {
      found.rows += index.countOf(part);
      found.bytes += bytesOf(dictionary, part);
    }
  }
  const scanBytes = scanBytesIn(dictionary, own, lookup, found.bytes) + query.bytes;
  const rowsGathered = rowsFound(index, found.rows);
  return { access: 'n-gram', estimate: found.rows, scanBytes, rowsGathered, rowsJoined: 0, codes: undefined };
}

/** Codes that are looked at one by one for what a search may find. */
const FOUND_CODES_MAX = 64;

/** What putting together the rows of a search looks at, at most: those, or the bitmaps of codes that have one. */
function rowsFound(index: FieldIndex, estimate: number): number {
  const { size } = index.dictionary;
  if (size > FOUND_CODES_MAX) return estimate;
  let rows = 0;
  for (let code = 0; code < size; code++) rows += index.rowsJoined({ start: code, end: code + 1 });
  return Math.min(estimate, rows);
}

function shortLists({ lists }: GramQuery): GramQuery['lists'] {
  return lists.slice(0, COUNTED_LISTS).filter(({ start, end }) => end - start <= COUNTED_LIST_BYTES_MAX);
}

/** What looking at so much text costs, and writing the own URLs of the dictionary as they are served. */
function scanBytesIn({ size }: Dictionary, own: CodeRange, lookup: Lookup, bytes: number): number {
  return scanCostOf(lookup, { codes: size, bytes }) + (own.end - own.start) * URL_SCAN_BYTES;
}

function bytesOf({ ends }: Dictionary, { start, end }: CodeRange): number {
  return start < end ? ends[end - 1]! - (start === 0 ? 0 : ends[start - 1]!) : 0;
}

function rowsOfCodes(index: FieldIndex, start: number, end: number): number {
  return index.countOf({ start, end });
}

function accessOf(codes: readonly CodeRange[]): Access {
  const [first, second] = codes;
  if (!first || first.start >= first.end) return 'nothing';
  if (second) return 'code list';
  return first.end === first.start + 1 ? 'posting list' : 'code range';
}
