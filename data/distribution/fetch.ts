// Fetches an object of a target into a file: goes on where an earlier run ended, hashes on the way, and gives the file
// its name only when it is whole, as its hash says, and on the disk. Believes nothing that a target says of lengths. A
// hard link is not hashed: loading it verifies every section.
import { createHash, type Hash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rename, rm, statfs } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { failWith, renameDurably, statOf } from '../files.ts';
import { OperationError, reasonOf } from '../operationError.ts';
import { withTimeLimit } from '../timeLimit.ts';
import type { StoredObject, Target } from './target.ts';

const READ_BYTES = 1 << 20;
/** A target that sends fewer bytes in `stallMs` is asked again. */
const STALL_BYTES = 1 << 16;
/** So many attempts one after the other may bring less than that, with waits between them that double. */
const TRIES = 3;
const WAIT_MS = 250;
/** A slow disk takes minutes for gigabytes that it has cached. */
const SYNC_MS = 600_000;

/**
 * What is fetched from where to where; `signal` ends it, and the next run goes on there. `makeRoom` is called before a
 * fetch is refused for lack of room on the disk.
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

/** Where an object lies until it is whole. */
export function partialOf(file: string): string {
  return `${file}.partial`;
}

/**
 * Fetches an object unless its file is there, as a hard link if the target is a folder on the same file system. Returns
 * how many bytes the cache did not have. Throws OperationError: `network` if the target does not send all of it,
 * `snapshot` if the bytes are others, and `file` for the disk, before any request if it has no room. A disk that does
 * not answer is `network`, too. Cost: memory of one piece.
 */
export async function fetchObject(options: FetchOptions): Promise<number> {
  const { stored, file } = options;
  if ((await onDisk(file, () => statOf(file)))?.size === stored.size) return 0;
  if (await options.target.link?.(options.name, stored.size, file, options.signal)) return stored.size;
  const partial = partialOf(file);
  try {
    const kept = Math.min((await onDisk(file, () => statOf(partial)))?.size ?? 0, stored.size);
    const directory = path.dirname(file);
    const bytes = stored.size - kept;
    if (!(await hasRoom(directory, bytes))) {
      await onDisk(file, async () => options.makeRoom?.());
      // The message does not say how much is free: it changes, and a message that stays the same is reported once.
      if (!(await hasRoom(directory, bytes)))
        throw new OperationError('file', `no room in ${directory} for ${bytes} bytes that are to be fetched`);
    }
    const { came, sum } = await fetchInto(partial, options);
    if (sum === stored.sha256) {
      await onDisk(file, () => renameDurably(partial, file), SYNC_MS);
      return came;
    }
    await onDisk(file, () => rm(partial, { force: true }));
    // What an earlier run left may have lost bytes with the power.
    if (came < stored.size) return came + (await fetchObject(options));
    throw otherBytes(options, `has SHA-256 ${sum}, expected ${stored.sha256}`);
  } catch (error) {
    if (error instanceof OperationError) throw error;
    // Another replica with the same cache may have been quicker.
    if (await onDisk(file, () => statOf(file))) return 0;
    if (reasonOf(error) === 'ENOSPC') await onDisk(file, () => rm(partial, { force: true }));
    throw new OperationError('file', `cannot write ${file}: ${(error as Error).message}`, error);
  }
}

/**
 * Takes its name from a file that is damaged: a fetch then checks its hash, and continues or starts over. A hard link
 * is removed, because a fetch would write to the object of the target.
 */
export async function distrust(file: string): Promise<void> {
  await onDisk(file, async () => {
    const found = await statOf(file);
    if (!found) return;
    const isShared = found.nlink > 1;
    await (isShared ? rm(file) : rename(file, partialOf(file))).catch(failWith(`cannot rename or remove ${file}`));
  });
}

/** Does work in the folder of a file, as withTimeLimit does. */
function onDisk<T>(file: string, work: () => Promise<T>, limitMs?: number): Promise<T> {
  return withTimeLimit(path.dirname(file), work, limitMs);
}

async function hasRoom(directory: string, bytes: number): Promise<boolean> {
  const { bavail, bsize } = await withTimeLimit(directory, () => statfs(directory));
  return bytes <= bavail * bsize;
}

type FileHandle = Awaited<ReturnType<typeof open>>;

/** Completes a file; answers how many bytes came and the hash of all. */
async function fetchInto(partial: string, options: FetchOptions): Promise<{ came: number; sum: string }> {
  const { size } = options.stored;
  const hash = createHash('sha256');
  // Not to append: replicas that share a cache write the same bytes to the same places.
  const handle = await onDisk(partial, () => open(partial, constants.O_RDWR | constants.O_CREAT));
  try {
    let at = await hashed(handle, hash, options);
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
    return { came: at - first, sum: hash.digest('hex') };
  } finally {
    // Not awaited: it waits for a call that hangs.
    void handle.close().catch(() => undefined);
  }
}

/** Hashes what is there already; what is longer than it may be is begun anew. */
async function hashed(handle: FileHandle, hash: Hash, { stored, file }: FetchOptions): Promise<number> {
  const { size: found } = await onDisk(file, () => handle.stat());
  if (found > stored.size) {
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

/** Asks once for the bytes from `from` on, and appends what comes. Answers why no more comes. */
async function append(
  handle: FileHandle,
  hash: Hash,
  from: number,
  { target, name, stored, file, signal, stallMs }: FetchOptions,
  onBytes: (bytes: number) => void,
): Promise<OperationError> {
  const failure = (why: string): OperationError => new OperationError('network', `${target.name}: ${name} ${why}`);
  const stalled = new AbortController();
  let at = from;
  // Those too that are skipped, where a server gives the object from its start.
  let came = 0;
  let last = -STALL_BYTES;
  const timer = setInterval(() => {
    if (came - last < STALL_BYTES) stalled.abort(failure(`comes too slowly, or not at all, at byte ${at}`));
    last = came;
  }, stallMs);
  try {
    const found = await target.read(name, from, AbortSignal.any([signal, stalled.signal]));
    if (!found) return failure('is gone');
    let skip = from - found.offset;
    for await (const whole of found.pieces) {
      came += whole.length;
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

/** Writes a piece at a position: a write may take less than it is given. */
async function writeAll(handle: FileHandle, piece: Uint8Array, position: number): Promise<void> {
  for (let at = 0; at < piece.length;)
    at += (await handle.write(piece, at, piece.length - at, position + at)).bytesWritten;
}

function otherBytes({ target, name }: FetchOptions, what: string): OperationError {
  return new OperationError('snapshot', `${target.name}: ${name} ${what}`);
}
