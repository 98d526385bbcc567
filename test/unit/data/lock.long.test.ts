// Two processes that compete for one lock.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { lock } from '../../../data/lock.ts';
import { type CommandProcess, runProgram } from '../../support/commandProcess.ts';
import { temporaryDirectory } from '../../support/dataSets.ts';
import { age } from '../../support/killer.ts';

const directory = temporaryDirectory();
const running: CommandProcess[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const one of running.splice(0)) await one.kill();
});

/** Runs a program in a new PID namespace, as pid 1. */
const NAMESPACE = ['unshare', '--pid', '--fork', '--kill-child'];
const hasNamespaces = spawnSync(NAMESPACE[0]!, [...NAMESPACE.slice(1), 'true']).status === 0;

function newFile(): string {
  return join(mkdtempSync(join(directory, 'lock-')), 'lock');
}

/** A process that acquires a lock and checks 20 times a second that it still holds it. */
function locking(file: string, within: readonly string[] = []): CommandProcess {
  const code = `import { lock } from ${JSON.stringify(new URL('../../../data/lock.ts', import.meta.url).href)};
    const { assertHeld } = lock(${JSON.stringify(file)}, 'works');
    console.log('has it');
    setInterval(assertHeld, 50);`;
  const [program, ...words] = [...within, process.execPath, '--input-type=module', '-e', code];
  const command = runProgram(program, words);
  running.push(command);
  return command;
}

test.each(['SIGTERM', 'SIGHUP'] as const)('belongs to one process until %s ends it', async (signal) => {
  const file = newFile();
  const first = locking(file);
  await first.printed(/has it/);
  age(file, 4);
  expect(() => lock(file, 'works')).toThrow(
    new RegExp(`^process ${first.pid} of \\S+ works there; if it no longer runs, remove ${file}, or wait`),
  );
  first.signal(signal);
  expect(await first.ended).toEqual({ code: null, signal });
  expect(existsSync(file)).toBe(false);
});

test('belongs to a killed process until 5 minutes after its last touch', async () => {
  const file = newFile();
  const first = locking(file);
  await first.printed(/has it/);
  await first.kill();
  expect(() => lock(file, 'works')).toThrow(`remove ${file}`);
  age(file, 6);
  const { assertHeld, release } = lock(file, 'works');
  assertHeld();
  release();
  expect(existsSync(file)).toBe(false);
});

test('is lost by a process that is stopped for 5 minutes, which leaves it to its next holder', async () => {
  const file = newFile();
  const first = locking(file);
  await first.printed(/has it/);
  first.signal('SIGSTOP');
  age(file, 6);
  const { assertHeld, release } = lock(file, 'works');
  const text = readFileSync(file, 'utf8');
  first.signal('SIGCONT');
  expect(await first.ended).toEqual({ code: 1, signal: null });
  expect(first.err()).toContain(`${file} was removed, or taken by another process`);
  expect(readFileSync(file, 'utf8')).toBe(text);
  assertHeld();
  release();
});

test.runIf(hasNamespaces)('belongs to one of two processes with the same pid, in two PID namespaces', async () => {
  const file = newFile();
  const first = locking(file, NAMESPACE);
  await first.printed(/has it/);
  const second = locking(file, NAMESPACE);
  expect(await second.ended).toEqual({ code: 1, signal: null });
  expect(second.err()).toMatch(/process 1 of \S+ works there/);
  await first.kill();
  age(file, 6);
  await locking(file, NAMESPACE).printed(/has it/);
});

test('is touched three times a minute by its holder alone', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const file = newFile();
  const { release } = lock(file, 'works');
  const minutesOld = (): number => Math.round((Date.now() - statSync(file).mtimeMs) / 60_000);
  for (let i = 0; i < 3; i++) {
    age(file, 4);
    vi.advanceTimersByTime(20_000);
    expect(minutesOld()).toBe(0);
  }
  writeFileSync(file, 'of another process');
  age(file, 4);
  vi.advanceTimersByTime(20_000);
  expect(minutesOld()).toBe(4);
  release();
  expect(existsSync(file)).toBe(true);
});
