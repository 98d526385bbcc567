// The names of files of blocks, beside their snapshot: how they are found again, which are kept and which removed.
// Knows nothing of what is in them.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { LoadedSnapshot } from '../../engine/snapshot/loaded.ts';
import { attempt, foundAt } from '../files.ts';
import { removeAbandoned } from '../leftovers.ts';

/** What `blocksFile` makes: the snapshot's name, its generation and the address. */
const KEPT_NAME = /^(.+)\.([0-9a-f]{12})-([0-9a-f]{8})\.blocks$/;

/** So many generations of blocks are kept for an address: what is served, and what a rollback would serve. */
const KEPT = 2;

/**
 * Where the blocks of a snapshot file are kept: beside it, under its generation and a hash of the base URL. Cost: none.
 */
export function blocksFile(
  snapshot: string,
  { generation, baseUrl }: Pick<LoadedSnapshot, 'generation' | 'baseUrl'>,
): string {
  return blocksFileAt(snapshot, generation, addressOf(baseUrl));
}

/** The same for an address, the hash of a base URL. */
export function blocksFileAt(snapshot: string, generation: string, address: string): string {
  return `${snapshot}.${generation.slice(0, 12)}-${address}.blocks`;
}

/** The hash of a base URL, as names of blocks have it. */
export function addressOf(baseUrl: string): string {
  return createHash('sha256').update(baseUrl).digest('hex').slice(0, 8);
}

/** The address in the name of blocks of a snapshot's generation; undefined for any other name. */
export function blocksAddress(snapshot: string, generation: string, name: string): string | undefined {
  const [, of, start, address] = KEPT_NAME.exec(name) ?? [];
  return of === snapshot && start === generation.slice(0, 12) ? address : undefined;
}

/**
 * Removes what is kept with a file that was written now, but the last one: nobody asks for it again. Throws
 * OperationError `file`.
 */
export async function removeOutdated(file: string): Promise<void> {
  attempt(`cannot remove outdated files from ${path.dirname(file)}`, () => {
    for (const outdated of othersKeptWith(file).slice(KEPT - 1)) rmSync(outdated, { force: true });
  });
  // Also partial files of generations that are no longer made.
  await removeAbandoned(path.dirname(file), siblingsOf(file));
}

/** The blocks that are kept under the names of a file but the generation, the ones that were written last first. */
export function keptWith(file: string): readonly string[] {
  const directory = path.dirname(file);
  if (!existsSync(directory)) return [];
  return attempt(`cannot read ${directory}`, () => readdirSync(directory))
    .filter(siblingsOf(file))
    .map((name) => path.join(directory, name))
    .map((kept) => ({ kept, ms: foundAt(kept)?.mtimeMs ?? 0 }))
    .toSorted((a, b) => b.ms - a.ms)
    .map(({ kept }) => kept);
}

/** The same but that file. */
export function othersKeptWith(file: string): readonly string[] {
  return keptWith(file).filter((one) => path.basename(one) !== path.basename(file));
}

/** Whether names are those of a file but the generation; of a file that is called otherwise none are. */
function siblingsOf(file: string): (name: string) => boolean {
  const [, snapshot, , address] = KEPT_NAME.exec(path.basename(file)) ?? [];
  return (name) => {
    const [, of, , at] = KEPT_NAME.exec(name) ?? [];
    return of !== undefined && of === snapshot && at === address;
  };
}
