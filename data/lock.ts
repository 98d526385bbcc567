// What one process does at a time: a file says which one does it, and counts for nothing once that one is gone. Of one
// in another container, on another machine or of another boot nobody here knows; it says every so often that it is
// there, by writing the same again.
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { attempt } from './files.ts';
import { beforeEnd, isAlive, msSince, placeHere, WRITTEN_MS_MAX } from './leftovers.ts';
import { OperationError } from './operationError.ts';

/** So often a holder says that it is there. */
const TOLD_EVERY_MS = 20_000;

/** One elsewhere that did not for so long is gone: what keeps its thread, such as a slow disk, takes less. */
const SILENT_MS_MAX = 300_000;

/** What file systems answer that have no hard links. */
const NO_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']);

/** The number of a process, when it started, and where; of an earlier version of the program the number alone. */
const HOLDER = /^(\d{1,10})(?: (\d*) (\S+))?$/;

/**
 * Takes a lock, and answers what lets go of it, as the end of the process by a signal does. Throws OperationError
 * `file` where another process has it, and `does` the same.
 */
export function lock(file: string, does: string): () => void {
  return attempt(`cannot write ${file}`, () => {
    const refuse = (holder: string): never => {
      throw new OperationError('file', `${holder} ${does} there already; if it does not, remove ${file}`);
    };
    const left = textOf(file);
    const holder = holderOf(file, left);
    if (holder !== undefined) refuse(holder);
    if (left !== undefined && !takenAway(file, left)) refuse('another process');
    const text = `${process.pid} ${startOf(process.pid) ?? ''} ${thisBoot()}`;
    if (!isMade(file, text)) refuse(holderOf(file, textOf(file)) ?? 'another process');
    return held(file, text);
  });
}

/**
 * Makes the file of a lock, unless there is one; answers whether it did. It has its text from the first moment on: an
 * empty one would be taken for left behind.
 */
function isMade(file: string, text: string): boolean {
  const own = `${file}.new-${randomBytes(8).toString('hex')}`;
  try {
    writeFileSync(own, text, { flag: 'wx' });
    linkOrWrite(own, file, text);
    return true;
  } catch (error) {
    // A server of files that was asked twice says so of a link that it has made.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return statSync(own).nlink > 1;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

/** A file system without hard links has the lock empty for a moment. */
function linkOrWrite(own: string, file: string, text: string): void {
  try {
    linkSync(own, file);
  } catch (error) {
    if (!NO_LINKS.has(String((error as NodeJS.ErrnoException).code))) throw error;
    writeFileSync(file, text, { flag: 'wx' });
  }
}

/**
 * Takes away what somebody left, unless another who found it left has done so already and put a lock of its own there,
 * which stays; answers whether it did. A rename takes away one file, and no two runs the same.
 */
function takenAway(file: string, left: string): boolean {
  const aside = `${file}.left-${process.pid}`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
    throw error;
  }
  try {
    const isIt = textOf(aside) === left;
    if (!isIt) linkSync(aside, file);
    return isIt;
  } finally {
    rmSync(aside, { force: true });
  }
}

function held(file: string, text: string): () => void {
  // What somebody else has put there by then stays as it is.
  const descriptor = openSync(file, 'r+');
  const remove = (): void => {
    if (textOf(file) === text) rmSync(file, { force: true });
  };
  const forget = beforeEnd(remove);
  const timer = setInterval(() => {
    try {
      writeSync(descriptor, text, 0);
    } catch {
      // It is said again.
    }
  }, TOLD_EVERY_MS).unref();
  return () => {
    clearInterval(timer);
    forget();
    try {
      try {
        closeSync(descriptor);
      } finally {
        remove();
      }
    } catch (error) {
      // What a sick disk keeps of it counts for nothing once this process is gone, and for this one does not either.
      if (!(error instanceof Error && 'code' in error)) throw error;
    }
  };
}

/** Who holds a lock with this text, in words; undefined where nobody does any more, or it is this process. */
function holderOf(file: string, text = ''): string | undefined {
  const [, digits, start = '', place] = HOLDER.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const number = Number(digits);
  const isRecent = (ms: number): boolean => msSince(statSync(file, { throwIfNoEntry: false })) < ms;
  if (place !== undefined && place !== thisBoot())
    return isRecent(SILENT_MS_MAX) ? `process ${number} of another container, machine or boot` : undefined;
  const isThere = place === undefined ? isAlive(number) && isRecent(WRITTEN_MS_MAX) : isAliveSince(number, start);
  return isThere && number !== process.pid ? `process ${number}` : undefined;
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Whether it is that process, and no thread or other process that has its number now. */
function isAliveSince(number: number, start: string): boolean {
  return isAlive(number) && (startOf(number) ?? start) === start;
}

/**
 * When a process or thread started, in ticks since this boot; none of one that ended and that nobody waited for.
 * Undefined where the system does not tell.
 */
function startOf(number: number): string | undefined {
  const stat = procText(`${number}/stat`);
  if (stat === undefined) return undefined;
  // Behind the name, which may hold anything, comes field 3, the state; field 22 is the start (proc_pid_stat(5)).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? 'none' : fields[19];
}

/** Where numbers and starts of processes are ours. */
function thisBoot(): string {
  return `${placeHere()}-${procText('sys/kernel/random/boot_id')?.trim() ?? ''}`;
}

/** Undefined where there is no such file, or no right to read it. */
function procText(name: string): string | undefined {
  try {
    return readFileSync(`/proc/${name}`, 'utf8');
  } catch {
    return undefined;
  }
}
