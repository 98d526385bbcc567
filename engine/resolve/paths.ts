// Finds records by the path of their data. The sorted dictionary of the column is the prefix index: a path costs a few
// binary searches a segment, whatever the number of records.
import { type CodeRange, codesOfPrefix, codesOfText, type Dictionary, textAt } from '../column/dictionary.ts';
import { PLACEHOLDER } from '../column/records.ts';
import { servedUrl, SPEC_LINK_END } from '../column/served.ts';
import type { FieldIndex } from '../index/field.ts';
import type { CollectionIndex } from '../index/table.ts';
import { valuesAt } from '../query/path.ts';
import { COMPLETE_STATUS, type FieldPath, type PlacedCollection, PREFERRED_STATES } from '../schema/resolved.ts';
import { hasPrefix } from '../bits/bytes.ts';

/** Bytes of a path or identifier that is asked for, once decoded: the longest path of Linux. Source: A131. */
export const RESOLVED_BYTES_MAX = 4096;

/** Segments of a path that is asked for: each costs a look-up or four. Source: A131. */
export const SEGMENTS_MAX = 128;

/** Rows of one value, in the order of ids, among which the one to answer with is chosen. Source: A130. */
export const CANDIDATES_MAX = 4096;

/**
 * Rows that a listing looks at before other requests get their turn, and for one piece of its text: a fraction of a
 * millisecond. What begins within them is finished: at most 32 entries, of two values each.
 */
export const LISTED_ROWS_MAX = 16_384;

/** Look-ups in dictionaries, and rows looked at, since the thread began: what slices and tests are judged by. */
export const resolving = { lookups: 0, rows: 0 };

const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

/** The index of a field with one value a record; undefined where the collection has no such field. */
export function indexAt(collection: CollectionIndex, path: FieldPath): FieldIndex | undefined {
  const values = valuesAt(collection, path);
  return values?.tables.length === 0 ? values.index : undefined;
}

/** The same where its values are texts. */
export function textIndexAt(collection: CollectionIndex, path: FieldPath): FieldIndex | undefined {
  const index = indexAt(collection, path);
  return index?.dictionary.type === 'text' ? index : undefined;
}

/** The stored text of a row, undefined of null and without a field. Cost: a view. */
export function storedAt(index: FieldIndex | undefined, row: number): Uint8Array | undefined {
  if (!index) return undefined;
  const code = index.codeAt(row);
  return code < index.dictionary.size ? textAt(index.dictionary, code) : undefined;
}

/** The text of a row as it is served, empty of null and without a field. Cost: its length. */
export function servedAt(index: FieldIndex | undefined, row: number, baseUrl: string): string {
  const stored = storedAt(index, row);
  return stored ? servedFrom(stored, baseUrl) : '';
}

/** A stored text as it is served: an own URL with its base. Cost: its length. */
export function servedFrom(stored: Uint8Array, baseUrl: string): string {
  const text = DECODER.decode(stored);
  return text.startsWith(PLACEHOLDER) ? servedUrl(text, { baseUrl, version: 'v3', linkEnd: SPEC_LINK_END }) : text;
}

/** The code of a text among texts in order, `size + 1` where there is none, which no row has. Cost: O(log size). */
export function codeOf(dictionary: Dictionary, text: Uint8Array): number {
  resolving.lookups++;
  const { start, end } = codesOfText(dictionary, text);
  return start < end ? start : dictionary.size + 1;
}

/** The rows of a code in the order of ids, the first CANDIDATES_MAX of them. Cost: a step a row that is taken. */
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

/** Whether a stored text is a path: it begins with one slash and names something behind it (A130). */
export function isPath(text: Uint8Array): boolean {
  return text.length > 1 && text[0] === SLASH && text[1] !== SLASH;
}

/**
 * The records of a collection that have a path of their own. `rowOf` answers the row to answer with for a path
 * without a final slash, however that is stored, or -1: of several records the first preferred state decides, then
 * the lowest id (A130). `codes` are those of all paths, in the order of their texts; some of them are none, see
 * `isPath`.
 */
export class PathIndex {
  readonly collection: CollectionIndex;
  readonly placed: PlacedCollection;
  readonly uuids: FieldIndex | undefined;
  readonly titles: FieldIndex | undefined;
  readonly codes: CodeRange;
  readonly #paths: FieldIndex | undefined;
  readonly #states: FieldIndex | undefined;
  readonly #statuses: FieldIndex | undefined;
  readonly #preferred: readonly number[];
  readonly #complete: number;

  /** Cost: a binary search for each value that is looked for again and again. */
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

  /** The stored path of a code of `codes`. */
  textOf(code: number): Uint8Array {
    return textAt(this.#paths!.dictionary, code);
  }

  /** The stored path of a row, undefined where it has none. */
  pathOf(row: number): Uint8Array | undefined {
    const text = storedAt(this.#paths, row);
    return text && isPath(text) ? text : undefined;
  }

  /** Whether a stored path begins with this. Cost: a binary search. */
  hasBelow(prefix: Uint8Array): boolean {
    const { start, end } = codesOfPrefix(this.#paths!.dictionary, prefix);
    return start < end;
  }

  /** Whether the data of a row is complete (A130). */
  isComplete(row: number): boolean {
    return this.#statuses?.codeAt(row) === this.#complete && this.#rankOf(row) < this.#preferred.length;
  }

  /**
   * The row that is listed at a code of `codes`: that of its path, unless another spelling of the path has it; -1 where
   * there is none. Cost: a look at each row with the path, up to CANDIDATES_MAX of each spelling; a binary search where
   * a neighbour begins with the path.
   */
  listedAt(code: number): number {
    const path = this.textOf(code);
    if (!isPath(path)) return -1;
    const own = this.#bestAt(code, -1);
    const other = this.#otherSpelling(code, path);
    return other < 0 || this.#bestAt(other, own) === own ? own : -1;
  }

  /**
   * The row of a path or -1, as the class says. Cost: two binary searches, and a look at each row with the path, up to
   * CANDIDATES_MAX.
   */
  rowOf(path: Uint8Array): number {
    if (this.codes.start === this.codes.end) return -1;
    // A stored path with its final slash is the one without it.
    const plain = path.at(-1) === SLASH ? -1 : this.#bestOf(path, -1);
    return this.#bestOf(withSlash(path), plain);
  }

  /** The code of the same path with a final slash, or without; -1 where no row has it so. */
  #otherSpelling(code: number, path: Uint8Array): number {
    const { dictionary } = this.#paths!;
    const isSlashed = path.at(-1) === SLASH;
    const plain = isSlashed ? path.subarray(0, -1) : path;
    // One slash at the end makes no other path; more are paths of their own.
    if (isSlashed && plain.at(-1) === SLASH) return -1;
    const neighbour = isSlashed ? code - 1 : code + 1;
    // All that stands between both spellings begins with the shorter one.
    if (neighbour < 0 || neighbour >= dictionary.size || !hasPrefix(textAt(dictionary, neighbour), plain)) return -1;
    const found = codeOf(dictionary, isSlashed ? plain : withSlash(plain));
    return found < dictionary.size ? found : -1;
  }

  /** The better one of a row, -1 for none, and those with a stored path. */
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

/** A record and where it was found. */
export interface FoundRecord {
  readonly index: PathIndex;
  readonly row: number;
}

/**
 * A path as it is compared: percent-decoded already, repeated slashes as one, none at its end (A131). `unplaced`
 * where no stored path can be meant: it does not begin with a slash, or a segment is `.` or `..`; `tooDeep` beyond
 * SEGMENTS_MAX. `ends` has the end of each segment. Cost: one pass.
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
 * The record whose path is the longest prefix of a path by whole segments; of one length that of the first index. Cost:
 * that of `rowOf` a segment and index.
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

/** The top-level folder of a path, with its slash in front and none behind. Cost: its length. */
export function folderOf(path: Uint8Array): Uint8Array {
  const end = path.indexOf(SLASH, 1);
  return end < 0 ? path : path.subarray(0, end);
}

/**
 * Whether a code is the first one of its top-level folder, so that each folder is met once. Paths below a folder are
 * neighbours; the folder itself may stand before others. Cost: a comparison; of a path that is a folder a search.
 */
export function isFirstOfFolder(index: PathIndex, code: number): boolean {
  const path = index.textOf(code);
  const end = path.indexOf(SLASH, 1) + 1;
  if (end > 0) return code === index.codes.start || !hasPrefix(index.textOf(code - 1), path.subarray(0, end));
  resolving.lookups++;
  return !index.hasBelow(withSlash(path));
}
