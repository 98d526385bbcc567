// Updates the folder of a replica from the catalogue that it follows: crawl, import, change log, and one rename. Each
// step is done completely or not at all, and the next run continues after a kill.
import { createHash } from 'node:crypto';
import { closeSync, existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import {
  appendGeneration,
  type ChangeKind,
  changesBetween,
  generationsIn,
  changeKind,
  type RecordChange,
} from './changeLog.ts';
import { type CatalogueDigests, digestChanged, digestSnapshot } from './digests.ts';
import { type Comparison, crawl, type CrawlOptions, type CrawlReport } from './crawl.ts';
import { removeRefused, assertSource } from './publish.ts';
import { attempt, makeFolder, openFile, activateFile } from '../files.ts';
import { misfitText } from '../../engine/snapshot/metadata.ts';
import type { EarlierImport, Origin } from '../import/earlier.ts';
import { importDirectory, type ImportWork, type KeptRecords } from '../import/import.ts';
import { readManifest } from '../import/manifest.ts';
import { removeAbandoned } from '../leftovers.ts';
import { type Lock, lock } from '../lock.ts';
import { OperationError } from '../operationError.ts';
import type { OnProgress } from '../progress.ts';
import { describeSnapshot } from '../store/load.ts';
import { claim, type FollowPaths, note, followPaths } from './folder.ts';
import { typeChanges } from './typeChanges.ts';

export interface RefreshOptions extends Omit<CrawlOptions, 'kind' | 'output' | 'state' | 'now'> {
  readonly folder: string;
  /** Interval between refreshes. */
  readonly everyMs: number;
  readonly sweepEveryMs: number;
  /** Threads of the import. */
  readonly threads: number;
  /** Whether the import skips records with errors, instead of refusing all. */
  readonly isLenient: boolean;
  /** Whether the import accepts null for declared values. */
  readonly takesNulls?: boolean | undefined;
  /** The time of day, in milliseconds since 1970. */
  readonly nowMs: () => number;
}

/** The numbers of created, changed and deleted records in a generation. */
export type ChangeCounts = Readonly<Record<ChangeKind, number>>;

/** A completed step of a refresh, with its figures. */
export type RefreshStep =
  | { readonly kind: 'crawlBegan'; readonly how: 'new' | 'refresh' }
  /** The requests of this refresh take longer than the time to the next one. */
  | { readonly kind: 'slow'; readonly requests: number; readonly seconds: number }
  | {
      readonly kind: 'crawled';
      readonly records: number;
      readonly bytes: number;
      readonly comparisons: CrawlReport['comparisons'];
      readonly isUnchanged: boolean;
      /** Collections of the catalogue that are not declared. They are skipped. */
      readonly unknown: readonly string[];
      readonly ms: number;
    }
  | { readonly kind: 'importedWhole'; readonly reason: string }
  | {
      readonly kind: 'built';
      readonly generation: string;
      readonly bytes: number;
      readonly work: ImportWork;
      /** The number of skipped records with errors, and the first of those that were read. */
      readonly skipped: { readonly count: number; readonly told: readonly string[] };
      /** Sentences about values that do not fit, and about inferred types that changed. */
      readonly warnings: readonly string[];
      readonly ms: number;
    }
  | {
      readonly kind: 'placed';
      readonly generation: string;
      readonly counts: ChangeCounts | undefined;
      readonly ms: number;
    };

/** The paths in a folder, and this process's lock on it. */
interface HeldFolder extends FollowPaths, Lock {}

/** Receives the steps of a refresh, and the progress of long ones. */
export interface RefreshObserver {
  readonly onStep: (step: RefreshStep) => void;
  readonly onProgress: OnProgress;
}

export interface RefreshResult {
  readonly generation: string;
  /** Whether it differs from the previous one. */
  readonly isNew: boolean;
  readonly comparisons: Readonly<Record<string, Comparison>>;
  /** How long ago the comparison began: later changes of the catalogue may be missing. */
  readonly ageMs: number;
}

/**
 * Runs one refresh. Throws OperationError `network`, `input`, `usage`, `file` or `snapshot`, and leaves the old data.
 * Cost: a crawl, and for new data an import and a pass over it. Memory: that of an import.
 */
export async function refresh(options: RefreshOptions, observer: RefreshObserver): Promise<RefreshResult> {
  attempt(`cannot write ${options.folder}`, () => makeFolder(options.folder));
  const paths = followPaths(options.folder);
  const folder: HeldFolder = { ...paths, ...lock(paths.lock, 'refreshes') };
  try {
    await removeAbandoned(options.folder, (name) => name === path.basename(folder.next), 0);
    const before = readGeneration(folder.snapshot);
    const notes = claim(folder, options.base);
    // A folder without notes may have data of another catalogue.
    if (notes.imported === '') await assertSource(folder.dataSet, options.base, true);
    finishEarlierRun(folder, options, observer);
    const { comparisons, ageMs } = await crawlInto(folder, options, observer);
    const sum = await hashDataSet(folder.dataSet);
    const existing = readGeneration(folder.snapshot);
    const known = notes.origin && hasSameOptions(notes.origin, options) ? notes.origin : undefined;
    // If another process replaced the snapshot, it is not what the catalogue has.
    const isBuilt = notes.imported === sum && known !== undefined && existing === known.generation;
    const origin = isBuilt ? known : await build(folder, known, options, observer);
    const { generation } = origin;
    folder.assertHeld();
    note(folder, { url: options.base, imported: sum, origin });
    return { generation, isNew: generation !== before, comparisons, ageMs: ageMs() };
  } finally {
    folder.release();
  }
}

/**
 * Whether a snapshot was built with equivalent options: nulls were handled the same, and no records were skipped that
 * would now be refused.
 */
function hasSameOptions({ skipped, takesNulls = false }: Origin, options: RefreshOptions): boolean {
  const hasFaulty = Object.keys(skipped).length > 0;
  return takesNulls === (options.takesNulls ?? false) && (options.isLenient || !hasFaulty);
}

/** Crawls. `ageMs` returns the time since the start of the crawl, or of the run that it resumed. */
async function crawlInto(
  folder: HeldFolder,
  options: RefreshOptions,
  { onStep, onProgress }: RefreshObserver,
): Promise<Pick<CrawlReport, 'comparisons'> & { readonly ageMs: () => number }> {
  const { clock, nowMs, rate, everyMs } = options;
  const clockMs = clock();
  const now = `${new Date(nowMs()).toISOString().slice(0, 19)}Z`;
  onStep({ kind: 'crawlBegan', how: existsSync(folder.dataSet) ? 'refresh' : 'new' });
  const onExpected = (requests: number): void => {
    const seconds = requests / rate;
    if (seconds * 1000 > everyMs) onStep({ kind: 'slow', requests, seconds });
  };
  const whole = { ...options, kind: 'refresh', now, output: folder.dataSet, state: folder.crawlState } as const;
  try {
    const report = (await crawl({ ...whole, onExpected }, onProgress))!;
    const { begun, isResumed, bytes, comparisons, isUnchanged, unknown } = report;
    const records = Object.values(report.counts).reduce((sum, count) => sum + count, 0);
    onStep({ kind: 'crawled', records, bytes, comparisons, isUnchanged, unknown, ms: clock() - clockMs });
    // The steady clock, which does not jump, if a single run did it all.
    const ageMs = (): number => (isResumed ? Math.abs(nowMs() - Date.parse(begun)) : clock() - clockMs);
    return { comparisons, ageMs };
  } catch (error) {
    folder.assertHeld();
    removeRefused(folder.crawlState, error);
    throw error;
  }
}

/** Identifies a data set: a hash of its time and the sums of its files. */
async function hashDataSet(dataSet: string): Promise<string> {
  const { created, sha256 } = await readManifest(dataSet);
  return createHash('sha256')
    .update(JSON.stringify([created, [...sha256].toSorted(([a], [b]) => (a < b ? -1 : 1))]))
    .digest('hex');
}

/** The generation of a snapshot file; undefined if it does not exist or this version cannot read it. */
function readGeneration(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  const descriptor = openFile(file);
  try {
    return describeSnapshot({ descriptor, file }).generation;
  } catch (error) {
    if (error instanceof OperationError && error.code === 'snapshot') return undefined;
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** Activates a snapshot that is in the log. Removes one that is not, so that it is built again. */
function finishEarlierRun(
  folder: HeldFolder,
  { clock }: Pick<RefreshOptions, 'clock'>,
  { onStep }: RefreshObserver,
): void {
  const startMs = clock();
  const logged = generationsIn(folder.changes).at(-1)?.generation;
  if (!existsSync(folder.next)) return;
  const generation = readGeneration(folder.next);
  if (generation === undefined || generation !== logged) return removeNext(folder);
  placeNext(folder);
  onStep({ kind: 'placed', generation, counts: undefined, ms: clock() - startMs });
}

function removeNext({ next, assertHeld }: HeldFolder): void {
  assertHeld();
  attempt(`cannot remove ${next}`, () => rmSync(next));
}

function placeNext({ next, snapshot, assertHeld }: HeldFolder): void {
  assertHeld();
  activateFile(next, snapshot);
}

/** Builds the snapshot of the data set and activates it. Returns its generation and its sources. */
async function build(
  folder: HeldFolder,
  known: Origin | undefined,
  options: RefreshOptions,
  observer: RefreshObserver,
): Promise<Origin> {
  const { clock, nowMs, threads, isLenient, takesNulls } = options;
  const startMs = clock();
  const importing = { directory: folder.dataSet, file: folder.next, created: undefined, takesNulls, threads };
  const before = readGeneration(folder.snapshot);
  const adoptImport = async (earlier: EarlierImport | undefined): Promise<Origin> => {
    // With an earlier snapshot the import is strict. A record with an error makes it start over without the snapshot,
    // and then the record is skipped.
    const importOptions = { ...importing, earlier, isLenient: isLenient && !earlier };
    // Another process that takes the folder later removes the partial file, so it cannot become `next`.
    folder.assertHeld();
    const imported = await importDirectory(importOptions, observer.onProgress);
    const { snapshotBytes: bytes, generation, origin, work, misfits } = imported;
    const skipped = { count: imported.skippedCount, told: imported.skipped };
    const types = before === undefined ? [] : typeChanges(folder.snapshot, folder.next);
    const warnings = [...misfits.map(misfitText), ...types];
    observer.onStep({ kind: 'built', generation, bytes, work, skipped, warnings, ms: clock() - startMs });
    if (before === generation) {
      // If it was built from all lines, it is undamaged, whatever happened to the current one.
      if (earlier) removeNext(folder);
      else placeNext(folder);
      return origin;
    }
    const builtMs = clock();
    const at = nowMs() / 1000;
    const kept = earlier && imported.kept;
    const counts = await log(folder, { before, generation, at, kept }, observer.onProgress);
    placeNext(folder);
    observer.onStep({ kind: 'placed', generation, counts, ms: clock() - builtMs });
    return origin;
  };
  if (!known || before === undefined) return adoptImport(undefined);
  try {
    return await adoptImport({ file: folder.snapshot, origin: known });
  } catch (error) {
    // The earlier snapshot is unusable, or a full import gives a better message about its lines.
    if (!(error instanceof OperationError) || (error.code !== 'snapshot' && error.code !== 'input')) throw error;
    // Lines that are matched with an earlier import have no known line numbers.
    const [reason = ''] = error.message.replace(/(\.ndjson(?:\.gz)?):\d+:/, '$1:').split('\n', 1);
    observer.onStep({ kind: 'importedWhole', reason });
    return adoptImport(undefined);
  }
}

/** A generation and the one before, with the records that were kept if it was built from that one. */
interface Successor {
  readonly before: string | undefined;
  readonly generation: string;
  readonly at: number;
  readonly kept: KeptRecords | undefined;
}

/** Logs the changes of the next generation. Returns their numbers, if known. */
async function log(
  folder: HeldFolder,
  { before, generation, at, kept }: Successor,
  onProgress: OnProgress,
): Promise<ChangeCounts | undefined> {
  const digests = before === undefined ? undefined : digestBoth(folder, kept, onProgress);
  folder.assertHeld();
  if (!digests || before === undefined) {
    appendGeneration(folder.changes, { generation, at, isBase: true, changes: [] });
    return undefined;
  }
  // The snapshot was replaced by other means, or the log was moved away.
  if (generationsIn(folder.changes).at(-1)?.generation !== before)
    appendGeneration(folder.changes, { generation: before, at, isBase: true, changes: [] });
  const counts = { created: 0, changed: 0, deleted: 0 };
  const countChanges = function* (): Generator<RecordChange> {
    for (const change of changesBetween(...digests)) {
      counts[changeKind(change)]++;
      yield change;
    }
  };
  appendGeneration(folder.changes, { generation, at, isBase: false, changes: countChanges() });
  return counts;
}

/**
 * The digests of the current snapshot and of the next one, except for records that are known to be in both. Returns
 * undefined if the current snapshot cannot be read, for example after an update of the program. If the next one was
 * built from it, that is an error.
 */
function digestBoth(
  { snapshot, next }: FollowPaths,
  kept: KeptRecords | undefined,
  onProgress: OnProgress,
): readonly [before: CatalogueDigests, after: CatalogueDigests] | undefined {
  if (kept) return digestChanged(snapshot, next, kept);
  let before: CatalogueDigests;
  try {
    before = digestSnapshot(snapshot, onProgress);
  } catch (error) {
    if (error instanceof OperationError && error.code === 'snapshot') return undefined;
    throw error;
  }
  return [before, digestSnapshot(next, onProgress)];
}
