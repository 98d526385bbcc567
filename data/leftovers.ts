// What is not finished yet, and must not outlive the run that makes it: files and directories with names of their own,
// removed when a signal ends the process, and by the next run where it was killed without one.
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readlinkSync, rmSync, type Stats } from 'node:fs';
import { lstat, readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { attempt } from './files.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** What was not written to for so long is left behind, wherever its run was, unless it says more. */
const WRITTEN_MS_MAX = 86_400_000;

/** Behind the name of the target: where the number of the process counts, the number, and a random part. */
const MARK = /\.partial-([0-9a-f]{8})-(\d{1,10})-[0-9a-f]{12}.*$/;

/**
 * Runs work that makes `target`, with a path beside it that no other run has, here or in another container: of a file
 * or directory that need not exist, and of others whose names start with it. A signal that would end the process
 * meanwhile removes it and then ends the process as it would have; work that holds the thread delays that. A SIGHUP
 * that somebody else heeds ends nothing. The promise is that of the work; what fails leaves nothing, what succeeds has
 * moved the path or removed it. What killed runs left of the same target is removed before.
 */
export async function unfinished<T>(target: string, work: (partial: string) => Promise<T>): Promise<T> {
  await removeLeft(path.dirname(target), (name) => name === path.basename(target));
  const partial = `${target}.partial-${placeHere()}-${process.pid}-${randomBytes(6).toString('hex')}`;
  const forget = beforeEnd(() => rmSync(partial, { recursive: true, force: true }));
  ours.add(partial);
  try {
    return await work(partial);
  } catch (error) {
    // A failure to remove, as below a file, means that nothing was made: the error is that of the work.
    await rm(partial, { recursive: true, force: true }).catch(() => undefined);
    throw error;
  } finally {
    forget();
    ours.delete(partial);
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

/** What this process makes now: another one may have had its number before, as in a container that was started anew. */
const ours = new Set<string>();

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

/** Which numbers of processes are ours: those of this machine, in this container. */
function placeHere(): string {
  return createHash('sha256').update(`${hostname()} ${namespaceOfNumbers()}`).digest('hex').slice(0, 8);
}

/** Linux names it; elsewhere a machine has one. */
function namespaceOfNumbers(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

/** The name of the target that a path with this name is unfinished of; the same of what is nothing unfinished. */
export function targetOf(name: string): string {
  return name.replace(MARK, '');
}

/**
 * Removes what dead runs left of a target, whose name may have changed since: `isOf` says of which targets. Where
 * nobody else can be making one, as by a lock, all of it `isDead`, whatever run of whichever container it is of.
 */
export async function removeLeft(directory: string, isOf: (name: string) => boolean, isDead = false): Promise<void> {
  const here = placeHere();
  try {
    for (const entry of await readdir(directory)) {
      const [, place, number] = MARK.exec(entry) ?? [];
      const left = path.join(directory, entry);
      if (place === undefined || !isOf(targetOf(entry))) continue;
      const isGone = isDead ? !startsWithOurs(left) : await isLeft(left, place === here ? Number(number) : undefined);
      if (isGone) await rm(left, { recursive: true, force: true });
    }
  } catch (error) {
    // What cannot be looked at or removed stays: it is in nobody's way.
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
}

/** Whether nobody writes to a path any more: not the process of this number, and nobody for long. */
async function isLeft(file: string, number: number | undefined): Promise<boolean> {
  if (number === process.pid) return !startsWithOurs(file);
  if (number !== undefined && !isAlive(number)) return true;
  return (await writtenMsAgo(file)) > WRITTEN_MS_MAX;
}

/** Work may make others whose names start with its path. */
function startsWithOurs(file: string): boolean {
  return [...ours].some((partial) => path.resolve(file).startsWith(path.resolve(partial)));
}

/** How long ago somebody wrote to a path, either way where a clock was wrong; 0 where nothing is there. */
export async function writtenMsAgo(file: string): Promise<number> {
  return msSince(await lstat(file).catch(() => undefined));
}

/** How long ago a file with these properties was written to, in milliseconds; 0 without a file. */
export function msSince(found: Pick<Stats, 'mtimeMs'> | undefined): number {
  return found ? Math.abs(Date.now() - found.mtimeMs) : 0;
}

/** Whether a process of this number runs here, ours or somebody else's. */
function isAlive(number: number): boolean {
  try {
    return process.kill(number, 0);
  } catch (error) {
    // EPERM: it is somebody else's.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
