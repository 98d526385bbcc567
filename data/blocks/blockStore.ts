// The blocks of a snapshot's records as a file: made once for a snapshot and a base URL, checked whenever they are
// loaded. Where they are kept and how they are found again; blockWriter.ts makes them.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { sectionsOf, type LoadedSnapshot } from '../../engine/snapshot/loaded.ts';
import { BLOCKS_TITLE, blocksTitle } from '../../engine/snapshot/sections.ts';
import { attempt } from '../files.ts';
import { unfinished } from '../leftovers.ts';
import { type LoadOptions, loadSnapshot } from '../store/load.ts';
import { OperationError } from '../operationError.ts';
import type { OnProgress } from '../progress.ts';

/**
 * Blocks in shared memory, and what happened to come by them, for a line to people: the file, and why not another one.
 */
export interface LoadedBlocks {
  readonly loaded: LoadedSnapshot;
  readonly file: string | undefined;
  readonly isNew: boolean;
  readonly refusal: string | undefined;
}

/** Where blocks are kept, the threads that deflate, and who is asked for room (see LoadOptions). */
export interface BlockOptions extends Pick<LoadOptions, 'assertRoom'> {
  readonly file: string | undefined;
  readonly threads?: number | undefined;
}

/** What `blocksFile` makes: the snapshot's name, its generation and the address. */
const KEPT_NAME = /^(.+)\.([0-9a-f]{12})-([0-9a-f]{8})\.blocks$/;

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
 * The blocks of a loaded snapshot: from `file` where it holds them, else made and kept there; without a `file`, or
 * where it cannot be written, made in the directory for temporary files and removed from there. A file that is damaged,
 * or of other records, is made again; one of another generation under the same names is removed. Throws OperationError
 * `file` when nothing can be written anywhere, and what `assertRoom` throws. Cost: a load, or a deflation of all
 * records in threads, one a core unless told otherwise: 24 s of CPU for 465 MB.
 */
export async function loadBlocks(
  loaded: LoadedSnapshot,
  { file, threads = availableParallelism(), assertRoom }: BlockOptions,
  onProgress: OnProgress,
): Promise<LoadedBlocks> {
  let refusal: string | undefined;
  const refused = (error: unknown): undefined => {
    if (!(error instanceof OperationError) || error.code === 'memory') throw error;
    refusal = error.message;
  };
  if (file !== undefined && existsSync(file)) {
    const kept = await readBlocks(file, loaded, onProgress, assertRoom).catch(refused);
    if (kept) return { loaded: kept, file, isNew: false, refusal };
  }
  if (file !== undefined) {
    const made = await writeBlocks(file, loaded, threads, onProgress)
      .then(() => readBlocks(file, loaded, onProgress, assertRoom))
      .catch(refused);
    if (made) return { loaded: made, file, isNew: true, refusal };
  }
  return unfinished(path.join(tmpdir(), 'catalogue-replica'), async (directory) => {
    const failure = `cannot write to ${tmpdir()}: set TMPDIR to a directory that can be written`;
    attempt(failure, () => mkdirSync(directory, { mode: 0o700 }));
    try {
      const temporary = path.join(directory, 'records.blocks');
      await writeBlocks(temporary, loaded, threads, onProgress);
      const blocks = await readBlocks(temporary, loaded, onProgress, assertRoom);
      return { loaded: blocks, file: undefined, isNew: true, refusal };
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
}

/**
 * Makes the blocks of a snapshot file for a base URL and keeps them beside it, whatever was there; answers their file.
 * Throws OperationError `snapshot` or `file`. Cost: a load, and a deflation of all records.
 */
export async function keepBlocks(
  snapshot: string,
  { baseUrl, threads }: { readonly baseUrl: string; readonly threads: number },
  onProgress: OnProgress,
): Promise<string> {
  const loaded = await loadSnapshot(snapshot, { baseUrl }, onProgress);
  const file = blocksFile(snapshot, loaded);
  await writeBlocks(file, loaded, threads, onProgress);
  return file;
}

/** Loads blocks and compares their title with what is wanted. */
async function readBlocks(
  file: string,
  wanted: LoadedSnapshot,
  onProgress: OnProgress,
  assertRoom?: LoadOptions['assertRoom'],
): Promise<LoadedSnapshot> {
  const blocks = await loadSnapshot(file, { baseUrl: wanted.baseUrl, assertRoom }, onProgress);
  const title = Buffer.from(sectionsOf(blocks).views(BLOCKS_TITLE, BLOCKS_TITLE.path).title).toString();
  if (title === blocksTitle(wanted)) return blocks;
  throw new OperationError('snapshot', `${file}: blocks of ${title}, expected ${blocksTitle(wanted)}`);
}

/** Writes blocks with the code for it, which a start that finds some does without. */
async function writeBlocks(
  file: string,
  loaded: LoadedSnapshot,
  threads: number,
  onProgress: OnProgress,
): Promise<void> {
  const writer = await import('./blockWriter.ts');
  await writer.writeBlocks(file, loaded, threads, onProgress);
  removeOutdated(file);
}

/** Removes what was kept for the same address and another generation of the snapshot: nobody asks for it again. */
function removeOutdated(file: string): void {
  const [, snapshot, , address] = KEPT_NAME.exec(path.basename(file)) ?? [];
  if (snapshot === undefined) return;
  const directory = path.dirname(file);
  attempt(`cannot remove outdated files from ${directory}`, () => {
    for (const name of readdirSync(directory)) {
      const kept = KEPT_NAME.exec(name);
      const isOutdated = kept?.[1] === snapshot && kept[3] === address && name !== path.basename(file);
      if (isOutdated) rmSync(path.join(directory, name), { force: true });
    }
  });
}
