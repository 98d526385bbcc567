// What one process does at a time: a file holds its number while it does, and that of a dead one counts for nothing.
// Whoever locks removes the file when it is done.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { attempt } from './files.ts';
import { isAlive } from './leftovers.ts';
import { OperationError } from './operationError.ts';

/** Takes a lock. Throws OperationError `file` where another process has it, and `does` the same. */
export function lock(file: string, does: string): void {
  attempt(`cannot write ${file}`, () => {
    const holder = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
    if (holder > 0 && holder !== process.pid && isAlive(holder))
      throw new OperationError('file', `process ${holder} ${does} there already; if it does not, remove ${file}`);
    rmSync(file, { force: true });
    writeFileSync(file, String(process.pid), { flag: 'wx' });
  });
}
