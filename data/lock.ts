// A lock is an exclusive file that its holder touches every 20 s. After 5 minutes without a touch it is abandoned: the
// holder was killed or stopped. Pids are not compared, because they repeat in containers.
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { attempt } from './files.ts';
import { ABANDONED_MS, cleanUpOnSignal, msSince, TOUCH_MS } from './leftovers.ts';
import { OperationError } from './operationError.ts';

/** A lock that this process holds. Another process may take it when this one is stopped for 5 minutes. */
export interface Lock {
  /** Throws OperationError `file` if this process has lost the lock. Call it before each write that the lock guards. */
  readonly assertHeld: () => void;
  readonly release: () => void;
}

/**
 * Acquires a lock. A signal that ends the process releases it. Throws OperationError `file` if another process holds
 * it. `activity` is the verb in that message for what that process does.
 */
export function lock(file: string, activity: string): Lock {
  const text = `${holderName(process.pid)}\n${randomUUID()}\n`;
  const isHeld = (): boolean => readIfExists(file) === text;
  const remove = (): void => {
    if (isHeld()) rmSync(file, { force: true });
  };
  const assertHeld = (): void => {
    if (attempt(`cannot read ${file}`, isHeld)) return;
    throw new OperationError('file', `${file} was removed, or taken by another process while this one was stopped`);
  };
  attempt(`cannot write ${file}`, () => {
    // If two processes do this at once, assertHeld stops one of them.
    if (isAbandoned(file)) rmSync(file, { force: true });
    if (isCreated(file, text)) return;
    const holder = readIfExists(file)?.split('\n', 1)[0] || 'another process';
    const cure = `if it no longer runs, remove ${file}, or wait until it is 5 minutes old`;
    throw new OperationError('file', `${holder} ${activity} there; ${cure}`);
  });
  const forget = cleanUpOnSignal(remove);
  const timer = setInterval(() => {
    try {
      const now = new Date();
      if (isHeld()) utimesSync(file, now, now);
    } catch {
      // The next touch tries again.
    }
  }, TOUCH_MS).unref();
  const release = (): void => {
    clearInterval(timer);
    forget();
    attempt(`cannot remove ${file}`, remove);
  };
  return { assertHeld, release };
}

/** Removes the lock that a dead process of this host has left. */
export async function removeDeadLock(pid: number, file: string): Promise<void> {
  const text = await readFile(file, 'utf8').catch(() => '');
  if (text.startsWith(`${holderName(pid)}\n`)) await rm(file, { force: true });
}

function holderName(pid: number): string {
  return `process ${pid} of ${hostname()}`;
}

function isAbandoned(file: string): boolean {
  return msSince(statSync(file, { throwIfNoEntry: false })) > ABANDONED_MS;
}

function isCreated(file: string, text: string): boolean {
  try {
    writeFileSync(file, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    // On a full disk the file may exist without its text.
    rmSync(file, { force: true });
    throw error;
  }
}

/** Returns undefined for a missing file. */
function readIfExists(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
