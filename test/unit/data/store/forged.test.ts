// Files with correct checksums but wrong lengths, names or numbers. Each is refused with one sentence, before memory is
// allocated for its claims or a thread follows its numbers.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { openData } from '../../../../data/open.ts';
import { OperationError } from '../../../../data/operationError.ts';
import { encodeDirectory } from '../../../../engine/snapshot/directory.ts';
import { computeChecksum } from '../../../../engine/bits/checksum.ts';
import {
  decodeHeader,
  DIRECTORY_BYTES_MAX,
  encodeHeader,
  HEADER_BYTES,
  isRefusal,
} from '../../../../engine/snapshot/header.ts';
import { openSnapshot } from '../../../../engine/snapshot/open.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { recordTexts } from '../../../support/records.ts';
import {
  type Change,
  directoryOf,
  replaced,
  rewriteSnapshot,
  SMALL_TEXTS,
  snapshotOf,
  within,
} from '../../../support/snapshots.ts';

const SCRATCH = temporaryDirectory();
const GOOD = join(SCRATCH, 'good.snapshot');
const FORGED = join(SCRATCH, 'forged.snapshot');

beforeAll(() => snapshotOf(GOOD, SMALL_TEXTS));

const OPTIONS = { baseUrl: 'https://catalogue.example.org', threads: 0 };

async function refusal(): Promise<string> {
  const error: unknown = await openData(FORGED, OPTIONS, () => undefined).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(OperationError);
  const { code, message } = error as OperationError;
  expect(code).toBe('snapshot');
  return message.slice(FORGED.length + 2);
}

/** Writes the good file with another directory, and a header that fits it. */
function withDirectory(directory: Uint8Array): void {
  const good = readFileSync(GOOD);
  const header = decodeHeader(good, good.length);
  if (isRefusal(header)) throw new Error(header.refusal);
  const file = Buffer.concat([good.subarray(0, header.directoryOffset), directory]);
  file.set(encodeHeader(header.directoryOffset, directory));
  writeFileSync(FORGED, file);
}

test('refuses a directory that claims two thousand million sections', async () => {
  const { sections, ...rest } = directoryOf(readFileSync(GOOD));
  const directory = encodeDirectory({ ...rest, sections });
  const view = new DataView(directory.buffer, directory.byteOffset, directory.length);
  let at = 0;
  while (view.getUint32(at, true) !== sections.length) at += 4;
  view.setUint32(at, 2 ** 31 - 1, true);
  withDirectory(Uint8Array.from(directory));
  expect(await refusal()).toMatch(/^directory of \d+ bytes that lists more than it holds$/);
});

test('refuses sections without a name or digest, which cannot be written, and a directory too long to be read', async () => {
  const { sections, ...rest } = directoryOf(readFileSync(GOOD));
  const nameless = { ...sections[0]!, name: '', digest: '' };
  withDirectory(encodeDirectory({ ...rest, sections: Array.from({ length: 5000 }, () => nameless) }));
  expect(await refusal()).toMatch(/^directory of \d+ bytes that lists more than it holds$/);
  const good = readFileSync(GOOD);
  const header = Buffer.from(encodeHeader(HEADER_BYTES, new Uint8Array(0)));
  header.writeBigUInt64LE(BigInt(HEADER_BYTES + DIRECTORY_BYTES_MAX + 1), 16);
  header.writeBigUInt64LE(BigInt(DIRECTORY_BYTES_MAX + 1), 32);
  header.writeUInt32LE(computeChecksum(Uint8Array.from(header.subarray(0, 124))), 124);
  writeFileSync(FORGED, Buffer.concat([header, good.subarray(HEADER_BYTES)]));
  expect(await refusal()).toBe('directory of 268435457 bytes, at most 268435456 are read');
});

test('refuses runs of few records with the positions of many own URLs', async () => {
  await rewriteSnapshot(
    GOOD,
    FORGED,
    replaced('ipps/records/0.links', () => Uint32Array.from({ length: 100_000 }, (_, i) => i * 10)),
  );
  expect(await refusal()).toMatch(
    /^section ipps\/records\/0\.links: 400000 bytes in elements of 4, more than own URLs/,
  );
});

test('refuses sections under other names, and a file without sections', async () => {
  const renamed: Change = (all) =>
    all.map((one) => (one.name === 'ipps/platform.codes' ? { ...one, name: 'ipps/platform.coded' } : one));
  await rewriteSnapshot(GOOD, FORGED, renamed);
  expect(await refusal()).toMatch(
    /^section \d+ of the directory: ipps\/platform\.coded .*, expected ipps\/platform\.codes/,
  );
  await rewriteSnapshot(GOOD, FORGED, (all) => all.filter(({ name }) => name !== 'metadata'));
  expect(await refusal()).toMatch(/^no snapshot of a catalogue, since it has no section metadata$/);
});

const text = (change: (text: string) => string): Change =>
  replaced('metadata', (bytes) => Uint8Array.from(Buffer.from(change(Buffer.from(bytes as Uint8Array).toString()))));

describe('forged metadata', () => {
  test.each([
    ['none', text(() => ''), /^section metadata: Unexpected end of JSON input, expected JSON$/],
    ['a list', text(() => '[]'), /^section metadata: no object/],
    ['nested too deep', text(() => `{"without":${'['.repeat(200_000)}${']'.repeat(200_000)}}`), /^section metadata: /],
    ['another type', text((all) => all.replace('"integer"', '"text"')), /another field ob_id/],
    ['a number of runs', text((all) => all.replace('"chunks":1', '"chunks":1e12')), /^section \d+ of the directory: /],
    ['a number below 0', text((all) => all.replace('"chunks":1', '"chunks":-1')), /no count of chunks/],
    [
      'a field twice',
      text((all) => all.replace('"name":"instrument"', '"name":"platform"')),
      /another field platform|two fields/,
    ],
  ])('is refused, because import does not write it: %s', async (_what, change, expected) => {
    await rewriteSnapshot(GOOD, FORGED, change);
    expect(await refusal()).toMatch(expected);
  });
});

test('stores no documented values in a snapshot', async () => {
  let written = '';
  await rewriteSnapshot(
    GOOD,
    FORGED,
    text((all) => (written = all)),
  );
  expect(written).toContain('"name":"updateFrequency","type":"text","nullable":false}');
  const valued = text((all) => all.replace('"name":"ob_id"', '"name":"ob_id","values":["a"]'));
  await rewriteSnapshot(GOOD, FORGED, valued);
  expect(await refusal()).toMatch(/another field ob_id/);
});

test('refuses a record shape with more keys than its record has members', async () => {
  const longer = text((all) => all.replace(/("name":"phenomona","keys":\[[^\]]*\],"lists":\[\[)/, '$10,'));
  await rewriteSnapshot(GOOD, FORGED, longer);
  expect(await refusal()).toMatch(/^section phenomona\/records\/0\./);
});

test('refuses a record shape with a key that its record has no room for, and follows no shape that just fits', async () => {
  // The first record has the id 1, so its first member is that key and one digit.
  const renamed = (key: string): Change =>
    text((all) => all.replace('"name":"phenomona","keys":["ob_id"', `"name":"phenomona","keys":["${key}"`));
  for (const key of ['ob_ids', 'ob_i\u00e9', 'ob_i\\n', 'x'.repeat(1000)]) {
    await rewriteSnapshot(GOOD, FORGED, renamed(key));
    expect(await refusal(), key).toMatch(/^section phenomona\/records\/0\.ends: element or count 0 leads outside/);
  }
  await rewriteSnapshot(GOOD, FORGED, renamed('ob_\\n'));
  expect(await openData(FORGED, OPTIONS, () => undefined)).toBeDefined();
});

test('refuses a last own URL that its record has no room for, and follows no position that just fits', async () => {
  const shortest = '{base_url}"},'.length;
  const placed =
    (row: number, before: number): Change =>
    (all) => {
      const [links, ends] = ['links', 'ends'].map((key) => all.find(({ name }) => name === `ipps/records/0.${key}`)!);
      // Two per record.
      links!.elements[2 * row + 1] = ends!.elements[row]! - before;
      return all;
    };
  for (const row of [0, 1, 2]) {
    await rewriteSnapshot(GOOD, FORGED, placed(row, shortest - 1));
    expect(await refusal()).toMatch(
      new RegExp(`^section ipps/records/0\\.ends: element or count ${row} leads outside`),
    );
    await rewriteSnapshot(GOOD, FORGED, placed(row, shortest));
    expect(await openData(FORGED, OPTIONS, () => undefined)).toBeDefined();
  }
});

describe('a record with members and own URLs of the smallest size', () => {
  const lines = [
    '{"ob_id":1}',
    '{"":{},"ob_id":2,"\\u2028":[],"a\\n\\"\\\\":0,"\u00e9":"","\u{1f600}":5}',
    '{"ob_id":3,"\u2028":"{base_url}","list":["{base_url}"],"in":{"url":"{base_url}"}}',
    '{"\u2029":1,"ob_id":4,"url":"{base_url}"}',
  ];

  test.each(['http://a', 'http://ab.', 'https://catalogue.example.org'])(
    'is not refused as forged under %s',
    async (baseUrl) => {
      await snapshotOf(FORGED, { notes: lines.join('\n') });
      const loaded = await openData(FORGED, { baseUrl, threads: 0 }, () => undefined);
      const texts = recordTexts(openSnapshot(loaded).collection('notes'));
      const values = (each: readonly string[]): readonly unknown[] => each.map((one) => JSON.parse(one) as unknown);
      expect(values(texts)).toEqual(values(lines.map((line) => line.replaceAll('{base_url}', baseUrl))));
    },
  );
});

describe('a number that points outside of its range', () => {
  test.each([
    'phenomona/records/0.ends',
    'phenomona/records/0.outlines',
    'phenomona/records/0.members',
    'phenomona/records/0.memberEnds',
    'ipps/records/0.linkEnds',
    'phenomona/terms.rowStarts',
    'phenomona/terms.parents',
    'phenomona/terms/label.textEnds',
    'phenomona/terms/label.codes',
    'phenomona/terms/label.postingStarts',
    'phenomona/terms/label.postings',
    'phenomona/terms/label.dense',
    'phenomona/terms/label.bitmaps',
    'ipps/platform.targets',
  ])('is refused: %s', async (name) => {
    await rewriteSnapshot(
      GOOD,
      FORGED,
      within(name, (elements) => void (elements[0] = 4_000_000_254)),
    );
    expect(await refusal()).toMatch(new RegExp(`^section ${name.replace(/\.(member|memberEnd|linkEnd)s$/, '.')}`));
  });
});
