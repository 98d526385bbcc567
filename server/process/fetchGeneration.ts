// Fetches the generation that a pointer names into the cache: first the snapshot, then its compressed records if they
// were published for the server's base URL, and the feed of its changes. Compares them with the pointer; loading
// verifies the checksums of the sections.
import { hashBaseUrl } from '../../data/blocks/blockStore.ts';
import { FEED_FILE_BYTES_MAX, feedPath } from '../../data/changeFeed.ts';
import type { SnapshotCache } from '../../data/distribution/cache.ts';
import { invalidateCached, fetchObject } from '../../data/distribution/fetch.ts';
import {
  blocksName,
  changesName,
  type Pointer,
  snapshotName,
  type StoredObject,
  type Target,
} from '../../data/distribution/target.ts';
import { OperationError } from '../../data/operationError.ts';
import { describeSnapshot, type HeldFile } from '../../data/store/load.ts';
import { secondsSince, steadyMs } from '../observe/clock.ts';
import type { Report } from '../observe/events.ts';
import { bytesText } from '../observe/quantities.ts';
import { NO_CHANGES, releaseFile } from './loadGeneration.ts';

export interface GenerationFetch {
  readonly target: Target;
  readonly cache: SnapshotCache;
  readonly signal: AbortSignal;
  /** Time limit for the target to send 64 KiB. */
  readonly stallMs: number;
  /** Base URL for which compressed records are fetched; undefined fetches none. */
  readonly blocksFor: string | undefined;
  readonly report: Report;
}

export interface FetchFigures {
  readonly generation: string;
  /** 0 if everything was in the cache. A hard link counts with the size of its file. */
  readonly bytes: number;
  readonly seconds: number;
}

/**
 * Resolves to an open file. Throws OperationError as fetchObject does, and `snapshot` or `refused` if the pointer is
 * wrong.
 */
export async function fetchGeneration(
  pointer: Pointer,
  { target, cache, signal, stallMs, blocksFor, report }: GenerationFetch,
): Promise<{ readonly held: HeldFile; readonly figures: FetchFigures }> {
  const startMs = steadyMs();
  const makeRoom = (): Promise<void> => cache.removeOthers([pointer]);
  const shared = { target, signal, stallMs, makeRoom };
  const file = cache.snapshotFile(pointer);
  const { generation } = pointer;
  let bytes = await fetchObject({ ...shared, name: snapshotName(pointer), stored: pointer, file });
  const held = await cache.hold(pointer);
  try {
    await assertDescribed(held, pointer, target.name);
    const address = blocksFor === undefined ? undefined : hashBaseUrl(blocksFor);
    const blocks = pointer.blocks.find((entry) => entry.address === address);
    const fetchOrReport = (name: string, stored: StoredObject, at: string, reason: string): Promise<number> =>
      fetchObject({ ...shared, name, stored, file: at }).catch((error: unknown) => {
        if (!(error instanceof OperationError) || signal.aborted) throw error;
        report(`${reason}: ${error.message}`, 'warn');
        return 0;
      });
    if (blocks) {
      const notice = 'records are compressed here, since what was published cannot be had';
      bytes += await fetchOrReport(blocksName(blocks), blocks, cache.blocksFile(pointer, blocks.address), notice);
    }
    const { changes } = pointer;
    if (changes && changes.size <= FEED_FILE_BYTES_MAX)
      bytes += await fetchOrReport(changesName(changes), changes, feedPath(file), NO_CHANGES);
  } catch (error) {
    releaseFile(held);
    throw error;
  }
  const seconds = secondsSince(startMs);
  const figures = { generation, bytes, seconds };
  const line = `fetched generation ${generation.slice(0, 12)} of ${target.name}: ${bytesText(bytes)} in ${seconds} s`;
  report(line, 'info', { event: 'fetched', target: target.name, ...figures });
  return { held, figures };
}

/**
 * Throws if the snapshot differs from its pointer. A file of another generation is invalidated, so that the next run
 * fetches it again.
 */
async function assertDescribed(held: HeldFile, pointer: Pointer, name: string): Promise<void> {
  let created: string | undefined;
  try {
    const described = describeSnapshot(held);
    ({ created } = described);
    const difference = `the snapshot is of generation ${described.generation}, expected ${pointer.generation}`;
    if (described.generation !== pointer.generation) throw new OperationError('snapshot', `${name}: ${difference}`);
  } catch (error) {
    await invalidateCached(held.file);
    throw error;
  }
  if (created === pointer.created) return;
  // Otherwise a publisher that can write only the pointer could date an old generation as new. The file is intact and
  // stays.
  const [actual, claimed] = [created, pointer.created].map((time) => time ?? 'no time');
  const difference = `the pointer dates generation ${pointer.generation.slice(0, 12)} ${claimed}, but its snapshot has ${actual}`;
  throw new OperationError('refused', `${name}: ${difference}: publish it again`);
}
