// Partial output: files and directories that are still being written. A signal that ends the process removes them.
// After `kill -9` they are abandoned, and a later run of the same work removes them.
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, type Stats } from 'node:fs';
import { lstat, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { attempt } from './files.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Interval at which a process touches its locks and its partial output. */
export const TOUCH_MS = 20_000;
/** After this time without a touch they are abandoned: the process was killed or stopped. */
export const ABANDONED_MS = 300_000;

/** The suffix of a partial name after that of the target: a random part, and anything that the work appends. */
const MARK = /\.partial-[0-9a-f]{12}.*$/;

/**
 * Runs work that makes `target`. The work gets a unique path next to it, and may create files or directories whose
 * names start with that path. Abandoned partial output of the same target is removed first. If the work fails, the path
 * is removed; if it succeeds, it has renamed or removed the path. A signal that would end the process removes the path,
 * then ends the process in the same way. Work that blocks the thread delays that. A SIGHUP with another listener ends
 * nothing.
 */
export async function withPartialPath<T>(target: string, work: (partial: string) => Promise<T>): Promise<T> {
  await removeAbandoned(path.dirname(target), (name) => name === path.basename(target));
  const partial = `${target}.partial-${randomBytes(6).toString('hex')}`;
  const forget = cleanUpOnSignal(() => rmSync(partial, { recursive: true, force: true }));
  const touch = async (): Promise<void> => utimes(partial, new Date(), new Date()).catch(() => undefined);
  const timer = setInterval(() => void touch(), TOUCH_MS).unref();
  try {
    return await work(partial);
  } catch (error) {
    // If removing fails, for example below a file, nothing was made. The error to report is that of the work.
    await rm(partial, { recursive: true, force: true }).catch(() => undefined);
    throw error;
  } finally {
    clearInterval(timer);
    forget();
  }
}

/**
 * Runs work in a new temporary folder, which is removed afterwards. Throws OperationError `file` if the folder cannot
 * be created, with what to do. `alternative` is an alternative in that message.
 */
export function withTemporaryFolder<T>(alternative: string, work: (folder: string) => Promise<T>): Promise<T> {
  return withPartialPath(path.join(tmpdir(), 'catalogue-replica'), async (folder) => {
    const failure = `cannot write to ${tmpdir()}: set TMPDIR to a writable directory${alternative}`;
    // Synchronously: no signal can arrive between registering the cleanup and creating the folder.
    attempt(failure, () => mkdirSync(folder, { mode: 0o700 }));
    try {
      return await work(folder);
    } finally {
      // The next run removes what remains.
      await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    }
  });
}

/**
 * Runs `work` before a signal ends the process, which then ends in the same way. Returns a function that cancels this.
 * A SIGHUP with another listener ends nothing.
 */
export function cleanUpOnSignal(work: () => void): () => void {
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
  for (const signal of SIGNALS) process.off(signal, onSignal);
  // Last registered first: inner work is cleaned up before the work around it.
  for (const work of [...works].toReversed()) work();
  works.clear();
  // Without a listener the signal has its default effect. A remaining listener has its own work to do first.
  if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
}

/** The target of a partial name; any other name is returned unchanged. */
export function finalName(name: string): string {
  return name.replace(MARK, '');
}

/**
 * Removes partial output of those targets for which `isOf` returns true, unless it was touched within `ms`. 0 removes
 * all of it, if a lock ensures that no process writes to it.
 */
export async function removeAbandoned(
  directory: string,
  isOf: (target: string) => boolean,
  ms = ABANDONED_MS,
): Promise<void> {
  try {
    for (const entry of await readdir(directory)) {
      const file = path.join(directory, entry);
      if (!MARK.test(entry) || !isOf(finalName(entry)) || (await ageMs(file)) < ms) continue;
      await rm(file, { recursive: true, force: true });
    }
  } catch (error) {
    // Output that cannot be read or removed stays: it does no harm.
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
}

/** The milliseconds since a path was last written to or touched; 0 if it does not exist. */
export async function ageMs(file: string): Promise<number> {
  return msSince(await lstat(file).catch(() => undefined));
}

/**
 * The milliseconds between now and the last touch of a file with these properties, in the past or in the future; 0
 * without a file.
 */
export function msSince(stats: Pick<Stats, 'mtimeMs'> | undefined): number {
  return stats ? Math.abs(Date.now() - stats.mtimeMs) : 0;
}
