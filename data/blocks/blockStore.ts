// The blocks of a snapshot's records as a file: made once for a snapshot and a base URL, checked whenever they are
// loaded.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { type LoadedSnapshot, sectionsOf } from '../../engine/snapshot/loaded.ts';
import { attempt, foundAt } from '../files.ts';
import { inTemporaryFolder, removeAbandoned } from '../leftovers.ts';
import { availableParallelism } from 'node:os';
import { strayBlocks } from '../../engine/snapshot/inventory.ts';
import { BLOCKS_TITLE, blocksTitle } from '../../engine/snapshot/sections.ts';
import { type LoadOptions, loadSnapshot } from '../store/load.ts';
import { OperationError } from '../operationError.ts';
import type { OnProgress } from '../progress.ts';
import type { BlockCounts } from './blockWriter.ts';
import type { DeflateSource } from './deflate.ts';

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
async function removeOutdated(file: string): Promise<void> {
  attempt(`cannot remove outdated files from ${path.dirname(file)}`, () => {
    for (const outdated of othersKeptWith(file).slice(KEPT - 1)) rmSync(outdated, { force: true });
  });
  // Also partial files of generations that are no longer made.
  await removeAbandoned(path.dirname(file), siblingsOf(file));
}

/** The blocks that are kept under the names of a file but the generation, the ones that were written last first. */
function keptWith(file: string): readonly string[] {
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
function othersKeptWith(file: string): readonly string[] {
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

/**
 * Blocks in shared memory, and what happened to come by them, for a line to people: the file, and why not another one;
 * `made` where they were not there.
 */
export interface LoadedBlocks {
  readonly loaded: LoadedSnapshot;
  readonly file: string | undefined;
  readonly made: BlockCounts | undefined;
  readonly refusal: string | undefined;
}

/**
 * Where blocks are kept, blocks that are in memory of nearly the same records, the threads that deflate, and who is
 * asked for room (see LoadOptions).
 */
interface BlockOptions extends Pick<LoadOptions, 'assertRoom' | 'isOffThread'> {
  readonly file: string | undefined;
  readonly earlier?: LoadedSnapshot | undefined;
  readonly threads?: number | undefined;
}

/**
 * The blocks of a loaded snapshot: from `file` where it holds them, else made and kept there; without a `file`, or
 * where it cannot be written, made in the directory for temporary files and removed from there. A file that is damaged,
 * or of other records, is made again; of other generations under the same names the last one stays. What is made takes
 * over what `earlier` blocks, or else those of the last generation that is kept, have of the same records. Throws
 * OperationError `file` when nothing can be written anywhere, and what `assertRoom` throws. Cost: a load, or a
 * deflation of all other records in nice threads, one a core unless told otherwise: some 20 s of CPU for 465 MB.
 */
export async function loadBlocks(
  loaded: LoadedSnapshot,
  { file, earlier, threads = availableParallelism(), ...loading }: BlockOptions,
  onProgress: OnProgress,
): Promise<LoadedBlocks> {
  let refusal: string | undefined;
  const refused = (error: unknown): undefined => {
    if (!(error instanceof OperationError) || error.code === 'memory') throw error;
    refusal = error.message;
  };
  if (file !== undefined && existsSync(file)) {
    const kept = await readBlocks(file, loaded, onProgress, loading).catch(refused);
    if (kept) return { loaded: kept, file, made: undefined, refusal };
  }
  const make = async (at: string): Promise<Pick<LoadedBlocks, 'loaded' | 'made'>> => {
    const source = { loaded, earlier: earlier ?? (file === undefined ? undefined : othersKeptWith(file)[0]) };
    const made = await writeBlocks(at, source, threads, onProgress);
    return { loaded: await readBlocks(at, loaded, onProgress, loading), made };
  };
  if (file !== undefined) {
    const made = await make(file).catch(refused);
    if (made) return { ...made, file, refusal };
  }
  return inTemporaryFolder('', async (folder) => {
    return { ...(await make(path.join(folder, 'records.blocks'))), file: undefined, refusal };
  });
}

/**
 * Makes the blocks of a snapshot file for a base URL and keeps them beside it, or beside the `name` that it will have,
 * whatever was there; answers their file and what was made. Throws OperationError `snapshot` or `file`. Cost: a load,
 * and a deflation of all records that have no blocks in the last file that is kept.
 */
export async function keepBlocks(
  snapshot: string,
  {
    baseUrl,
    threads,
    name = snapshot,
  }: { readonly baseUrl: string; readonly threads: number; readonly name?: string | undefined },
  onProgress: OnProgress,
): Promise<{ readonly file: string; readonly made: BlockCounts }> {
  const loaded = await loadSnapshot(snapshot, { baseUrl }, onProgress);
  const file = blocksFile(name, loaded);
  return { file, made: await writeBlocks(file, { loaded, earlier: keptWith(file)[0] }, threads, onProgress) };
}

/** Loads blocks and compares their title with what is wanted, and their number with the records. */
async function readBlocks(
  file: string,
  wanted: LoadedSnapshot,
  onProgress: OnProgress,
  loading: Pick<BlockOptions, 'assertRoom' | 'isOffThread'>,
): Promise<LoadedSnapshot> {
  const blocks = await loadSnapshot(file, { baseUrl: wanted.baseUrl, ...loading }, onProgress);
  const title = Buffer.from(sectionsOf(blocks).views(BLOCKS_TITLE, BLOCKS_TITLE.path).title).toString();
  if (title !== blocksTitle(wanted)) {
    throw new OperationError('snapshot', `${file}: blocks of ${title}, expected ${blocksTitle(wanted)}`);
  }
  const stray = strayBlocks(blocks, wanted);
  if (stray) throw new OperationError('snapshot', `${file}: ${stray.refusal}`);
  return blocks;
}

/** Writes blocks with the code for it, which a start that finds some does without. */
async function writeBlocks(
  file: string,
  source: DeflateSource,
  threads: number,
  onProgress: OnProgress,
): Promise<BlockCounts> {
  const writer = await import('./blockWriter.ts');
  const made = await writer.writeBlocks(file, source, threads, onProgress);
  await removeOutdated(file);
  return made;
}
