// The files of a data set directory: which are read, which are refused, and the messages. import.test.ts tests their
// records.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { openDataFile } from '../../../../data/open.ts';
import { loadSnapshot } from '../../../../data/store/load.ts';
import { verifyFile } from '../../../../data/store/verify.ts';
import { type Catalogue, openSnapshot } from '../../../../engine/snapshot/open.ts';
import { dataSetOf, imported, importFailure, ndjsonOf, temporaryDirectory } from '../../../support/dataSets.ts';
import { recordTexts } from '../../../support/records.ts';

const SCRATCH = temporaryDirectory();

async function opened(file: string): Promise<Catalogue> {
  return openSnapshot(await loadSnapshot(file, { baseUrl: 'https://catalogue.example' }));
}

describe('the files of a data set', () => {
  const records = [{ ob_id: 1, a: 'é' }, { ob_id: 2 }];

  test('may be compressed, and a missing one is an empty collection', async () => {
    const directory = dataSetOf(SCRATCH, { 'bboxes.ndjson.gz': gzipSync(ndjsonOf(...records)) });
    const { file, report } = await imported(directory);
    const catalogue = await opened(file);
    expect(recordTexts(catalogue.collection('bboxes'))).toEqual(records.map((record) => JSON.stringify(record)));
    expect(report.collections.filter((one) => one.records > 0).map(({ name }) => name)).toEqual(['bboxes']);
    expect(catalogue.collection('times').rows).toBe(0);
  });

  test('may have CRLF line ends, empty lines and no line end after the last line', async () => {
    const plain = await imported(dataSetOf(SCRATCH, { 'bboxes.ndjson': ndjsonOf(...records) }));
    const text = `\r\n${ndjsonOf(...records).replaceAll('\n', '\r\n \t\n\n')}`.trimEnd();
    const odd = await imported(dataSetOf(SCRATCH, { 'bboxes.ndjson': text }));
    expect(odd.report.generation).toBe(plain.report.generation);
  });

  test('may be empty', async () => {
    const { file } = await imported(
      dataSetOf(SCRATCH, { 'bboxes.ndjson': '', 'times.ndjson': '\n', 'notes.ndjson.gz': gzipSync('') }),
    );
    expect((await opened(file)).metadata.collections.every((counts) => counts.records === 0)).toBe(true);
    await verifyFile(file, () => undefined);
  });

  test.each(['times.ndjson', 'times.ndjson.gz', 'MANIFEST.json'])('must not be pipes: %s', async (name) => {
    const directory = dataSetOf(SCRATCH, { 'bboxes.ndjson': ndjsonOf(...records) });
    execFileSync('mkfifo', [join(directory, name)]);
    await expect(imported(directory)).rejects.toMatchObject({
      code: 'file',
      message: `cannot read ${join(directory, name)}: it is no file but a pipe, a device or a directory`,
    });
  });

  test('may be next to files that are not NDJSON', async () => {
    const directory = dataSetOf(SCRATCH, {
      'bboxes.ndjson': ndjsonOf(...records),
      'README.md': 'x',
      'sums/a.ndjson': '?',
    });
    expect((await imported(directory)).report.collections.find(({ name }) => name === 'bboxes')?.records).toBe(2);
  });

  test('are reported if they have names of collections but are not read', async () => {
    const near = ['bboxes.json', 'iods.ndjson.bz2', 'notes.NDJSON', 'times.jsonl'];
    const others = [
      'MANIFEST.json',
      'README.json',
      'bbox.json',
      'times',
      'times.csv',
      'times.ndjson.sha256',
      'x.jsonl',
    ];
    const empty = Object.fromEntries([...near, ...others].map((name) => [name, '{}']));
    const { report } = await imported(dataSetOf(SCRATCH, { 'bboxes.ndjson': '', ...empty }));
    expect(report.ignored).toEqual(near);
    const error = await importFailure(SCRATCH, { 'bboxes.json': '', 'times.jsonl': '', 'x.jsonl': '' });
    expect(error.message).toBe(
      `${error.at} holds no <collection>.ndjson file, such as observations.ndjson, but bboxes.json, times.jsonl`,
    );
  });

  test('must be given by their directory', async () => {
    const directory = dataSetOf(SCRATCH, { 'bboxes.ndjson': '', 'times.ndjson.gz': '', x: '' });
    const file = (name: string): string => join(directory, name);
    await expect(imported(file('x'))).rejects.toMatchObject({
      code: 'file',
      message: `${file('x')} is no directory: want one of <collection>.ndjson files`,
    });
    for (const name of ['bboxes.ndjson', 'times.ndjson.gz']) {
      const message = `${file(name)} is a file; name the directory that holds it: ${directory}`;
      await expect(imported(file(name))).rejects.toMatchObject({ code: 'file', message });
      expect(() => openDataFile(file(name))).toThrow(message);
    }
  });

  test('are refused if one collection has two', async () => {
    const error = await importFailure(SCRATCH, { 'bboxes.ndjson': '', 'bboxes.ndjson.gz': gzipSync('') });
    expect(error.code).toBe('input');
    expect(error.message).toBe(`${error.at}: bboxes has two files, .ndjson and .ndjson.gz: remove one`);
  });

  test.each([
    ['phenomena.ndjson', 'phenomona'],
    ['observation.ndjson', 'observations'],
    ['Times.ndjson.gz', 'times'],
    ['.ndjson', 'iods'],
  ])('are refused if one fits no collection, with the nearest name: %s', async (name, nearest) => {
    const error = await importFailure(SCRATCH, { 'bboxes.ndjson': '', [name]: '' });
    expect(error.code).toBe('input');
    expect(error.message).toContain(`${join(error.at, name)}: there is no collection`);
    if (nearest !== 'iods') expect(error.message).toContain(`did you mean ${nearest}.ndjson?`);
  });

  test('are refused if there are none, or if the directory does not exist', async () => {
    const error = await importFailure(SCRATCH, { 'README.md': '' });
    expect([error.code, error.message]).toEqual([
      'input',
      `${error.at} holds no <collection>.ndjson file, such as observations.ndjson`,
    ]);
    const missing = join(SCRATCH, 'nowhere');
    await expect(imported(missing)).rejects.toMatchObject({
      code: 'file',
      message: expect.stringContaining(missing) as string,
    });
  });

  test.each([
    ['is no gzip', Buffer.from('{"ob_id":1}'), 'it is not gzip, as its name says'],
    ['was cut short', gzipSync(ndjsonOf(...records)).subarray(0, 30), 'unexpected end of file'],
  ])('are refused if a .gz %s', async (_what, bytes, why) => {
    const error = await importFailure(SCRATCH, { 'bboxes.ndjson.gz': bytes });
    expect(error.code).toBe('file');
    expect(error.message).toBe(`cannot read ${join(error.at, 'bboxes.ndjson.gz')}: ${why}`);
  });

  test('are refused if a directory has the name of one', async () => {
    const error = await importFailure(SCRATCH, { 'bboxes.ndjson/x': '' });
    expect(error.code).toBe('file');
    expect(error.message).toContain('bboxes.ndjson');
  });
});

describe('a file that is not NDJSON', () => {
  const text = '{"ob_id":1}\n{"ob_id":2}\n';
  const noNdjson = (what: string, cure: string): string =>
    `the file is ${what} and not one record a line: ${cure} makes NDJSON of it`;
  const MARKED = 'the file begins with a byte order mark: save it as UTF-8 without one';
  const WIDE = 'the file looks like UTF-16: save it as UTF-8, without a byte order mark';
  const ARRAY = noNdjson('a JSON array', "jq -c '.[]'");
  const MANY_LINES = noNdjson('JSON in many lines', 'jq -c .');
  test.each([
    ['with a byte order mark', `\ufeff${text}`, MARKED],
    ['in UTF-16', Buffer.from(`\ufeff${text}`, 'utf16le'), WIDE],
    ['in UTF-16, big-endian', Buffer.from(`\ufeff${text}`, 'utf16le').swap16(), WIDE],
    ['an array in one line', '[{"ob_id":1},{"ob_id":2}]', ARRAY],
    ['an array in many lines', '\r\n [\n{"ob_id":1},\n{"ob_id":2}\n]\n', ARRAY],
    ['an array longer than a line may be', `[${'{"ob_id":1},'.repeat(6 << 20)}`, ARRAY],
    ['records in many lines', '{\n  "ob_id": 1\n}\n{\n  "ob_id": 2\n}\n', MANY_LINES],
    ['records in many lines with CRLF', '\r\n{ \r\n  "ob_id": 1\r\n}\r\n', MANY_LINES],
  ])('is reported once, however lenient the import: %s', async (_what, file, message) => {
    const error = await importFailure(SCRATCH, { 'bboxes.ndjson': file }, { isLenient: true });
    expect([error.code, error.message]).toEqual(['input', `${join(error.at, 'bboxes.ndjson')}:1: ${message}`]);
  });

  test('is reported once, compressed or not', async () => {
    const error = await importFailure(SCRATCH, { 'bboxes.ndjson.gz': gzipSync(`\ufeff${text}`) });
    expect(error.message).toBe(`${join(error.at, 'bboxes.ndjson.gz')}:1: ${MARKED}`);
  });
});
