// Files that `export` writes, with the real program: the bytes of a server's response, whole or absent, and refusals
// before anything is written.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { generate } from '../../../../data/synth/generate.ts';
import { runCommand, runServer } from '../../../support/commandProcess.ts';
import { imported, temporaryDirectory } from '../../../support/dataSets.ts';
import { expectedRows, hasDuckDb, readParquet } from '../../../support/parquetFiles.ts';
import { smallDisk } from '../../../support/smallDisk.ts';

const directory = temporaryDirectory();
const made = join(directory, 'made');
await generate({ observations: 3000, seed: 5, directory: made }, () => undefined);
const { file: data } = await imported(made);
const disk = smallDisk(directory);
afterAll(() => disk?.unmount());

async function run(...words: readonly string[]): Promise<{ code: number | null; out: string; err: string }> {
  const command = runCommand(['export', ...words, '--data', data]);
  const { code } = await command.ended;
  return { code, out: command.out(), err: command.err() };
}

test('writes the bytes of the export of the API', async () => {
  const server = await runServer(['--data', data, '--threads', '1', '--gzip', 'off']);
  const links = ['--base-url', `http://localhost:${server.port}`];
  for (const format of ['parquet', 'csv', 'ndjson']) {
    const file = join(directory, `observations.${format}`);
    const where =
      'status__in=completed,ongoing&ordering=-title&limit=1500&fields=ob_id,title,phenomena,nonGeographicFlag';
    const { code, out } = await run('observations', '-o', file, '--where', where, ...links);
    expect([code, out]).toEqual([0, expect.stringMatching(/\.\w+: 1,500 records, [\d.]+ kB\n$/)]);
    const answer = await fetch(`${server.url}/api/v3/observations/?${where}&format=${format}`);
    expect(readFileSync(file).equals(Buffer.from(await answer.arrayBuffer()))).toBe(true);
  }
  await server.kill();
});

test('refuses a wrong filter whatever a server does with one', async () => {
  const words = [
    'export',
    'observations',
    '-o',
    join(directory, 'never.csv'),
    '--where',
    'ob_id__lt=x',
    '--data',
    data,
  ];
  const command = runCommand(words, { environment: { CATALOGUE_FILTER_ERRORS: 'ignore' } });
  expect(await command.ended).toMatchObject({ code: 2 });
  expect(command.err()).toContain('ob_id__lt: Enter a whole number.');
});

test('exports one record, and of the embedded sample if no data is named', async () => {
  const file = join(directory, 'one.ndjson');
  const command = runCommand(['export', 'licences', '-o', file, '--where', 'limit=1']);
  expect(await command.ended).toMatchObject({ code: 0 });
  expect(command.out()).toMatch(/one\.ndjson: 1 record of the embedded sample, \d+ B\n$/);
});

test.skipIf(!hasDuckDb)('exports all collections as files of a directory, which it makes', async () => {
  const folder = join(directory, 'all');
  expect((await run('all', '-o', folder)).code).toBe(0);
  expect(readdirSync(folder)).toHaveLength(34);
  expect((await run('times', 'bboxes', '-o', folder, '--format', 'ndjson')).code).toBe(0);
  for (const name of ['times', 'bboxes']) {
    const { names, types, rows } = await readParquet(join(folder, `${name}.parquet`));
    const lines = readFileSync(join(folder, `${name}.ndjson`), 'utf8');
    expect(rows.length).toBeGreaterThan(100);
    expect(rows).toEqual(expectedRows({ names, types }, name, lines, lines));
  }
});

test.skipIf(!hasDuckDb)('exports a folder of parts as one table', async () => {
  const parts = ['ob_id__lt=2000', 'ob_id__gte=2000', 'ob_id=-1'];
  for (const [i, where] of parts.entries()) {
    const file = join(directory, `part${i}.parquet`);
    expect((await run('observations', '-o', file, '--where', where)).code).toBe(0);
  }
  const { rows } = await readParquet(join(directory, 'part*.parquet'));
  expect(new Set(rows.map(([id]) => id)).size).toBe(3000);
});

describe('a failed export', () => {
  test.each([
    [['observatons', '-o', 'x.csv'], 'there is no collection "observatons"; did you mean observations?'],
    [['observations', '-o', 'x.csv', '--format', 'ndjson'], 'the format of one file is its ending; leave --format out'],
    [['observations', '-o', 'x.csv', '--where', 'titel=a'], 'titel: Unknown parameter. Did you mean "title"?'],
    [['observations', '-o', 'x.csv', '--where', 'ob_id=x'], 'ob_id: Enter a whole number.'],
    [['observations', '-o', 'x.txt'], 'want a name in .parquet, .csv or .ndjson, or a directory'],
    [['observations', 'times', '-o', 'x.csv'], 'is one file; want a directory for several lists'],
    [
      ['times', 'ipps', '-o', 'x.d', '--where', 'startTime__isnull=false'],
      'ipps: startTime__isnull: Unknown parameter.',
    ],
  ])('reports the error and writes nothing: %j', async (words, sentence) => {
    const { code, err } = await run(...words.map((word) => (word.startsWith('x.') ? join(directory, word) : word)));
    expect([code, err]).toEqual([2, expect.stringContaining(sentence)]);
    expect(readdirSync(directory).filter((name) => name.startsWith('x.'))).toEqual([]);
  });

  test('keeps an existing file without --force', async () => {
    const file = join(directory, 'kept.parquet');
    writeFileSync(file, 'mine');
    const { code, err } = await run('times', '-o', file);
    expect([code, err]).toEqual([2, `catalogue-replica: ${file} is there; --force replaces it\n`]);
    expect(readFileSync(file, 'utf8')).toBe('mine');
  });
});

test('leaves nothing after a signal, and keeps the previous file', async () => {
  const file = join(directory, 'stopped.parquet');
  writeFileSync(file, 'before');
  const command = runCommand(['export', 'observations', '-o', file, '--force', '--data', data]);
  const isUnfinished = (): boolean => readdirSync(directory).some((name) => name.startsWith('stopped.parquet.partial'));
  const run = { isOver: false };
  void command.ended.then(() => (run.isOver = true));
  while (!isUnfinished() && !run.isOver) await new Promise((resolve) => setTimeout(resolve, 1));
  command.signal('SIGINT');
  expect(await command.ended).toEqual({ code: null, signal: 'SIGINT' });
  expect(isUnfinished()).toBe(false);
  expect(readFileSync(file, 'utf8')).toBe('before');
});

test.skipIf(!disk)('reports a full disk with the name of the file, and leaves nothing of it', async () => {
  const file = join(disk!.folder, 'full.csv');
  disk!.fill(1 << 20);
  const { code, err } = await run('observations', '-o', file);
  expect([code, err]).toEqual([1, expect.stringContaining(`cannot write ${file}: ENOSPC`)]);
  expect(readdirSync(disk!.folder)).toEqual(['filler']);
});
