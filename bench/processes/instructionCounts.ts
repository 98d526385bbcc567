// Processes under valgrind, and the number of instructions that each has executed, without any noise of the machine.
// Excludes the work of the kernel for them.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Prefix of a command whose instructions are counted. Compiled code changes, so valgrind must check it again. */
export const COUNTING_COMMAND: readonly string[] = [
  'valgrind',
  '--tool=callgrind',
  '--callgrind-out-file=/dev/null',
  '--smc-check=all-non-file',
  '--quiet',
];

/** Whether all tools of valgrind's package are installed. Runs each once. */
export async function hasValgrind(): Promise<boolean> {
  const asked = [run('valgrind', ['--version']), run('callgrind_control', ['--version'])];
  const outcomes = await Promise.allSettled(asked);
  return outcomes.every(({ status }) => status === 'fulfilled');
}

/**
 * Instructions that a process under valgrind has executed, with all its threads. Rejects if callgrind does not report
 * them.
 */
export async function instructionsOf(pid: number): Promise<number> {
  const { stdout } = await run('callgrind_control', ['-e', String(pid)]);
  const threads = [...stdout.matchAll(/^\s*Th\s*\d+\s+([\d,]+)\s*$/gm)];
  if (threads.length === 0) throw new Error(`callgrind_control tells no instructions of ${pid}:\n${stdout}`);
  return threads.reduce((sum, [, digits]) => sum + Number(digits!.replaceAll(',', '')), 0);
}
