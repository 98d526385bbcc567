// Removes from a target what no replica needs any more: the objects of generations long gone, and what publishers that
// were killed left. The pointer decides, and stays as it is.
import { OperationError } from '../operationError.ts';
import { decodePointer, type ListedObject, objectsOf, POINTER_NAME, type PublishingTarget } from './target.ts';

/** What no pointer ever named may belong to a publisher that is under way, for so long. */
const STRAY_MS_MAX = 86_400_000;

/** What was removed, and what is left. `missing` was removed, and became current again in that moment. */
export interface PruneReport {
  readonly removed: number;
  readonly removedBytes: number;
  readonly kept: number;
  readonly missing: string | undefined;
}

/**
 * Keeps the objects of the current generation and of the `keep - 1` before it, and what was put there within a day
 * before `nowMs` and never pointed to; removes all other objects. Throws OperationError `file`, `network`, also where
 * nothing is published, and `snapshot` for a pointer that is none.
 */
export async function pruneTarget(target: PublishingTarget, keep: number, nowMs: number): Promise<PruneReport> {
  const { signal } = new AbortController();
  // Before the pointer is read, so that what a publisher puts there from now on is not judged by it.
  const objects = await target.list();
  const found = await target.readPointer(undefined, signal);
  if (found === undefined || found === 'unchanged')
    throw new OperationError('network', `${target.name}: nothing is published there, it has no ${POINTER_NAME}`);
  const pointer = decodePointer(found.text, target.name);
  const needed = new Set(objectsOf(pointer));
  for (const { objects: names } of pointer.earlier.slice(0, keep - 1)) for (const name of names) needed.add(name);
  const known = new Set(pointer.earlier.flatMap(({ objects: names }) => names));
  const unneeded = objects.filter(({ name, modifiedMs }) => {
    return !needed.has(name) && (known.has(name) || nowMs - modifiedMs > STRAY_MS_MAX);
  });
  const removed: typeof unneeded = [];
  for (const one of unneeded) {
    // A publisher may have come to need it meanwhile, having found it there: the next pruning knows.
    const now = await target.readPointer(undefined, signal);
    if (now === undefined || now === 'unchanged' || now.text !== found.text) break;
    await target.remove(one.name);
    removed.push(one);
  }
  const missing = await missingOf(target, removed);
  const removedBytes = removed.reduce((sum, { size }) => sum + size, 0);
  return { removed: removed.length, removedBytes, kept: objects.length - removed.length, missing };
}

/** What was removed, is needed by the pointer as it is now, and was put there by nobody yet. */
async function missingOf(target: PublishingTarget, removed: readonly ListedObject[]): Promise<string | undefined> {
  if (removed.length === 0) return undefined;
  const now = await target.readPointer(undefined, new AbortController().signal);
  if (now === undefined || now === 'unchanged') return undefined;
  const needed = new Set(objectsOf(decodePointer(now.text, target.name)));
  for (const { name, size } of removed) if (needed.has(name) && !(await target.has(name, size))) return name;
  return undefined;
}
