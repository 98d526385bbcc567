// Importing directories: refused lines and their messages, the counts of the report, and equal bytes for equal data.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FAULTS_LISTED_MAX } from '../../../../data/import/collections.ts';
import { loadSnapshot } from '../../../../data/store/load.ts';
import { verifyFile } from '../../../../data/store/verify.ts';
import { verifyDeep } from '../../../../data/verifyDeep.ts';
import { textAt } from '../../../../engine/column/dictionary.ts';
import { countRows } from '../../../../engine/index/rowset.ts';
import type { FieldNode } from '../../../../engine/index/table.ts';
import { type Catalogue, openSnapshot } from '../../../../engine/snapshot/open.ts';
import {
  dataSetOf,
  type Files,
  imported,
  importFailure,
  ndjsonOf,
  temporaryDirectory,
} from '../../../support/dataSets.ts';

const SCRATCH = temporaryDirectory();
const SAMPLE = join(import.meta.dirname, '../../../../data/sample');
const BASE_URL = 'https://catalogue.example';

async function opened(file: string): Promise<Catalogue> {
  return openSnapshot(await loadSnapshot(file, { baseUrl: BASE_URL }));
}

/** The records of a collection as served, in order. */
async function recordsIn(file: string, collection: string): Promise<unknown[]> {
  const { chunks } = (await opened(file)).collection(collection).records;
  return chunks.flatMap(({ bytes }) => JSON.parse(`[${Buffer.from(bytes).toString().slice(0, -1)}]`) as unknown[]);
}

describe('faulty lines', () => {
  const text = '{"ob_id":5}\n{"ob_id":"x"}\n\n{"ob_id":1,"a":[1,]}\n{"ob_id":7}';
  const told = (file: string): string[] => [
    `${file}:2: /ob_id: expected a number, got text`,
    `${file}:4: /a/1: ill-formed JSON: expected a value, found "]"`,
  ];

  test('are reported with file, line and JSON pointer, and with the flag that skips them', async () => {
    const error = await importFailure(SCRATCH, { 'bboxes.ndjson': text });
    expect(error.code).toBe('input');
    expect(error.message.split('\n')).toEqual([
      ...told(join(error.at, 'bboxes.ndjson')),
      '2 faulty lines; --lenient leaves such lines out',
    ]);
  });

  test('are skipped and counted when lenient', async () => {
    const directory = dataSetOf(SCRATCH, { 'bboxes.ndjson': text });
    const { file, report } = await imported(directory, { isLenient: true });
    expect(await recordsIn(file, 'bboxes')).toEqual([{ ob_id: 5 }, { ob_id: 7 }]);
    expect(report.collections.find(({ name }) => name === 'bboxes')).toMatchObject({ records: 2, skipped: 2 });
    expect(report.skipped).toEqual(told(join(directory, 'bboxes.ndjson')));
    await verifyFile(file, () => undefined);
  });

  test('leave nothing when they come last: the snapshot is that of the other lines alone', async () => {
    const good = ndjsonOf({ ob_id: 1, list: [{ a: 1, more: [{ b: 'x' }] }] }, { ob_id: 2 });
    const lines = [good, `${good}{"ob_id":3,"list":[{"a":2,"more":[{"b":"y"},{"b":]}]}]}\n`];
    const [alone, left] = await Promise.all(
      lines.map((text) => imported(dataSetOf(SCRATCH, { 'phenomona.ndjson': text }), { isLenient: true })),
    );
    expect(left!.report.skippedCount).toBe(1);
    expect(readFileSync(left!.file).equals(readFileSync(alone!.file))).toBe(true);
  });

  test('mention the flag that accepts nulls if some are nulls', async () => {
    const lines = '{"ob_id":1,"title":null}\n{"ob_id":2,"title":5}\n{"ob_id":null}\n';
    const error = await importFailure(SCRATCH, { 'computations.ndjson': lines });
    expect(error.message.split('\n').at(-1)).toBe(
      '3 faulty lines; --lenient leaves such lines out; --take-nulls takes the null that makes 1 of them faulty',
    );
  });

  test.each([0, 2])('do not include nulls if these are accepted, with %i threads', async (threads) => {
    const records = [
      { ob_id: 1, title: null, keywords: 'a' },
      { ob_id: 2, title: 'x', keywords: null },
    ];
    const directory = dataSetOf(SCRATCH, { 'computations.ndjson': ndjsonOf(...records) });
    const { file, report } = await imported(directory, { takesNulls: true, threads });
    expect(await recordsIn(file, 'computations')).toEqual(records);
    expect(report.skippedCount).toBe(0);
    await verifyDeep(file, () => undefined);
  });

  test('are reported up to a number and counted beyond', async () => {
    const error = await importFailure(SCRATCH, { 'bboxes.ndjson': '{}\n'.repeat(FAULTS_LISTED_MAX + 5) });
    const messages = error.message.split('\n');
    expect(messages).toHaveLength(FAULTS_LISTED_MAX + 2);
    expect(messages.slice(-3)).toEqual([
      `${join(error.at, 'bboxes.ndjson')}:${FAULTS_LISTED_MAX}: /ob_id: the id is missing`,
      '... and 5 more',
      `${FAULTS_LISTED_MAX + 5} faulty lines; --lenient leaves such lines out`,
    ]);
  });

  test('keep their line numbers in files of many runs', async () => {
    const long = Array.from({ length: 5 }, (_, i) => ({ ob_id: i + 1, a: 'x'.repeat(1 << 20) }));
    const error = await importFailure(SCRATCH, { 'bboxes.ndjson': `${ndjsonOf(...long)}{"ob_id":1}\n[]\n` });
    expect(error.message).toContain('bboxes.ndjson:7: expected a record (an object), got an array');
    expect(error.message).toContain('bboxes.ndjson:6: /ob_id: id 1 stands on line 1 already');
  });
});

describe('a repeated id', () => {
  const text = '{"ob_id":9,"a":1}\n{"ob_id":3,"a":2}\n{"ob_id":9,"a":3}\n{"ob_id":3,"a":4}\n{"ob_id":9,"a":5}\n';

  test('is reported with both lines, in the order of lines', async () => {
    const error = await importFailure(SCRATCH, { 'bboxes.ndjson': text });
    const file = join(error.at, 'bboxes.ndjson');
    expect(error.message.split('\n')).toEqual([
      `${file}:3: /ob_id: id 9 stands on line 1 already`,
      `${file}:4: /ob_id: id 3 stands on line 2 already`,
      `${file}:5: /ob_id: id 9 stands on line 1 already`,
      '3 faulty lines; --lenient leaves such lines out',
    ]);
  });

  test('keeps its first line when lenient', async () => {
    const { file, report } = await imported(dataSetOf(SCRATCH, { 'bboxes.ndjson': text }), { isLenient: true });
    expect(await recordsIn(file, 'bboxes')).toEqual([
      { ob_id: 3, a: 2 },
      { ob_id: 9, a: 1 },
    ]);
    expect(report.skipped).toHaveLength(3);
  });

  test('leaves nothing of its later lines when lenient: the snapshot is that of the first lines alone', async () => {
    const term = (id: number, value: string): object => ({
      ob_id: id,
      terms: [{ value }, { value: 'shared' }],
      names: [],
    });
    const twice = ndjsonOf(term(2, 'kept'), term(1, 'too'), term(2, 'dropped'));
    const lenient = await imported(dataSetOf(SCRATCH, { 'phenomona.ndjson': twice }), { isLenient: true });
    const clean = await imported(dataSetOf(SCRATCH, { 'phenomona.ndjson': ndjsonOf(term(1, 'too'), term(2, 'kept')) }));
    expect(lenient.report.generation).toBe(clean.report.generation);
    await verifyFile(lenient.file, () => undefined);
  });
});

test('stores records by ascending id, with the rows of their relations, whatever the order of lines', async () => {
  const phenomenon = (id: number, ...names: string[]): object => ({
    ob_id: id,
    names: names.map((name) => ({ name })),
    terms: [],
  });
  const records = [phenomenon(30, 'c', 'd'), phenomenon(4), phenomenon(9007199254740991, 'z'), phenomenon(0, 'a')];
  const { file } = await imported(dataSetOf(SCRATCH, { 'phenomona.ndjson': ndjsonOf(...records) }));
  expect(await recordsIn(file, 'phenomona')).toEqual([records[3], records[1], records[0], records[2]]);
  const names = (await opened(file)).collection('phenomona').members.get('names');
  if (names?.kind !== 'many') throw new Error('names is a relation');
  expect([...names.table.starts!]).toEqual([0, 1, 1, 3, 4]);
  expect([...names.table.parents!]).toEqual([0, 2, 2, 3]);
  expect(textsOf(names.members.get('name'))).toEqual(['a', 'c', 'd', 'z']);
});

/** The text of every row of a scalar. */
function textsOf(field: FieldNode | undefined): string[] {
  if (field?.kind !== 'values') throw new Error('expected a scalar');
  const { dictionary, rows } = field.index;
  return Array.from({ length: rows }, (_, row) => Buffer.from(textAt(dictionary, field.index.codeAt(row))).toString());
}

test('counts records, bytes, nulls, dangling links and skipped lines in the report', async () => {
  const link = (name: string, id: number): string => `{base_url}/api/v3/${name}/${id}/?format=api`;
  const ipps = ndjsonOf(
    {
      ob_id: 1,
      platform: link('platforms', 1),
      instrument: link('instruments', 5),
      relatedTo: { ob_id: 1, uuid: 'u' },
    },
    {
      ob_id: 2,
      platform: link('platforms', 2),
      instrument: link('instruments', 6),
      relatedTo: { ob_id: 1, uuid: 'u', short_code: 'acq' },
    },
    { ob_id: 3, platform: link('platforms', 2), relatedTo: {} },
  );
  const platforms = ndjsonOf({ ob_id: 1 });
  const directory = dataSetOf(SCRATCH, { 'ipps.ndjson': ipps, 'platforms.ndjson': platforms });
  const { file, report } = await imported(directory);
  const own = report.collections.find(({ name }) => name === 'ipps')!;
  expect(own).toMatchObject({ records: 3, skipped: 0, inputBytes: ipps.length, recordBytes: ipps.length });
  // Nulls: one short_code; one instrument and the three members of a relatedTo. Dangling: both platform 2, both
  // instruments, and the one relatedTo with a kind.
  expect(own).toMatchObject({ nulls: 5, dangling: 5, firstDangling: 'platform to platforms/2' });
  const sound = report.collections.find(({ name }) => name === 'platforms');
  expect(sound).toMatchObject({ dangling: 0, firstDangling: undefined });
  expect(own.indexBytes).toBeGreaterThan(0);
  expect(report.snapshotBytes).toBe(readFileSync(file).length);
  const { metadata, generation } = await opened(file);
  expect(generation).toBe(report.generation);
  expect(metadata.collections.find(({ name }) => name === 'ipps')).toEqual({
    name: 'ipps',
    records: 3,
    chunks: 1,
    nulls: 5,
    dangling: 5,
  });
  expect(metadata.collections.map(({ name }) => name)).toEqual(report.collections.map(({ name }) => name));
});

describe('the data time', () => {
  const files = (manifest: unknown): Files => ({ 'bboxes.ndjson': '', 'MANIFEST.json': JSON.stringify(manifest) });
  const createdOf = async (manifest: unknown, created?: string): Promise<string | undefined> =>
    (await opened((await imported(dataSetOf(SCRATCH, files(manifest)), { created })).file)).created;

  test('is that of the manifest, which --created overrides, and otherwise unknown', async () => {
    expect(await createdOf({ created: '2024-05-06T07:08:09Z', counts: {} })).toBe('2024-05-06T07:08:09Z');
    expect(await createdOf({ created: '2024-05-06T07:08:09Z' }, '2025-01-01')).toBe('2025-01-01');
    expect(await createdOf({ counts: {} })).toBeUndefined();
    expect((await opened((await imported(dataSetOf(SCRATCH, { 'bboxes.ndjson': '' }))).file)).created).toBeUndefined();
  });

  test('is part of the content that the generation identifies', async () => {
    const [a, b] = await Promise.all(
      ['2024-01-01', '2024-01-02'].map((created) => imported(dataSetOf(SCRATCH, files({ created })))),
    );
    expect(a!.report.generation).not.toBe(b!.report.generation);
  });

  test.each([[{ created: 5 }], [{ created: 'yesterday' }], [{ created: null }]])(
    'is refused in %j',
    async (manifest) => {
      const error = await importFailure(SCRATCH, files(manifest));
      expect([error.code, error.message]).toEqual([
        'input',
        `${join(error.at, 'MANIFEST.json')}: /created: expected a time such as "2026-01-31T00:00:00Z"`,
      ]);
    },
  );

  test('is refused as --created if it is not a time', async () => {
    const error = await importFailure(SCRATCH, files({}), { created: 'soon' });
    expect([error.code, error.message]).toEqual([
      'usage',
      '--created soon: expected a time such as 2026-01-31T00:00:00Z',
    ]);
  });

  test('is not read from a manifest that is not JSON: the data set is refused', async () => {
    const error = await importFailure(SCRATCH, { 'bboxes.ndjson': '', 'MANIFEST.json': '{' });
    expect(error.code).toBe('input');
    expect(error.message).toContain(join(error.at, 'MANIFEST.json'));
  });
});

describe('a failed import', () => {
  test('keeps the previous snapshot unchanged, and leaves no partial file', async () => {
    const directory = dataSetOf(SCRATCH, { 'bboxes.ndjson': '{"ob_id":1}\n', 'times.ndjson': '{"ob_id"\n' });
    const target = join(dataSetOf(SCRATCH, {}), 'kept.snapshot');
    writeFileSync(target, 'as it was');
    await expect(imported(directory, { file: target })).rejects.toMatchObject({ code: 'input' });
    expect(readFileSync(target, 'utf8')).toBe('as it was');
    expect(readdirSync(dirname(target))).toEqual(['kept.snapshot']);
  });

  test('leaves nothing if nothing was there, with threads too', async () => {
    const directory = dataSetOf(SCRATCH, { 'bboxes.ndjson': '{}\n' });
    const parent = dataSetOf(SCRATCH, {});
    await expect(imported(directory, { file: join(parent, 'new.snapshot'), threads: 2 })).rejects.toMatchObject({
      code: 'input',
    });
    expect(readdirSync(parent)).toEqual([]);
  });

  test('names the place that it cannot write to', async () => {
    const directory = dataSetOf(SCRATCH, { 'bboxes.ndjson': '' });
    const file = join(directory, 'nowhere', 'x.snapshot');
    await expect(imported(directory, { file })).rejects.toMatchObject({
      code: 'file',
      message: `cannot write ${file}: the folder ${dirname(file)} does not exist`,
    });
    const taken = join(directory, 'taken');
    mkdirSync(join(taken, 'inside'), { recursive: true });
    await expect(imported(directory, { file: taken })).rejects.toMatchObject({ code: 'file' });
    expect(readdirSync(directory).sort()).toEqual(['bboxes.ndjson', 'taken']);
  });

  test('does not result from an existing target, which is replaced', async () => {
    const directory = dataSetOf(SCRATCH, { 'bboxes.ndjson': '' });
    writeFileSync(`${directory}.snapshot`, 'old');
    const { file } = await imported(directory);
    expect(existsSync(file) && readFileSync(file, 'latin1').startsWith('\x89CAT')).toBe(true);
  });
});

test('reports progress over all files, by bytes read', async () => {
  const { importDirectory } = await import('../../../../data/import/import.ts');
  const seen: { phase: string; done: number; total: number }[] = [];
  const file = join(SCRATCH, 'progress.snapshot');
  await importDirectory({ directory: SAMPLE, file, created: undefined, isLenient: false, threads: 0 }, (one) =>
    seen.push(one),
  );
  const total = readdirSync(SAMPLE)
    .filter((name) => name.endsWith('.ndjson'))
    .reduce((sum, name) => sum + readFileSync(join(SAMPLE, name)).length, 0);
  expect(new Set(seen.map((one) => one.total))).toEqual(new Set([total]));
  expect(seen.map(({ done }) => done)).toEqual(seen.map(({ done }) => done).toSorted((a, b) => a - b));
  expect(seen.at(-1)!.done).toBe(total);
  expect(seen[0]!.phase).toMatch(/^importing /);
});

test('shares one entry among identical values of a column, and finds each with its rows', async () => {
  const records = ['doi', '', 'doi', 'Doi'].map((identifierType, i) => ({ ob_id: i + 1, identifierType }));
  const { file } = await imported(dataSetOf(SCRATCH, { 'identifiers.ndjson': ndjsonOf(...records) }));
  const field = (await opened(file)).collection('identifiers').members.get('identifierType');
  if (field?.kind !== 'values') throw new Error('identifierType is a scalar');
  const { dictionary } = field.index;
  const found = Array.from({ length: dictionary.size }, (_, code) => [
    Buffer.from(textAt(dictionary, code)).toString(),
    countRows(field.index.rowsOf({ start: code, end: code + 1 })),
  ]);
  expect(found).toEqual([
    ['', 1],
    ['Doi', 1],
    ['doi', 2],
  ]);
});
