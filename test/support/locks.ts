// Locks and partial output of processes that were killed or stopped: 5 minutes later they are abandoned, which tests do
// not wait for.
import { existsSync, readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';

/** Makes a file as old as it is when its holder has not touched it for this long. */
export function age(file: string, minutes: number): void {
  const at = Date.now() / 1000 - minutes * 60;
  utimesSync(file, at, at);
}

/** Makes all locks and partial output in a folder abandoned. */
export function abandonAll(folder: string): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    if (/(?:^|\/)lock$|\.partial-[^/]*$/.test(name)) age(join(folder, name), 6);
}
