// `publish` and `prune`: send a snapshot file to a target and remove old ones from it. data/distribution/ does the
// work.
import type { Command } from 'commander';
import { addSettings, example, KEEP, type Outputs, valueOption } from './parts.ts';
import type { Flags } from '../settings/sources.ts';
import { PUBLISHED_FORMS, PUBLISHER_SETTINGS, S3_UNCONDITIONAL } from '../settings/replicaSettings.ts';
import { type PublishOptions, publishSnapshot } from '../../data/distribution/publish.ts';
import { encodeLogFeed } from '../../data/upstream/feed.ts';
import { pruneTarget } from '../../data/distribution/prune.ts';
import { openPublishingTarget } from '../../data/distribution/openTarget.ts';
import type { PublishingTarget } from '../../data/distribution/target.ts';
import { epochMs, secondsSince, steadyMs } from '../observe/clock.ts';
import type { Report } from '../observe/events.ts';
import { bytesText, countText } from '../observe/quantities.ts';
import { readSettings, type Settings, targetAccess } from '../settings/declarations.ts';
import { DAY_MS } from '../settings/values.ts';
import { type Output, withProgress, withReport } from './terminal.ts';

export function definePublish(command: Command, outputs: Outputs): void {
  command
    .argument('<file>', 'snapshot file, published with its records from import --base-url')
    .requiredOption('--to <target>', `target: ${PUBLISHED_FORMS}`)
    .option('--allow-rollback', 'publish even if the data is older than the current data')
    .option('--force', 'publish even if the data is dated more than a day in the future')
    .option(...S3_UNCONDITIONAL);
  addSettings(command, [...PUBLISHER_SETTINGS, 'logFormat'])
    .addHelpText('after', example('publish catalogue.snapshot --to file:///srv/snapshots'))
    .action(async (file: string, { to, s3Unconditional, ...flags }: Flags & Omit<Publication, 'file'>) => {
      await runPublish({ file, to, s3Unconditional }, flags, outputs);
    });
}

export function definePrune(command: Command, outputs: Outputs): void {
  command.argument('<target>', PUBLISHED_FORMS).addOption(valueOption(...KEEP).makeOptionMandatory());
  addSettings(command, [...PUBLISHER_SETTINGS, 'logFormat'])
    .addHelpText('after', example('prune file:///srv/snapshots --keep 3'))
    .action(async (target: string, { keep, ...flags }: Flags & { readonly keep: number }) => {
      await runPrune(target, keep, flags, outputs);
    });
}

/** Flags of a publisher for certain kinds of targets, in addition to its settings. */
export interface TargetWords {
  readonly s3Unconditional?: boolean | undefined;
}

interface Publication extends TargetWords {
  readonly file: string;
  readonly to: string;
}

/** A warning for operators who publish older data. */
const UNCONDITIONAL_CURE =
  'the data is older than before: replicas need --allow-rollback to accept it; others keep serving, and with --max-stale become unready';

const BLOCKS_SKIPPED = 'left out, since it is damaged or of other records: each replica compresses its own';

/** Throws OperationError as publishTold does. */
async function runPublish({ file, to, ...words }: Publication, flags: Flags, outputs: Outputs): Promise<void> {
  const allowRollback = flags['allowRollback'] === true;
  const isForced = flags['force'] === true;
  await withTarget(to, flags, outputs, words, async (target, report) => {
    await publishWithReport({ file, target, allowRollback, isForced }, report, outputs.stderr);
  });
}

/** Data dated more than a day in the future needs `isForced`. Throws OperationError as publishSnapshot does. */
export async function publishWithReport(
  { isForced, ...options }: Omit<PublishOptions, 'latestMs' | 'feedOf'> & { readonly isForced: boolean },
  report: Report,
  progress: Output,
): Promise<void> {
  const { name } = options.target;
  const startMs = steadyMs();
  const feedOf = (generation: string): Promise<Uint8Array | undefined> => encodeLogFeed(options.file, generation);
  const { pointer, sentBytes, isNew, isOlder, leftOut } = await withProgress(progress, (onProgress) =>
    publishSnapshot({ ...options, feedOf, latestMs: isForced ? undefined : epochMs() + DAY_MS }, onProgress),
  );
  const { generation, created, sequence } = pointer;
  const what = isNew ? `published generation ${generation}` : `generation ${generation} is already published`;
  const seconds = secondsSince(startMs);
  const sent = `${bytesText(sentBytes)} sent in ${seconds.toFixed(1)} s`;
  const of = created === undefined ? '' : `, data of ${created}`;
  const figures = { target: name, generation, sequence, created, bytes: sentBytes, seconds };
  const line = `${name}: ${what}, number ${sequence}${of}, ${sent}`;
  report(line, 'info', { event: isNew ? 'published' : 'unchanged', ...figures });
  for (const file of leftOut) report(`${file}: ${BLOCKS_SKIPPED}`, 'warn');
  if (isOlder) report(`${name}: ${UNCONDITIONAL_CURE}`, 'warn');
}

/** Throws OperationError as pruneTold does. */
async function runPrune(to: string, keep: number, flags: Flags, outputs: Outputs): Promise<void> {
  await withTarget(to, flags, outputs, {}, (target, report) => pruneWithReport(target, keep, report));
}

/** Removes and reports the objects that no pointer of a target needs. Throws as pruneTarget does. */
export async function pruneWithReport(target: PublishingTarget, keep: number, report: Report): Promise<void> {
  const { removed, removedBytes, kept, missing } = await pruneTarget(target, keep, epochMs());
  const line = `${target.name}: removed ${countText(removed)} objects (${bytesText(removedBytes)}), kept ${kept}`;
  report(line, 'info', { event: 'pruned', target: target.name, removed, bytes: removedBytes, kept });
  // A concurrent publisher checks its objects after writing the pointer and sends missing ones again.
  if (missing !== undefined) {
    const what = `${missing} became current again while it was removed: publish it again unless a publisher still runs`;
    report(`${target.name}: ${what}`, 'warn', { event: 'pruned', target: target.name, missing });
  }
}

/** Opens the target of a URL with the credentials in the settings. Throws as openPublishingTarget does. */
export async function targetToPublish(
  to: string,
  settings: Settings,
  words: TargetWords = {},
): Promise<PublishingTarget> {
  const access = targetAccess(settings);
  const s3 = access.s3 && { s3: { ...access.s3, isUnconditional: words.s3Unconditional } };
  return openPublishingTarget(to, { ...access, ...s3 });
}

async function withTarget(
  to: string,
  flags: Flags,
  { stdout }: Outputs,
  words: TargetWords,
  work: (target: PublishingTarget, report: Report) => Promise<void>,
): Promise<void> {
  const settings = readSettings(flags);
  const target = await targetToPublish(to, settings, words);
  try {
    await withReport(settings.logFormat === 'json', stdout, (report) => work(target, report));
  } finally {
    await target.close();
  }
}
