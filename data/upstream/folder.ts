// The folder of a replica that follows another catalogue: the paths in it, and the notes of its last runs. Every file
// in it is replaced as a whole.
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { isObject } from '../../engine/bits/json.ts';
import { CHANGES_FILE } from '../changeFeed.ts';
import { attempt, statePaths, readAtMost, replaceFile } from '../files.ts';
import type { Origin } from '../import/earlier.ts';
import { removeDeadLock } from '../lock.ts';
import { OperationError } from '../operationError.ts';
import { withTimeLimit } from '../timeLimit.ts';

/** The paths in a folder. `next` is a complete snapshot that has not been activated yet. */
export interface FollowPaths {
  readonly dataSet: string;
  readonly crawlState: string;
  readonly snapshot: string;
  readonly next: string;
  readonly changes: string;
  readonly notes: string;
  readonly lock: string;
}

export interface FollowNotes {
  readonly url: string;
  /** The checksum of the data set from which the snapshot was built. */
  readonly imported: string;
  /** The sources of the snapshot's parts: the next snapshot takes over the parts that have not changed. */
  readonly origin?: Origin | undefined;
}

const NOTES_BYTES_MAX = 1 << 16;

export function followPaths(folder: string): FollowPaths {
  const pathTo = (name: string): string => path.join(path.resolve(folder), name);
  return {
    dataSet: pathTo('catalogue'),
    crawlState: pathTo('catalogue.crawl'),
    snapshot: pathTo('catalogue.snapshot'),
    next: pathTo('next.snapshot'),
    changes: pathTo(CHANGES_FILE),
    notes: pathTo('follow.json'),
    lock: pathTo('lock'),
  };
}

/** Removes the locks that a dead process of this host has left in a folder. Rejects if the folder is unusable. */
export async function removeDeadLocks(pid: number, folder: string): Promise<void> {
  const { lock, crawlState } = followPaths(folder);
  await withTimeLimit(folder, async () => {
    for (const file of [lock, statePaths(crawlState).lock]) await removeDeadLock(pid, file);
  });
}

/**
 * Reads the notes in a folder and claims it for this catalogue. A folder without data can follow any catalogue; what
 * was begun for another one is removed. Without a notes file, the notes are empty. Throws OperationError.
 */
export function claim(paths: FollowPaths, url: string): FollowNotes {
  const notes = readNotes(paths);
  if (notes?.url === url) return notes;
  const initial: FollowNotes = { url, imported: '' };
  if (!hasData(paths)) {
    attempt(`cannot remove ${paths.crawlState}`, () => rmSync(paths.crawlState, { recursive: true, force: true }));
    note(paths, initial);
  } else if (notes) {
    const cure = 'name another folder';
    throw new OperationError('usage', `${path.dirname(paths.notes)} follows ${notes.url}, not ${url}: ${cure}`);
  }
  return initial;
}

function hasData({ snapshot, dataSet }: FollowPaths): boolean {
  return existsSync(snapshot) || existsSync(dataSet);
}

function readNotes({ notes }: FollowPaths): FollowNotes | undefined {
  if (!existsSync(notes)) return undefined;
  const text = attempt(`cannot read ${notes}`, () => readAtMost(notes, NOTES_BYTES_MAX));
  const parsed = parseNotes(String(text));
  if (!parsed) throw new OperationError('file', `${notes} is not a file of this program: remove it`);
  return parsed;
}

function parseNotes(text: string): FollowNotes | undefined {
  try {
    const { url, imported, origin } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const isWhole = typeof url === 'string' && typeof imported === 'string';
    return isWhole ? { url, imported, origin: isOrigin(origin) ? origin : undefined } : undefined;
  } catch {
    return undefined;
  }
}

/** Whether notes have the sources of a snapshot. Those of an earlier version of the program do not. */
function isOrigin(value: unknown): value is Origin {
  if (typeof value !== 'object' || value === null) return false;
  const { generation, sums, skipped, takesNulls, undeclared } = value as Readonly<Record<string, unknown>>;
  const isOfTexts = (texts: unknown): boolean =>
    typeof texts === 'object' && texts !== null && Object.values(texts).every((text) => typeof text === 'string');
  const isOfCounts = isObject(skipped) && Object.values(skipped).every((count) => Number.isSafeInteger(count));
  const isOfSums = typeof generation === 'string' && isOfTexts(sums) && isOfCounts;
  const isOfNulls = takesNulls === undefined || typeof takesNulls === 'boolean';
  return isOfSums && isOfNulls && Array.isArray(undeclared) && isOfTexts(undeclared);
}

/** Replaces the notes. Throws OperationError `file`. */
export function note({ notes }: FollowPaths, text: FollowNotes): void {
  replaceFile(notes, `${JSON.stringify(text)}\n`);
}
