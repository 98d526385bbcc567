// File operations whose failures are reported as OperationErrors with the file's name. Knows nothing about the content
// of files, except where to find a data set that a crawl is replacing.
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  type Stats,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { open, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import { OperationError, reasonOf } from './operationError.ts';
import type { UncachedReader } from './uncached.ts';

const READ_BYTES = 8 << 20;
const PIECE_BYTES = 4096;

/** The default directory for the state of a crawl into `output`. */
export function stateFolder(output: string): string {
  return `${path.resolve(output)}.crawl`;
}

/** The paths in the state of a crawl: the new data set, the old one, and the lock. */
export function statePaths(state: string): Readonly<Record<'collected' | 'previous' | 'lock', string>> {
  const pathTo = (name: string): string => path.join(state, name);
  return { collected: pathTo('data'), previous: pathTo('previous'), lock: pathTo('lock') };
}

/**
 * The path from which to read the data set `data`. Between the two renames with which a crawl replaces it, that is the
 * accepted data set in the state. Cost: one or two checks whether a file exists.
 */
export function currentDataPath(data: string): string {
  const { collected, previous } = statePaths(stateFolder(data));
  return !existsSync(data) && existsSync(previous) ? collected : data;
}

/**
 * Fills `target` from byte `offset` of a snapshot file, through its descriptor or a reader. Throws OperationError
 * `snapshot` if the file is too short.
 */
export function readInto(source: number | UncachedReader, file: string, target: Uint8Array, offset: number): void {
  for (let at = 0; at < target.length;) {
    const length = Math.min(target.length - at, READ_BYTES);
    const bytes = attempt(`cannot read ${file}`, () =>
      typeof source === 'number'
        ? readSync(source, target, at, length, offset + at)
        : source.read(target.subarray(at), offset + at),
    );
    if (bytes === 0) throw new OperationError('snapshot', `${file}: ended at byte ${offset + at} while it was read`);
    at += bytes;
  }
}

/**
 * Fills `target` from byte `offset` of an open file. Returns the number of bytes read, which is less at the end. Throws
 * system errors.
 */
export function readAllAt(descriptor: number, target: Uint8Array, offset: number): number {
  for (let filled = 0; filled < target.length;) {
    const bytes = readSync(descriptor, target, filled, target.length - filled, offset + filled);
    if (bytes === 0) return filled;
    filled += bytes;
  }
  return target.length;
}

/** Writes all bytes at `offset` of an open file. Throws system errors, for example on a full disk. */
export function writeAllAt(descriptor: number, bytes: Uint8Array, offset: number): void {
  for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at, bytes.length - at, offset + at);
}

/**
 * Opens a file for reading. Throws OperationError `file` if that fails, and for anything but a regular file: reading a
 * pipe or a device could block for ever.
 */
export function openFile(file: string): number {
  const failure = `cannot read ${file}`;
  assertFile(
    file,
    attempt(failure, () => statSync(file)),
  );
  return attempt(failure, () => openSync(file, 'r'));
}

/** Throws OperationError `file` unless `stats` describes a regular file: not a pipe, a device or a directory. */
export function assertFile(file: string, stats: Pick<Stats, 'isFile'>): void {
  if (!stats.isFile()) throw new OperationError('file', `cannot read ${file}: ${NO_FILE}`);
}

/**
 * The bytes of a file, or the reason why they are not read: `noFile` for a pipe, a device or a directory, or `tooLong`.
 * Never blocks. Reads at most one byte more than `bytesMax`, whatever length the system reports, which is 0 for files
 * in /proc. Throws system errors.
 */
export function readAtMost(file: string, bytesMax: number): Buffer | 'noFile' | 'tooLong' {
  // Opens a pipe without waiting for a writer, so that it can be recognised.
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return 'noFile';
    if (stats.size > bytesMax) return 'tooLong';
    const pieces: Buffer[] = [];
    for (let bytes = 0; ;) {
      const piece = Buffer.allocUnsafe(Math.min(Math.max(stats.size - bytes, PIECE_BYTES), READ_BYTES));
      const length = readSync(descriptor, piece);
      if (length === 0) return Buffer.concat(pieces, bytes);
      bytes += length;
      if (bytes > bytesMax) return 'tooLong';
      pieces.push(piece.subarray(0, length));
    }
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Syncs the names in a directory to the disk, if its file system supports that and the system can open directories.
 * Throws system errors.
 */
export function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } catch (error) {
    if (!NO_SYNC.has(String((error as NodeJS.ErrnoException).code))) throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** Replaces a file by a complete one, and syncs the name to the disk. Throws OperationError `file`. */
export function activateFile(partial: string, file: string): void {
  attempt(`cannot write ${file}`, () => {
    renameSync(partial, file);
    syncDirectory(path.dirname(file));
  });
}

/** Like activateFile, without blocking this thread. Throws system errors. */
export async function renameDurably(partial: string, file: string): Promise<void> {
  await rename(partial, file);
  if (process.platform === 'win32') return;
  const directory = await open(path.dirname(file));
  try {
    await directory.sync();
  } catch (error) {
    if (!NO_SYNC.has(reasonOf(error))) throw error;
  } finally {
    await directory.close();
  }
}

/** Replaces the content of a file atomically, and syncs it to the disk. Throws OperationError `file`. */
export function replaceFile(file: string, text: string): void {
  attempt(`cannot write ${file}`, () => writeFileSync(`${file}.next`, text, { flush: true }));
  activateFile(`${file}.next`, file);
}

/** The errors of file systems that need no sync of names. */
const NO_SYNC: ReadonlySet<string> = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP']);

/** The reason in errors if a file is expected and there is a pipe, a socket, a device or a directory. */
export const NO_FILE = 'it is no file but a pipe, a device or a directory';

/**
 * Returns the result of `operation`. Turns its errors into OperationErrors `file` whose message starts with `failure`.
 */
export function attempt<T>(failure: string, operation: () => T): T {
  try {
    return operation();
  } catch (error) {
    return failWith(failure)(error);
  }
}

/** Like `attempt`, as a handler of rejected promises. */
export function failWith(failure: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof OperationError) throw error;
    throw new OperationError('file', `${failure}: ${errorText(error as NodeJS.ErrnoException)}`, error);
  };
}

/**
 * The message of the system. If the folder of a path does not exist, a message about that: the system would name the
 * path, which may be one of our temporary files.
 */
function errorText({ code, path: file, message }: NodeJS.ErrnoException): string {
  const folder = code === 'ENOENT' && file !== undefined ? path.dirname(file) : undefined;
  return folder === undefined || existsSync(folder) ? message : `the folder ${folder} does not exist`;
}

/**
 * The properties of a path; undefined if nothing exists there. Throws OperationError `file` if that is unknown, for
 * example for lack of a permission on a folder.
 */
export function statIfExists(path: string): Stats | undefined {
  return attempt(`cannot read ${path}`, () => statSync(path, { throwIfNoEntry: false }));
}

/** Like `statIfExists`, without blocking this thread: the file system may hang. */
export async function statWithoutBlocking(path: string): Promise<Stats | undefined> {
  return stat(path).catch((error: unknown) => (ABSENT.has(reasonOf(error)) ? undefined : cannotRead(path)(error)));
}

const ABSENT: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR']);

/** Throws OperationError `file` if an NDJSON file is named instead of its directory. */
export function refuseNdjson(file: string, stats: Pick<Stats, 'isFile'> | undefined): void {
  if (!stats?.isFile() || !/\.(ndjson|jsonl?)(\.(gz|bz2|xz|zst))?$/i.test(file)) return;
  throw new OperationError('file', `${file} is a file; name the directory that holds it: ${path.dirname(file)}`);
}

/**
 * Creates a folder and its parents if they do not exist. Throws system errors. Node's recursive mkdir loops for ever if
 * the system reports a missing parent that exists, as below /proc.
 */
export function makeFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  const whole = path.resolve(folder);
  const parent = path.dirname(whole);
  if (parent !== whole && !existsSync(parent)) makeFolder(parent);
  try {
    mkdirSync(whole);
  } catch (error) {
    // Another process has created it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !statSync(whole).isDirectory()) throw error;
  }
}

/** Returns a handler that turns a rejected read of `subject` into an OperationError `file`. */
export function cannotRead(subject: string): (error: unknown) => never {
  return failWith(`cannot read ${subject}`);
}

/**
 * The text of a file of at most `bytesMax` bytes. Throws OperationError `file`, also for longer files and anything but
 * a regular file.
 */
export function readTextWithin(file: string, bytesMax: number): string {
  const bytes = attempt(`cannot read ${file}`, () => readAtMost(file, bytesMax));
  if (typeof bytes !== 'string') return bytes.toString();
  const reason = bytes === 'tooLong' ? `it has more than ${bytesMax} bytes` : 'it is no file';
  throw new OperationError('file', `cannot read ${file}: ${reason}`);
}
