// `follow`: keeps a folder with a snapshot fresh. data/upstream/refresh.ts does a refresh.
import type { Command } from 'commander';
import { availableParallelism } from 'node:os';
import { addSettings, COMPRESSED_FOR, example, KEEP, type Outputs, settingsOf, THREADS, valueOption } from './parts.ts';
import type { Flags } from '../settings/sources.ts';
import { FOLLOW_FLAGS, PUBLISHER_SETTINGS, S3_UNCONDITIONAL } from '../settings/replicaSettings.ts';
import { PATH, TARGET, withoutSecrets } from '../settings/values.ts';
import { existsSync, rmSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { blocksFile } from '../../data/blocks/blockStore.ts';
import type { OnProgress } from '../../data/progress.ts';
import { followPaths } from '../../data/upstream/folder.ts';
import { probe } from '../../data/upstream/probe.ts';
import { refresh, type RefreshOptions, type RefreshResult, type RefreshStep } from '../../data/upstream/refresh.ts';
import { OperationError } from '../../data/operationError.ts';
import { epochMs, secondsSince, steadyMs } from '../observe/clock.ts';
import { COMPARISON_KINDS, type Comparisons, type Report } from '../observe/events.ts';
import { bytesText, countText } from '../observe/quantities.ts';
import { compressWithReport } from './compress.ts';
import { crawlingOf, damageReporter, leftOut, retryReporter, withSignalReport } from './crawl.ts';
import type { ShowProgress } from '../process/loadGeneration.ts';
import type { FollowMessage, RefreshOrder } from '../process/followProcess.ts';
import { collectSoon } from '../process/release.ts';
import type { Settings } from '../settings/declarations.ts';
import type { TargetWords } from './publish.ts';
import { durationText, isForMachines, type Output, withProgress, withReport } from './terminal.ts';

const FOLLOW_HINT = `
The folder contains the data set, catalogue.snapshot for serve --watch, and the change log. Each refresh compares
collections by modification dates or validators if the catalogue has them, and reads the others in full. A refresh that
fails or is killed changes nothing. --publish-to reports each refresh to replicas, even without changes: their
refresh_age_seconds and --max-stale count from the start of its comparison.
With --keep the target is pruned after each new generation. With --base-url the new records are compressed once here,
not by each replica with that --base-url.`;

export function defineFollow(command: Command, outputs: Outputs): void {
  const names = [...FOLLOW_FLAGS, ...PUBLISHER_SETTINGS, 'logFormat'];
  addSettings(command, names)
    .argument('<url>', 'base URL of the catalogue, or an address of its API')
    .addOption(valueOption('-o, --output', 'folder of the replica', PATH).makeOptionMandatory())
    .option('--force', 'accept any loss of records; publish data dated in the future')
    .option('--once', 'refresh once and exit, for cron')
    .option('--probe', 'print a probe of the catalogue before the first refresh')
    .addOption(valueOption('--publish-to', 'target to publish each new generation to', TARGET))
    .addOption(valueOption(...KEEP))
    .addOption(valueOption(...COMPRESSED_FOR))
    .option(...S3_UNCONDITIONAL)
    .addOption(valueOption('--threads', 'decoding threads', THREADS).default(availableParallelism(), 'number of cores'))
    .addHelpText('after', FOLLOW_HINT)
    .addHelpText('after', example('follow https://catalogue.example.org -o replica/ --every 15m'))
    .action(async (url: string, flags: FollowFlags & Flags) => {
      const settings = settingsOf(flags, names);
      await runFollow(url, flags, settings, outputs);
    });
}

interface FollowFlags extends TargetWords {
  readonly output: string;
  readonly once?: boolean;
  readonly probe?: boolean;
  readonly force?: boolean;
  readonly publishTo?: string;
  readonly keep?: number;
  readonly baseUrl?: string;
  readonly threads: number;
}

/**
 * Follows the catalogue at a base URL or another address of its API. A failed refresh is reported, and the next one
 * runs on schedule; with `once` the error is thrown. New data is compressed and published if requested, including data
 * that an earlier run could not publish. SIGINT and SIGTERM end the process at once, with exit code 0 except with
 * `once`. The next run completes unfinished work.
 */
async function runFollow(
  url: string,
  flags: FollowFlags,
  settings: Settings,
  { stdout, stderr }: Outputs,
): Promise<void> {
  const isJson = flags.once === true ? settings.logFormat === 'json' : isForMachines(settings.logFormat, stdout);
  await withReport(isJson, stdout, (report) => followWithReport(url, flags, settings, { report, isJson, stderr }));
}

interface FollowOutput {
  readonly report: Report;
  /** Whether the report is JSON lines for a program. */
  readonly isJson: boolean;
  readonly stderr: Output;
}

async function followWithReport(
  url: string,
  flags: FollowFlags,
  settings: Settings,
  { report, isJson, stderr }: FollowOutput,
): Promise<void> {
  const options: RefreshOptions = {
    ...crawlingOf(url, settings, flags.force === true),
    onRetry: retryReporter(report),
    onDamaged: damageReporter(report),
    folder: flags.output,
    everyMs: settings.everyMs,
    sweepEveryMs: settings.sweepEveryMs,
    isLenient: settings.lenient,
    takesNulls: settings.takeNulls,
    threads: flags.threads,
    nowMs: epochMs,
  };
  if (flags.keep !== undefined && flags.publishTo === undefined)
    throw new OperationError('usage', '--keep: only beside --publish-to, whose target it prunes');
  const progress: Output = isJson ? { write: () => undefined } : stderr;
  // The program that reads JSON lines may be the parent process, which shows the progress itself.
  const show: ShowProgress = isJson ? sent : (work) => withProgress(stderr, work);
  const work = async (): Promise<void> => {
    const publishing = flags.publishTo === undefined ? undefined : await publishingTo(flags.publishTo, settings, flags);
    if (flags.probe === true && !existsSync(followPaths(flags.output).notes))
      await reportProbe(options, settings, report, show);
    try {
      const orders = new RefreshOrders();
      for (;;) {
        const [startMs, order] = [steadyMs(), orders.last];
        const reason = await refreshOnce(options, { report, progress, show }, flags, publishing?.publish);
        sendToParent({
          kind: 'refreshed',
          order,
          seconds: secondsSince(startMs),
          ...(reason !== undefined && { reason }),
        });
        if (flags.once === true) return;
        // Otherwise V8 would not free the memory of snapshots before the next refresh.
        collectSoon();
        await orders.after(order, Math.max(0, startMs + settings.everyMs - steadyMs()));
      }
    } finally {
      await publishing?.close();
    }
  };
  // Without --once, following until a signal is success.
  await (flags.once === true ? withSignalReport(report, work) : withSignalReport(report, work, () => process.exit(0)));
}

/** Reports the summary of a probe. A catalogue that cannot be probed is reported again by the crawl. */
async function reportProbe(
  options: RefreshOptions,
  settings: Settings,
  report: Report,
  show: ShowProgress,
): Promise<void> {
  const { probeText, PROBING } = await import('./probe.ts');
  try {
    const found = await show((onProgress) => probe({ ...options, ...PROBING }, onProgress));
    report(probeText(found, settings));
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    report(`no summary: ${withoutSecrets(error.message)}`, 'warn');
  }
}

/** Orders from the parent process, if there is one, to refresh before --every has passed. */
class RefreshOrders {
  /** The number of the last order; 0 before the first. */
  last = 0;
  #wake = new AbortController();

  constructor() {
    process.on('message', ({ order }: RefreshOrder) => {
      this.last = order;
      this.#wake.abort();
    });
  }

  /** Waits at most this long for an order after the one with this number. */
  async after(order: number, ms: number): Promise<void> {
    if (this.last > order) return;
    this.#wake = new AbortController();
    await setTimeout(ms, undefined, { signal: this.#wake.signal }).catch(() => undefined);
  }
}

function sendToParent(message: FollowMessage): void {
  process.send?.(message);
}

/** Publishes the snapshot of a folder, or confirms to replicas that the previous one is still current. */
type Publishing = (refreshed: RefreshResult, file: string, report: Report, progress: Output) => Promise<void>;

async function publishingTo(
  to: string,
  settings: Settings,
  { keep, force: isForced = false, ...words }: Pick<FollowFlags, 'keep' | 'force'> & TargetWords,
): Promise<{ publish: Publishing; close(): Promise<void> }> {
  const { confirmPublished } = await import('../../data/distribution/publish.ts');
  const { assertTarget } = await import('../../data/distribution/openTarget.ts');
  const { pruneWithReport, publishWithReport, targetToPublish } = await import('./publish.ts');
  assertTarget(to, '--publish-to');
  const target = await targetToPublish(to, settings, words);
  let published: string | undefined;
  return {
    publish: async ({ generation, ageMs }, file, report, progress) => {
      const refreshed = new Date(epochMs() - ageMs).toISOString();
      if (generation === published && (await confirmPublished(target, generation, refreshed))) return;
      const options = { file, target, allowRollback: false, isForced, isImmutable: true, refreshed };
      await publishWithReport(options, report, progress);
      published = generation;
      if (keep !== undefined) await pruneWithReport(target, keep, report).catch(pruneFailure(report));
    },
    close: () => target.close(),
  };
}

/** A failure to prune is only reported, because the generation is published. */
function pruneFailure(report: Report): (error: unknown) => void {
  return reportOnly(report, 'pruning failed, next attempt after the next generation');
}

/** A failure to compress is only reported, because each replica can compress the records. */
function compressFailure(report: Report): (error: unknown) => void {
  return reportOnly(report, 'compressing failed, left to replicas until the next attempt');
}

function reportOnly(report: Report, what: string): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof OperationError)) throw error;
    report(`${what}: ${withoutSecrets(error.message)}`, 'warn');
  };
}

interface Shown {
  readonly report: Report;
  readonly progress: Output;
  readonly show: ShowProgress;
}

/** Sends progress to the parent process, if there is one, a few times a second. */
function sent<T>(work: (onProgress: OnProgress) => Promise<T>): Promise<T> {
  let nextMs = -Infinity;
  return work((progress) => {
    if (steadyMs() < nextMs) return;
    nextMs = steadyMs() + SENT_EVERY_MS;
    sendToParent({ kind: 'progress', progress });
  });
}

const SENT_EVERY_MS = 250;

async function refreshOnce(
  options: RefreshOptions,
  { report, progress, show }: Shown,
  { once: isOnly = false, baseUrl }: Pick<FollowFlags, 'once' | 'baseUrl'>,
  publishing: Publishing | undefined,
): Promise<string | undefined> {
  const { snapshot: file } = followPaths(options.folder);
  let what = 'the refresh failed, the previous data stays';
  try {
    const refreshData = async (): Promise<RefreshResult> => {
      const refreshed = await show((onProgress) =>
        refresh(options, { onStep: (step) => reportStep(step, options, report), onProgress }),
      );
      const { generation, isNew, comparisons: collections } = refreshed;
      const ageSeconds = Math.round(refreshed.ageMs) / 1000;
      report(refreshedLine(refreshed), 'info', { event: 'refreshed', generation, isNew, ageSeconds, collections });
      return refreshed;
    };
    const refreshed = await refreshData();
    const { generation } = refreshed;
    if (baseUrl !== undefined && !existsSync(blocksFile(file, { generation, baseUrl }))) {
      const compression = { file, generation, baseUrl, threads: options.threads };
      await compressWithReport(compression, report, show).catch(compressFailure(report));
    }
    what = 'not published, which is tried again the next time';
    await publishing?.(refreshed, file, report, progress).catch(async (error: unknown) => {
      if (!(await isDamaged(file, error))) throw error;
      report(`it is built again: ${(error as Error).message}`, 'warn');
      rmSync(file, { force: true });
      await publishing(await refreshData(), file, report, progress);
    });
    return undefined;
  } catch (error) {
    if (isOnly || !(error instanceof OperationError) || error.code === 'usage') throw error;
    const reason = withoutSecrets(error.message);
    report(`${what}: ${reason}`, 'error', { event: 'refused', reason });
    return reason;
  }
}

/** The meaning of "unchanged" for each kind of comparison. */
const UNCHANGED = {
  dates: 'no newer date and the same count',
  validators: 'every page is a 304 or has the same bytes',
  full: 'every record has the same bytes',
} as const;

/** Claims only what was checked. */
function refreshedLine({ generation, isNew, comparisons }: RefreshResult): string {
  const line = `refreshed: generation ${generation.slice(0, 12)}`;
  if (isNew) return line;
  const names = namesByCompared(comparisons);
  const ways = COMPARISON_KINDS.filter((how) => names[how].length > 0);
  return `${line} is unchanged; ${ways.map((how) => `${UNCHANGED[how]}: ${names[how].length} collections`).join(', ')}`;
}

/** Describes how collections were compared and when they were last read in full. */
function comparedText(comparisons: Comparisons): string {
  const names = namesByCompared(comparisons);
  const textOf = (how: (typeof COMPARISON_KINDS)[number]): string => {
    const list = names[how].length === Object.keys(comparisons).length ? 'all collections' : names[how].join(', ');
    if (how === 'full') return `${list} read in full`;
    const [oldest] = names[how].map((name) => comparisons[name]!.lastFullRead).toSorted();
    return `${list} compared by ${how}, last read in full at ${oldest!}`;
  };
  return COMPARISON_KINDS.filter((how) => names[how].length > 0)
    .map(textOf)
    .join('; ');
}

function namesByCompared(
  comparisons: Comparisons,
): Readonly<Record<(typeof COMPARISON_KINDS)[number], readonly string[]>> {
  const names = Object.groupBy(Object.keys(comparisons), (name) => comparisons[name]!.compared);
  return { dates: [], validators: [], full: [], ...names };
}

/** Whether a failure to publish is due to the file. The target's pointer may be wrong instead. */
async function isDamaged(file: string, failure: unknown): Promise<boolean> {
  const isOfSnapshot = (error: unknown): boolean => error instanceof OperationError && error.code === 'snapshot';
  if (!isOfSnapshot(failure)) return false;
  const { verifyFile } = await import('../../data/store/verify.ts');
  return verifyFile(file, () => undefined).then(() => false, isOfSnapshot);
}

/** Reports a step of a refresh: a line and its event. Warnings have no event. */
function reportStep(step: RefreshStep, { rate, everyMs, base }: RefreshOptions, report: Report): void {
  switch (step.kind) {
    case 'crawlBegan': {
      const line = step.how === 'new' ? 'a crawl began, of everything' : 'a refresh began';
      return report(line, 'info', { event: 'crawlStarted', how: step.how, from: base });
    }
    case 'slow': {
      const estimate = `${countText(step.requests)} requests take at least ${durationText(step.seconds)}`;
      const every = durationText(everyMs / 1000);
      return report(`a refresh takes longer than --every ${every}: ${estimate} at --rate ${rate}`, 'warn');
    }
    case 'crawled': {
      const { records, bytes, comparisons, isUnchanged, unknown, ms } = step;
      const { dates, validators, full } = namesByCompared(comparisons);
      const compared = { dates: dates.length, validators: validators.length, full: full.length };
      const figures = { records, bytes, ...compared, isUnchanged, leftOut: unknown.join() || undefined };
      const seconds = (ms / 1000).toFixed(1);
      const line = `crawled ${countText(records)} records in ${seconds} s: ${comparedText(comparisons)}`;
      const event = { event: 'crawled', ...figures, seconds: Math.round(ms) / 1000 } as const;
      return report([...leftOut(unknown), line].join('\n'), 'info', event);
    }
    case 'built': {
      const { generation, bytes, work, skipped, ms } = step;
      const figures = { generation, bytes, ...work, skipped: skipped.count, seconds: Math.round(ms) / 1000 };
      report(builtLine(step), 'info', { event: 'built', ...figures });
      for (const warning of step.warnings) report(warning, 'warn');
      return;
    }
    case 'importedWhole': {
      const { reason } = step;
      const line = `importing everything, nothing is carried over from the last generation: ${reason}`;
      return report(line, 'info', { event: 'importedWhole', reason });
    }
    case 'placed': {
      const { generation, counts, ms } = step;
      const changes = counts
        ? `: ${countText(counts.created)} created, ${countText(counts.changed)} changed, ${countText(counts.deleted)} deleted`
        : '';
      const event = { event: 'placed', generation, ...counts, seconds: Math.round(ms) / 1000 } as const;
      return report(`generation ${generation.slice(0, 12)} is in place${changes}`, 'info', event);
    }
  }
}

function builtLine({ generation, bytes, work, skipped, ms }: Extract<RefreshStep, { readonly kind: 'built' }>): string {
  const { carried, merged, parsed } = work;
  const size = `${bytesText(bytes)}) in ${(ms / 1000).toFixed(1)} s`;
  const how = `${carried} collections carried over, ${merged} merged, ${countText(parsed)} records parsed`;
  const built = `built generation ${generation.slice(0, 12)} (${size}: ${how}`;
  if (skipped.count === 0) return built;
  return [...skipped.told.map((fault) => `left out: ${fault}`), `${built}, ${countText(skipped.count)} left out`].join(
    '\n',
  );
}
