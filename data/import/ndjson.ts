// Reads the files of a data set directory as runs of whole lines, and compares them with its manifest. Decodes nothing.
// The only reader of data set directories; memory is bounded by the size of a run.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { createGunzip } from 'node:zlib';
import { nearestName } from '../../engine/bits/suggest.ts';
import { COLLECTIONS, collectionNamed } from '../../engine/schema/catalogue.ts';
import { LineMemory, type Lines, READ_BYTES, RUN_BYTES } from '../decode/lines.ts';
import { assertFile, cannotRead, foundAt, placeOf, refuseNdjson } from '../files.ts';
import { assertNdjson } from './form.ts';
import { MANIFEST_FILE, readManifest, type Manifest } from './manifest.ts';
import { OperationError } from '../operationError.ts';
import { ImportProfile } from '../importProfile.ts';

/** A line longer than this is refused: no record is, and an unbounded line would be unbounded memory. */
const LINE_BYTES_MAX = 64 << 20;

/** A name before the ending of another JSON, or of another compression. */
const NEAR_NAME = /^([^.]+)\.(?:json|jsonl|ldjson|ndjson)(?:\.(?:gz|bz2|xz|zst|lz4|br|zip))?$/i;

/** The file of one collection. `bytes` is its size on disk, `sha256` the sum that the manifest has of it. */
export interface CollectionFile {
  readonly collection: string;
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string | undefined;
}

/**
 * The files of a data set, by collection in the order of the root view, and its manifest. Names of files that are
 * `ignored` are those of collections, but not of NDJSON: `observations.json`.
 */
export interface DataSet {
  readonly files: readonly CollectionFile[];
  readonly ignored: readonly string[];
  readonly manifest: Manifest;
}

/**
 * The data set of a directory, also while a crawl is putting it there. Throws OperationError `file` or `input` when
 * there is none, a file fits no collection, or one that the manifest names is missing, stored compressed or not.
 */
export async function openDataSet(named: string): Promise<DataSet> {
  const directory = placeOf(named);
  const found = foundAt(directory);
  refuseNdjson(directory, found);
  if (found?.isDirectory() === false) {
    throw new OperationError('file', `${directory} is no directory: want one of <collection>.ndjson files`);
  }
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
    const held = await stat(file).catch(cannotRead(file));
    assertFile(file, held);
    files.push({ collection, path: file, bytes: held.size, sha256: manifest.sha256.get(name) });
  }
  const ignored = names.filter(isNearName);
  if (files.length === 0) {
    const instead = ignored.length > 0 ? `, but ${ignored.join(', ')}` : '';
    const absence = `${directory} holds no <collection>.ndjson file, such as observations.ndjson${instead}`;
    throw new OperationError('input', absence);
  }
  for (const name of namedBy(manifest)) {
    if (files.some(({ collection }) => collection === collectionOf(name))) continue;
    throw new OperationError('input', `${path.join(directory, name)} is missing, which ${MANIFEST_FILE} names`);
  }
  const order = COLLECTIONS.map(({ name }) => name);
  files.sort((a, b) => order.indexOf(a.collection) - order.indexOf(b.collection));
  return { files, ignored, manifest };
}

/** The collection that a file is of by its name; `undefined` for files of other kinds. */
function collectionOf(file: string): string | undefined {
  return /^(.*)\.ndjson(\.gz)?$/.exec(file)?.[1];
}

/** Whether a file is named as a collection is, and as another JSON or compression is: nothing reads it. */
function isNearName(name: string): boolean {
  const [, stem = ''] = NEAR_NAME.exec(name) ?? [];
  return collectionOf(name) === undefined && collectionNamed(stem.toLowerCase()) !== undefined;
}

/** Files of collections that have records or a sum in the manifest. */
function namedBy({ counts, sha256 }: Manifest): readonly string[] {
  const counted = [...counts].filter(([, count]) => count > 0).map(([collection]) => `${collection}.ndjson`);
  return [...counted, ...sha256.keys()].filter((name) => collectionOf(name) !== undefined);
}

/**
 * The lines of a file in runs, each in memory of its own, or of `memory` until it is given back there. Throws
 * OperationError when the file cannot be read, is no NDJSON by its start, holds a line that is too long, or, before the
 * last run, has another SHA-256 than the manifest says. What it takes is told to `profile`.
 */
export async function* readLines(
  file: CollectionFile,
  { profile = new ImportProfile(), memory = new LineMemory() }: { profile?: ImportProfile; memory?: LineMemory } = {},
): AsyncGenerator<Lines> {
  const hash = createHash('sha256');
  const onBytes = (bytes: Uint8Array): void => {
    if (file.sha256 !== undefined) profile.measure('reading', () => hash.update(bytes));
  };
  const source = await (file.path.endsWith('.gz') ? unzipped(file.path, onBytes) : plain(file.path, onBytes));
  let run = memory.take();
  let filled = 0;
  /** Where in the run the last line begins. */
  let lineStart = 0;
  let line = 1;
  try {
    for (;;) {
      if (filled === run.length) run = movedTo(new Uint8Array(filled * 2), run);
      const bytes = await source.fill(run.subarray(filled)).catch(cannotRead(file.path));
      if (bytes === 0) break;
      const end = filled + run.subarray(filled, filled + bytes).lastIndexOf(0x0a) + 1;
      const hasNewline = end > filled;
      filled += bytes;
      if (filled === bytes && line === 1) assertNdjson(file.path, run.subarray(0, filled));
      if (end < RUN_BYTES || !hasNewline) {
        if (hasNewline) lineStart = end;
        if (filled - lineStart > LINE_BYTES_MAX) throw tooLong(file, line + linesIn(run.subarray(0, filled)));
        continue;
      }
      const whole = run.subarray(0, end);
      const lines = profile.measure('reading', () => linesIn(whole));
      const rest = run.subarray(end, filled);
      filled = rest.length;
      lineStart = 0;
      // Behind the yield what was handed to another thread is gone.
      run = movedTo(memory.take(), rest);
      yield { bytes: whole, firstLine: line, fileBytesRead: source.fileBytesRead() };
      line += lines;
    }
  } finally {
    await source.close();
  }
  if (file.sha256 !== undefined) compareSums(file, hash.digest('hex'));
  if (filled === 0) memory.give(run);
  else yield { bytes: run.subarray(0, filled), firstLine: line, fileBytesRead: source.fileBytesRead() };
}

function movedTo(larger: Uint8Array<ArrayBuffer>, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  larger.set(bytes);
  return larger;
}

/** The bytes of a file, decompressed: `fill` writes the next ones into a target and answers how many, 0 at the end. */
interface Source {
  fill(target: Uint8Array): Promise<number>;
  fileBytesRead(): number;
  close(): Promise<void>;
}

async function plain(path: string, onBytes: (bytes: Uint8Array) => void): Promise<Source> {
  const handle = await open(path).catch(cannotRead(path));
  let read = 0;
  return {
    fill: async (target) => {
      const { bytesRead } = await handle.read(target, 0, Math.min(target.length, READ_BYTES), null);
      onBytes(target.subarray(0, bytesRead));
      read += bytesRead;
      return bytesRead;
    },
    fileBytesRead: () => read,
    close: () => handle.close(),
  };
}

function unzipped(path: string, onBytes: (bytes: Uint8Array) => void): Promise<Source> {
  const stream = createReadStream(path, { highWaterMark: READ_BYTES });
  stream.on('data', (bytes) => onBytes(bytes as Uint8Array));
  const text = stream.pipe(createGunzip({ chunkSize: READ_BYTES }));
  stream.on('error', (error) => text.destroy(error));
  const chunks = text[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  let left = new Uint8Array(0);
  return Promise.resolve({
    fill: async (target) => {
      if (left.length === 0) {
        const next = await chunks.next().catch(refuseOtherFormat(path));
        if (next.done === true) return 0;
        left = next.value as Uint8Array<ArrayBuffer>;
      }
      const bytes = Math.min(left.length, target.length);
      target.set(left.subarray(0, bytes));
      left = left.subarray(bytes);
      return bytes;
    },
    fileBytesRead: () => stream.bytesRead,
    // A decompressor that ends early, by an error or because no more is wanted, leaves its source open.
    close: () => {
      stream.destroy();
      text.destroy();
      return Promise.resolve();
    },
  });
}

/** Tells a file that does not begin as gzip does by that. */
function refuseOtherFormat(path: string): (error: Error) => never {
  return (error) => {
    if (error.message !== 'incorrect header check') throw error;
    throw new OperationError('file', `cannot read ${path}: it is not gzip, as its name says`, error);
  };
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

/** Through Buffer, whose search takes a third of the time of that of other arrays. */
function linesIn(run: Uint8Array): number {
  const bytes = Buffer.from(run.buffer, run.byteOffset, run.length);
  let lines = 0;
  for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, at + 1)) lines++;
  return lines;
}

function unknownCollection(file: string, collection: string): string {
  const names = COLLECTIONS.map(({ name }) => name);
  const nearest = nearestName(collection, names);
  const cure = nearest === undefined ? 'name it otherwise, or put it elsewhere' : `did you mean ${nearest}.ndjson?`;
  return `${file}: there is no collection ${collection}; ${cure}`;
}
