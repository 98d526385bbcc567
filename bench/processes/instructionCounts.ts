// Processes that run under valgrind, and how many instructions each has executed: numbers without any noise of the
// machine. Counts what runs in the processes, not what the kernel does for them.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * What stands before a program so that its instructions are counted; compiled code changes, so it is looked at anew.
 */
export const COUNTING_COMMAND: readonly string[] = [
  'valgrind',
  '--tool=callgrind',
  '--callgrind-out-file=/dev/null',
  '--smc-check=all-non-file',
  '--quiet',
];

/** The tools of valgrind's package, all of them or undefined; one look at each. */
export async function hasValgrind(): Promise<boolean> {
  const asked = [run('valgrind', ['--version']), run('callgrind_control', ['--version'])];
  const outcomes = await Promise.allSettled(asked);
  return outcomes.every(({ status }) => status === 'fulfilled');
}

/** Instructions that a process under valgrind has executed, all its threads. Rejects where callgrind does not tell. */
export async function instructionsOf(pid: number): Promise<number> {
  const { stdout } = await run('callgrind_control', ['-e', String(pid)]);
  const threads = [...stdout.matchAll(/^\s*Th\s*\d+\s+([\d,]+)\s*$/gm)];
  if (threads.length === 0) throw new Error(`callgrind_control tells no instructions of ${pid}:\n${stdout}`);
  return threads.reduce((sum, [, digits]) => sum + Number(digits!.replaceAll(',', '')), 0);
}
