// The manifest of a data set directory: the time of its data, and the counts and sums of its files when they were
// written. Reads MANIFEST.json and checks only its form; ndjson.ts compares the sums, collections.ts the counts.
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { isObject } from '../../engine/bits/json.ts';
import { parseInstant } from '../../engine/query/decimal.ts';
import { assertFile, cannotRead } from '../files.ts';
import { OperationError } from '../operationError.ts';

export const MANIFEST_FILE = 'MANIFEST.json';

/** A crawl writes about 150 bytes per page of a hundred records or more. */
const MANIFEST_BYTES_MAX = 64 << 20;

/**
 * The time of the data, records by collection, and SHA-256 sums in lower-case hexadecimal digits by file name as
 * stored. A crawl adds its base URL and how each collection was read, and checks these two itself.
 */
export interface Manifest {
  readonly created: string | undefined;
  readonly counts: ReadonlyMap<string, number>;
  readonly sha256: ReadonlyMap<string, string>;
  readonly source: unknown;
  readonly collections: unknown;
}

/**
 * Reads the manifest of a directory; empty if it has no such file. Throws OperationError `input` with a JSON pointer,
 * or `file`.
 */
export async function readManifest(directory: string): Promise<Manifest> {
  const file = path.join(directory, MANIFEST_FILE);
  const text = await readManifestText(file).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '{}';
    return cannotRead(file)(error);
  });
  const refusal = (reason: string, cause?: unknown) => new OperationError('input', `${file}: ${reason}`, cause);
  let manifest: unknown;
  try {
    manifest = JSON.parse(text);
  } catch (error) {
    throw refusal((error as Error).message, error);
  }
  if (!isObject(manifest)) throw refusal('expected an object');
  const { created, counts = {}, sha256 = {}, source, collections } = manifest;
  if (created !== undefined && (typeof created !== 'string' || Number.isNaN(parseInstant(created)))) {
    throw refusal('/created: expected a time such as "2026-01-31T00:00:00Z"');
  }
  if (!isObject(counts)) throw refusal('/counts: expected an object of numbers by collection');
  if (!isObject(sha256)) throw refusal('/sha256: expected an object of sums by file');
  for (const [name, count] of Object.entries(counts)) {
    if (!Number.isSafeInteger(count) || Number(count) < 0)
      throw refusal(`/counts/${name}: expected a number of records`);
  }
  for (const [name, sum] of Object.entries(sha256)) {
    if (typeof sum !== 'string' || !/^[0-9a-f]{64}$/i.test(sum))
      throw refusal(`/sha256/${name}: expected 64 hexadecimal digits`);
  }
  return {
    created,
    counts: new Map(Object.entries(counts).map(([name, count]) => [name, Number(count)])),
    sha256: new Map(Object.entries(sha256).map(([name, sum]) => [name, String(sum).toLowerCase()])),
    source,
    collections,
  };
}

async function readManifestText(file: string): Promise<string> {
  const stats = await stat(file);
  assertFile(file, stats);
  if (stats.size > MANIFEST_BYTES_MAX)
    throw new OperationError('input', `${file}: more than ${MANIFEST_BYTES_MAX} bytes, which no crawl writes`);
  return readFile(file, 'utf8');
}
