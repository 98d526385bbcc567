// Fetches an object of a target into a file. Resumes an earlier fetch, computes the hash meanwhile, and renames the
// file only when it is complete, has the right hash and is synced to the disk. Lengths that a target sends are not
// trusted. A hard link is not hashed, because loading it verifies every section.
import { createHash, type Hash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rename, rm, statfs } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { failWith, renameDurably, statWithoutBlocking } from '../files.ts';
import { OperationError, reasonOf } from '../operationError.ts';
import { withTimeLimit } from '../timeLimit.ts';
import type { StoredObject, Target } from './target.ts';

const READ_BYTES = 1 << 20;
/** A target that sends fewer bytes than this in `stallMs` is requested again. */
const STALL_BYTES = 1 << 16;
/** Attempts in a row that may bring fewer bytes than that. The wait between them doubles. */
const TRIES = 3;
const WAIT_MS = 250;
/** Syncing gigabytes of cached writes takes a slow disk minutes. */
const SYNC_MS = 600_000;

/**
 * The object to fetch and its file. `signal` stops the fetch; the next run resumes it. `makeRoom` is called before a
 * fetch is refused because the disk is full.
 */
export interface FetchOptions {
  readonly target: Target;
  readonly name: string;
  readonly stored: StoredObject;
  readonly file: string;
  readonly signal: AbortSignal;
  readonly stallMs: number;
  readonly makeRoom?: () => Promise<void>;
}

/** The path of an object until it is complete. */
export function partialPath(file: string): string {
  return `${file}.partial`;
}

/**
 * Fetches an object unless its file exists. If the target is a folder on the same file system, makes a hard link.
 * Returns how many bytes the cache did not have. Throws OperationError `network` if the target does not send all bytes
 * or the disk does not respond, `snapshot` if the bytes are wrong, `file` for other errors of the disk. A lack of room
 * is reported before any request. Memory: one piece.
 */
export async function fetchObject(options: FetchOptions): Promise<number> {
  const { stored, file } = options;
  if ((await onDisk(file, () => statWithoutBlocking(file)))?.size === stored.size) return 0;
  if (await options.target.link?.(options.name, stored.size, file, options.signal)) return stored.size;
  const partial = partialPath(file);
  try {
    const partialBytes = Math.min((await onDisk(file, () => statWithoutBlocking(partial)))?.size ?? 0, stored.size);
    const directory = path.dirname(file);
    const bytes = stored.size - partialBytes;
    if (!(await hasRoom(directory, bytes))) {
      await onDisk(file, async () => options.makeRoom?.());
      // The message does not contain the free space: it changes, and an unchanged message is reported only once.
      if (!(await hasRoom(directory, bytes)))
        throw new OperationError('file', `no room in ${directory} to fetch ${bytes} bytes`);
    }
    const { receivedBytes, sum } = await fetchInto(partial, options);
    if (sum === stored.sha256) {
      await onDisk(file, () => renameDurably(partial, file), SYNC_MS);
      return receivedBytes;
    }
    await onDisk(file, () => rm(partial, { force: true }));
    // The part from an earlier run may have lost bytes in a power failure: start over.
    if (receivedBytes < stored.size) return receivedBytes + (await fetchObject(options));
    throw wrongBytes(options, `has SHA-256 ${sum}, expected ${stored.sha256}`);
  } catch (error) {
    if (error instanceof OperationError) throw error;
    // Another replica with the same cache may have finished first.
    if (await onDisk(file, () => statWithoutBlocking(file))) return 0;
    if (reasonOf(error) === 'ENOSPC') await onDisk(file, () => rm(partial, { force: true }));
    throw new OperationError('file', `cannot write ${file}: ${(error as Error).message}`, error);
  }
}

/**
 * Renames a damaged file to its partial name: a fetch then checks its hash, and resumes or starts over. A hard link is
 * removed instead, because a fetch would overwrite the object of the target.
 */
export async function invalidateCached(file: string): Promise<void> {
  await onDisk(file, async () => {
    const stats = await statWithoutBlocking(file);
    if (!stats) return;
    const isShared = stats.nlink > 1;
    await (isShared ? rm(file) : rename(file, partialPath(file))).catch(failWith(`cannot rename or remove ${file}`));
  });
}

/** Does work in the folder of a file with a time limit (withTimeLimit). */
function onDisk<T>(file: string, work: () => Promise<T>, limitMs?: number): Promise<T> {
  return withTimeLimit(path.dirname(file), work, limitMs);
}

async function hasRoom(directory: string, bytes: number): Promise<boolean> {
  const { bavail, bsize } = await withTimeLimit(directory, () => statfs(directory));
  return bytes <= bavail * bsize;
}

type FileHandle = Awaited<ReturnType<typeof open>>;

/** Completes a partial file. Returns the number of fetched bytes and the hash of all bytes. */
async function fetchInto(partial: string, options: FetchOptions): Promise<{ receivedBytes: number; sum: string }> {
  const { size } = options.stored;
  const hash = createHash('sha256');
  // Not in append mode: replicas that share a cache write the same bytes to the same positions.
  const handle = await onDisk(partial, () => open(partial, constants.O_RDWR | constants.O_CREAT));
  try {
    let at = await hashPartial(handle, hash, options);
    const first = at;
    for (let failures = 0; at < size;) {
      const before = at;
      const failure = await append(handle, hash, at, options, (bytes) => (at += bytes));
      if (at === size) break;
      failures = at - before < STALL_BYTES ? failures + 1 : 0;
      if (failures >= TRIES || options.signal.aborted) throw failure;
      await wait(WAIT_MS * 2 ** failures, undefined, { signal: options.signal }).catch(() => undefined);
    }
    await onDisk(partial, () => handle.sync(), SYNC_MS);
    return { receivedBytes: at - first, sum: hash.digest('hex') };
  } finally {
    // Not awaited, because it would wait for a call that hangs.
    void handle.close().catch(() => undefined);
  }
}

/** Hashes the existing bytes and returns their number. A file that is too long is emptied. */
async function hashPartial(handle: FileHandle, hash: Hash, { stored, file }: FetchOptions): Promise<number> {
  const { size } = await onDisk(file, () => handle.stat());
  if (size > stored.size) {
    await onDisk(file, () => handle.truncate(0));
    return 0;
  }
  const buffer = Buffer.allocUnsafe(READ_BYTES);
  for (let at = 0; ;) {
    const { bytesRead } = await onDisk(file, () => handle.read(buffer, 0, READ_BYTES, at));
    if (bytesRead === 0) return at;
    hash.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
}

/** Requests the bytes from `from` on once and writes them. Returns why no more bytes come. */
async function append(
  handle: FileHandle,
  hash: Hash,
  from: number,
  { target, name, stored, file, signal, stallMs }: FetchOptions,
  onBytes: (bytes: number) => void,
): Promise<OperationError> {
  const failure = (reason: string): OperationError =>
    new OperationError('network', `${target.name}: ${name} ${reason}`);
  const stalled = new AbortController();
  let at = from;
  // Includes skipped bytes, because a server may send the object from its start.
  let receivedBytes = 0;
  let last = -STALL_BYTES;
  const timer = setInterval(() => {
    if (receivedBytes - last < STALL_BYTES) stalled.abort(failure(`comes too slowly, or not at all, at byte ${at}`));
    last = receivedBytes;
  }, stallMs);
  try {
    const object = await target.read(name, from, AbortSignal.any([signal, stalled.signal]));
    if (!object) return failure('is gone');
    let skip = from - object.offset;
    for await (const whole of object.pieces) {
      receivedBytes += whole.length;
      const piece = whole.subarray(Math.min(skip, whole.length));
      skip -= whole.length - piece.length;
      if (at + piece.length > stored.size) return failure(`is longer than ${stored.size} bytes`);
      await onDisk(file, () => writeAll(handle, piece, at));
      hash.update(piece);
      at += piece.length;
      onBytes(piece.length);
    }
    return failure(`ended at byte ${at} of ${stored.size}`);
  } catch (error) {
    if (error instanceof OperationError && error.code === 'network') return error;
    throw error;
  } finally {
    clearInterval(timer);
  }
}

/** Writes a whole piece at a position, because one write may write only a part of it. */
async function writeAll(handle: FileHandle, piece: Uint8Array, position: number): Promise<void> {
  for (let at = 0; at < piece.length;)
    at += (await handle.write(piece, at, piece.length - at, position + at)).bytesWritten;
}

function wrongBytes({ target, name }: FetchOptions, difference: string): OperationError {
  return new OperationError('snapshot', `${target.name}: ${name} ${difference}`);
}
