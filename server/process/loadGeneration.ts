// What a server serves: the snapshot that `--data` names and its compressed records, loaded into shared memory.
// Told in lines for people; knows no thread and no port.
import { close } from 'node:fs';
import { totalmem } from 'node:os';
import { blocksFile, loadBlocks, type LoadedBlocks } from '../../data/blocks/blockStore.ts';
import { holdData, openHeld } from '../../data/open.ts';
import type { OpenOptions } from '../../data/openDirectory.ts';
import { OperationError } from '../../data/operationError.ts';
import type { OnProgress } from '../../data/progress.ts';
import { describeHeld, type HeldFile, type LoadOptions } from '../../data/store/load.ts';
import { openSnapshot } from '../../engine/engine.ts';
import { type LoadedSnapshot, metadataOf, misfitsIn, misfitText, sectionsOf } from '../../engine/shared.ts';
import { steadyMs } from '../observe/clock.ts';
import { anewText, bytesText, countText } from '../observe/quantities.ts';
import type { Report } from '../observe/events.ts';
import { type Documents, openApiDocuments } from '../pages/openapi/documents.ts';
import { queryOptionsOf } from '../catalogue/queryOptions.ts';
import type { Settings } from '../settings/declarations.ts';

export type ShowProgress = <T>(work: (onProgress: OnProgress) => Promise<T>) => Promise<T>;

/**
 * A generation that is served, or may be: the snapshot, its records as blocks where there are any, and the OpenAPI
 * documents. `held` is its file, open, so that it can be loaded again when another one has taken its name, or what was
 * imported of a directory; none of that where nobody can ask for it.
 */
export interface Generation {
  readonly loaded: LoadedSnapshot;
  readonly blocks: LoadedSnapshot | undefined;
  readonly documents: Documents;
  readonly held: HeldFile | undefined;
}

/**
 * What is served, for whoever starts a thread, changes it or tells of it: the one place in the supervisor that holds
 * it, since a variable elsewhere would keep its memory for good. In milliseconds since 1970, `sinceMs` is when it
 * began.
 */
export interface ServedData {
  generation: Generation;
  sinceMs: number;
}

/**
 * How a generation is loaded: with this base URL, telling whom; `assertRoom` and the rest as in LoadOptions.
 * Records are compressed in so many threads, one a core unless told otherwise, unless they are among those whose
 * blocks are served.
 */
export interface GenerationOptions extends Pick<LoadOptions, 'baseUrl' | 'assertRoom' | 'isUncached' | 'isOffThread'> {
  readonly deflateThreads?: number;
  readonly servedBlocks?: () => LoadedSnapshot | undefined;
  readonly report: Report;
  readonly showProgress: ShowProgress;
}

/** Throws OperationError `file`, `input` or `snapshot`, and as `assertRoom`; the caller still owns the file then. */
export async function loadGeneration(
  settings: Settings,
  options: GenerationOptions,
  before: HeldFile | undefined,
): Promise<Generation> {
  const startMs = steadyMs();
  const { baseUrl, assertRoom, isUncached, isOffThread, report, showProgress } = options;
  const opening = openingOf(settings, (line) => report(line, 'warn'));
  const how = { baseUrl, assertRoom, isUncached, isOffThread, ...opening };
  const { loaded, held } = await showProgress((onProgress) => openHeld(settings.data, before, how, onProgress));
  tellLoaded(held.file, loaded, steadyMs() - startMs, report);
  try {
    const [documents, blocks] = await Promise.all([
      documentsFor(settings, loaded),
      settings.gzip === 'stored' ? blocksOf(settings, loaded, held, options) : undefined,
    ]);
    // It takes room among temporary files, for who goes back.
    const isNeeded = held.isNameless !== true || settings.adminPort !== undefined;
    if (!isNeeded) releaseFile(held);
    return { loaded, blocks, documents, held: isNeeded ? held : undefined };
  } catch (error) {
    if (held !== before) releaseFile(held);
    throw error;
  }
}

/** Loads other data than what is served, else returns undefined. Throws as loadGeneration does. */
export async function loadNext(
  settings: Settings,
  options: GenerationOptions,
  served: string,
  before: HeldFile | undefined,
): Promise<Generation | undefined> {
  const held = before ?? holdData(settings.data);
  const release = (): void => (held === before ? undefined : releaseFile(held));
  try {
    const next =
      held && describeHeld(held).generation === served ? undefined : await loadGeneration(settings, options, held);
    if (next && next.loaded.generation !== served) return next;
    if (next && next.held !== held) releaseFile(next.held);
  } catch (error) {
    release();
    throw error;
  }
  release();
  return undefined;
}

/** Closes a file, if any. Does not wait: a file system over a network asks its server. */
export function releaseFile(held: HeldFile | undefined): void {
  if (held) close(held.descriptor, () => undefined);
}

/** Throws OperationError `memory` if the bytes do not fit. `cache` is the folder that a restart begins with. */
export function roomWithin(availableBytes: () => number, cache?: string): (bytes: number) => void {
  return (bytes) => {
    const available = availableBytes();
    if (bytes * SPARE + SPARE_BYTES <= available) return;
    const what = `the new data takes ${bytesText(bytes)} beside what is served, and ${bytesText(available)} are free`;
    const first = cache === undefined ? '' : ` with ${cache} removed`;
    throw new OperationError('memory', `${what}: make room, or restart on it${first}, which takes no room for both`);
  };
}

const SPARE = 1.05;
const SPARE_BYTES = 64 << 20;

/** What this process may still take, in bytes: of its container's limit where it has one, else of the machine. */
export function availableMemoryBytes(): number {
  const limit = process.constrainedMemory();
  const machine = process.availableMemory();
  return limit > 0 && limit < totalmem() ? Math.max(0, limit - process.memoryUsage.rss()) : machine;
}

/** Skipped records are reported to `tell`, line by line. */
export function openingOf(
  { threads, lenient, takeNulls }: Pick<Settings, 'threads' | 'lenient' | 'takeNulls'>,
  tell: (line: string) => void,
): Pick<OpenOptions, 'threads' | 'takesNulls' | 'onSkipped'> {
  const onSkipped = (count: number, first: readonly string[]): void => {
    for (const fault of first) tell(`left out: ${fault}`);
    tell(`left out: ${countText(count)} in all`);
  };
  return { threads, takesNulls: takeNulls, ...(lenient ? { onSkipped } : {}) };
}

/** All checksums were judged while it was loaded. */
function tellLoaded(data: string, loaded: LoadedSnapshot, ms: number, report: Report): void {
  const sections = sectionsOf(loaded);
  const { collections } = metadataOf(sections);
  const records = collections.reduce((sum, collection) => sum + collection.records, 0);
  const bytes = loaded.memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
  const { generation } = loaded;
  const what = `loaded ${countText(records)} records (${bytesText(bytes)}) of ${data}`;
  const line = `${what} in ${(ms / 1000).toFixed(1)} s, generation ${generation.slice(0, 12)}`;
  report(line, 'info', { event: 'verified', generation, records, bytes, seconds: Math.round(ms) / 1000 });
  for (const misfits of misfitsIn(loaded.sections, sections.views)) report(misfitText(misfits), 'warn');
}

function documentsFor(settings: Settings, loaded: LoadedSnapshot): Promise<Documents> {
  const { collection } = openSnapshot(loaded);
  return openApiDocuments(collection, queryOptionsOf(settings), [loaded.baseUrl, ...settings.allowBaseUrls]);
}

/** The blocks of the records; undefined, and said so, where they could not be made anywhere. */
async function blocksOf(
  settings: Settings,
  loaded: LoadedSnapshot,
  held: HeldFile,
  { report, showProgress, assertRoom, isOffThread, deflateThreads, servedBlocks }: GenerationOptions,
): Promise<LoadedSnapshot | undefined> {
  const startMs = steadyMs();
  // Kept for the next start only where the base URL is one that the next start will have: no free port is in it.
  const isLasting = settings.baseUrl !== undefined || settings.port !== 0;
  const file = isLasting && held.isNameless !== true ? blocksFile(held.file, loaded) : undefined;
  try {
    const blocks = await showProgress((onProgress) =>
      loadBlocks(
        loaded,
        { file, earlier: servedBlocks?.(), assertRoom, isOffThread, threads: deflateThreads },
        onProgress,
      ),
    );
    tellBlocks(loaded.generation, blocks, steadyMs() - startMs, report);
    return blocks.loaded;
  } catch (error) {
    if (!(error instanceof OperationError) || error.code === 'memory') throw error;
    report(`records are not compressed in advance: ${error.message}`, 'warn');
    return undefined;
  }
}

function tellBlocks(
  generation: string,
  { loaded, file, made, refusal }: LoadedBlocks,
  ms: number,
  report: Report,
): void {
  const bytes = blockBytes(loaded);
  const done = made ? 'compressed records' : 'loaded compressed records';
  const place = file === undefined ? '' : `, ${made ? 'kept in' : 'of'} ${file}`;
  const reason = refusal === undefined ? '' : ` (${refusal})`;
  const anew = made ? anewText(made) : '';
  const line = `${done} (${bytesText(bytes)}) in ${(ms / 1000).toFixed(1)} s${anew}${place}${reason}`;
  const seconds = Math.round(ms) / 1000;
  // Kept nowhere, or not read, they are made anew with each start: somebody has to look.
  report(
    line,
    refusal === undefined ? 'info' : 'warn',
    made && { event: 'compressed', generation, bytes, seconds, ...made },
  );
}

export function bytesOfGeneration({ loaded, blocks }: Generation): number {
  return loaded.memories.reduce((sum, { buffer }) => sum + buffer.byteLength, blocks ? blockBytes(blocks) : 0);
}

export function blockBytes({ placements }: LoadedSnapshot): number {
  return placements.reduce((sum, { bytes }) => sum + bytes, 0);
}
