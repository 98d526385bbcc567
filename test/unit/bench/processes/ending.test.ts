// What a bench leaves behind when it ends before its time: nothing. runs.long.test.ts ends a whole one by a signal.
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { cpuSecondsOf } from '../../../../bench/processes/cpuTime.ts';
import { temporaryFolder } from '../../../../bench/processes/ending.ts';
import { runProgram } from '../../../support/commandProcess.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';

const ENDING = fileURLToPath(new URL('../../../../bench/processes/ending.ts', import.meta.url));

/** Makes a folder, starts a child that has one itself, says so, and waits. */
const PROGRAM = `
const { endOnSignals, temporaryFolder } = await import(${JSON.stringify(ENDING)});
const { spawn } = await import('node:child_process');
endOnSignals();
temporaryFolder('left-', process.argv[1]);
const child = spawn('/bin/sh', ['-c', 'sleep 600 & echo child $! of $$; wait'], { stdio: 'inherit' });
// As whoever waits for a server that is stopped.
child.once('exit', () => Promise.reject(new Error('nobody waits for it')));
`;

test('a folder goes when it is told to, with all that is in it', () => {
  const parent = temporaryDirectory();
  const { path, remove } = temporaryFolder('made-', parent);
  writeFileSync(join(path, 'file'), '');
  expect(readdirSync(parent)).toHaveLength(1);
  remove();
  expect(readdirSync(parent)).toEqual([]);
});

test.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
  ['SIGHUP', 129],
] as const)('%s ends children and theirs, removes folders, and is the exit code: %d', async (signal, code) => {
  const parent = temporaryDirectory();
  const program = runProgram(process.execPath, ['--input-type=module', '--eval', PROGRAM, parent]);
  const [, grandchild, child] = await program.printed(/child (\d+) of (\d+)\n/);
  expect(readdirSync(parent)).toHaveLength(1);
  program.signal(signal);
  expect(await program.ended).toEqual({ code, signal: null });
  expect(readdirSync(parent)).toEqual([]);
  for (const pid of [child, grandchild]) expect(existsSync(`/proc/${pid}/exe`)).toBe(false);
  expect(program.err()).toBe('');
});

test('the CPU of a process has that of threads that have ended', async () => {
  const before = cpuSecondsOf(process.pid, 'own');
  const code = 'const start = process.cpuUsage(); while (process.cpuUsage(start).user < 200_000);';
  const worker = new Worker(code, { eval: true });
  await new Promise((resolve) => worker.once('exit', resolve));
  expect(cpuSecondsOf(process.pid, 'own') - before).toBeGreaterThan(0.15);
});
