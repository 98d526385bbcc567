// `crawl`: fetches a catalogue into a data set directory. data/upstream/crawl.ts does the work.
import type { Command } from 'commander';
import { addSettings, example, NAME, type Outputs, settingsOf, valueOption } from './parts.ts';
import type { Flags } from '../settings/sources.ts';
import { CRAWL_FLAGS, type CrawlSettings } from '../settings/replicaSettings.ts';
import { BASE_URL, packageVersion, PATH, withoutSecrets } from '../settings/values.ts';
import { resolve } from 'node:path';
import { crawl, type CrawlOptions, type CrawlReport } from '../../data/upstream/crawl.ts';
import { removeRefused } from '../../data/upstream/publish.ts';
import { stateFolder } from '../../data/files.ts';
import { OperationError } from '../../data/operationError.ts';
import { trustAuthorities } from '../../data/tls.ts';
import type { Retry } from '../../data/upstream/client.ts';
import { epochMs, steadyMs } from '../observe/clock.ts';
import type { DataEvent, Report } from '../observe/events.ts';
import { countText } from '../observe/quantities.ts';
import type { Settings } from '../settings/declarations.ts';
import { withProgress, withReport } from './terminal.ts';

const CRAWL_HINT = `
The output is replaced as a whole or not at all. If a crawl is stopped or killed, the same command resumes it.
A crawl is refused if too many links are dangling or a collection shrank too much. The data is kept then, and the error
says how to accept it. With --discard-refused, for unattended runs, the data is removed and the exit code is 3.`;

export function defineCrawl(command: Command, outputs: Outputs): void {
  const names = [...CRAWL_FLAGS, 'logFormat'];
  addSettings(command, names)
    .argument('<url>', 'base URL of the catalogue, or an address of its API')
    .addOption(valueOption('-o, --output', 'directory to write or replace', PATH).makeOptionMandatory())
    .addOption(valueOption('--state', 'directory of unfinished work (default: OUTPUT.crawl)', PATH))
    .option('--force', "replace another catalogue's data; accept any loss of records")
    .option('--discard-refused', 'remove refused data, so that the next run starts over')
    .addHelpText('after', CRAWL_HINT)
    .addHelpText('after', example('crawl https://catalogue.example.org -o catalogue/ --contact ops@example.org'))
    .action(async (url: string, flags: CrawlFlags & Flags) => {
      const settings = settingsOf(flags, names);
      await runCrawl(url, flags, settings, outputs);
    });
}

interface CrawlFlags {
  readonly output: string;
  readonly state?: string;
  readonly force?: boolean;
  readonly discardRefused?: boolean;
}

/** The settings of `probe` and `compare`. */
export const CLIENT_SETTINGS = ['concurrency', 'rate', 'timeout', 'contact', 'ca', 'config'];

/** Attempts per request, with waits of up to 0.5, 1, 2, 4 and 8 s between them. */
const ATTEMPTS = { tries: 6, backoffMs: 500 };

/** Limits of a crawl: ten times a catalogue of a million observations, and 1.6 GB of memory. */
const SIZES = { recordsMax: 10_000_000, idsMax: 40_000_000 };

/** The end of copied addresses of a root view, a list or a record, which is not part of the base URL. */
const WITHIN_API = /\/api\/v[23](?:\/[\w.]+){0,2}\/?(?:\?.*)?$/;

/** Also trusts the certificates in `ca` from now on. Throws OperationError `usage`, `file` and `input`. */
export function crawlingOf(
  url: string,
  { contact, ca, concurrency, rate, timeoutSeconds, linksMin, shrinkMax }: CrawlSettings,
  isForced: boolean,
): Omit<CrawlOptions, 'kind' | 'output' | 'state' | 'now'> {
  const base = BASE_URL.parse(url.replace(WITHIN_API, ''));
  if (base === undefined) throw new OperationError('usage', `${url}: want ${BASE_URL.wanted}`);
  if (base.startsWith('https:')) trustAuthorities(ca);
  const userAgent = `${NAME}/${packageVersion()}${contact === undefined ? '' : ` (+${contact})`}`;
  const judged = { linksMin, shrinkMax, isForced };
  return {
    ...ATTEMPTS,
    ...SIZES,
    ...judged,
    base,
    concurrency,
    rate,
    timeoutMs: Math.round(timeoutSeconds * 1000),
    userAgent,
    clock: steadyMs,
  };
}

/** Throws OperationError `usage`, and errors of the crawl. */
async function runCrawl(
  url: string,
  flags: CrawlFlags,
  settings: CrawlSettings & Pick<Settings, 'logFormat'>,
  { stdout, stderr }: Outputs,
): Promise<void> {
  const output = resolve(flags.output);
  await withReport(settings.logFormat === 'json', stdout, async (report) => {
    const crawling = crawlingOf(url, settings, flags.force === true);
    const options = {
      ...crawling,
      onRetry: retryReporter(report),
      onDamaged: damageReporter(report),
      kind: 'new' as const,
      output,
      state: flags.state ?? stateFolder(output),
      now: `${new Date(epochMs()).toISOString().slice(0, 19)}Z`,
      onBegun: (resumed: string | undefined) => {
        const what = resumed === undefined ? 'a crawl began, of everything' : `the crawl of ${resumed} goes on`;
        const how = resumed === undefined ? 'new' : 'resumed';
        report(what, 'info', { event: 'crawlStarted', how, from: crawling.base });
      },
    };
    const startMs = steadyMs();
    const crawled = withSignalReport(report, () => withProgress(stderr, (onProgress) => crawl(options, onProgress)));
    const brought = await (flags.discardRefused === true ? discardIfRefused(options.state, crawled) : crawled);
    report(crawlText(brought, output), 'info', crawlEvent(brought, steadyMs() - startMs));
  });
}

/** Returns the crawl's result. If it is refused, removes the fetched data. */
async function discardIfRefused<T>(state: string, crawled: Promise<T>): Promise<T> {
  try {
    return await crawled;
  } catch (error) {
    const refusal = removeRefused(state, error);
    throw refusal
      ? new OperationError('discarded', `${refusal.message}: it was removed, and the next run fetches all anew`, error)
      : error;
  }
}

/**
 * Runs work that the next run can resume, and reports that if a signal ends it. `end` then ends the process; by default
 * as the signal would.
 */
export async function withSignalReport<T>(
  report: Report,
  work: () => Promise<T>,
  end: (signal: NodeJS.Signals) => void = (signal) => void process.kill(process.pid, signal),
): Promise<T> {
  const reportSignal = (signal: NodeJS.Signals): void => {
    report(`${signal}: ended; the next run goes on`);
    // Runs after the listeners that remove partial files. They leave the exit to this one while it is registered.
    setImmediate(() => {
      process.off(signal, reportSignal);
      end(signal);
    });
  };
  for (const signal of ENDING) process.on(signal, reportSignal);
  try {
    return await work();
  } finally {
    for (const signal of ENDING) process.off(signal, reportSignal);
  }
}

const ENDING = ['SIGINT', 'SIGTERM'] as const;

export function retryReporter(report: Report): (retry: Retry) => void {
  return ({ waitMs, ...retry }) => {
    const figures = { ...retry, reason: withoutSecrets(retry.reason) };
    const { what, url, reason, tried, tries } = figures;
    const waitSeconds = Math.ceil(waitMs / 100) / 10;
    const line = `${what} (${url}): ${reason}; try ${tried + 1} of ${tries} in ${waitSeconds} s`;
    report(line, 'warn', { event: 'pageRetried', ...figures, waitSeconds });
  };
}

/** Reports that the previous data set is damaged, so that losses cannot be detected. */
export function damageReporter(report: Report): (reason: string) => void {
  return (reason) => report(`the previous data is damaged, so losses are not checked: ${reason}`, 'warn');
}

function crawlEvent(report: CrawlReport | undefined, ms: number): DataEvent {
  if (!report) return { event: 'resumed' };
  const { bytes, links, dangling } = report;
  return { event: 'crawled', records: recordsIn(report), bytes, links, dangling, seconds: Math.round(ms) / 1000 };
}

function recordsIn({ counts }: CrawlReport): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function crawlText(report: CrawlReport | undefined, output: string): string {
  if (!report) return `${output}: completed the crawl of an earlier run; run again to fetch newer data`;
  const { counts, links, dangling, worst, unknown } = report;
  return [
    ...leftOut(unknown),
    `${output}: ${countText(recordsIn(report))} records in ${Object.keys(counts).length} collections; ` +
      `${countText(dangling)} of ${countText(links)} links lead to no record${worst === undefined ? '' : `, ${worst}`}`,
  ].join('\n');
}

/** A line about upstream collections that are not declared here, if any. */
export function leftOut(unknown: readonly string[]): readonly string[] {
  return unknown.length > 0 ? [`left out, since no such collection is known: ${unknown.join(', ')}`] : [];
}
