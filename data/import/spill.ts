// A file without a name to which the threads of an import write records, each what it has decoded: they never lie in
// memory as a whole, and no thread waits for another. Knows positions alone.
import { closeSync, openSync, rmSync } from 'node:fs';
import { attempt, readAllAt, writeAllAt } from '../files.ts';

/**
 * An open file, whose descriptor all threads of the process share; `path` is the name that it had. `next[0]` is where
 * the next bytes go: who adds some moves it before they are written.
 */
export interface Spill {
  readonly path: string;
  readonly descriptor: number;
  readonly next: BigInt64Array<SharedArrayBuffer>;
}

/** A new one; it ends with `closeSpill`, or with the process. Throws OperationError `file`. */
export function openSpill(path: string): Spill {
  return attemptIn(path, () => {
    const descriptor = openSync(path, 'wx+');
    try {
      rmSync(path, { force: true });
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
    return { path, descriptor, next: new BigInt64Array(new SharedArrayBuffer(8)) };
  });
}

/** Adds bytes, in any thread; answers where they stand. Throws OperationError `file` on a full disk. */
export function addToSpill({ path, descriptor, next }: Spill, bytes: Uint8Array): number {
  const start = Number(Atomics.add(next, 0, BigInt(bytes.length)));
  attemptIn(path, () => writeAllAt(descriptor, bytes, start));
  return start;
}

/** Fills `target` with what stands from a place on. Throws OperationError `file`. */
export function readSpill({ path, descriptor }: Spill, from: number, target: Uint8Array): void {
  attemptIn(path, () => {
    const bytes = readAllAt(descriptor, target, from);
    if (bytes < target.length) throw new Error(`it ends at byte ${from + bytes}`);
  });
}

/** Gives the file back, when no thread writes to it any more. */
export function closeSpill({ descriptor }: Spill): void {
  closeSync(descriptor);
}

function attemptIn<T>(path: string, act: () => T): T {
  return attempt(`cannot hold records in ${path}`, act);
}
