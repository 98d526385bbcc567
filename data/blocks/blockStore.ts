// The blocks of a snapshot's records as a file: made once for a snapshot and a base URL, checked whenever they are
// loaded. Where they are kept is blockFiles.ts, how they are made blockWriter.ts.
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { strayBlocks } from '../../engine/snapshot/inventory.ts';
import { sectionsOf, type LoadedSnapshot } from '../../engine/snapshot/loaded.ts';
import { BLOCKS_TITLE, blocksTitle } from '../../engine/snapshot/sections.ts';
import { inTemporaryFolder } from '../leftovers.ts';
import { type LoadOptions, loadSnapshot } from '../store/load.ts';
import { OperationError } from '../operationError.ts';
import type { OnProgress } from '../progress.ts';
import { blocksFile, keptWith, othersKeptWith, removeOutdated } from './blockFiles.ts';
import type { BlockCounts } from './blockWriter.ts';
import type { DeflateSource } from './deflaters.ts';

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
export interface BlockOptions extends Pick<LoadOptions, 'assertRoom' | 'isOffThread'> {
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
