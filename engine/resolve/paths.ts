// Finds records by the path of their data. The sorted dictionary of the column is the prefix index: a path costs a few
// binary searches a segment, regardless of the number of records.
import { type CodeRange, codesOfPrefix, codesOfText, type Dictionary, textAt } from '../column/dictionary.ts';
import { PLACEHOLDER } from '../column/records.ts';
import { servedUrl, SPEC_LINK_END } from '../column/served.ts';
import type { FieldIndex } from '../index/field.ts';
import type { CollectionIndex } from '../index/table.ts';
import { valuesAt } from '../query/path.ts';
import { COMPLETE_STATUS, type FieldPath, type PlacedCollection, PREFERRED_STATES } from '../schema/resolved.ts';
import { hasPrefix } from '../bits/bytes.ts';

/** Maximum bytes of a requested path or identifier after decoding, as Linux limits paths. Source: A131. */
export const RESOLVED_BYTES_MAX = 4096;

/** Maximum segments of a requested path. Each takes one to four look-ups. Source: A131. */
export const SEGMENTS_MAX = 128;

/** Maximum number of rows with the same path or id, in id order, among which the best one is chosen. Source: A130. */
export const CANDIDATES_MAX = 4096;

/**
 * Rows that a listing reads before other requests get their turn, and for one piece of its text: a fraction of a
 * millisecond. A block of entries that begins within them is finished: at most 32 entries with two values each.
 */
export const LISTED_ROWS_MAX = 16_384;

/** Look-ups in dictionaries and rows read since the thread started. Slices and tests measure work by them. */
export const resolving = { lookups: 0, rows: 0 };

const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

/** The index of a field with one value for each record; `undefined` if the collection has no such field. */
export function indexAt(collection: CollectionIndex, path: FieldPath): FieldIndex | undefined {
  const values = valuesAt(collection, path);
  return values?.steps.length === 0 ? values.index : undefined;
}

/** Like `indexAt`, but also `undefined` if the values are not texts. */
export function textIndexAt(collection: CollectionIndex, path: FieldPath): FieldIndex | undefined {
  const index = indexAt(collection, path);
  return index?.dictionary.type === 'text' ? index : undefined;
}

/** The stored text of a row; `undefined` for null or without a field. Cost: a view, no copy. */
export function storedAt(index: FieldIndex | undefined, row: number): Uint8Array | undefined {
  if (!index) return undefined;
  const code = index.codeAt(row);
  return code < index.dictionary.size ? textAt(index.dictionary, code) : undefined;
}

/** The text of a row as served; empty for null or without a field. Cost: its length. */
export function servedAt(index: FieldIndex | undefined, row: number, baseUrl: string): string {
  const stored = storedAt(index, row);
  return stored ? servedFrom(stored, baseUrl) : '';
}

/** A stored text as served: own URLs get their base. Cost: its length. */
export function servedFrom(stored: Uint8Array, baseUrl: string): string {
  const text = DECODER.decode(stored);
  return text.startsWith(PLACEHOLDER) ? servedUrl(text, { baseUrl, version: 'v3', linkEnd: SPEC_LINK_END }) : text;
}

/** The code of a text among texts in order; without such a text `size + 1`, which no row has. Cost: O(log size). */
export function codeOf(dictionary: Dictionary, text: Uint8Array): number {
  resolving.lookups++;
  const { start, end } = codesOfText(dictionary, text);
  return start < end ? start : dictionary.size + 1;
}

/** The rows of a code in the order of ids, at most CANDIDATES_MAX. Cost: one step for each row that is consumed. */
export function* rowsOf(index: FieldIndex, code: number): Iterable<number> {
  const place = index.countOf({ start: 0, end: code });
  const end = place + Math.min(index.countOf({ start: code, end: code + 1 }), CANDIDATES_MAX);
  for (let at = place; at < end; at++) {
    resolving.rows++;
    yield index.sortedRow(at);
  }
}

const SLASH = 0x2f;
const DOT = 0x2e;
const UTF8 = new TextEncoder();
const ROOT = UTF8.encode('/');
const PREFERRED = PREFERRED_STATES.map((state) => UTF8.encode(state));
const COMPLETE = UTF8.encode(COMPLETE_STATUS);

/** Whether a stored text is a path: it begins with exactly one slash, followed by something (A130). */
export function isPath(text: Uint8Array): boolean {
  return text.length > 1 && text[0] === SLASH && text[1] !== SLASH;
}

/** The records of a collection that have a path. */
export class PathIndex {
  readonly collection: CollectionIndex;
  readonly placed: PlacedCollection;
  readonly uuids: FieldIndex | undefined;
  readonly titles: FieldIndex | undefined;
  /** The codes of all stored paths, in the order of their texts. Some of the texts are not paths, see `isPath`. */
  readonly codes: CodeRange;
  readonly #paths: FieldIndex | undefined;
  readonly #states: FieldIndex | undefined;
  readonly #statuses: FieldIndex | undefined;
  readonly #preferred: readonly number[];
  readonly #complete: number;

  /** Cost: a binary search for each value that is often looked for. */
  constructor(collection: CollectionIndex, placed: PlacedCollection) {
    this.collection = collection;
    this.placed = placed;
    this.uuids = indexAt(collection, placed.uuid);
    this.titles = indexAt(collection, placed.title);
    this.#paths = textIndexAt(collection, placed.path);
    this.#states = textIndexAt(collection, placed.state);
    this.#statuses = textIndexAt(collection, placed.status);
    const states = this.#states?.dictionary;
    this.#preferred = states ? PREFERRED.map((state) => codeOf(states, state)) : [];
    this.#complete = this.#statuses ? codeOf(this.#statuses.dictionary, COMPLETE) : -1;
    this.codes = this.#paths ? codesOfPrefix(this.#paths.dictionary, ROOT) : { start: 0, end: 0 };
  }

  textOf(code: number): Uint8Array {
    return textAt(this.#paths!.dictionary, code);
  }

  /** The stored path of a row; `undefined` if it has none. */
  pathOf(row: number): Uint8Array | undefined {
    const text = storedAt(this.#paths, row);
    return text && isPath(text) ? text : undefined;
  }

  /** Whether any stored path begins with `prefix`. Cost: a binary search. */
  hasBelow(prefix: Uint8Array): boolean {
    const { start, end } = codesOfPrefix(this.#paths!.dictionary, prefix);
    return start < end;
  }

  /** Whether the data of a row is complete (A130). */
  isComplete(row: number): boolean {
    return this.#statuses?.codeAt(row) === this.#complete && this.#rankOf(row) < this.#preferred.length;
  }

  /**
   * The row to list at a code of `codes`, or -1. It is the best row of the path, unless a row with another spelling of
   * the path is better. Cost: one read of each row with the path, up to CANDIDATES_MAX of each spelling, and a binary
   * search if a neighbour begins with the path.
   */
  listedAt(code: number): number {
    const path = this.textOf(code);
    if (!isPath(path)) return -1;
    const own = this.#bestAt(code, -1);
    const other = this.#otherSpelling(code, path);
    return other < 0 || this.#bestAt(other, own) === own ? own : -1;
  }

  /**
   * The row of a path without a final slash, or -1; the stored path may have one. Among several records the first
   * preferred state decides, then the lowest id (A130). Cost: two binary searches, and one read of each row with the
   * path, up to CANDIDATES_MAX.
   */
  rowOf(path: Uint8Array): number {
    if (this.codes.start === this.codes.end) return -1;
    // A stored path with a final slash means the same path without it.
    const plain = path.at(-1) === SLASH ? -1 : this.#bestOf(path, -1);
    return this.#bestOf(withSlash(path), plain);
  }

  /** The code of the same path with a final slash if it has none, or without it; -1 if no row has that spelling. */
  #otherSpelling(code: number, path: Uint8Array): number {
    const { dictionary } = this.#paths!;
    const isSlashed = path.at(-1) === SLASH;
    const plain = isSlashed ? path.subarray(0, -1) : path;
    // A single slash at the end makes no difference; several slashes make another path.
    if (isSlashed && plain.at(-1) === SLASH) return -1;
    const neighbour = isSlashed ? code - 1 : code + 1;
    // Every text between both spellings begins with the shorter one.
    if (neighbour < 0 || neighbour >= dictionary.size || !hasPrefix(textAt(dictionary, neighbour), plain)) return -1;
    const found = codeOf(dictionary, isSlashed ? plain : withSlash(plain));
    return found < dictionary.size ? found : -1;
  }

  /** The best row with a stored path, or `other` if that is better. `other` may be -1 for no row. */
  #bestOf(stored: Uint8Array, other: number): number {
    const { dictionary } = this.#paths!;
    const code = codeOf(dictionary, stored);
    return code > dictionary.size ? other : this.#bestAt(code, other);
  }

  #bestAt(code: number, other: number): number {
    let best = other;
    let bestRank = other < 0 ? Infinity : this.#rankOf(other);
    for (const row of rowsOf(this.#paths!, code)) {
      const rank = this.#rankOf(row);
      if (rank > bestRank || (rank === bestRank && row > best)) continue;
      best = row;
      bestRank = rank;
      if (rank === 0) break;
    }
    return best;
  }

  #rankOf(row: number): number {
    const rank = this.#states ? this.#preferred.indexOf(this.#states.codeAt(row)) : -1;
    return rank < 0 ? this.#preferred.length : rank;
  }
}

function withSlash(path: Uint8Array): Uint8Array {
  const slashed = new Uint8Array(path.length + 1);
  slashed.set(path);
  slashed[path.length] = SLASH;
  return slashed;
}

/** A record, and the index that contains it. */
export interface FoundRecord {
  readonly index: PathIndex;
  readonly row: number;
}

/**
 * Normalises a percent-decoded path for comparison: repeated slashes become one, and a final slash is removed (A131).
 * `ends` has the end of each segment. `unplaced` if it does not begin with a slash, or has a segment `.` or `..`: no
 * stored path matches. `tooDeep` beyond SEGMENTS_MAX. Cost: one pass.
 */
export function pathAsked(
  decoded: Uint8Array,
): { readonly bytes: Uint8Array; readonly ends: readonly number[] } | 'unplaced' | 'tooDeep' {
  if (decoded[0] !== SLASH) return 'unplaced';
  const bytes = new Uint8Array(decoded.length);
  const ends: number[] = [];
  let length = 0;
  for (let start = 0; start < decoded.length;) {
    while (decoded[start] === SLASH) start++;
    let end = start;
    while (end < decoded.length && decoded[end] !== SLASH) end++;
    if (end === start) break;
    if (isDots(decoded, start, end)) return 'unplaced';
    if (ends.length === SEGMENTS_MAX) return 'tooDeep';
    bytes[length++] = SLASH;
    bytes.set(decoded.subarray(start, end), length);
    length += end - start;
    ends.push(length);
    start = end;
  }
  return { bytes: bytes.subarray(0, length), ends };
}

function isDots(bytes: Uint8Array, start: number, end: number): boolean {
  return bytes[start] === DOT && (end === start + 1 || (end === start + 2 && bytes[start + 1] === DOT));
}

/**
 * The record whose path is the longest prefix of a path by whole segments. Between equal lengths, the first index wins.
 * Cost: a `rowOf` for each segment and index.
 */
export function longestPrefix(
  indexes: readonly PathIndex[],
  { bytes, ends }: { readonly bytes: Uint8Array; readonly ends: readonly number[] },
): FoundRecord | undefined {
  for (let i = ends.length - 1; i >= 0; i--) {
    const prefix = bytes.subarray(0, ends[i]);
    for (const index of indexes) {
      const row = index.rowOf(prefix);
      if (row >= 0) return { index, row };
    }
  }
  return undefined;
}

/** The top-level folder of a path, with a slash before it and none after it. Cost: its length. */
export function folderOf(path: Uint8Array): Uint8Array {
  const end = path.indexOf(SLASH, 1);
  return end < 0 ? path : path.subarray(0, end);
}

/**
 * Whether a code is the first of its top-level folder, so that each folder is listed once. Paths below a folder are
 * neighbours, but other paths may come between the folder itself and them. Cost: a comparison; a search for a path that
 * is itself a folder.
 */
export function isFirstOfFolder(index: PathIndex, code: number): boolean {
  const path = index.textOf(code);
  const end = path.indexOf(SLASH, 1) + 1;
  if (end > 0) return code === index.codes.start || !hasPrefix(index.textOf(code - 1), path.subarray(0, end));
  resolving.lookups++;
  return !index.hasBelow(withSlash(path));
}
