// Locks of processes that were killed or stopped: 5 minutes later they are abandoned, which tests do not wait for.
import { existsSync, readdirSync, utimesSync } from 'node:fs';
import { basename, join } from 'node:path';

/** As old as a lock is when its holder has not touched it for this long. */
export function ageLock(file: string, minutes: number): void {
  const at = Date.now() / 1000 - minutes * 60;
  utimesSync(file, at, at);
}

/** Makes all locks in a folder abandoned. */
export function abandonLocks(folder: string): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    if (basename(name) === 'lock') ageLock(join(folder, name), 6);
}
