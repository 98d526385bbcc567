// Runs crawls with short waits and refreshes by the command, and reads the resulting directories.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { changesBetween, changesSince, generationsIn, changeKind } from '../../data/upstream/changeLog.ts';
import { crawl, type CrawlOptions, type CrawlReport } from '../../data/upstream/crawl.ts';
import { digestCatalogue } from '../../data/upstream/digests.ts';
import { type CommandProcess, runCommand } from './commandProcess.ts';
import { dataSetOf, type Files, ndjsonOf } from './dataSets.ts';
import { killedAtStep } from './killer.ts';
import { type PlainRecord } from './plainUpstream.ts';

/** The files of a directory by name, as text; `undefined` if it does not exist. */
export function filesOf(directory: string): Readonly<Record<string, string>> | undefined {
  try {
    return Object.fromEntries(
      readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), 'utf8')]),
    );
  } catch {
    return undefined;
  }
}

/** The record files of a directory. */
export function recordsOf(directory: string): Readonly<Record<string, string>> | undefined {
  const files = filesOf(directory);
  return files && Object.fromEntries(Object.entries(files).filter(([name]) => name.endsWith('.ndjson')));
}

/** A directory in `parent` with a data set that a crawl of `source` may replace. */
export function oldDataSet(parent: string, source: string): string {
  const directory = newOutputIn(parent);
  mkdirSync(directory);
  writeFileSync(join(directory, 'notes.ndjson'), '{"ob_id":1}\n{"ob_id":2}\n');
  writeFileSync(join(directory, 'MANIFEST.json'), JSON.stringify({ source }));
  return directory;
}

/** A path that does not exist yet, in a new directory inside `parent`. */
export function newOutputIn(parent: string): string {
  return join(mkdtempSync(join(parent, 'crawl-')), 'out');
}

/** Records with nothing but an id, from `first` to before `end`. */
export function recordsFrom(first: number, end: number): PlainRecord[] {
  return Array.from({ length: end - first }, (_, i) => ({ ob_id: first + i }));
}

/** Crawl options of tests: three tries of each request with almost no wait between them. */
export const QUICK_CRAWL = {
  concurrency: 2,
  rate: 1e6,
  tries: 3,
  backoffMs: 1,
  timeoutMs: 10_000,
  clock: () => performance.now(),
  linksMin: 99.9,
  shrinkMax: 5,
  isForced: false,
  recordsMax: 1e7,
  idsMax: 4e7,
  userAgent: 'test',
  sweepEveryMs: 366 * 86_400_000,
};

/** Crawls all of `base` into `output` unless the options restrict it. */
export async function crawled(
  base: string,
  output: string,
  options: Partial<CrawlOptions> = {},
): Promise<CrawlReport | undefined> {
  const whole = { ...QUICK_CRAWL, kind: 'new' as const, now: '2026-01-31T00:00:00Z', state: `${output}.crawl` };
  return crawl({ ...whole, base, output, ...options }, () => undefined);
}

/** Flags of a quick refresh that logs its steps as JSON. */
export const QUICK = ['--rate', '1000', '--threads', '1', '--force', '--log-format', 'json'];

/** Runs one refresh by the command, killed before the given step. */
export function followOnce(url: string, folder: string, step?: number): CommandProcess {
  const words = ['follow', url, '-o', folder, '--once', ...QUICK];
  return runCommand(words, killedAtStep(step));
}

/** Returns the differences between a folder's snapshot and these notes, as `id kind`. */
export async function differencesFrom(folder: string, notes: readonly PlainRecord[]): Promise<readonly string[]> {
  const files = { 'notes.ndjson': ndjsonOf(...notes) };
  return (await differencesFromDataSet(folder, files)).map((one) => one.replace('notes ', ''));
}

/** Returns the differences between a folder's snapshot and the files of a data set, as `collection id kind`. */
export async function differencesFromDataSet(folder: string, files: Files): Promise<readonly string[]> {
  const nothing = (): void => undefined;
  const [a, b] = [
    await digestCatalogue(dataSetOf(join(folder, '..'), files), 0, nothing),
    await digestCatalogue(join(folder, 'catalogue.snapshot'), 0, nothing),
  ];
  return [...changesBetween(a, b)].map((change) => `${change.collection} ${change.id} ${changeKind(change)}`);
}

/** The changes that a folder's log has after its nth generation, as `id kind`. */
export function loggedIn(folder: string, behind: number): readonly string[] {
  const file = join(folder, 'changes.log');
  return [...changesSince(file, generationsIn(file)[behind]!.generation)].flatMap(({ changes }) =>
    changes.map((change) => `${change.id} ${changeKind(change)}`),
  );
}
