// What an import leaves when it is killed, and the names of what is not finished: removed by the next run unless
// somebody may still write to it, and never the same in two containers.
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { makeFolder } from '../../../data/files.ts';
import { unfinished } from '../../../data/leftovers.ts';
import { runCommand } from '../../support/commandProcess.ts';
import { dataSetOf, imported, temporaryDirectory } from '../../support/dataSets.ts';

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

/** The names beside a target while work for it runs. */
function duringWork(directory: string): Promise<readonly string[]> {
  return unfinished(join(directory, 'x'), async (partial) => {
    await setTimeout(0);
    writeFileSync(partial, '');
    return readdirSync(directory);
  });
}

test('what a killed import left is removed by the next one', async () => {
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
  await imported(dataSetOf(SCRATCH, { 'notes.ndjson': '{"ob_id":1}' }), { file });
  expect(readdirSync(directory)).toEqual(['x.snapshot']);
});

test('what a process that is alive, or another machine, writes to stays, until nobody has for a day', async () => {
  const directory = directoryOf('others');
  const [mine] = await duringWork(directory);
  const mark = /^x\.partial-([0-9a-f]{8})-\d+-([0-9a-f]{12})$/.exec(mine!)!;
  const elsewhere = mark[1] === '00000000' ? '11111111' : '00000000';
  const alive = `x.partial-${mark[1]}-1-0123456789ab`;
  const foreign = `x.partial-${elsewhere}-4000000-0123456789ab`;
  const others = [alive, foreign, 'x.partial-1', 'x', 'y.partial-00000000-1-0123456789ab'];
  for (const name of others) writeFileSync(join(directory, name), '');
  expect(await duringWork(directory)).toEqual(expect.arrayContaining(others));
  for (const name of others) utimesSync(join(directory, name), 1, 1);
  const left = await duringWork(directory);
  expect(left).toEqual(expect.arrayContaining(others.slice(2)));
  expect(left).not.toContain(alive);
  expect(left).not.toContain(foreign);
});

test('what another process had made with our number, as in a container that was started anew, is removed', async () => {
  const directory = directoryOf('again');
  const [mine] = await duringWork(directory);
  const earlier = mine!.replace(/[0-9a-f]{12}$/, '0123456789ab');
  writeFileSync(join(directory, earlier), '');
  await unfinished(join(directory, 'x'), async (partial) => {
    writeFileSync(`${partial}.more`, '');
    expect(await duringWork(directory)).not.toContain(earlier);
    expect(readdirSync(directory)).toContain(`${basename(partial)}.more`);
  });
});

test('two runs with one number of a process have two names', async () => {
  const paths = await Promise.all([1, 2].map(() => unfinished(join(SCRATCH, 'x'), (path) => Promise.resolve(path))));
  expect(new Set(paths).size).toBe(2);
});

test('a snapshot is on the disk before it has its name, and its name after that', async () => {
  const directory = directoryOf('synced');
  calls.length = 0;
  const file = join(directory, 'x.snapshot');
  await imported(dataSetOf(SCRATCH, { 'notes.ndjson': '{"ob_id":1}' }), { file });
  const [first, second, third] = calls;
  expect(first).toMatch(/^sync .*x\.snapshot\.partial-/);
  expect(second).toBe(`rename ${first!.slice('sync '.length)} to ${file}`);
  expect(third).toBe(`sync ${directory}`);
});

test('work below a file fails for its own reason', async () => {
  const file = join(directoryOf('file'), 'x');
  writeFileSync(file, '');
  const failing = unfinished(join(file, 'y'), async (partial) => writeFileSync(partial, ''));
  await expect(failing).rejects.toMatchObject({ code: 'ENOTDIR', syscall: 'open' });
});

test.runIf(process.platform === 'linux')('a folder is made with those around it, or the system says why not', () => {
  const folder = join(directoryOf('folders'), 'a', 'b');
  for (let i = 0; i < 2; i++) makeFolder(folder);
  expect(existsSync(folder)).toBe(true);
  writeFileSync(join(folder, 'file'), '');
  for (const name of ['file', 'file/c']) expect(() => makeFolder(join(folder, name))).toThrow(/EEXIST|ENOTDIR/);
  expect(() => makeFolder('/proc/x/y')).toThrow('ENOENT');
});

test('work that fails leaves nothing, whatever it had made by then', async () => {
  const directory = directoryOf('failed');
  const failing = unfinished(join(directory, 'a'), async (partial) => {
    mkdirSync(partial);
    writeFileSync(join(partial, 'b'), 'c');
    throw new Error('no space left');
  });
  await expect(failing).rejects.toThrow('no space left');
  expect(readdirSync(directory)).toEqual([]);
});
