// Reads the files of a data set directory as runs of complete lines, and compares them with its manifest. Memory is
// limited by the size of a run.
import { OperationError } from '../operationError.ts';
import { createHash } from 'node:crypto';
import { createReadStream, type ReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { createGunzip } from 'node:zlib';
import { nearestName } from '../../engine/bits/suggest.ts';
import { collectionNamed, COLLECTIONS } from '../../engine/schema/catalogue.ts';
import { type Lines, RUN_BYTES } from './decode.ts';
import { assertFile, cannotRead, statIfExists, currentDataPath, refuseNdjson } from '../files.ts';
import { type Manifest, MANIFEST_FILE, readManifest } from './manifest.ts';
import { ImportProfile } from '../importProfile.ts';

const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const NEWLINE = 0x0a;

/**
 * Throws OperationError `input`, with what to do, for a file that begins with a byte order mark, looks like UTF-16, or
 * is one JSON text over several lines. `start` is the start of the file. Cost: its blanks.
 */
function assertNdjson(file: string, start: Uint8Array): void {
  const fault = findFault(start);
  if (fault !== undefined) throw new OperationError('input', `${file}:1: ${fault}`);
}

function findFault(start: Uint8Array): string | undefined {
  const [first, second, third] = start;
  if (first === 0xef && second === 0xbb && third === 0xbf) {
    return 'the file begins with a byte order mark: save it as UTF-8 without one';
  }
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    return 'the file looks like UTF-16: save it as UTF-8, without a byte order mark';
  }
  const at = start.findIndex((byte) => !isBlank(byte));
  if (start[at] === OPEN_BRACKET) return notNdjsonText('a JSON array', "jq -c '.[]'");
  if (start[at] !== OPEN_BRACE) return undefined;
  const next = start.subarray(at + 1).find((byte) => byte === NEWLINE || !isBlank(byte));
  return next === NEWLINE ? notNdjsonText('JSON in many lines', 'jq -c .') : undefined;
}

function notNdjsonText(subject: string, cure: string): string {
  return `the file is ${subject} and not one record a line: ${cure} makes NDJSON of it`;
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === NEWLINE || byte === 0x0d;
}

/** Longer lines are refused: no record is that long, and the limit bounds memory. */
const LINE_BYTES_MAX = 64 << 20;

const READ_BYTES = 1 << 20;

/** A name with the extension of another JSON format or compression. */
const NEAR_NAME = /^([^.]+)\.(?:json|jsonl|ldjson|ndjson)(?:\.(?:gz|bz2|xz|zst|lz4|br|zip))?$/i;

/** The file of one collection. `bytes` is its size on disk, `sha256` its sum in the manifest. */
export interface CollectionFile {
  readonly collection: string;
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string | undefined;
}

/**
 * The files of a data set, in the collection order of the root view, and its manifest. `ignored` files are named after
 * a collection but are not NDJSON: `observations.json`.
 */
export interface DataSet {
  readonly files: readonly CollectionFile[];
  readonly ignored: readonly string[];
  readonly manifest: Manifest;
}

/**
 * Opens the data set of a directory, also while a crawl is replacing it. Throws OperationError `file` or `input` if
 * it does not exist, if a file belongs to no collection, or if a file in the manifest is missing, compressed or not.
 */
export async function openDataSet(named: string): Promise<DataSet> {
  const directory = currentDataPath(named);
  const stats = statIfExists(directory);
  refuseNdjson(directory, stats);
  if (stats?.isDirectory() === false) {
    throw new OperationError('file', `${directory} is no directory: want one of <collection>.ndjson files`);
  }
  const names = (await readdir(directory).catch(cannotRead(directory))).sort();
  const manifest = await readManifest(directory);
  const files: CollectionFile[] = [];
  for (const name of names) {
    const collection = collectionName(name);
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
    const others = ignored.length > 0 ? `, but ${ignored.join(', ')}` : '';
    const absence = `${directory} holds no <collection>.ndjson file, such as observations.ndjson${others}`;
    throw new OperationError('input', absence);
  }
  for (const name of filesInManifest(manifest)) {
    if (files.some(({ collection }) => collection === collectionName(name))) continue;
    throw new OperationError('input', `${path.join(directory, name)} is missing, which ${MANIFEST_FILE} names`);
  }
  const order = COLLECTIONS.map(({ name }) => name);
  files.sort((a, b) => order.indexOf(a.collection) - order.indexOf(b.collection));
  return { files, ignored, manifest };
}

/** The collection in a file's name; `undefined` for other kinds of files. */
function collectionName(file: string): string | undefined {
  return /^(.*)\.ndjson(\.gz)?$/.exec(file)?.[1];
}

/** Whether a file that nothing reads is named after a collection. */
function isNearName(name: string): boolean {
  const [, stem = ''] = NEAR_NAME.exec(name) ?? [];
  return collectionName(name) === undefined && collectionNamed(stem.toLowerCase()) !== undefined;
}

/** The names of files with records or a sum in the manifest. */
function filesInManifest({ counts, sha256 }: Manifest): readonly string[] {
  const counted = [...counts].filter(([, count]) => count > 0).map(([collection]) => `${collection}.ndjson`);
  return [...counted, ...sha256.keys()].filter((name) => collectionName(name) !== undefined);
}

/**
 * The lines of a file in runs, each in its own memory. Throws OperationError if the file cannot be read, does not look
 * like NDJSON at its start, or has a line that is too long. Also if its SHA-256 differs from the manifest's; this is
 * thrown before the last run. `profile` gets the CPU time.
 */
export async function* readLines(file: CollectionFile, profile = new ImportProfile()): AsyncGenerator<Lines> {
  const hash = createHash('sha256');
  const stream = createReadStream(file.path, { highWaterMark: READ_BYTES });
  const onBytes = (bytes: Uint8Array): void => {
    if (file.sha256 !== undefined) profile.measure('reading', () => hash.update(bytes));
  };
  /** The pieces after the last run, their bytes, and the start of their last line. */
  let [pieces, bytes, lineStart]: [Uint8Array[], number, number] = [[], 0, 0];
  let line = 1;
  try {
    for await (const piece of readText(file, stream, onBytes)) {
      if (line === 1 && bytes === 0) assertNdjson(file.path, piece);
      const end = piece.lastIndexOf(NEWLINE) + 1;
      if (end > 0 && bytes + end >= RUN_BYTES) {
        const run = joinPieces([...pieces, piece.subarray(0, end)]);
        const lines = profile.measure('reading', () => countLines(run));
        [pieces, bytes, lineStart] = [[piece.subarray(end)], piece.length - end, 0];
        yield { bytes: run, firstLine: line, fileBytesRead: stream.bytesRead };
        line += lines;
        continue;
      }
      if (end > 0) lineStart = bytes + end;
      pieces.push(piece);
      bytes += piece.length;
      if (bytes - lineStart > LINE_BYTES_MAX) throw tooLong(file, line + countLines(joinPieces(pieces)));
    }
  } catch (error) {
    cannotRead(file.path)(error);
  }
  if (file.sha256 !== undefined) compareSums(file, hash.digest('hex'));
  if (bytes > 0) yield { bytes: joinPieces(pieces), firstLine: line, fileBytesRead: stream.bytesRead };
}

/** Joins pieces in unpooled memory, because it is transferred to another thread. */
function joinPieces(pieces: readonly Uint8Array[]): Buffer {
  const run = Buffer.allocUnsafeSlow(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    run.set(piece, at);
    at += piece.length;
  }
  return run;
}

/** The decompressed bytes of a file. `onBytes` is called with the bytes as stored. */
async function* readText(
  { path }: CollectionFile,
  stream: ReadStream,
  onBytes: (bytes: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  const isZipped = path.endsWith('.gz');
  const text = isZipped ? stream.pipe(createGunzip({ chunkSize: READ_BYTES })) : stream;
  if (isZipped) stream.on('data', (bytes) => onBytes(bytes as Uint8Array)).on('error', (error) => text.destroy(error));
  try {
    for await (const bytes of text as AsyncIterable<Uint8Array>) {
      if (!isZipped) onBytes(bytes);
      yield bytes;
    }
  } catch (error) {
    if ((error as Error).message !== 'incorrect header check') throw error;
    throw new OperationError('file', `cannot read ${path}: it is not gzip, as its name says`, error);
  } finally {
    // A decompressor that stops early, after an error or when the caller stops reading, leaves its source open.
    stream.destroy();
    text.destroy();
  }
}

function compareSums({ path: file, sha256 }: CollectionFile, sum: string): void {
  if (sum === sha256) return;
  const claim = `${MANIFEST_FILE} has ${sha256}`;
  throw new OperationError(
    'input',
    `${file}: its SHA-256 is ${sum}, ${claim}: the file is damaged, or of another time`,
  );
}

function tooLong(file: CollectionFile, line: number): OperationError {
  return new OperationError('input', `${file.path}:${line}: a line of more than ${LINE_BYTES_MAX} bytes`);
}

function countLines(run: Buffer): number {
  let lines = 0;
  for (let at = run.indexOf(NEWLINE); at >= 0; at = run.indexOf(NEWLINE, at + 1)) lines++;
  return lines;
}

function unknownCollection(file: string, collection: string): string {
  const names = COLLECTIONS.map(({ name }) => name);
  const nearest = nearestName(collection, names);
  const cure = nearest === undefined ? 'rename it, or move it away' : `did you mean ${nearest}.ndjson?`;
  return `${file}: there is no collection ${collection}; ${cure}`;
}
