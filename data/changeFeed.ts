// The change feed of a generation: the last changes as lines of JSON, for clients that keep copies. A response is the
// end of these bytes, so that nothing is made for a request.
import { hash } from 'node:crypto';
import path from 'node:path';
import { GENERATION_DIGITS } from '../engine/snapshot/loaded.ts';
import { OperationError } from './operationError.ts';

/** The most bytes of the lines of changes: some 450,000 changes. Every replica has them in memory. */
export const FEED_BYTES_MAX = 64_000_000;
/** The most generations: 100 days of one every quarter of an hour. Their index has 800 kB. */
export const FEED_GENERATIONS_MAX = 10_000;
/** No feed with its index is longer. */
export const FEED_FILE_BYTES_MAX = FEED_BYTES_MAX + (1 << 21);

const FORMAT = 1;
const LINE_FEED = 0x0a;

/** A generation with its changes from the one before, as lines. */
export interface FeedPart {
  readonly generation: string;
  readonly lines: readonly Uint8Array[];
}

/**
 * A feed in shared memory. The response to a client that has one of the `generations` is `bytes` from its offset on.
 * The last generation is the served one. `sha256` is that of all lines.
 */
export interface ChangeFeed {
  readonly bytes: Uint8Array;
  readonly generations: readonly (readonly [generation: string, offset: number])[];
  readonly sha256: string;
}

/**
 * The bytes of a feed. Nothing is known of what changed before its first part, so that part has no lines.
 *
 *     {"format":1,"sha256":"<of all lines that follow>"}
 *     [["<generation>",0],["<generation>",<where its changes end, in bytes after this line>],...]
 *     {"time":"...","generation":"...","collection":"...","id":1,"change":"created"}
 *     ...
 *     {"next":"<generation>"}
 */
export function encodeFeed(parts: readonly FeedPart[]): Uint8Array {
  let end = 0;
  const index = parts.map(({ generation, lines }) => {
    for (const { length } of lines) end += length;
    return [generation, end] as const;
  });
  const next = parts.at(-1)!.generation.slice(0, GENERATION_DIGITS);
  const lines = Buffer.concat([lineOf(index), ...parts.flatMap((part) => part.lines), lineOf({ next })]);
  return Buffer.concat([lineOf({ format: FORMAT, sha256: hash('sha256', lines) }), lines]);
}

function lineOf(value: unknown): Uint8Array {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}

/**
 * The feed in these bytes, copied into shared memory. Throws OperationError `input` with `name` if they are damaged or
 * the feed of another generation. Cost: a hash of them, 0.1 s for the longest.
 */
export function decodeFeed(bytes: Uint8Array, generation: string, name: string): ChangeFeed {
  const refused = (what: string): never => {
    throw new OperationError('input', `${name}: ${what}`);
  };
  const indexStart = bytes.indexOf(LINE_FEED) + 1;
  const sha256 = hash('sha256', bytes.subarray(indexStart));
  const head = lineOf({ format: FORMAT, sha256 });
  if (!head.every((byte, i) => byte === bytes[i])) return refused('it is damaged, or no change feed of this version');
  const start = bytes.indexOf(LINE_FEED, indexStart) + 1;
  // As encodeFeed wrote it: the hash is right.
  const index = JSON.parse(Buffer.from(bytes.subarray(indexStart, start)).toString()) as [string, number][];
  if (index.at(-1)?.[0] !== generation) return refused('it is the change feed of another generation');
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  return { bytes: shared, generations: index.map(([one, end]) => [one, start + end]), sha256 };
}

/** The name of the change log in the folder of a replica that follows another. */
export const CHANGES_FILE = 'changes.log';

/** Where the log of the changes that lead to a snapshot file is, if there is one. */
export function changeLogOf(snapshot: string): string {
  return path.join(path.dirname(snapshot), CHANGES_FILE);
}

/** Where the feed of a snapshot file is, if a target had one. */
export function feedFileOf(snapshot: string): string {
  return `${snapshot}.changes`;
}
