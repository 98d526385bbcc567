// Puts a data set that a crawl accepted in the place of the old one, and compares it with that before. Knows whole
// directories and counts of records only.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { attempt, makeFolder, placesIn, syncDirectory } from '../files.ts';
import { MANIFEST_FILE, readManifest } from '../import/manifest.ts';
import { openDataSet, readLines } from '../import/ndjson.ts';
import { OperationError } from '../operationError.ts';
import type { CrawlState } from './state.ts';

/**
 * Before anything is asked for: the output is to be a data set or nothing, since it is replaced, and the state of a
 * crawl or nothing, since it is removed, and where the output can be renamed from. Throws OperationError `usage` or
 * `file`.
 */
export function judgeOutput(output: string, state: string): void {
  const parent = path.dirname(path.resolve(output));
  if (isWithin(output, state) || isWithin(state, output))
    throw new OperationError('usage', `--state ${state} and ${output} may not hold each other: name one beside it`);
  attempt(`cannot write ${output}`, () => {
    makeFolder(parent);
    makeFolder(state);
  });
  if (statSync(parent).dev !== statSync(state).dev)
    throw new OperationError('usage', `--state ${state} is on another file system than ${output}: name one beside it`);
  if (existsSync(output) && statSync(output).dev !== statSync(parent).dev)
    throw new OperationError(
      'usage',
      `${output} is a file system of its own, which cannot be replaced: name a directory in it`,
    );
  for (const [directory, what, own] of [
    [output, 'data set', /^MANIFEST\.json$|\.ndjson(\.gz)?$/],
    [state, 'state of a crawl', /^(?:checkpoint\.json(?:\.next)?|lock|data|previous)$/],
  ] as const) {
    const stray = namesIn(directory).find((name) => !own.test(name));
    if (stray === undefined) continue;
    const cure = 'name a directory of its own';
    throw new OperationError('usage', `${directory} is no ${what}: it holds ${stray}; ${cure}`);
  }
}

/**
 * Before anything is asked for: the output is of this catalogue, or nothing. Throws OperationError `usage`, and `file`
 * where it cannot be read or is damaged; who follows replaces what is damaged.
 */
export async function judgeSource(output: string, base: string, isFollowed: boolean): Promise<void> {
  if (namesIn(output).length === 0) return;
  const { source } = await readManifest(output).catch((error: unknown) => {
    if (!(error instanceof OperationError) || error.code !== 'input') throw error;
    if (isFollowed) return { source: base };
    // No refusal of what is fetched.
    throw new OperationError('file', error.message, error);
  });
  if (source === base) return;
  const what = typeof source === 'string' ? `what was crawled of ${source}` : 'a data set that no crawl wrote';
  const force = 'or replace it with --force, this time alone: it accepts every loss too';
  const cure = `name another directory, ${isFollowed ? 'or remove it' : force}`;
  throw new OperationError('usage', `${output} holds ${what}, not that of ${base}: ${cure}`);
}

function isWithin(inner: string, outer: string): boolean {
  return !path.relative(outer, inner).startsWith('..');
}

/**
 * Records by collection in the data set that is there, none where there is none, or one that is damaged: `onDamaged` is
 * told what is wrong with it. Throws OperationError where it cannot be read. Cost: none where a manifest counts them,
 * else a pass over the files.
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
  if (namesIn(output).length === 0) return counts;
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
 * Puts the accepted data set in place; what an earlier run left undone of that is done. Each step is one rename, so
 * that `output` is the old data set or the new one, but for the moment between two neighbouring renames: killed there,
 * it is absent, both are whole in the state, where openDataSet finds the new one, and the next crawl ends it. Throws
 * OperationError `file`.
 */
export function publish(state: CrawlState, output: string): void {
  const { previous } = placesIn(state.directory);
  state.lock.assertHeld();
  attempt(`cannot write ${output}`, () => {
    if (existsSync(path.join(state.data, MANIFEST_FILE))) {
      if (namesIn(output).length > 0) renameSync(output, previous);
      else rmSync(output, { recursive: true, force: true });
      renameSync(state.data, output);
      syncDirectory(path.dirname(path.resolve(output)));
    }
    rmSync(previous, { recursive: true, force: true });
  });
  state.remove();
}

/**
 * The refusal of what a crawl fetched, which is removed: a later run would only judge it again. Undefined where it
 * ended by anything else, and goes on.
 */
export function discardedRefusal(state: string, error: unknown): OperationError | undefined {
  if (!(error instanceof OperationError) || error.code !== 'input') return undefined;
  attempt(`cannot remove ${state}`, () => rmSync(state, { recursive: true, force: true }));
  return error;
}

/** Puts a manifest in the place of the one before, of a data set that is the same, and lets go of the state. */
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

function namesIn(directory: string): readonly string[] {
  return attempt(`cannot read ${directory}`, () => (existsSync(directory) ? readdirSync(directory) : []));
}
