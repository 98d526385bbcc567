// Who has a lock: a process that is there, whatever has its number meanwhile, and one elsewhere while it says so.
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { lock } from '../../../data/lock.ts';
import { type CommandProcess, runProgram } from '../../support/commandProcess.ts';
import { temporaryDirectory } from '../../support/dataSets.ts';

const directory = temporaryDirectory();
const running: CommandProcess[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const one of running.splice(0)) await one.kill();
});

function newFile(text?: string): string {
  const file = join(mkdtempSync(join(directory, 'lock-')), 'lock');
  if (text !== undefined) writeFileSync(file, text);
  return file;
}

/** A process that has a lock. */
async function holding(file: string): Promise<CommandProcess> {
  const module = new URL('../../../data/lock.ts', import.meta.url).href;
  const code = `import { lock } from ${JSON.stringify(module)};
    lock(${JSON.stringify(file)}, 'works');
    process.stdout.write('has it\\n');
    setInterval(() => undefined, 1000);`;
  const one = runProgram(process.execPath, ['--input-type=module', '-e', code]);
  running.push(one);
  await one.printed(/has it/);
  return one;
}

/** A process that takes a lock once `change` was done to `fs`, which has its path in `file`. */
function lockingWith(file: string, change: string): CommandProcess {
  const module = new URL('../../../data/lock.ts', import.meta.url).href;
  const code = `import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    const file = ${JSON.stringify(file)};
    ${change}
    syncBuiltinESMExports();
    const { lock } = await import(${JSON.stringify(module)});
    lock(file, 'works');
    process.stdout.write('has it\\n');
    setInterval(() => undefined, 1000);`;
  const one = runProgram(process.execPath, ['--input-type=module', '-e', code]);
  running.push(one);
  return one;
}

/** What lies beside a lock, and itself. */
function namesBeside(file: string): readonly string[] {
  return readdirSync(join(file, '..'));
}

const isLinux = process.platform === 'linux';
const MINUTE_SECONDS = 60;

function writtenAgo(file: string, seconds: number): void {
  const at = Date.now() / 1000 - seconds;
  utimesSync(file, at, at);
}

test('a process has a lock until it ends, in whatever way; one that a signal ends leaves none', async () => {
  for (const signal of ['SIGKILL', 'SIGTERM', 'SIGHUP'] as const) {
    const file = newFile();
    const one = await holding(file);
    writtenAgo(file, 2 * 24 * 60 * MINUTE_SECONDS);
    expect(() => lock(file, 'works')).toThrow(`process ${one.pid} works there already; if it does not, remove ${file}`);
    one.signal(signal);
    expect(await one.ended).toEqual({ code: null, signal });
    expect(existsSync(file)).toBe(signal === 'SIGKILL');
    const letGo = lock(file, 'works');
    expect(readFileSync(file, 'utf8')).toMatch(new RegExp(`^${process.pid} `));
    letGo();
    expect(existsSync(file)).toBe(false);
  }
});

test.runIf(isLinux)('a number that another process or a thread has now counts for nothing', async () => {
  const file = newFile();
  await holding(file);
  const [number, start, place] = readFileSync(file, 'utf8').split(' ');
  const thread = readdirSync('/proc/self/task').find((one) => Number(one) !== process.pid);
  for (const text of [`${number} ${Number(start) - 1} ${place}`, `${thread} ${start} ${place}`]) {
    const left = newFile(text);
    lock(left, 'works')();
    expect(existsSync(left)).toBe(false);
  }
});

test.runIf(isLinux)('a process that ended has nothing, also where nobody waited for its end', async () => {
  const file = newFile();
  const parent = runProgram('sh', ['-c', 'sleep 0 & echo $!; exec sleep 1000']);
  running.push(parent);
  const [, zombie] = await parent.printed(/(\d+)\n/);
  const stat = (): string[] => readFileSync(`/proc/${zombie}/stat`, 'utf8').split(') ')[1]!.split(' ');
  await expect.poll(() => stat()[0], { timeout: 20_000 }).toBe('Z');
  await holding(file);
  const place = readFileSync(file, 'utf8').split(' ')[2];
  lock(newFile(`${zombie} ${stat()[19]} ${place}`), 'works')();
});

test('one of another container, machine or boot has it while it says so, and for five minutes more', () => {
  const file = newFile('1 1234 00000000-another-boot');
  const words = 'process 1 of another container, machine or boot works there already';
  expect(() => lock(file, 'works')).toThrow(words);
  writtenAgo(file, 4 * MINUTE_SECONDS);
  expect(() => lock(file, 'works')).toThrow(words);
  writtenAgo(file, 6 * MINUTE_SECONDS);
  lock(file, 'works')();
  expect(existsSync(file)).toBe(false);
});

test('who has it says so three times a minute, in nothing that somebody else has put there', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const file = newFile();
  const letGo = lock(file, 'works');
  const text = readFileSync(file, 'utf8');
  const isRecent = (): boolean => Date.now() - statSync(file).mtimeMs < MINUTE_SECONDS * 1000;
  for (let i = 0; i < 3; i++) {
    writtenAgo(file, 5 * MINUTE_SECONDS);
    expect(isRecent()).toBe(false);
    vi.advanceTimersByTime(20_000);
    expect(isRecent()).toBe(true);
  }
  expect(readFileSync(file, 'utf8')).toBe(text);
  rmSync(file);
  writeFileSync(file, 'of another');
  vi.advanceTimersByTime(20_000);
  letGo();
  expect(readFileSync(file, 'utf8')).toBe('of another');
});

test('the lock of an earlier version, a number alone, counts while there is such a process, for a day at most', () => {
  const file = newFile(String(process.ppid));
  expect(() => lock(file, 'works')).toThrow(`process ${process.ppid} works there already`);
  writtenAgo(file, 25 * 60 * MINUTE_SECONDS);
  lock(file, 'works')();
  for (const text of ['4194304', '', 'no number']) lock(newFile(text), 'works')();
});

test('of two who find a lock left, one has it: the other takes nothing away from that one', async () => {
  const file = newFile('4194303');
  // Between its look at what is left and the removal of that, somebody else has both behind them.
  const second = lockingWith(
    file,
    `const { renameSync } = fs;
    fs.renameSync = (from, to) => {
      fs.writeFileSync(from, '${process.pid}');
      renameSync(from, to);
    };`,
  );
  expect(await second.ended).toEqual({ code: 1, signal: null });
  expect(second.err()).toContain('another process works there already');
  expect(readFileSync(file, 'utf8')).toBe(String(process.pid));
  expect(namesBeside(file)).toEqual(['lock']);
});

test('of two who find none, one has it: the other is told which, and leaves nothing', async () => {
  const file = newFile();
  const second = lockingWith(
    file,
    `const { readFileSync } = fs;
    fs.readFileSync = (path, ...options) => {
      if (path !== file || fs.existsSync(file)) return readFileSync(path, ...options);
      fs.writeFileSync(file, '${process.pid}');
      throw Object.assign(new Error('none yet'), { code: 'ENOENT' });
    };`,
  );
  expect(await second.ended).toEqual({ code: 1, signal: null });
  expect(second.err()).toContain(`process ${process.pid} works there already`);
  expect(readFileSync(file, 'utf8')).toBe(String(process.pid));
  expect(namesBeside(file)).toEqual(['lock']);
});

test('a lock has its text from the first moment on, and nothing stands beside it', async () => {
  const file = newFile();
  const killed = lockingWith(
    file,
    `fs.writeFileSync = (path, text, { flag }) => {
      fs.openSync(path, flag);
      process.kill(process.pid, 'SIGKILL');
    };`,
  );
  expect(await killed.ended).toEqual({ code: null, signal: 'SIGKILL' });
  expect(existsSync(file)).toBe(false);
  const other = newFile();
  const letGo = lock(other, 'works');
  expect(namesBeside(other)).toEqual(['lock']);
  letGo();
  expect(namesBeside(other)).toEqual([]);
});

test('a server of files that says of a link it has made that there is one gives the lock', async () => {
  const file = newFile();
  const repeated = `const { linkSync } = fs;
  fs.linkSync = (...paths) => {
    linkSync(...paths);
    linkSync(...paths);
  };`;
  const first = lockingWith(file, repeated);
  await first.printed(/has it/);
  const second = lockingWith(file, repeated);
  expect(await second.ended).toEqual({ code: 1, signal: null });
  expect(namesBeside(file)).toEqual(['lock']);
});

test('a file system without hard links has locks too', async () => {
  const file = newFile();
  const refused = `fs.linkSync = () => {
    throw Object.assign(new Error('EPERM: operation not permitted'), { code: 'EPERM' });
  };`;
  const first = lockingWith(file, refused);
  await first.printed(/has it/);
  expect(readFileSync(file, 'utf8')).toMatch(new RegExp(`^${first.pid} `));
  const second = lockingWith(file, refused);
  expect(await second.ended).toEqual({ code: 1, signal: null });
  expect(second.err()).toContain(`process ${first.pid} works there already`);
  expect(namesBeside(file)).toEqual(['lock']);
});
