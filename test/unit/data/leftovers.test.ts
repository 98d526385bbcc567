// Partial output: what a run leaves when it fails or is killed, and when a later run removes it.
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { makeFolder } from '../../../data/files.ts';
import { withPartialPath } from '../../../data/leftovers.ts';
import { runCommand } from '../../support/commandProcess.ts';
import { dataSetOf, imported, temporaryDirectory } from '../../support/dataSets.ts';
import { age } from '../../support/killer.ts';
import { until } from '../../support/waits.ts';

const calls: string[] = [];
vi.mock('node:fs', async (importOriginal) => {
  const real = await importOriginal<typeof import('node:fs')>();
  const opened = new Map<number, string>();
  return {
    ...real,
    openSync: (file: string, flags: string) => {
      const descriptor = real.openSync(file, flags);
      opened.set(descriptor, file);
      return descriptor;
    },
    fsyncSync: (descriptor: number) => {
      calls.push(`sync ${opened.get(descriptor)}`);
      real.fsyncSync(descriptor);
    },
    renameSync: (from: string, to: string) => {
      calls.push(`rename ${from} to ${to}`);
      real.renameSync(from, to);
    },
  };
});

const SCRATCH = temporaryDirectory();

function directoryOf(name: string): string {
  const directory = join(SCRATCH, name);
  mkdirSync(directory);
  return directory;
}

/** The names next to a target while work for it runs. */
function duringWork(directory: string): Promise<readonly string[]> {
  return withPartialPath(join(directory, 'x'), async (partial) => {
    await setTimeout(0);
    writeFileSync(partial, '');
    return readdirSync(directory);
  });
}

test('removes the partial output of a killed import in one that runs 5 minutes later', async () => {
  const directory = directoryOf('killed');
  const lines = Array.from({ length: 150_000 }, (_, i) => JSON.stringify({ ob_id: i, text: `n${i}` })).join('\n');
  const data = dataSetOf(SCRATCH, { 'notes.ndjson': lines });
  const file = join(directory, 'x.snapshot');
  const command = runCommand(['import', data, '-o', file, '--threads', '1']);
  const isUnderWay = async (): Promise<boolean> => {
    while (readdirSync(directory).length === 0) await setTimeout(2);
    return true;
  };
  expect(await Promise.race([isUnderWay(), command.ended])).toBe(true);
  command.signal('SIGKILL');
  await command.ended;
  // The file of records, which has a name for a moment, may be there too.
  expect(new Set(readdirSync(directory).map((name) => name.replace(/-.*/, '')))).toEqual(
    new Set(['x.snapshot.partial']),
  );
  for (const name of readdirSync(directory)) age(join(directory, name), 6);
  await imported(dataSetOf(SCRATCH, { 'notes.ndjson': '{"ob_id":1}' }), { file });
  expect(readdirSync(directory)).toEqual(['x.snapshot']);
});

test('removes partial output of another run 5 minutes after its last touch', async () => {
  const directory = directoryOf('others');
  const partial = 'x.partial-0123456789ab';
  const others = ['x.partial-1', 'x', 'y.partial-0123456789ab'];
  for (const name of [partial, ...others]) writeFileSync(join(directory, name), '');
  for (const [minutes, isKept] of [
    [4, true],
    [6, false],
  ] as const) {
    for (const name of readdirSync(directory)) age(join(directory, name), minutes);
    const names = await duringWork(directory);
    expect(names).toEqual(expect.arrayContaining(others));
    expect(names.includes(partial)).toBe(isKept);
  }
});

test('touches partial output three times a minute while work runs', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  await withPartialPath(join(directoryOf('touched'), 'x'), async (partial) => {
    writeFileSync(partial, '');
    for (let i = 0; i < 3; i++) {
      age(partial, 4);
      vi.advanceTimersByTime(20_000);
      await until(() => Date.now() - statSync(partial).mtimeMs < 60_000);
    }
  });
  vi.useRealTimers();
});

test('syncs a snapshot to the disk before it renames it, and the folder after that', async () => {
  const directory = directoryOf('synced');
  calls.length = 0;
  const file = join(directory, 'x.snapshot');
  await imported(dataSetOf(SCRATCH, { 'notes.ndjson': '{"ob_id":1}' }), { file });
  const [first, second, third] = calls;
  expect(first).toMatch(/^sync .*x\.snapshot\.partial-/);
  expect(second).toBe(`rename ${first!.slice('sync '.length)} to ${file}`);
  expect(third).toBe(`sync ${directory}`);
});

test('reports the reason of the work itself if it writes below a file', async () => {
  const file = join(directoryOf('file'), 'x');
  writeFileSync(file, '');
  const failing = withPartialPath(join(file, 'y'), async (partial) => writeFileSync(partial, ''));
  await expect(failing).rejects.toMatchObject({ code: 'ENOTDIR', syscall: 'open' });
});

test.runIf(process.platform === 'linux')('makes a folder and its parents, or reports why the system does not', () => {
  const folder = join(directoryOf('folders'), 'a', 'b');
  for (let i = 0; i < 2; i++) makeFolder(folder);
  expect(existsSync(folder)).toBe(true);
  writeFileSync(join(folder, 'file'), '');
  for (const name of ['file', 'file/c']) expect(() => makeFolder(join(folder, name))).toThrow(/EEXIST|ENOTDIR/);
  expect(() => makeFolder('/proc/x/y')).toThrow('ENOENT');
});

test('removes everything that failed work has created', async () => {
  const directory = directoryOf('failed');
  const failing = withPartialPath(join(directory, 'a'), async (partial) => {
    mkdirSync(partial);
    writeFileSync(join(partial, 'b'), 'c');
    throw new Error('no space left');
  });
  await expect(failing).rejects.toThrow('no space left');
  expect(readdirSync(directory)).toEqual([]);
});
