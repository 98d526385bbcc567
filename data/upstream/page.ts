// Cuts the records out of a page's bytes as they were sent: key order and number tokens stay. Pure. Lengths and depth
// are bounded by one pass over the bytes before anything is parsed; what is no page is thrown as Trouble.
import { isUtf8 } from 'node:buffer';
import { DEPTH_MAX } from '../import/scanner.ts';
import { Trouble } from './client.ts';

/** No record of a catalogue is longer; a thousand times those known. */
const RECORD_BYTES_MAX = 8 << 20;

/** What stands around the records of a page: a count and two links. */
const ENVELOPE_BYTES_MAX = 1 << 16;

/** The member of a record that has the date of its last change, in services that have one. */
export const STAMP = 'lastUpdatedDate';

/** A record as it was sent, but for line breaks between its tokens. `stamp` is its modification date. */
export interface SentRecord {
  readonly id: number;
  readonly stamp: string | undefined;
  readonly text: string;
}

/** The size of a page that was asked for, and its validator; null if it has none. */
export type PageMark = readonly [limit: number, validator: string | null];

/** One page. `limit` is the page size that the upstream's own link names, where it has one. */
export interface SentPage {
  readonly count: number;
  readonly hasNext: boolean;
  readonly limit: number | undefined;
  readonly records: readonly SentRecord[];
}

/** A page, of records with the id `idField`. Throws Trouble. Cost: two passes over the bytes. */
export function parsePage(bytes: Buffer, idField: string): SentPage {
  if (bytes.length === 0) throw new Trouble('an empty body');
  if (bytes[0] === BRACKET) throw new Trouble('an array in place of a page, as of a service that has no pages');
  const { cuts, envelope } = cut(bytes);
  if (!isUtf8(bytes)) throw new Trouble('a page that is no UTF-8');
  const { count, next, results } = (parsed(envelope) ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < 0)
    throw new Trouble('a page without a count');
  if (next !== null && typeof next !== 'string') throw new Trouble('a page whose next is neither a link nor null');
  if (!Array.isArray(results)) throw new Trouble('a page without results');
  if (results.length * 2 !== cuts.length) throw new Trouble('results that are no records');
  const records = results.map((_, i) => recordIn(bytes.toString('utf8', cuts[i * 2], cuts[i * 2 + 1]), idField));
  const limit = /[?&]limit=(\d{1,9})(?:&|$)/.exec(next ?? '')?.[1];
  return { count, hasNext: next !== null, limit: limit === undefined ? undefined : Number(limit), records };
}

/** The record of a text. Throws Trouble. */
export function recordIn(text: string, idField: string): SentRecord {
  const { [idField]: id, [STAMP]: stamp } = parsed(text) as Readonly<Record<string, unknown>>;
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 0 || Object.is(id, -0))
    throw new Trouble(`a record whose ${idField} is no id`);
  // Within texts JSON has none.
  return { id, stamp: typeof stamp === 'string' ? stamp : undefined, text: text.replaceAll(/[\r\n]+/g, '') };
}

/** The value of a text whose depth and length are bounded. */
export function parsed(text: string): unknown {
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
 * Where the objects in the top-level array `results` start and end, in pairs, and the text of all else with a 0 in
 * place of each of them. Structure only: what stands between the brackets is not judged.
 */
function cut(bytes: Buffer): { cuts: readonly number[]; envelope: string } {
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
      throw new Trouble(`more than ${ENVELOPE_BYTES_MAX} bytes beside the records`);
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
  if (depth > 0) throw new Trouble(`cut JSON: it ends within ${depth} brackets`);
  addAround(bytes.length);
  return { cuts, envelope };
}
