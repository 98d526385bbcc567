// A target that is a folder, which any HTTP server can serve. Objects and the pointer appear by renaming files that are
// synced to the disk. Of two publishers, the one that creates a hard link first wins.
import { fstatSync, linkSync, read, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { link, open, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readBytesWithin } from '../boundedBytes.ts';
import {
  assertFile,
  attempt,
  cannotRead,
  statIfExists,
  makeFolder,
  activateFile,
  statWithoutBlocking,
  readTextWithin,
} from '../files.ts';
import { finalName, withPartialPath } from '../leftovers.ts';
import { OperationError, reasonOf } from '../operationError.ts';
import type { HeldFile } from '../store/load.ts';
import {
  decodePointer,
  encodePointer,
  isObjectName,
  type ObjectBytes,
  POINTER_BYTES_MAX,
  POINTER_NAME,
  type PointerText,
  type PublishingTarget,
  type Target,
} from './target.ts';
import { withTimeLimit } from '../timeLimit.ts';

const READ_BYTES = 1 << 20;

/** The claim of a publisher to have the next pointer: a file with that pointer, named after its sequence. */
const CLAIM = /^current\.(\d{1,16})\.json$/;

/**
 * The folder of a `file:` URL as a target. The folder is created by the first write. Signals do not stop its file
 * system calls.
 */
export function fileTarget(url: URL): PublishingTarget {
  const folder = fileURLToPath(url);
  const pathTo = (name: string): string => path.join(folder, name);
  return {
    name: url.href,
    readPointer: async (known) => {
      const file = pathTo(POINTER_NAME);
      const object = await objectAt(file, 0);
      if (!object) return undefined;
      const text = (await readBytesWithin(object.pieces, POINTER_BYTES_MAX))?.toString();
      if (text === undefined) throw new OperationError('file', `${file} has more than ${POINTER_BYTES_MAX} bytes`);
      return text === known ? 'unchanged' : { text, validator: text };
    },
    read: async (name, offset) => objectAt(pathTo(name), offset),
    has: async (name, size) => statIfExists(pathTo(name))?.size === size,
    write: async (name, _size, pieces) => {
      const file = pathTo(name);
      attempt(`cannot write ${file}`, () => makeFolder(folder));
      await withPartialPath(file, async (partial) => {
        try {
          await writeFile(partial, pieces, { flag: 'wx', flush: true });
        } catch (error) {
          if (error instanceof OperationError) throw error;
          throw new OperationError('file', `cannot write ${file}: ${(error as Error).message}`, error);
        }
        activateFile(partial, file);
      });
    },
    adopt: async (name, held) => {
      attempt(`cannot write ${pathTo(name)}`, () => makeFolder(folder));
      return withPartialPath(pathTo(name), async (partial) => isAdopted(held, pathTo(name), partial));
    },
    replacePointer: async (next, expected) => replacePointer(folder, encodePointer(next), next.sequence, expected),
    list: async () =>
      attempt(`cannot read ${folder}`, () => readdirSync(folder))
        // Also partial files of publishers that were interrupted.
        .filter((name) => isObjectName(finalName(name)))
        .flatMap((name) => {
          const stats = statIfExists(pathTo(name));
          return stats ? [{ name, size: stats.size, modifiedMs: stats.mtimeMs }] : [];
        }),
    remove: async (name) => attempt(`cannot remove ${pathTo(name)}`, () => rmSync(pathTo(name), { force: true })),
    close: async () => undefined,
  };
}

/**
 * The folder of a `file:` URL as a read-only target, possibly on a mount that hangs. Calls reject like withTimeLimit
 * after `timeoutMs`, or when their signal is aborted. If the folder does not exist, readPointer throws OperationError
 * `file`.
 */
export function readableFolder(url: URL, timeoutMs: number): Target {
  const target = fileTarget(url);
  const folder = fileURLToPath(url);
  const pathTo = (name: string): string => path.join(folder, name);
  const withLimit = <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> =>
    withTimeLimit(folder, work, timeoutMs, signal);
  return {
    name: target.name,
    readPointer: (known, signal) =>
      withLimit(signal, async () => {
        const pointer = await target.readPointer(known, signal);
        if (pointer === undefined && !(await statWithoutBlocking(folder)))
          throw new OperationError('file', `${target.name}: there is no such folder`);
        return pointer;
      }),
    link: (name, size, file, signal) =>
      withLimit(signal, async () => {
        if ((await statWithoutBlocking(pathTo(name)))?.size !== size) return false;
        return link(pathTo(name), file).then(
          () => true,
          () => false,
        );
      }),
    read: async (name, offset, signal) => {
      const object = await withLimit(signal, () => target.read(name, offset, signal));
      return (
        object && { offset: object.offset, pieces: withLimitEach(object.pieces, (work) => withLimit(signal, work)) }
      );
    },
    close: target.close,
  };
}

async function* withLimitEach(
  pieces: AsyncIterable<Uint8Array>,
  within: (work: () => Promise<IteratorResult<Uint8Array>>) => Promise<IteratorResult<Uint8Array>>,
): AsyncGenerator<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await within(() => iterator.next());
      if (next.done) return;
      yield next.value;
    }
  } finally {
    // Not awaited, because it closes the file only after a read that may hang.
    void iterator.return?.().catch(() => undefined);
  }
}

/**
 * Links an open file to `file`, unless both are the same file already. Replaces another file there, damaged or not.
 * Returns false if linking is impossible.
 */
function isAdopted(held: HeldFile, file: string, partial: string): boolean {
  const isHeld = (other: string): boolean => {
    const [linked, original] = [statSync(other, { throwIfNoEntry: false }), fstatSync(held.descriptor)];
    return linked?.ino === original.ino && linked.dev === original.dev;
  };
  // A rename between two names of the same file would leave both.
  if (isHeld(file)) return true;
  try {
    linkSync(held.file, partial);
  } catch {
    return false;
  }
  // Another file may have taken the name since it was opened.
  if (isHeld(partial)) {
    activateFile(partial, file);
    return true;
  }
  rmSync(partial);
  return false;
}

function pointerIn(folder: string): string | undefined {
  const file = path.join(folder, POINTER_NAME);
  return statIfExists(file) ? readTextWithin(file, POINTER_BYTES_MAX) : undefined;
}

/**
 * The bytes of a file from an offset on; undefined if it does not exist. The file is opened when the first bytes are
 * read.
 */
async function objectAt(file: string, offset: number): Promise<ObjectBytes | undefined> {
  const stats = await statWithoutBlocking(file);
  if (!stats) return undefined;
  assertFile(file, stats);
  return { offset, pieces: readPieces(file, offset) };
}

/** The bytes of a file from an offset on. Throws OperationError `file`. */
async function* readPieces(file: string, offset: number): AsyncGenerator<Uint8Array> {
  const handle = await open(file).catch(cannotRead(file));
  try {
    yield* readHeldPieces({ descriptor: handle.fd, file }, offset);
  } finally {
    await handle.close();
  }
}

/** The bytes of an open file from an offset on. Throws OperationError `file`. */
export async function* readHeldPieces({ descriptor, file }: HeldFile, offset = 0): AsyncGenerator<Uint8Array> {
  for (let position = offset; ;) {
    // A new buffer for each piece, because the caller may hold several.
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    const { bytesRead } = await readAt(descriptor, buffer, 0, READ_BYTES, position).catch(cannotRead(file));
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

const readAt = promisify(read);

/**
 * Links the new pointer to the name of its sequence, which only one publisher can do, then renames it to replace the
 * current pointer. If another publisher has that name and was interrupted, its pointer is activated instead. Returns
 * whether the new pointer won.
 */
async function replacePointer(
  folder: string,
  text: string,
  sequence: number,
  expected: PointerText | undefined,
): Promise<boolean> {
  const claim = path.join(folder, `current.${sequence}.json`);
  const file = path.join(folder, POINTER_NAME);
  return withPartialPath(file, async (partial) => {
    const isOurs = attempt(`cannot write ${file}`, () => {
      makeFolder(folder);
      writeFileSync(partial, text, { flush: true });
      return isLinked(partial, claim);
    });
    if (pointerIn(folder) !== expected?.text) {
      // The pointer has changed since it was read, so no successor of that one may be activated.
      attempt(`cannot remove ${partial}`, () => {
        if (isOurs) rmSync(claim, { force: true });
        rmSync(partial, { force: true });
      });
      return false;
    }
    attempt(`cannot remove ${partial}`, () => rmSync(partial, { force: true }));
    // Otherwise another publisher has activated it, and may already have replaced it.
    if (isPutInPlace(claim, file)) removeClaims(folder, sequence);
    return isOurs;
  });
}

function isLinked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Renames a claim to the current pointer, which also removes the claim. Returns false if the claim no longer exists.
 */
function isPutInPlace(claim: string, file: string): boolean {
  try {
    const text = attempt(`cannot read ${claim}`, () => readFileSync(claim, 'utf8'));
    decodePointer(text, claim);
    activateFile(claim, file);
    return true;
  } catch (error) {
    if (error instanceof OperationError && reasonOf(error.cause) === 'ENOENT') return false;
    throw error;
  }
}

function removeClaims(folder: string, sequence: number): void {
  attempt(`cannot write ${folder}`, () => {
    for (const name of readdirSync(folder))
      if (Number(CLAIM.exec(name)?.[1] ?? Infinity) <= sequence) rmSync(path.join(folder, name), { force: true });
  });
}
