// Partial output: files and directories that are still being written. A signal that ends the process removes them.
// After `kill -9` they are abandoned, and a later run of the same work removes them.
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, type Stats } from 'node:fs';
import { lstat, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { attempt } from './files.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The interval at which a process touches what it holds: its locks and its partial output. */
export const TOUCH_MS = 20_000;
/** After this time without a touch it is abandoned: its process was killed or stopped. */
export const ABANDONED_MS = 300_000;

/** The end of a name, after that of the target: a random part, and what the work appends. */
const MARK = /\.partial-[0-9a-f]{12}.*$/;

/**
 * Runs work that makes `target`, with a path beside it that no other run has: of a file or directory that need not
 * exist, and of others whose names start with it. A signal that would end the process meanwhile removes it and then
 * ends the process as it would have; work that holds the thread delays that. A SIGHUP with another listener ends
 * nothing. The promise is that of the work; what fails leaves nothing, what succeeds has moved the path or removed it.
 * Abandoned partial output of the same target is removed first.
 */
export async function unfinished<T>(target: string, work: (partial: string) => Promise<T>): Promise<T> {
  await removeAbandoned(path.dirname(target), (name) => name === path.basename(target));
  const partial = `${target}.partial-${randomBytes(6).toString('hex')}`;
  const forget = beforeEnd(() => rmSync(partial, { recursive: true, force: true }));
  const touch = async (): Promise<void> => utimes(partial, new Date(), new Date()).catch(() => undefined);
  const timer = setInterval(() => void touch(), TOUCH_MS).unref();
  try {
    return await work(partial);
  } catch (error) {
    // A failure to remove, as below a file, means that nothing was made: the error is that of the work.
    await rm(partial, { recursive: true, force: true }).catch(() => undefined);
    throw error;
  } finally {
    clearInterval(timer);
    forget();
  }
}

/**
 * Runs work in a new folder for temporary files, which goes with the work. Throws OperationError `file` where there can
 * be none, with what to do, or else do.
 */
export function inTemporaryFolder<T>(orElse: string, work: (folder: string) => Promise<T>): Promise<T> {
  return unfinished(path.join(tmpdir(), 'catalogue-replica'), async (folder) => {
    const failure = `cannot write to ${tmpdir()}: set TMPDIR to a directory that can be written${orElse}`;
    // At once, so that no signal falls between the folder and whoever removes it.
    attempt(failure, () => mkdirSync(folder, { mode: 0o700 }));
    try {
      return await work(folder);
    } finally {
      // What is left the next run removes.
      await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    }
  });
}

/**
 * Has `work` done where a signal would end the process, which then ends as it would have; answers what takes that back.
 * A SIGHUP that somebody else heeds ends nothing.
 */
export function beforeEnd(work: () => void): () => void {
  if (works.size === 0) for (const signal of SIGNALS) process.on(signal, onSignal);
  works.add(work);
  return () => {
    works.delete(work);
    if (works.size === 0) for (const signal of SIGNALS) process.off(signal, onSignal);
  };
}

const works = new Set<() => void>();

function onSignal(signal: NodeJS.Signals): void {
  if (signal === 'SIGHUP' && process.listenerCount(signal) > 1) return;
  for (const one of SIGNALS) process.off(one, onSignal);
  // What was begun within other work goes before that.
  for (const work of [...works].toReversed()) work();
  works.clear();
  // Without a listener the signal has its default effect; one that is left has something of its own to do first.
  if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
}

/** The name of the target that a partial path belongs to; any other name is returned as it is. */
export function targetOf(name: string): string {
  return name.replace(MARK, '');
}

/**
 * Removes partial output of those targets for which `isOf` returns true, unless it was touched within `ms`. 0 removes
 * all of it, if a lock ensures that nobody writes to it.
 */
export async function removeAbandoned(
  directory: string,
  isOf: (target: string) => boolean,
  ms = ABANDONED_MS,
): Promise<void> {
  try {
    for (const entry of await readdir(directory)) {
      const file = path.join(directory, entry);
      if (!MARK.test(entry) || !isOf(targetOf(entry)) || (await touchedMsAgo(file)) < ms) continue;
      await rm(file, { recursive: true, force: true });
    }
  } catch (error) {
    // What cannot be read or removed stays: it is in nobody's way.
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
}

/** The milliseconds since a path was last written to or touched; 0 if it does not exist. */
export async function touchedMsAgo(file: string): Promise<number> {
  return msSince(await lstat(file).catch(() => undefined));
}

/** The milliseconds since a file with these properties was touched, in the past or in the future; 0 without a file. */
export function msSince(found: Pick<Stats, 'mtimeMs'> | undefined): number {
  return found ? Math.abs(Date.now() - found.mtimeMs) : 0;
}
