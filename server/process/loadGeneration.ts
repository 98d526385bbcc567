// Loads what a server serves into shared memory: the snapshot that `--data` names and its compressed records.
// Independent of threads and ports.
import { close } from 'node:fs';
import { totalmem } from 'node:os';
import { blocksFile, loadBlocks, type LoadedBlocks } from '../../data/blocks/blockStore.ts';
import { type ChangeFeed, decodeFeed, FEED_FILE_BYTES_MAX, feedPath, changeLogPath } from '../../data/changeFeed.ts';
import { attempt, statIfExists, readAtMost } from '../../data/files.ts';
import { openDataFile, openSnapshotFile } from '../../data/open.ts';
import type { OpenOptions } from '../../data/openDirectory.ts';
import { OperationError } from '../../data/operationError.ts';
import type { OnProgress } from '../../data/progress.ts';
import { describeSnapshot, type HeldFile, type LoadOptions } from '../../data/store/load.ts';
import { openSnapshot } from '../../engine/engine.ts';
import {
  type LoadedSnapshot,
  decodeLoadedMetadata,
  listMisfits,
  misfitText,
  openSections,
} from '../../engine/shared.ts';
import { steadyMs } from '../observe/clock.ts';
import { deflatedText, bytesText, countText } from '../observe/quantities.ts';
import type { Report } from '../observe/events.ts';
import { type Documents, openApiDocuments } from '../pages/openapi/documents.ts';
import { queryOptionsOf } from '../catalogue/queryOptions.ts';
import type { Settings } from '../settings/declarations.ts';

export type ShowProgress = <T>(work: (onProgress: OnProgress) => Promise<T>) => Promise<T>;

/** A generation that is served or can be served. */
export interface Generation {
  readonly loaded: LoadedSnapshot;
  /** The compressed records, if any. */
  readonly blocks: LoadedSnapshot | undefined;
  readonly documents: Documents;
  /** The changes that led to it, if there is a change log. */
  readonly changes: ChangeFeed | undefined;
  /**
   * The open snapshot file, or the import of a directory. It can be loaded again even if another file took its name.
   * Undefined if no rollback is possible.
   */
  readonly held: HeldFile | undefined;
}

/**
 * The served generation. This is the only reference in the supervisor: any other would keep its memory from being freed
 * after a swap.
 */
export interface ServedData {
  generation: Generation;
  /** When serving it began, in milliseconds since 1970. */
  sinceMs: number;
}

/** Options for loading a generation; the picked ones are described in LoadOptions. */
export interface GenerationOptions extends Pick<LoadOptions, 'baseUrl' | 'assertRoom' | 'isUncached' | 'isOffThread'> {
  /** Threads that compress records; by default one per core. */
  readonly deflateThreads?: number;
  /** The compressed records that are served now. Records found in them are not compressed again. */
  readonly servedBlocks?: () => LoadedSnapshot | undefined;
  readonly report: Report;
  readonly showProgress: ShowProgress;
}

/**
 * Throws OperationError `file`, `input` or `snapshot`, and as `assertRoom` does. The caller still owns `before` then.
 */
export async function loadGeneration(
  settings: Settings,
  options: GenerationOptions,
  before: HeldFile | undefined,
): Promise<Generation> {
  const startMs = steadyMs();
  const { baseUrl, assertRoom, isUncached, isOffThread, report, showProgress } = options;
  const opening = openingOf(settings, (line) => report(line, 'warn'));
  const loadOptions = { baseUrl, assertRoom, isUncached, isOffThread, ...opening };
  const { loaded, held } = await showProgress((onProgress) =>
    openSnapshotFile(settings.data, before, loadOptions, onProgress),
  );
  reportLoaded(held.file, loaded, steadyMs() - startMs, report);
  try {
    const [documents, blocks, changes] = await Promise.all([
      documentsFor(settings, loaded),
      settings.gzip === 'stored' ? loadCompressed(settings, loaded, held, options) : undefined,
      loadChanges(loaded, held, options),
    ]);
    // A nameless file occupies space for temporary files. Only a rollback needs it, and that needs the admin port.
    const isNeeded = held.isNameless !== true || settings.adminPort !== undefined;
    if (!isNeeded) releaseFile(held);
    return { loaded, blocks, documents, changes, held: isNeeded ? held : undefined };
  } catch (error) {
    if (held !== before) releaseFile(held);
    throw error;
  }
}

/**
 * Loads the data if it differs from the served generation, else resolves to undefined. Throws as loadGeneration does.
 */
export async function loadNext(
  settings: Settings,
  options: GenerationOptions,
  served: string,
  before: HeldFile | undefined,
): Promise<Generation | undefined> {
  const held = before ?? openDataFile(settings.data);
  const release = (): void => (held === before ? undefined : releaseFile(held));
  try {
    const next =
      held && describeSnapshot(held).generation === served ? undefined : await loadGeneration(settings, options, held);
    if (next && next.loaded.generation !== served) return next;
    if (next && next.held !== held) releaseFile(next.held);
  } catch (error) {
    release();
    throw error;
  }
  release();
  return undefined;
}

/** Closes a file, if any, without waiting: a network file system contacts its server to close. */
export function releaseFile(held: HeldFile | undefined): void {
  if (held) close(held.descriptor, () => undefined);
}

/**
 * Returns a check that throws OperationError `memory` if the bytes do not fit. `cache` is the folder that a restart
 * begins with.
 */
export function roomWithin(availableBytes: () => number, cache?: string): (bytes: number) => void {
  return (bytes) => {
    const available = availableBytes();
    if (bytes * SPARE + SPARE_BYTES <= available) return;
    const reason = `the new data takes ${bytesText(bytes)} beside what is served, and ${bytesText(available)} are free`;
    const first = cache === undefined ? '' : ` with ${cache} removed`;
    throw new OperationError('memory', `${reason}: make room, or restart on it${first}, which takes no room for both`);
  };
}

const SPARE = 1.05;
const SPARE_BYTES = 64 << 20;

/** Bytes that this process may still allocate, within the limit of its container, if any, else of the machine. */
export function availableMemoryBytes(): number {
  const limit = process.constrainedMemory();
  const machine = process.availableMemory();
  return limit > 0 && limit < totalmem() ? Math.max(0, limit - process.memoryUsage.rss()) : machine;
}

/** Options for opening the data. With `lenient`, skipped records are reported to `tell`, one line each. */
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

function reportLoaded(data: string, loaded: LoadedSnapshot, ms: number, report: Report): void {
  const sections = openSections(loaded);
  const { collections } = decodeLoadedMetadata(sections);
  const records = collections.reduce((sum, collection) => sum + collection.records, 0);
  const bytes = loaded.memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
  const { generation } = loaded;
  const summary = `loaded ${countText(records)} records (${bytesText(bytes)}) of ${data}`;
  const line = `${summary} in ${(ms / 1000).toFixed(1)} s, generation ${generation.slice(0, 12)}`;
  report(line, 'info', { event: 'verified', generation, records, bytes, seconds: Math.round(ms) / 1000 });
  for (const misfits of listMisfits(loaded.sections, sections.views)) report(misfitText(misfits), 'warn');
}

function documentsFor(settings: Settings, loaded: LoadedSnapshot): Promise<Documents> {
  const { collection } = openSnapshot(loaded);
  return openApiDocuments(collection, queryOptionsOf(settings), [loaded.baseUrl, ...settings.allowBaseUrls]);
}

/** The start of a warning. */
export const NO_CHANGES = 'changes are not served';

/** The feed next to a snapshot file, else of the change log in its folder; undefined without both, or if unreadable. */
async function loadChanges(
  { generation }: LoadedSnapshot,
  { file, isNameless }: HeldFile,
  { assertRoom, report }: GenerationOptions,
): Promise<ChangeFeed | undefined> {
  if (isNameless === true) return undefined;
  try {
    const feed = feedPath(file);
    const published = statIfExists(feed) && attempt(`cannot read ${feed}`, () => readAtMost(feed, FEED_FILE_BYTES_MAX));
    if (!published && !statIfExists(changeLogPath(file))) return undefined;
    const { encodeLogFeed } = await import('../../data/upstream/feed.ts');
    const bytes = published instanceof Uint8Array ? published : await encodeLogFeed(file, generation);
    if (!bytes) return undefined;
    assertRoom?.(bytes.length);
    return decodeFeed(bytes, generation, file);
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    report(`${NO_CHANGES}: ${error.message}`, 'warn');
    return undefined;
  }
}

/** Loads or makes the compressed records. If they cannot be made at all, logs that and resolves to undefined. */
async function loadCompressed(
  settings: Settings,
  loaded: LoadedSnapshot,
  held: HeldFile,
  { report, showProgress, assertRoom, isOffThread, deflateThreads, servedBlocks }: GenerationOptions,
): Promise<LoadedSnapshot | undefined> {
  const startMs = steadyMs();
  // The blocks contain the base URL. With --port 0 the next start has another one, so keeping them is useless.
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
    reportBlocks(loaded.generation, blocks, steadyMs() - startMs, report);
    return blocks.loaded;
  } catch (error) {
    if (!(error instanceof OperationError) || error.code === 'memory') throw error;
    report(`records are not compressed in advance: ${error.message}`, 'warn');
    return undefined;
  }
}

function reportBlocks(
  generation: string,
  { loaded, file, made, refusal }: LoadedBlocks,
  ms: number,
  report: Report,
): void {
  const bytes = blockBytes(loaded);
  const done = made ? 'compressed records' : 'loaded compressed records';
  const place = file === undefined ? '' : `, ${made ? 'kept in' : 'of'} ${file}`;
  const reason = refusal === undefined ? '' : ` (${refusal})`;
  const deflated = made ? deflatedText(made) : '';
  const line = `${done} (${bytesText(bytes)}) in ${(ms / 1000).toFixed(1)} s${deflated}${place}${reason}`;
  const seconds = Math.round(ms) / 1000;
  // A warning, because without a usable file every start compresses all records again.
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
