// A manifest next to the files of a data set: if it is wrong about them, nothing is imported.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { COLLECTIONS } from '../../../../engine/schema/catalogue.ts';
import { dataSetOf, imported, temporaryDirectory, type Files } from '../../../support/dataSets.ts';

const SCRATCH = temporaryDirectory();
const BOXES = '{"ob_id":1}\n{"ob_id":2}\n{"ob_id":3}\n';
const DAMAGED = 'the file is damaged, or of another time';

function sumOf(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Imports files with a manifest. Returns the number of bboxes, or the error without the directory. */
async function outcomeOf(files: Files, manifest: unknown, isLenient = false): Promise<number | string> {
  const directory = dataSetOf(SCRATCH, { ...files, 'MANIFEST.json': JSON.stringify(manifest) });
  try {
    const { report } = await imported(directory, { isLenient });
    return report.collections.find(({ name }) => name === 'bboxes')!.records;
  } catch (error) {
    expect(error).toMatchObject({ code: 'input' });
    expect(existsSync(`${directory}.snapshot`)).toBe(false);
    return (error as Error).message.replace(join(directory, '/'), '');
  }
}

describe('the counts of a manifest', () => {
  test('match the records, or the file is refused', async () => {
    const files = { 'bboxes.ndjson': BOXES };
    expect(await outcomeOf(files, { counts: { bboxes: 3, times: 0 } })).toBe(3);
    const refused = `bboxes.ndjson has 3 records, MANIFEST.json counts 4: ${DAMAGED}`;
    expect(await outcomeOf(files, { counts: { bboxes: 4 } })).toBe(refused);
    expect(await outcomeOf(files, { counts: { bboxes: 4 } }, true)).toBe(refused);
  });

  test('include lines that a lenient import skips', async () => {
    const files = { 'bboxes.ndjson': `${BOXES}{"ob_id":2}\n{"ob_id":"4"}\n` };
    expect(await outcomeOf(files, { counts: { bboxes: 5 } }, true)).toBe(3);
  });

  test('are refused for a missing file', async () => {
    const missing = 'times.ndjson is missing, which MANIFEST.json names';
    expect(await outcomeOf({ 'bboxes.ndjson': BOXES }, { counts: { bboxes: 3, times: 1 } })).toBe(missing);
  });
});

test.each([0, 2])('reports an error of one file before the faults of the next, with %i threads', async (threads) => {
  const [first, second] = COLLECTIONS.map(({ name }) => `${name}.ndjson`);
  const files = {
    [first!]: BOXES,
    [second!]: '{}\n',
    'MANIFEST.json': JSON.stringify({ counts: { [first!.slice(0, -7)]: 4 } }),
  };
  const importing = imported(dataSetOf(SCRATCH, files), { threads });
  await expect(importing).rejects.toThrow(`${first} has 3 records, MANIFEST.json counts 4`);
});

describe('the sums of a manifest', () => {
  test.each([
    ['bboxes.ndjson', BOXES],
    ['bboxes.ndjson.gz', gzipSync(BOXES)],
    ['bboxes.ndjson', ''],
    ['bboxes.ndjson', BOXES.trimEnd()],
  ])('are those of %s as it is stored (case %#)', async (name, content) => {
    const records = String(content) === '' ? 0 : 3;
    const sum = sumOf(content);
    expect(await outcomeOf({ [name]: content }, { sha256: { [name]: sum.toUpperCase() } })).toBe(records);
    const other = sumOf('other');
    const refused = `${name}: its SHA-256 is ${sum}, MANIFEST.json has ${other}: ${DAMAGED}`;
    expect(await outcomeOf({ [name]: content }, { sha256: { [name]: other } })).toBe(refused);
    expect(await outcomeOf({ [name]: content }, { sha256: { [name]: other } }, true)).toBe(refused);
  });

  test('detect a changed byte of a long file, read in many pieces', async () => {
    const lines = Array.from({ length: 60_000 }, (_, i) => `{"ob_id":${i},"bboxName":"${'b'.repeat(50)}"}\n`).join('');
    const sha256 = { 'bboxes.ndjson': sumOf(lines) };
    expect(await outcomeOf({ 'bboxes.ndjson': lines }, { sha256 })).toBe(60_000);
    expect(await outcomeOf({ 'bboxes.ndjson': lines.replace('bb"', 'bc"') }, { sha256 })).toContain(DAMAGED);
  });

  test('are not checked for a file that was compressed since, or for files of other kinds', async () => {
    const sha256 = { 'bboxes.ndjson': sumOf(BOXES), 'README.txt': sumOf('') };
    expect(await outcomeOf({ 'bboxes.ndjson.gz': gzipSync(BOXES) }, { sha256 })).toBe(3);
  });

  test('are refused for a missing file', async () => {
    const missing = 'times.ndjson.gz is missing, which MANIFEST.json names';
    expect(await outcomeOf({ 'bboxes.ndjson': BOXES }, { sha256: { 'times.ndjson.gz': sumOf('') } })).toBe(missing);
  });
});

test.each([
  [[], 'expected an object'],
  [null, 'expected an object'],
  [{ counts: 3 }, '/counts: expected an object of numbers by collection'],
  [{ counts: { bboxes: -1 } }, '/counts/bboxes: expected a number of records'],
  [{ counts: { bboxes: '3' } }, '/counts/bboxes: expected a number of records'],
  [{ sha256: 'a' }, '/sha256: expected an object of sums by file'],
  [{ sha256: { 'bboxes.ndjson': 'abc' } }, '/sha256/bboxes.ndjson: expected 64 hexadecimal digits'],
])('refuses the manifest %j', async (manifest, what) => {
  expect(await outcomeOf({ 'bboxes.ndjson': BOXES }, manifest)).toBe(`MANIFEST.json: ${what}`);
});
