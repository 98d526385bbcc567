// Reading and attempting file operations whose failures are the world's: told with the file's name. Knows nothing of
// what the files hold, but where a data set lies that a crawl is putting in its place.
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

/** The directory with the state of a crawl into `output`, where no other is named. */
export function stateBeside(output: string): string {
  return `${path.resolve(output)}.crawl`;
}

/** The paths in the state of a crawl: the new data set, the old one, and the lock. */
export function placesIn(state: string): Readonly<Record<'collected' | 'previous' | 'lock', string>> {
  const at = (name: string): string => path.join(state, name);
  return { collected: at('data'), previous: at('previous'), lock: at('lock') };
}

/**
 * Where what is named `data` is to be read: there, or, between the two renames by which a crawl replaces it, as the
 * accepted data set in the state beside it. Cost: one or two looks.
 */
export function placeOf(data: string): string {
  const { collected, previous } = placesIn(stateBeside(data));
  return !existsSync(data) && existsSync(previous) ? collected : data;
}

/**
 * Fills `target` from byte `offset` of a snapshot file, by its descriptor or a reader of it; OperationError `snapshot`
 * where the file ends before.
 */
export function readInto(source: number | UncachedReader, file: string, target: Uint8Array, offset: number): void {
  for (let at = 0; at < target.length;) {
    const wanted = Math.min(target.length - at, READ_BYTES);
    const bytes = attempt(`cannot read ${file}`, () =>
      typeof source === 'number'
        ? readSync(source, target, at, wanted, offset + at)
        : source.read(target.subarray(at), offset + at),
    );
    if (bytes === 0) throw new OperationError('snapshot', `${file}: ended at byte ${offset + at} while it was read`);
    at += bytes;
  }
}

/**
 * Fills `target` from byte `offset` of an open file; answers how many bytes there were. Throws what the system says.
 */
export function readAllAt(descriptor: number, target: Uint8Array, offset: number): number {
  for (let filled = 0; filled < target.length;) {
    const bytes = readSync(descriptor, target, filled, target.length - filled, offset + filled);
    if (bytes === 0) return filled;
    filled += bytes;
  }
  return target.length;
}

/** Writes all bytes at `offset` of an open file. Throws what the system says, as on a full disk. */
export function writeAllAt(descriptor: number, bytes: Uint8Array, offset: number): void {
  for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at, bytes.length - at, offset + at);
}

/**
 * Opens a file to read. Throws OperationError `file` where it cannot be had, and for what is no file: a pipe or a
 * device would be waited for, perhaps for ever.
 */
export function openFile(file: string): number {
  const what = `cannot read ${file}`;
  assertFile(
    file,
    attempt(what, () => statSync(file)),
  );
  return attempt(what, () => openSync(file, 'r'));
}

/** Throws OperationError `file` unless these are the properties of a file: not of a pipe, a device or a directory. */
export function assertFile(file: string, found: Pick<Stats, 'isFile'>): void {
  if (!found.isFile()) throw new OperationError('file', `cannot read ${file}: ${NO_FILE}`);
}

/**
 * The bytes of a file, or why they are not read: it is `noFile` but a pipe or a device, or it is `tooLong`. Waits for
 * nobody and reads no more than `bytesMax` and a byte, whatever the system says of the length: that of files in /proc
 * is 0. Throws what the system says.
 */
export function readAtMost(file: string, bytesMax: number): Buffer | 'noFile' | 'tooLong' {
  // A pipe is opened without somebody who writes, and then known for one.
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = fstatSync(descriptor);
    if (!found.isFile()) return 'noFile';
    if (found.size > bytesMax) return 'tooLong';
    const pieces: Buffer[] = [];
    for (let bytes = 0; ;) {
      const piece = Buffer.allocUnsafe(Math.min(Math.max(found.size - bytes, PIECE_BYTES), READ_BYTES));
      const read = readSync(descriptor, piece);
      if (read === 0) return Buffer.concat(pieces, bytes);
      bytes += read;
      if (bytes > bytesMax) return 'tooLong';
      pieces.push(piece.subarray(0, read));
    }
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Waits until the disk has the names in a directory, where its file system does that for directories, and the system
 * lets them be opened. Throws what the system says.
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

/**
 * Puts a file that is whole in the place of another, whose name the disk has once this returns. Throws OperationError
 * `file`.
 */
export function putInPlace(partial: string, file: string): void {
  attempt(`cannot write ${file}`, () => {
    renameSync(partial, file);
    syncDirectory(path.dirname(file));
  });
}

/** As putInPlace, without blocking this thread. Throws what the system says. */
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

/**
 * Puts a text in the place of a file, which is the old one or the new one whatever happens; once this returns, the disk
 * has it. Throws OperationError `file`.
 */
export function replaceFile(file: string, text: string): void {
  attempt(`cannot write ${file}`, () => writeFileSync(`${file}.next`, text, { flush: true }));
  putInPlace(`${file}.next`, file);
}

/** What file systems answer that keep names by themselves. */
const NO_SYNC: ReadonlySet<string> = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP']);

/** What is said of a pipe, a socket, a device or a directory where a file is wanted. */
export const NO_FILE = 'it is no file but a pipe, a device or a directory';

/** What `operation` answers; what it throws becomes an OperationError `file` that starts with `what`. */
export function attempt<T>(what: string, operation: () => T): T {
  try {
    return operation();
  } catch (error) {
    return failWith(what)(error);
  }
}

/** As `attempt`, for promises: what they reject with becomes an OperationError `file` that starts with `what`. */
export function failWith(what: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof OperationError) throw error;
    throw new OperationError('file', `${what}: ${wordsOf(error as NodeJS.ErrnoException)}`, error);
  };
}

/** What the system says, but for a path whose folder is not there: it says that of the path, which may be ours. */
function wordsOf({ code, path: file, message }: NodeJS.ErrnoException): string {
  const folder = code === 'ENOENT' && file !== undefined ? path.dirname(file) : undefined;
  return folder === undefined || existsSync(folder) ? message : `the folder ${folder} does not exist`;
}

/**
 * The properties of what a path names, or undefined where nothing is there. Throws OperationError `file` where that is
 * not to be known, as without the right to look into a folder.
 */
export function foundAt(path: string): Stats | undefined {
  return attempt(`cannot read ${path}`, () => statSync(path, { throwIfNoEntry: false }));
}

/** As `foundAt`, without keeping this thread: the file system may be one that does not answer. */
export async function statOf(path: string): Promise<Stats | undefined> {
  return stat(path).catch((error: unknown) => (ABSENT.has(reasonOf(error)) ? undefined : cannotRead(path)(error)));
}

const ABSENT: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR']);

/** Throws OperationError `file` for a file that is NDJSON by its name, where the directory that holds it is wanted. */
export function refuseNdjson(file: string, found: Pick<Stats, 'isFile'> | undefined): void {
  if (!found?.isFile() || !/\.(ndjson|jsonl?)(\.(gz|bz2|xz|zst))?$/i.test(file)) return;
  throw new OperationError('file', `${file} is a file; name the directory that holds it: ${path.dirname(file)}`);
}

/**
 * Makes a folder, and those around it, unless it is there. Throws what the system says. Node's own way never ends where
 * the system says of a folder that the one around it is missing, and that is there, as below /proc.
 */
export function makeFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  const whole = path.resolve(folder);
  const around = path.dirname(whole);
  if (around !== whole && !existsSync(around)) makeFolder(around);
  try {
    mkdirSync(whole);
  } catch (error) {
    // Somebody else made it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !statSync(whole).isDirectory()) throw error;
  }
}

/** Turns a failure to read `what` later, as promises tell it, into an OperationError `file`. */
export function cannotRead(what: string): (error: unknown) => never {
  return failWith(`cannot read ${what}`);
}

/** The text of a file of at most so many bytes. Throws OperationError `file`, for what is no file or longer too. */
export function textWithin(file: string, bytesMax: number): string {
  const bytes = attempt(`cannot read ${file}`, () => readAtMost(file, bytesMax));
  if (typeof bytes !== 'string') return bytes.toString();
  const what = bytes === 'tooLong' ? `it has more than ${bytesMax} bytes` : 'it is no file';
  throw new OperationError('file', `cannot read ${file}: ${what}`);
}
