// Notices when the data at a path has been replaced: a file by another one, or any file of a directory. Polls, because
// inotify and similar interfaces miss changes over networks and renames.
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { withTimeLimit } from '../../data/timeLimit.ts';

/** Interval between polls. A change is reported once two polls in a row have seen it. */
const EVERY_MS = 1000;

/** Polls until a refused change is reported again: the shortage of memory, descriptors or disk may be over. */
const RETRY_POLLS = 600;

/**
 * Identifies data: device, inode, length and modification time of the file, or of each file of a directory. Undefined
 * if there is no data or it does not respond. Cost: one system call per file.
 */
async function findIdentity(data: string): Promise<string | undefined> {
  const identify = async (): Promise<string> => {
    if (!(await stat(data)).isDirectory()) return fileIdentity(data);
    const lines: string[] = [];
    for (const name of (await readdir(data)).toSorted())
      lines.push(`${name} ${await fileIdentity(path.join(data, name))}`);
    return lines.join('\n');
  };
  return withTimeLimit(data, identify).catch(() => undefined);
}

async function fileIdentity(file: string): Promise<string> {
  const { dev, ino, size, mtimeNs } = await stat(file, { bigint: true });
  return [dev, ino, size, mtimeNs].join(' ');
}

/** Starts a watch. Returns a function that ends it. */
export type Watch = (onReplaced: () => Promise<boolean>) => () => void;

/**
 * Watches the data from its current state on. Calls `onReplaced` when the data differs from that of the last call and
 * two polls in a row agree. Repeats the call after ten minutes if it resolved to false. Waits for data that is missing
 * or still being written. Keeps no process alive.
 */
export async function watchOver(data: string): Promise<Watch> {
  let reported = await findIdentity(data);
  let previous = reported;
  return (onReplaced) => {
    let looksLeft = Infinity;
    let isLooking = false;
    const look = async (): Promise<void> => {
      const current = await findIdentity(data);
      const isSettled = current === previous;
      previous = current;
      if (current === undefined || !isSettled || (current === reported && --looksLeft > 0)) return;
      reported = current;
      looksLeft = Infinity;
      void onReplaced().then((isTaken) => (looksLeft = isTaken ? Infinity : RETRY_POLLS));
    };
    const timer = setInterval(() => {
      if (isLooking) return;
      isLooking = true;
      void look().finally(() => (isLooking = false));
    }, EVERY_MS);
    timer.unref();
    return () => clearInterval(timer);
  };
}
