import { OperationError } from '../operationError.ts';
import {
  decodePointer,
  type ListedObject,
  objectNames,
  POINTER_NAME,
  type PublishingTarget,
  readCurrent,
} from './target.ts';

/** Younger objects that no pointer has named may belong to a publisher that is still working. */
const STRAY_MS_MAX = 86_400_000;

/** The outcome. `missing` is an object that became needed again while it was removed. */
export interface PruneReport {
  readonly removed: number;
  readonly removedBytes: number;
  readonly kept: number;
  readonly missing: string | undefined;
}

/**
 * Removes old objects and the remains of killed publishers from a target. Keeps the objects of the current generation,
 * of the `keep - 1` before it, and those from the day before `nowMs` that no pointer has named. The pointer does not
 * change. Throws OperationError `file`, `network` (also if nothing is published), and `snapshot` for an invalid
 * pointer.
 */
export async function pruneTarget(target: PublishingTarget, keep: number, nowMs: number): Promise<PruneReport> {
  // Before the pointer is read: objects that a publisher adds from now on are not candidates.
  const objects = await target.list();
  const current = await readCurrent(target);
  if (!current)
    throw new OperationError('network', `${target.name}: nothing is published there, it has no ${POINTER_NAME}`);
  const pointer = decodePointer(current.text, target.name);
  const needed = new Set(objectNames(pointer));
  for (const { objects: names } of pointer.earlier.slice(0, keep - 1)) for (const name of names) needed.add(name);
  const known = new Set(pointer.earlier.flatMap(({ objects: names }) => names));
  const unneeded = objects.filter(({ name, modifiedMs }) => {
    return !needed.has(name) && (known.has(name) || nowMs - modifiedMs > STRAY_MS_MAX);
  });
  const removed: typeof unneeded = [];
  for (const object of unneeded) {
    // A publisher may have found an object here and need it now. The next pruning sees its pointer.
    if ((await readCurrent(target))?.text !== current.text) break;
    await target.remove(object.name);
    removed.push(object);
  }
  const missing = await findMissing(target, removed);
  const removedBytes = removed.reduce((sum, { size }) => sum + size, 0);
  return { removed: removed.length, removedBytes, kept: objects.length - removed.length, missing };
}

/** The first removed object that the current pointer needs and that no publisher has put back. */
async function findMissing(target: PublishingTarget, removed: readonly ListedObject[]): Promise<string | undefined> {
  if (removed.length === 0) return undefined;
  const current = await readCurrent(target);
  if (!current) return undefined;
  const needed = new Set(objectNames(decodePointer(current.text, target.name)));
  for (const { name, size } of removed) if (needed.has(name) && !(await target.has(name, size))) return name;
  return undefined;
}
