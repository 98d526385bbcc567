// Cuts the records out of the bytes of a page without changing key order and number tokens. Own URLs of the upstream
// become those of a data set (A109). Length and depth are checked before anything is parsed.
import { PLACEHOLDER } from '../../engine/column/records.ts';
import { collectionsOfPath } from '../../engine/schema/catalogue.ts';
import { isUtf8 } from 'node:buffer';
import { DEPTH_MAX } from '../import/scanner.ts';
import { Trouble } from './client.ts';

const LEAST = 100;
/** Limit of the records of a page. */
export const PAGE_RECORDS_MAX = 1000;

/**
 * The page size grows after faster responses and shrinks after slower ones, so that no request occupies the server for
 * long.
 */
const QUICK_MS = 1000;
const SLOW_MS = 5000;

/** The page size for one upstream: 100 to 1,000, or less if the upstream has smaller pages. */
export class PageSize {
  #size = LEAST;
  #most = PAGE_RECORDS_MAX;

  get size(): number {
    return Math.min(this.#size, this.#most);
  }

  /** Adapts the size to the duration of a response. */
  noteTime(ms: number): void {
    if (ms < QUICK_MS) this.#size = Math.min(PAGE_RECORDS_MAX, this.#size * 2);
    else if (ms > SLOW_MS) this.noteFailure();
  }

  noteFailure(): void {
    this.#size = Math.max(LEAST, this.#size >> 1);
  }

  /** Sets the maximum page size of the upstream. */
  limitTo(most: number): void {
    this.#most = Math.min(this.#most, most);
  }
}

/**
 * Texts that may be own URLs: a base, the API and the rest. A quote after a backslash starts no text, and one before a
 * colon ends a key. Slashes may be escaped. The lengths bound the work for a text.
 */
const URLS =
  /(?<!\\)"(\{base_url\}|https?:(?:[^"\\]|\\\/){1,256}?)\\?\/api\\?\/v[23]\\?\/((?:[^"\\]|\\.){0,2000})"(?!\s*:)/g;

const LINK = /^(\w+)\/(\d{1,16})(?:\/|\.json\/?)?(?:\?format=[a-z]*)?$/;

type OnLink = (to: string, id: number) => void;

/**
 * Converts the text of a record to that of a data set. Texts that start with one of `bases` and `/api/v2/` or
 * `/api/v3/` get the start `{base_url}/api/v3/`. Links to records get the data set's spelling. Texts in that form do
 * not change. `onLink` is called for each link. A link-like text with another host is reported as a link to a
 * collection that does not exist: its name contains the host. Cost: a pass over the text.
 */
export function withOwnUrls(text: string, bases: ReadonlySet<string>, onLink: OnLink): string {
  return text.replace(URLS, (whole, start: string, end: string) => {
    const base = start.includes('\\') ? start.replaceAll('\\/', '/') : start;
    const path = end.includes('\\') ? end.replaceAll('\\/', '/') : end;
    const [, segment = '', id = ''] = LINK.exec(path) ?? [];
    const to = collectionsOfPath(segment, 'v3')[0]?.name;
    const isOwn = base === PLACEHOLDER || bases.has(base);
    if (to !== undefined) onLink(isOwn ? to : `${base}/api/v3/${to}`, Number(id));
    if (!isOwn) return whole;
    return `"${PLACEHOLDER}/api/v3/${to === undefined ? path : `${to}/${id}/?format=api`}"`;
  });
}

/** Longer than any record: a thousand times the known ones. */
const RECORD_BYTES_MAX = 8 << 20;

/** Limit of the rest of a page: a count and two links. */
const ENVELOPE_BYTES_MAX = 1 << 16;

/** The member with the modification date of a record, in services that have one. */
export const STAMP = 'lastUpdatedDate';

/** A record as it was sent, without line breaks between its tokens. `stamp` is its modification date. */
export interface SentRecord {
  readonly id: number;
  readonly stamp: string | undefined;
  readonly text: string;
}

/** The requested size of a page, and its validator; null if it has none. */
export type PageMark = readonly [limit: number, validator: string | null];

/** One page. `limit` is the page size in the upstream's own link, if it has one. */
export interface SentPage {
  readonly count: number;
  readonly hasNext: boolean;
  readonly limit: number | undefined;
  readonly records: readonly SentRecord[];
}

/** Parses a page of records whose id is in `idField`. Throws Trouble. Cost: two passes over the bytes. */
export function parsePage(bytes: Buffer, idField: string): SentPage {
  if (bytes.length === 0) throw new Trouble('an empty body');
  if (bytes[0] === BRACKET) throw new Trouble('an array in place of a page: the service may have no pages');
  const { cuts, envelope } = findCuts(bytes);
  if (!isUtf8(bytes)) throw new Trouble('a page that is not UTF-8');
  const { count, next, results } = (parseJson(envelope) ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < 0)
    throw new Trouble('a page without a count');
  if (next !== null && typeof next !== 'string') throw new Trouble('a page whose next is neither a link nor null');
  if (!Array.isArray(results)) throw new Trouble('a page without results');
  if (results.length * 2 !== cuts.length) throw new Trouble('results that are not records');
  const records = results.map((_, i) => recordIn(bytes.toString('utf8', cuts[i * 2], cuts[i * 2 + 1]), idField));
  const limit = /[?&]limit=(\d{1,9})(?:&|$)/.exec(next ?? '')?.[1];
  return { count, hasNext: next !== null, limit: limit === undefined ? undefined : Number(limit), records };
}

/** Parses the text of a record. Throws Trouble. */
export function recordIn(text: string, idField: string): SentRecord {
  const { [idField]: id, [STAMP]: stamp } = parseJson(text) as Readonly<Record<string, unknown>>;
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 0 || Object.is(id, -0))
    throw new Trouble(`a record whose ${idField} is not an id`);
  // JSON strings contain no line breaks.
  return { id, stamp: typeof stamp === 'string' ? stamp : undefined, text: text.replaceAll(/[\r\n]+/g, '') };
}

/** Parses a text whose depth and length are bounded. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Trouble(`invalid JSON (${(error as Error).message.slice(0, 200)})`);
  }
}

const BRACKET = 0x5b;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const RESULTS = Buffer.from('"results"');

/**
 * The start and end positions of the objects in the top-level array `results`, in pairs, and the text around them with
 * a 0 for each object. Follows the structure only: the content of the brackets is not checked.
 */
function findCuts(bytes: Buffer): { cuts: readonly number[]; envelope: string } {
  const cuts: number[] = [];
  let envelope = '';
  let depth = 0;
  let aroundStart = 0;
  let keyStart = 0;
  let keyEnd = 0;
  let resultsDepth = Infinity;
  let recordStart = 0;
  const addAround = (end: number): void => {
    if (envelope.length + end - aroundStart > ENVELOPE_BYTES_MAX)
      throw new Trouble(`more than ${ENVELOPE_BYTES_MAX} bytes around the records`);
    envelope += bytes.toString('utf8', aroundStart, end);
  };
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    if (byte === QUOTE) {
      const start = i++;
      while (i < bytes.length && bytes[i] !== QUOTE) i += bytes[i] === BACKSLASH ? 2 : 1;
      if (depth === 1) [keyStart, keyEnd] = [start, i + 1];
    } else if (byte === 0x7b || byte === 0x5b) {
      depth++;
      if (depth > DEPTH_MAX + 3) throw new Trouble(`nested deeper than ${DEPTH_MAX}`);
      if (depth === 2 && byte === 0x5b && RESULTS.equals(bytes.subarray(keyStart, keyEnd))) resultsDepth = 3;
      if (depth === resultsDepth && byte === 0x7b) {
        recordStart = i;
        addAround(i);
      }
    } else if (byte === 0x7d || byte === 0x5d) {
      depth--;
      if (depth === 1) resultsDepth = Infinity;
      if (depth === 2 && resultsDepth === 3 && byte === 0x7d) {
        if (i + 1 - recordStart > RECORD_BYTES_MAX)
          throw new Trouble(`a record of more than ${RECORD_BYTES_MAX} bytes`);
        cuts.push(recordStart, i + 1);
        envelope += '0';
        aroundStart = i + 1;
      }
    }
  }
  if (depth > 0) throw new Trouble(`truncated JSON: it ends inside ${depth} brackets`);
  addAround(bytes.length);
  return { cuts, envelope };
}
