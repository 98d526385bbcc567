// Runs Python of the Debian packages: the interpreter of the system, which others on the PATH may hide.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Runs a script with arguments. Returns what it prints as JSON; rejects with what it says if it fails. */
export async function python(script: string, ...words: readonly string[]): Promise<unknown> {
  const { stdout } = await run('/usr/bin/python3', ['-c', script, ...words]);
  return JSON.parse(stdout);
}
