// Replaces the old data set by an accepted one, and compares their sizes. Knows only complete directories and counts of
// records.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { attempt, makeFolder, statePaths, syncDirectory } from '../files.ts';
import { MANIFEST_FILE, readManifest } from '../import/manifest.ts';
import { openDataSet, readLines } from '../import/ndjson.ts';
import { OperationError } from '../operationError.ts';
import type { CrawlState } from './state.ts';

/**
 * Checks the paths before the first request. The output must be a data set or empty, because it is replaced. The state
 * must be that of a crawl or empty, because it is removed, and be on the same file system as the output. Throws
 * OperationError `usage` or `file`.
 */
export function assertOutput(output: string, state: string): void {
  const parent = path.dirname(path.resolve(output));
  if (isWithin(output, state) || isWithin(state, output))
    throw new OperationError('usage', `--state ${state} and ${output} may not hold each other: name one beside it`);
  attempt(`cannot write ${output}`, () => {
    makeFolder(parent);
    makeFolder(state);
  });
  if (statSync(parent).dev !== statSync(state).dev)
    throw new OperationError(
      'usage',
      `--state ${state} is on another file system than ${output}: name a directory next to it`,
    );
  if (existsSync(output) && statSync(output).dev !== statSync(parent).dev)
    throw new OperationError('usage', `${output} is a mount point, which cannot be replaced: name a directory in it`);
  for (const [directory, subject, allowed] of [
    [output, 'data set', /^MANIFEST\.json$|\.ndjson(\.gz)?$/],
    [state, 'state of a crawl', /^(?:checkpoint\.json(?:\.next)?|lock|data|previous)$/],
  ] as const) {
    const stray = listNames(directory).find((name) => !allowed.test(name));
    if (stray === undefined) continue;
    const cure = 'name a separate directory';
    throw new OperationError('usage', `${directory} is no ${subject}: it holds ${stray}; ${cure}`);
  }
}

/**
 * Checks before the first request that the output is of this catalogue, or empty. Throws OperationError `usage`, and
 * `file` if it cannot be read or is damaged. A replica that follows a catalogue replaces a damaged one.
 */
export async function assertSource(output: string, base: string, isFollowed: boolean): Promise<void> {
  if (listNames(output).length === 0) return;
  const { source } = await readManifest(output).catch((error: unknown) => {
    if (!(error instanceof OperationError) || error.code !== 'input') throw error;
    if (isFollowed) return { source: base };
    // Not `input`, because the fetched data is not refused.
    throw new OperationError('file', error.message, error);
  });
  if (source === base) return;
  const content = typeof source === 'string' ? `what was crawled of ${source}` : 'a data set that no crawl wrote';
  const force = 'or replace it with --force, this time alone: it accepts every loss too';
  const cure = `name another directory, ${isFollowed ? 'or remove it' : force}`;
  throw new OperationError('usage', `${output} holds ${content}, not that of ${base}: ${cure}`);
}

function isWithin(inner: string, outer: string): boolean {
  return !path.relative(outer, inner).startsWith('..');
}

/**
 * Records by collection in the existing data set; empty without one. If it is damaged, calls `onDamaged` with the
 * reason and returns no counts. Throws OperationError if it cannot be read. Cost: nothing if the manifest has the
 * counts, otherwise a pass over the files.
 */
export async function countsIn(
  output: string,
  onDamaged?: (reason: string) => void,
): Promise<ReadonlyMap<string, number>> {
  try {
    return await recordsIn(output);
  } catch (error) {
    if (!(error instanceof OperationError) || error.code !== 'input') throw error;
    onDamaged?.(error.message);
    return new Map();
  }
}

async function recordsIn(output: string): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  if (listNames(output).length === 0) return counts;
  const { files, manifest } = await openDataSet(output);
  for (const file of files) {
    let count = manifest.counts.get(file.collection);
    if (count === undefined) {
      count = 0;
      for await (const { bytes } of readLines({ ...file, sha256: undefined }))
        count += Buffer.from(bytes).toString('latin1').split('\n').filter(Boolean).length;
    }
    counts.set(file.collection, count);
  }
  return counts;
}

/**
 * Activates the accepted data set, or completes what an earlier run has begun. Each step is one rename, so `output` is
 * the old data set or the new one, except between two consecutive renames. If the process is killed there, `output` is
 * missing and the state has both: openDataSet finds the new one there, and the next crawl completes the step. Throws
 * OperationError `file`.
 */
export function publish(state: CrawlState, output: string): void {
  const { previous } = statePaths(state.directory);
  state.lock.assertHeld();
  attempt(`cannot write ${output}`, () => {
    if (existsSync(path.join(state.data, MANIFEST_FILE))) {
      if (listNames(output).length > 0) renameSync(output, previous);
      else rmSync(output, { recursive: true, force: true });
      renameSync(state.data, output);
      syncDirectory(path.dirname(path.resolve(output)));
    }
    rmSync(previous, { recursive: true, force: true });
  });
  state.remove();
}

/**
 * If a crawl failed because its data was refused, removes the fetched data, which a later run would only refuse again,
 * and returns the error. Returns undefined for any other error, after which the next run resumes.
 */
export function removeRefused(state: string, error: unknown): OperationError | undefined {
  if (!(error instanceof OperationError) || error.code !== 'input') return undefined;
  attempt(`cannot remove ${state}`, () => rmSync(state, { recursive: true, force: true }));
  return error;
}

/** Replaces the manifest of an unchanged data set, and removes the state. */
export function publishManifest(state: CrawlState, output: string, text: string): void {
  const file = path.join(output, MANIFEST_FILE);
  state.lock.assertHeld();
  attempt(`cannot write ${file}`, () => {
    if (readFileSync(file, 'utf8') === text) return;
    const next = path.join(state.data, MANIFEST_FILE);
    writeFileSync(next, text, { flush: true });
    renameSync(next, file);
    syncDirectory(output);
  });
  state.remove();
}

function listNames(directory: string): readonly string[] {
  return attempt(`cannot read ${directory}`, () => (existsSync(directory) ? readdirSync(directory) : []));
}
