// Differences between two data sets or snapshots, record by record.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { digestCatalogue } from '../../../../data/upstream/digests.ts';
import { changesBetween, changeKind } from '../../../../data/upstream/changeLog.ts';
import { generate } from '../../../../data/synth/generate.ts';
import { runCommand } from '../../../support/commandProcess.ts';
import { dataSetOf, type Files, imported, temporaryDirectory } from '../../../support/dataSets.ts';

const SAMPLE = fileURLToPath(new URL('../../../../data/sample', import.meta.url));
const directory = temporaryDirectory();

async function changesOf(before: string, after: string): Promise<readonly string[]> {
  const nothing = (): void => undefined;
  const [old, young] = [await digestCatalogue(before, 0, nothing), await digestCatalogue(after, 0, nothing)];
  return [...changesBetween(old, young)].map((change) => `${change.collection} ${change.id} ${changeKind(change)}`);
}

function notes(...lines: readonly string[]): Files {
  return { 'notes.ndjson': lines.map((line) => `${line}\n`).join('') };
}

test('reports created, changed and deleted records by collection and id, whatever the order of the lines', async () => {
  const before = dataSetOf(directory, {
    ...notes('{"ob_id":3,"text":"c"}', '{"ob_id":1,"text":"a"}', '{"ob_id":2,"text":"b"}'),
    'times.ndjson': '{"ob_id":7}\n',
  });
  const after = dataSetOf(directory, {
    ...notes('{"ob_id":2,"text":"b"}', '{"ob_id":9007199254740991,"text":"d"}', '{"ob_id":3,"text":"C"}'),
    'ipps.ndjson': '',
  });
  const changes = ['notes 1 deleted', 'notes 3 changed', 'notes 9007199254740991 created', 'times 7 deleted'];
  expect((await changesOf(before, after)).toSorted()).toEqual(changes.toSorted());
  expect(await changesOf(before, before)).toEqual([]);
});

test('ignores another spelling of a record, but not another order of keys or another number token', async () => {
  const plain = dataSetOf(directory, notes('{"ob_id":1,"text":"å/","n":1.0}'));
  const spelt = dataSetOf(directory, notes(' { "ob_id" : 1, "text" : "\\u00e5\\/", "n" : 1.0 } '));
  expect(await changesOf(plain, spelt)).toEqual([]);
  for (const other of ['{"ob_id":1,"n":1.0,"text":"å/"}', '{"ob_id":1,"text":"å/","n":1.00}'])
    expect(await changesOf(plain, dataSetOf(directory, notes(other)))).toEqual(['notes 1 changed']);
});

test('finds no difference between a directory and its snapshot', async () => {
  const { file } = await imported(SAMPLE, { file: join(directory, 'sample.snapshot') });
  expect(await changesOf(SAMPLE, file)).toEqual([]);
  expect(await changesOf(file, SAMPLE)).toEqual([]);
});

test('reports a repeated record, a faulty line, and a missing file as errors that name them', async () => {
  const twice = dataSetOf(directory, notes('{"ob_id":1}', '{"ob_id":1}'));
  await expect(changesOf(twice, twice)).rejects.toMatchObject({
    code: 'input',
    message: expect.stringMatching(/notes.*id 1 .*twice/),
  });
  const faulty = dataSetOf(directory, notes('{"ob_id":1}', '{"ob_id":'));
  await expect(changesOf(faulty, faulty)).rejects.toMatchObject({
    code: 'input',
    message: expect.stringMatching(/notes\.ndjson:2: /),
  });
  await expect(changesOf(join(directory, 'none'), SAMPLE)).rejects.toMatchObject({ code: 'file' });
});

test('prints a table, or a line of JSON for each change', async () => {
  const before = join(directory, 'generated');
  await generate({ observations: 50, seed: 3, directory: before }, () => undefined);
  const file = join(before, 'platforms.ndjson');
  const { file: snapshot } = await imported(before);
  rmSync(join(before, 'MANIFEST.json'));
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const [first, second] = lines.map((line) => JSON.parse(line) as { ob_id: number; title: string });
  writeFileSync(file, [JSON.stringify({ ...second, title: 'other' }), ...lines.slice(2), ''].join('\n'));
  const table = runCommand(['diff', snapshot, before, '--threads', '1']);
  expect(await table.ended).toEqual({ code: 0, signal: null });
  expect(table.out()).toBe(
    'collection  created  changed  deleted\nplatforms         0        1        1\ntotal             0        1        1\n',
  );
  const told = runCommand(['diff', snapshot, before, '--threads', '1', '--format', 'ndjson']);
  await told.ended;
  const digest = expect.stringMatching(/^[0-9a-f]{32}$/);
  expect(
    told
      .out()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual([
    { collection: 'platforms', id: first!.ob_id, change: 'deleted', before: digest, after: null },
    { collection: 'platforms', id: second!.ob_id, change: 'changed', before: digest, after: digest },
  ]);
});
