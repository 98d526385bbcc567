// Reads the files of a data set directory as runs of whole lines, and compares them with its manifest. Decodes nothing.
// The only reader of data set directories; memory is bounded by the size of a run.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { createGunzip } from 'node:zlib';
import { closestName } from '../../engine/bits/suggest.ts';
import { COLLECTIONS, collectionNamed } from '../../engine/schema/catalogue.ts';
import { assertFile, cannotRead } from '../files.ts';
import { MANIFEST_FILE, readManifest, type Manifest } from './manifest.ts';
import { OperationError } from '../operationError.ts';
import { ImportProfile } from './profile.ts';

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

/** The file of one collection. `bytes` is its size on disk, `sha256` the sum that the manifest has of it. */
export interface CollectionFile {
  readonly collection: string;
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string | undefined;
}

/** The files of a data set, by collection in the order of the root view, and its manifest. */
export interface DataSet {
  readonly files: readonly CollectionFile[];
  readonly manifest: Manifest;
}

/**
 * The data set in a directory. Throws OperationError `file` or `input` when there is none, a file fits no collection,
 * or one that the manifest names is missing, stored compressed or not.
 */
export async function openDataSet(directory: string): Promise<DataSet> {
  const names = (await readdir(directory).catch(cannotRead(directory))).sort();
  const manifest = await readManifest(directory);
  const files: CollectionFile[] = [];
  for (const name of names) {
    const collection = collectionOf(name);
    if (collection === undefined) continue;
    const file = path.join(directory, name);
    if (!collectionNamed(collection)) throw new OperationError('input', unknownCollection(file, collection));
    if (files.some((other) => other.collection === collection)) {
      throw new OperationError(
        'input',
        `${directory}: ${collection} has two files, .ndjson and .ndjson.gz: remove one`,
      );
    }
    const found = await stat(file).catch(cannotRead(file));
    assertFile(file, found);
    files.push({ collection, path: file, bytes: found.size, sha256: manifest.sha256.get(name) });
  }
  if (files.length === 0) {
    throw new OperationError('input', `${directory} holds no <collection>.ndjson file, such as observations.ndjson`);
  }
  for (const name of namedBy(manifest)) {
    if (files.some(({ collection }) => collection === collectionOf(name))) continue;
    throw new OperationError('input', `${path.join(directory, name)} is missing, which ${MANIFEST_FILE} names`);
  }
  const order = COLLECTIONS.map(({ name }) => name);
  files.sort((a, b) => order.indexOf(a.collection) - order.indexOf(b.collection));
  return { files, manifest };
}

/** The collection that a file is of by its name; `undefined` for files of other kinds. */
function collectionOf(file: string): string | undefined {
  return /^(.*)\.ndjson(\.gz)?$/.exec(file)?.[1];
}

/** Files of collections that have records or a sum in the manifest. */
function namedBy({ counts, sha256 }: Manifest): readonly string[] {
  const counted = [...counts].filter(([, count]) => count > 0).map(([collection]) => `${collection}.ndjson`);
  return [...counted, ...sha256.keys()].filter((name) => collectionOf(name) !== undefined);
}

/**
 * The lines of a file in runs. Throws OperationError when it cannot be read, holds a line that is too long, or, before
 * the last run, has another SHA-256 than the manifest says. What it takes is told to `profile`.
 */
export async function* readLines(file: CollectionFile, profile = new ImportProfile()): AsyncGenerator<Lines> {
  const stream = createReadStream(file.path, { highWaterMark: 1 << 20 });
  const hash = createHash('sha256');
  if (file.sha256 !== undefined) stream.on('data', (bytes) => profile.measure('reading', () => hash.update(bytes)));
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
      const { bytes, lines } = profile.measure('reading', () => counted(joined(pending)));
      yield { bytes, firstLine: line, fileBytesRead: stream.bytesRead };
      line += lines;
      pending = [chunk.subarray(lineEnd)];
      pendingBytes = chunk.length - lineEnd;
    }
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error instanceof OperationError) throw error;
    return cannotRead(file.path)(error);
  } finally {
    // A decompressor that ends early, by an error or because no more is wanted, leaves its source open.
    stream.destroy();
  }
  if (file.sha256 !== undefined) compareSums(file, hash.digest('hex'));
  if (pendingBytes > 0) yield { bytes: joined(pending), firstLine: line, fileBytesRead: stream.bytesRead };
}

function compareSums({ path: file, sha256 }: CollectionFile, sum: string): void {
  if (sum === sha256) return;
  const wanted = `${MANIFEST_FILE} has ${sha256}`;
  throw new OperationError(
    'input',
    `${file}: its SHA-256 is ${sum}, ${wanted}: the file is damaged, or of another time`,
  );
}

function tooLong(file: CollectionFile, line: number): OperationError {
  return new OperationError('input', `${file.path}:${line}: a line of more than ${LINE_BYTES_MAX} bytes`);
}

function counted(bytes: Uint8Array): { bytes: Uint8Array; lines: number } {
  return { bytes, lines: linesIn(bytes) };
}

/** Through Buffer, whose search takes a third of the time of that of other arrays. */
function linesIn(run: Uint8Array): number {
  const bytes = Buffer.from(run.buffer, run.byteOffset, run.length);
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
  const nearest = closestName(
    collection,
    COLLECTIONS.map(({ name }) => name),
  );
  return `${file}: there is no collection ${collection}; did you mean ${nearest}.ndjson?`;
}
