// Reads the files of a data set directory as runs of whole lines, and its manifest. Decodes nothing.
// The only reader of data set directories; memory is bounded by the size of a run.
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { createGunzip } from 'node:zlib';
import { distance } from 'fastest-levenshtein';
import { COLLECTIONS, collectionNamed } from '../engine/schema/catalogue.ts';
import { parseInstant } from '../engine/query/instant.ts';
import { OperationError } from './operationError.ts';

/** A run holds at least this many bytes, so that decoding it is worth a thread's while. */
const RUN_BYTES = 2 << 20;

/** A line longer than this is refused: no record is, and an unbounded line would be unbounded memory. */
const LINE_BYTES_MAX = 64 << 20;

/** Whole lines of one file: `bytes` ends behind a line, the first of which has number `firstLine`. */
export interface Lines {
  readonly bytes: Uint8Array;
  readonly firstLine: number;
  readonly fileBytesRead: number;
}

/** The file of one collection. `bytes` is its size on disk. */
export interface CollectionFile {
  readonly collection: string;
  readonly path: string;
  readonly bytes: number;
}

/** The files of a data set, by collection in the order of the root view, and the data time of its manifest. */
export interface DataSet {
  readonly files: readonly CollectionFile[];
  readonly created: string | undefined;
}

/** The data set in a directory. Throws OperationError `file` or `input` when there is none, or a file fits no collection. */
export async function openDataSet(directory: string): Promise<DataSet> {
  const names = (await readdir(directory).catch(cannotRead(directory))).sort();
  const files: CollectionFile[] = [];
  for (const name of names) {
    const match = /^(.*)\.ndjson(\.gz)?$/.exec(name);
    if (!match) continue;
    const collection = match[1]!;
    const file = path.join(directory, name);
    if (!collectionNamed(collection)) throw new OperationError('input', unknownCollection(file, collection));
    if (files.some((other) => other.collection === collection)) {
      throw new OperationError(
        'input',
        `${directory}: ${collection} has two files, .ndjson and .ndjson.gz: remove one`,
      );
    }
    files.push({ collection, path: file, bytes: (await stat(file).catch(cannotRead(file))).size });
  }
  if (files.length === 0) {
    throw new OperationError('input', `${directory} holds no <collection>.ndjson file, such as observations.ndjson`);
  }
  const order = COLLECTIONS.map(({ name }) => name);
  files.sort((a, b) => order.indexOf(a.collection) - order.indexOf(b.collection));
  return { files, created: await createdOf(directory) };
}

/** Turns a failure to read `what` into an OperationError. */
function cannotRead(what: string): (error: unknown) => never {
  return (error) => {
    throw new OperationError('file', `cannot read ${what}: ${(error as Error).message}`, error);
  };
}

/** The lines of a file in runs. Throws OperationError when it cannot be read, or holds a line that is too long. */
export async function* linesOf(file: CollectionFile): AsyncGenerator<Lines> {
  const stream = createReadStream(file.path, { highWaterMark: 1 << 20 });
  const text = file.path.endsWith('.gz') ? stream.pipe(createGunzip({ chunkSize: 1 << 20 })) : stream;
  stream.on('error', (error) => text.destroy(error));
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  let line = 1;
  try {
    for await (const chunk of text as AsyncIterable<Uint8Array>) {
      pending.push(chunk);
      pendingBytes += chunk.length;
      const lineEnd = chunk.lastIndexOf(0x0a) + 1;
      if (pendingBytes - chunk.length + lineEnd < RUN_BYTES || lineEnd === 0) {
        if (pendingBytes > LINE_BYTES_MAX) throw tooLong(file, line + linesIn(joined(pending)));
        continue;
      }
      pending[pending.length - 1] = chunk.subarray(0, lineEnd);
      const bytes = joined(pending);
      const lines = linesIn(bytes);
      yield { bytes, firstLine: line, fileBytesRead: stream.bytesRead };
      line += lines;
      pending = [chunk.subarray(lineEnd)];
      pendingBytes = chunk.length - lineEnd;
    }
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error instanceof OperationError) throw error;
    throw new OperationError('file', `cannot read ${file.path}: ${error.message}`, error);
  } finally {
    // A decompressor that ends early, by an error or because no more is wanted, leaves its source open.
    stream.destroy();
  }
  if (pendingBytes > 0) yield { bytes: joined(pending), firstLine: line, fileBytesRead: stream.bytesRead };
}

function tooLong(file: CollectionFile, line: number): OperationError {
  return new OperationError('input', `${file.path}:${line}: a line of more than ${LINE_BYTES_MAX} bytes`);
}

function linesIn(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, at + 1)) lines++;
  return lines;
}

/** One array of its own memory, so that it can be handed to another thread. */
function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function unknownCollection(file: string, collection: string): string {
  const nearest = COLLECTIONS.map(({ name }) => name).sort(
    (a, b) => distance(a, collection) - distance(b, collection),
  )[0];
  return `${file}: there is no collection ${collection}; did you mean ${nearest}.ndjson?`;
}

async function createdOf(directory: string): Promise<string | undefined> {
  const file = path.join(directory, 'MANIFEST.json');
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : cannotRead(file)(error);
  });
  if (text === undefined) return undefined;
  let manifest: unknown;
  try {
    manifest = JSON.parse(text);
  } catch (error) {
    throw new OperationError('input', `${file}: ${(error as Error).message}`, error);
  }
  const created = (manifest as { created?: unknown } | null)?.created;
  if (created === undefined) return undefined;
  if (typeof created !== 'string' || Number.isNaN(parseInstant(created))) {
    throw new OperationError('input', `${file}: /created: expected a time such as "2026-01-31T00:00:00Z"`);
  }
  return created;
}
