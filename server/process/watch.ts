// Notices when the data that a path names has been replaced: a file by another one, or any file of a directory. Looks,
// since what systems tell of changes is lost over networks and renames.
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { withTimeLimit } from '../../data/timeLimit.ts';

/** So long between two looks; what has changed is told once two looks have seen the same. */
const EVERY_MS = 1000;

/** So many looks later what was refused is told again: want of room, descriptors or a disk may be over. */
const AGAIN_LOOKS = 600;

/**
 * What tells data from what has replaced it, undefined where there is none, or no answer: device, number, length and
 * time of change of the file, or of each file of a directory. Cost: a call of the system for each file.
 */
async function identityOf(data: string): Promise<string | undefined> {
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
 * A watch over data as it is now. Started, it calls `onReplaced` whenever the data is other than it was, or was told
 * last, and has stayed so for a look, and again ten minutes later where that answers false; what is gone, or still
 * being written, is waited for. Answers what ends it; keeps no process alive.
 */
export async function watchOver(data: string): Promise<Watch> {
  let told = await identityOf(data);
  let seen = told;
  return (onReplaced) => {
    let looksLeft = Infinity;
    let isLooking = false;
    const look = async (): Promise<void> => {
      const found = await identityOf(data);
      const isSettled = found === seen;
      seen = found;
      if (found === undefined || !isSettled || (found === told && --looksLeft > 0)) return;
      told = found;
      looksLeft = Infinity;
      void onReplaced().then((isTaken) => (looksLeft = isTaken ? Infinity : AGAIN_LOOKS));
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
