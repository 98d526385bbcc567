// What the publish and prune commands do with their flags, and what they tell; commands.ts declares them, and the work
// itself is in data/distribution/.
import { type PublishOptions, publishSnapshot } from '../../data/distribution/publish.ts';
import { pruneTarget } from '../../data/distribution/prune.ts';
import { openPublishingTarget, type PublishingTarget } from '../../data/distribution/target.ts';
import { epochMs, steadyMs } from '../observe/clock.ts';
import type { Report } from '../observe/events.ts';
import { bytesText, countText } from '../observe/quantities.ts';
import { readSettings } from '../settings/declarations.ts';
import type { Flags } from '../settings/sources.ts';
import type { Outputs } from './parts.ts';
import { type Output, reportTo, withProgress } from './terminal.ts';

/** What is published where: a bucket of NATS that is made for it lies on so many servers. */
export interface Publication {
  readonly file: string;
  readonly to: string;
  readonly replicas: number;
}

/** Publishes a snapshot file. Throws OperationError as it is told there. */
export async function runPublish({ file, to, replicas }: Publication, flags: Flags, outputs: Outputs): Promise<void> {
  const allowRollback = flags['allowRollback'] === true;
  await withTarget(to, flags, outputs, replicas, async (target, report) => {
    await publishTold({ file, target, allowRollback }, report, outputs.stderr);
  });
}

/** Publishes a snapshot file, with its progress, and tells what came of it. Throws as it is told there. */
export async function publishTold(options: PublishOptions, report: Report, progress: Output): Promise<void> {
  const { name } = options.target;
  const startMs = steadyMs();
  const { pointer, sentBytes, isNew } = await withProgress(progress, (onProgress) =>
    publishSnapshot(options, onProgress),
  );
  const { generation, created, sequence } = pointer;
  const what = isNew ? 'published' : 'is published already:';
  const seconds = Math.round(steadyMs() - startMs) / 1000;
  const sent = `${bytesText(sentBytes)} sent in ${seconds.toFixed(1)} s`;
  const of = created === undefined ? '' : `, data of ${created}`;
  const figures = { target: name, generation, sequence, created, bytes: sentBytes, seconds };
  const line = `${name}: ${what} generation ${generation}, number ${sequence}${of}, ${sent}`;
  report(line, 'info', { event: isNew ? 'published' : 'unchanged', ...figures });
}

/** Removes what no pointer of a target needs. Throws OperationError as it is told there. */
export async function runPrune(to: string, keep: number, flags: Flags, outputs: Outputs): Promise<void> {
  await withTarget(to, flags, outputs, undefined, async (target, report) => {
    const { removed, removedBytes, kept } = await pruneTarget(target, keep, epochMs());
    const line = `${target.name}: removed ${countText(removed)} objects (${bytesText(removedBytes)}), kept ${kept}`;
    report(line, 'info', { event: 'pruned', target: target.name, removed, bytes: removedBytes, kept });
  });
}

/** The target of a URL, with the settings of `flags` that say who we are to it. Throws as openPublishingTarget does. */
export async function targetToPublish(to: string, flags: Flags, replicas?: number): Promise<PublishingTarget> {
  const { natsCredentials, natsCa } = readSettings(flags);
  return openPublishingTarget(to, { credentials: natsCredentials, ca: natsCa, replicas });
}

async function withTarget(
  to: string,
  flags: Flags,
  { stdout }: Outputs,
  replicas: number | undefined,
  work: (target: PublishingTarget, report: Report) => Promise<void>,
): Promise<void> {
  const { logFormat } = readSettings(flags);
  const target = await targetToPublish(to, flags, replicas);
  try {
    await work(target, reportTo(stdout, logFormat === 'json' || (logFormat === 'auto' && stdout.isTTY !== true)));
  } finally {
    await target.close();
  }
}
