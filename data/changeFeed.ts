// The change feed of a generation: the latest changes as lines of JSON, for clients that keep copies of records. A
// response is a suffix of these bytes, so nothing is computed per request.
import { hash } from 'node:crypto';
import path from 'node:path';
import { GENERATION_DIGITS } from '../engine/snapshot/loaded.ts';
import { OperationError } from './operationError.ts';

/** Maximum bytes of the lines: some 450,000 changes. Every replica has them in memory. */
export const FEED_BYTES_MAX = 64_000_000;
/** Maximum number of generations: one every 15 minutes for 100 days. Their index takes 800 kB. */
export const FEED_GENERATIONS_MAX = 10_000;
/** Maximum bytes of a feed with its header and index. */
export const FEED_FILE_BYTES_MAX = FEED_BYTES_MAX + (1 << 21);

const FORMAT = 1;
const LINE_FEED = 0x0a;

/** A generation, and its changes from the previous one as lines of JSON. */
export interface FeedPart {
  readonly generation: string;
  readonly lines: readonly Uint8Array[];
}

/**
 * A feed in shared memory. A client that has one of the `generations` gets the bytes from that generation's offset on.
 * The last generation is the one being served. `sha256` is the hash of the index and all lines.
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
  const lines = Buffer.concat([jsonLine(index), ...parts.flatMap((part) => part.lines), jsonLine({ next })]);
  return Buffer.concat([jsonLine({ format: FORMAT, sha256: hash('sha256', lines) }), lines]);
}

function jsonLine(value: unknown): Uint8Array {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}

/**
 * Decodes a feed and copies it to shared memory. Throws OperationError `input` with `name` if the bytes are damaged or
 * belong to another generation. Cost: one hash of them, 0.1 s for the longest feed.
 */
export function decodeFeed(bytes: Uint8Array, generation: string, name: string): ChangeFeed {
  const refuse = (reason: string): never => {
    throw new OperationError('input', `${name}: ${reason}`);
  };
  const indexStart = bytes.indexOf(LINE_FEED) + 1;
  const sha256 = hash('sha256', bytes.subarray(indexStart));
  const head = jsonLine({ format: FORMAT, sha256 });
  if (!head.every((byte, i) => byte === bytes[i])) return refuse('it is damaged, or no change feed of this version');
  const start = bytes.indexOf(LINE_FEED, indexStart) + 1;
  // The hash is right, so the index has the form that encodeFeed writes.
  const index = JSON.parse(Buffer.from(bytes.subarray(indexStart, start)).toString()) as [string, number][];
  if (index.at(-1)?.[0] !== generation) return refuse('it is the change feed of another generation');
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  return { bytes: shared, generations: index.map(([id, end]) => [id, start + end]), sha256 };
}

/** The name of the change log in the folder of a replica that follows another catalogue. */
export const CHANGES_FILE = 'changes.log';

/** The path of the change log that belongs to a snapshot file. The log may not exist. */
export function changeLogPath(snapshot: string): string {
  return path.join(path.dirname(snapshot), CHANGES_FILE);
}

/** The path of a downloaded feed, next to its snapshot file. It exists only if the target has a feed. */
export function feedPath(snapshot: string): string {
  return `${snapshot}.changes`;
}
