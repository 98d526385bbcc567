// Notices when the data that a path names has been replaced: a file by another one, or any file of a directory. Looks,
// since what systems tell of changes is lost over networks and renames.
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';

/** So long between two looks; what has changed is told once two looks have seen the same. */
const EVERY_MS = 1000;

/** So many looks later what was refused is told again: want of room, descriptors or a disk may be over. */
const AGAIN_LOOKS = 600;

/**
 * What tells data from what has replaced it, undefined where there is none: device, number, length and time of change
 * of the file, or of each file of a directory. Cost: a call of the system for each file.
 */
function identityOf(data: string): string | undefined {
  try {
    return statSync(data).isDirectory()
      ? readdirSync(data)
          .toSorted()
          .map((name) => `${name} ${fileIdentity(path.join(data, name))}`)
          .join('\n')
      : fileIdentity(data);
  } catch {
    return undefined;
  }
}

function fileIdentity(file: string): string {
  const { dev, ino, size, mtimeNs } = statSync(file, { bigint: true });
  return [dev, ino, size, mtimeNs].join(' ');
}

/**
 * A watch over data as it is now. Started, it calls `onReplaced` whenever the data is other than it was, or was told
 * last, and has stayed so for a look, and again ten minutes later where that answers false; what is gone, or still
 * being written, is waited for. Answers what ends it; keeps no process alive.
 */
export function watchOver(data: string): (onReplaced: () => Promise<boolean>) => () => void {
  let told = identityOf(data);
  let seen = told;
  return (onReplaced) => {
    let looksLeft = Infinity;
    const timer = setInterval(() => {
      const found = identityOf(data);
      const isSettled = found === seen;
      seen = found;
      if (found === undefined || !isSettled || (found === told && --looksLeft > 0)) return;
      told = found;
      looksLeft = Infinity;
      void onReplaced().then((isTaken) => (looksLeft = isTaken ? Infinity : AGAIN_LOOKS));
    }, EVERY_MS);
    timer.unref();
    return () => clearInterval(timer);
  };
}
