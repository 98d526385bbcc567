// The file with the deflated records (blocks) of a snapshot. It is made once per snapshot and base URL and checked
// whenever it is loaded.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { type LoadedSnapshot, openSections } from '../../engine/snapshot/loaded.ts';
import { attempt, statIfExists } from '../files.ts';
import { withTemporaryFolder, removeAbandoned } from '../leftovers.ts';
import { availableParallelism } from 'node:os';
import { findStrayBlocks } from '../../engine/snapshot/inventory.ts';
import { BLOCKS_TITLE, blocksTitle } from '../../engine/snapshot/sections.ts';
import { type LoadOptions, loadSnapshot } from '../store/load.ts';
import { OperationError } from '../operationError.ts';
import type { OnProgress } from '../progress.ts';
import type { BlockCounts } from './blockWriter.ts';
import type { DeflateSource } from './deflate.ts';

/** Names of blocks files: snapshot, start of the generation, address. */
const KEPT_NAME = /^(.+)\.([0-9a-f]{12})-([0-9a-f]{8})\.blocks$/;

/** Generations of blocks that are retained per address: the current one and the one that a rollback would serve. */
const KEPT = 2;

/**
 * The path of a snapshot's blocks: next to the snapshot file, named after its generation and a hash of the base URL.
 * Touches no file.
 */
export function blocksFile(
  snapshot: string,
  { generation, baseUrl }: Pick<LoadedSnapshot, 'generation' | 'baseUrl'>,
): string {
  return blocksFileAt(snapshot, generation, hashBaseUrl(baseUrl));
}

/** Like `blocksFile`, but for an address (the hash of a base URL). */
export function blocksFileAt(snapshot: string, generation: string, address: string): string {
  return `${snapshot}.${generation.slice(0, 12)}-${address}.blocks`;
}

/** The first 8 hexadecimal digits of the SHA-256 of a base URL. */
export function hashBaseUrl(baseUrl: string): string {
  return createHash('sha256').update(baseUrl).digest('hex').slice(0, 8);
}

/** The address in the name of a blocks file of this snapshot and generation; undefined for any other name. */
export function blocksAddress(snapshot: string, generation: string, name: string): string | undefined {
  const [, snapshotName, start, address] = KEPT_NAME.exec(name) ?? [];
  return snapshotName === snapshot && start === generation.slice(0, 12) ? address : undefined;
}

/**
 * Removes the other blocks files of the same snapshot and address, except the newest one. Call it after writing `file`.
 * Throws OperationError `file`.
 */
async function removeOutdated(file: string): Promise<void> {
  attempt(`cannot remove outdated files from ${path.dirname(file)}`, () => {
    for (const outdated of listOtherBlocks(file).slice(KEPT - 1)) rmSync(outdated, { force: true });
  });
  // Also partial files of generations that are no longer made.
  await removeAbandoned(path.dirname(file), siblingTest(file));
}

/** The blocks files whose names differ from `file` at most in the generation, newest first. */
function listBlocks(file: string): readonly string[] {
  const directory = path.dirname(file);
  if (!existsSync(directory)) return [];
  return attempt(`cannot read ${directory}`, () => readdirSync(directory))
    .filter(siblingTest(file))
    .map((name) => path.join(directory, name))
    .map((kept) => ({ kept, ms: statIfExists(kept)?.mtimeMs ?? 0 }))
    .toSorted((a, b) => b.ms - a.ms)
    .map(({ kept }) => kept);
}

/** Like `listBlocks`, without `file` itself. */
function listOtherBlocks(file: string): readonly string[] {
  return listBlocks(file).filter((other) => path.basename(other) !== path.basename(file));
}

/**
 * Returns a test for names that differ from `file` at most in the generation. If `file` is not the name of a blocks
 * file, the test is always false.
 */
function siblingTest(file: string): (name: string) => boolean {
  const [, snapshot, , address] = KEPT_NAME.exec(path.basename(file)) ?? [];
  return (name) => {
    const [, snapshotName, , at] = KEPT_NAME.exec(name) ?? [];
    return snapshotName !== undefined && snapshotName === snapshot && at === address;
  };
}

/**
 * Blocks in shared memory, and how they were obtained. `file` is their permanent file, if any; `made` is set if they
 * had to be made; `refusal` is why an existing file, or its folder, could not be used.
 */
export interface LoadedBlocks {
  readonly loaded: LoadedSnapshot;
  readonly file: string | undefined;
  readonly made: BlockCounts | undefined;
  readonly refusal: string | undefined;
}

/**
 * `file` is the permanent file of the blocks. `earlier` are loaded blocks of mostly the same records. See LoadOptions
 * for the other options.
 */
interface BlockOptions extends Pick<LoadOptions, 'assertRoom' | 'isOffThread'> {
  readonly file: string | undefined;
  readonly earlier?: LoadedSnapshot | undefined;
  readonly threads?: number | undefined;
}

/**
 * Loads the blocks of a snapshot from `file` or, if that file does not have them, makes them and keeps them there. A
 * file that is damaged or belongs to other records is replaced. Without `file`, or if it cannot be written, the blocks
 * are made in a temporary folder that is then removed. Records that have not changed take over their blocks from
 * `earlier`, or else from the last kept generation. Throws OperationError `file` if nothing can be written anywhere,
 * and whatever `assertRoom` throws.
 * Cost: a load, or deflating all other records in low-priority threads, by default one per core. That takes about 20 s
 * of CPU for 465 MB.
 */
export async function loadBlocks(
  loaded: LoadedSnapshot,
  { file, earlier, threads = availableParallelism(), ...loading }: BlockOptions,
  onProgress: OnProgress,
): Promise<LoadedBlocks> {
  let refusal: string | undefined;
  const refuse = (error: unknown): undefined => {
    if (!(error instanceof OperationError) || error.code === 'memory') throw error;
    refusal = error.message;
  };
  if (file !== undefined && existsSync(file)) {
    const stored = await readBlocks(file, loaded, onProgress, loading).catch(refuse);
    if (stored) return { loaded: stored, file, made: undefined, refusal };
  }
  const make = async (at: string): Promise<Pick<LoadedBlocks, 'loaded' | 'made'>> => {
    const source = { loaded, earlier: earlier ?? (file === undefined ? undefined : listOtherBlocks(file)[0]) };
    const counts = await writeBlocks(at, source, threads, onProgress);
    return { loaded: await readBlocks(at, loaded, onProgress, loading), made: counts };
  };
  if (file !== undefined) {
    const blocks = await make(file).catch(refuse);
    if (blocks) return { ...blocks, file, refusal };
  }
  return withTemporaryFolder('', async (folder) => {
    return { ...(await make(path.join(folder, 'records.blocks'))), file: undefined, refusal };
  });
}

/**
 * Makes the blocks of a snapshot file for a base URL and keeps them next to it. `name` is the path that the snapshot
 * will have, if that differs. Replaces an existing file. Throws OperationError `snapshot` or `file`. Cost: a load, and
 * deflating all records without blocks in the last kept file.
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
  return { file, made: await writeBlocks(file, { loaded, earlier: listBlocks(file)[0] }, threads, onProgress) };
}

/** Loads blocks and checks that they belong to the wanted snapshot and that there is one for each record. */
async function readBlocks(
  file: string,
  expected: LoadedSnapshot,
  onProgress: OnProgress,
  loading: Pick<BlockOptions, 'assertRoom' | 'isOffThread'>,
): Promise<LoadedSnapshot> {
  const blocks = await loadSnapshot(file, { baseUrl: expected.baseUrl, ...loading }, onProgress);
  const title = Buffer.from(openSections(blocks).views(BLOCKS_TITLE, BLOCKS_TITLE.path).title).toString();
  if (title !== blocksTitle(expected)) {
    throw new OperationError('snapshot', `${file}: blocks of ${title}, expected ${blocksTitle(expected)}`);
  }
  const stray = findStrayBlocks(blocks, expected);
  if (stray) throw new OperationError('snapshot', `${file}: ${stray.refusal}`);
  return blocks;
}

/** Imports the writer only when needed: a start that finds its blocks does not load that code. */
async function writeBlocks(
  file: string,
  source: DeflateSource,
  threads: number,
  onProgress: OnProgress,
): Promise<BlockCounts> {
  const writer = await import('./blockWriter.ts');
  const counts = await writer.writeBlocks(file, source, threads, onProgress);
  await removeOutdated(file);
  return counts;
}
