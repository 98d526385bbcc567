// Verifying snapshots with correct checksums. A good one is described. One with wrong digests, sections or counts is
// refused with the section, the value and the expected value.
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { OperationError } from '../../../../data/operationError.ts';
import { loadSnapshot } from '../../../../data/store/load.ts';
import { verifyFile } from '../../../../data/store/verify.ts';
import { COLLECTIONS } from '../../../../engine/schema/catalogue.ts';
import {
  type CollectionCounts,
  decodeMetadata,
  encodeMetadata,
  type Metadata,
} from '../../../../engine/snapshot/metadata.ts';
import { imported, temporaryDirectory } from '../../../support/dataSets.ts';
import {
  type Change,
  type NamedSection,
  refusalOf,
  replaced,
  restateSections,
  rewriteSnapshot,
  SMALL_TEXTS,
  snapshotOf,
} from '../../../support/snapshots.ts';

const SCRATCH = temporaryDirectory();
const SAMPLE = join(import.meta.dirname, '../../../../data/sample');
const GOOD = join(SCRATCH, 'good.snapshot');
const LYING = join(SCRATCH, 'lying.snapshot');

beforeAll(() => snapshotOf(GOOD, SMALL_TEXTS));

async function refusalWith(change: Change): Promise<string> {
  await rewriteSnapshot(GOOD, LYING, change);
  return refusalOf(LYING);
}

test('describes a good snapshot: every check with its result, and the records', async () => {
  const report = await verifyFile(GOOD, () => undefined);
  expect(report.generation).toMatch(/^[0-9a-f]{64}$/);
  expect(report.created).toBeUndefined();
  expect(report.collections.map(({ name }) => name)).toEqual(COLLECTIONS.map(({ name }) => name));
  expect(report.collections.filter(({ records }) => records > 0)).toEqual([
    { name: 'ipps', records: 3 },
    { name: 'migrationproperties', records: 3 },
    { name: 'phenomona', records: 10 },
    { name: 'platforms', records: 2 },
  ]);
  expect(report.checks.map(({ name }) => name)).toEqual([
    'magic and version',
    'lengths',
    'alignment',
    'checksums',
    'schema hash',
    'digests',
    'records',
    'bounds',
  ]);
  expect(report.checks.every(({ outcome }) => outcome.length > 0)).toBe(true);
});

test('accepts the sample, and its progress reaches the end of every phase', async () => {
  const { file, report } = await imported(SAMPLE, { file: join(SCRATCH, 'sample.snapshot') });
  const last = new Map<string, boolean>();
  const verified = await verifyFile(file, ({ phase, done, total }) => last.set(phase, done === total));
  expect(verified.generation).toBe(report.generation);
  expect(verified.created).toBe('2024-01-01T00:00:00Z');
  expect(last.get('hashing the snapshot')).toBe(true);
});

test('accepts any name of a snapshot', async () => {
  const named = join(SCRATCH, 'observations.json.snapshot');
  copyFileSync(GOOD, named);
  expect((await verifyFile(named, () => undefined)).collections.length).toBe(COLLECTIONS.length);
});

test('gives the same file for a snapshot that is rewritten without a change', async () => {
  await rewriteSnapshot(GOOD, LYING, (sections) => sections);
  expect(readFileSync(LYING).equals(readFileSync(GOOD))).toBe(true);
});

test.each([
  [join(SCRATCH, 'nowhere'), 'no such file'],
  [SAMPLE, 'is a directory: want a snapshot file, which import makes of it'],
  [join(SAMPLE, 'times.ndjson'), `is a file; name the directory that holds it: ${SAMPLE}`],
])('cannot read %s: %s', async (file, why) => {
  const error: unknown = await verifyFile(file, () => undefined).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(OperationError);
  expect((error as OperationError).message).toContain(file);
  expect((error as OperationError).message).toContain(why);
});

/** Changes the digest of one section in the directory, with correct checksums. */
function stateDigest(name: string, digest: string): void {
  restateSections(GOOD, LYING, (sections) => sections.map((one) => (one.name === name ? { ...one, digest } : one)));
}

test('refuses a digest that is not that of its section', async () => {
  stateDigest('phenomona/records/0.bytes', '0'.repeat(64));
  expect(await refusalOf(LYING)).toMatch(/^section phenomona\/records\/0\.bytes: digest [0-9a-f]{64}, expected 0{64}$/);
});

test.each(['', 'f'.repeat(63), 'F'.repeat(64), '0'.repeat(100_000)])(
  'does not print an invalid digest: %#',
  async (text) => {
    stateDigest('metadata', text);
    expect(await refusalOf(LYING)).toBe(
      `section metadata: a digest of ${text.length} characters, expected 64 hexadecimal digits`,
    );
  },
);

test('gives another generation to a section with another digest, whatever the checksums', async () => {
  const generationOf = async (file: string): Promise<string> =>
    (await loadSnapshot(file, { baseUrl: 'http://a.example.org' })).generation;
  stateDigest('metadata', 'f'.repeat(64));
  expect(await generationOf(LYING)).not.toBe(await generationOf(GOOD));
});

describe('a directory with other sections than the declaration requires', () => {
  const at = (name: string, sections: readonly NamedSection[]): number =>
    sections.findIndex((one) => one.name === name);
  test.each([
    [
      'one is missing',
      (all: readonly NamedSection[]) => all.filter(({ name }) => name !== 'ipps/platform.dense'),
      /section \d+ of the directory: ipps\/platform\.bitmaps in elements of 4 bytes, expected ipps\/platform\.dense in elements of 4 bytes$/,
    ],
    [
      'one is unknown',
      (all: readonly NamedSection[]) => [...all, { name: 'notes', elements: new Uint8Array(3) }],
      /: notes in elements of 1 bytes, expected none$/,
    ],
    [
      'one occurs twice',
      (all: readonly NamedSection[]) => [...all, all.at(-1)!],
      /: metadata in elements of 1 bytes, expected none$/,
    ],
    [
      'two are in each other’s place',
      (all: readonly NamedSection[]) => {
        const i = at('ipps/platform.codes', all);
        return all.with(i, all[i + 1]!).with(i + 1, all[i]!);
      },
      /: ipps\/platform\.postingStarts in elements of 4 bytes, expected ipps\/platform\.codes/,
    ],
    [
      'one has wider elements',
      replaced('ipps/platform.dense', () => new Float64Array(1)),
      /: ipps\/platform\.dense in elements of 8 bytes, expected ipps\/platform\.dense in elements of 4 bytes$/,
    ],
    [
      'one of narrow elements has numbers',
      replaced('ipps/platform.codes', () => new Float64Array(1)),
      /: ipps\/platform\.codes in elements of 8 bytes, expected ipps\/platform\.codes in elements of 1, 2 or 4 bytes$/,
    ],
  ])('is refused: %s', async (_what, change, expected) => {
    expect(await refusalWith(change)).toMatch(expected);
  });
});

describe('metadata that contradicts the sections', () => {
  const counts = (change: (collections: CollectionCounts[]) => CollectionCounts[]): Change =>
    replaced('metadata', (bytes) => {
      const { collections, ...rest } = decodeMetadata(bytes as Uint8Array) as Metadata;
      return encodeMetadata({ collections: change([...collections]), ...rest });
    });
  const with1 = (name: string, other: Partial<CollectionCounts>): Change =>
    counts((all) => all.map((one) => (one.name === name ? { ...one, ...other } : one)));
  test.each([
    ['records', with1('ipps', { records: 4 }), /^section metadata: element or count 4 leads outside/],
    ['runs', with1('ipps', { chunks: 0 }), /of the directory: ipps\/records\/0\.bytes/],
    ['names', with1('ipps', { name: 'ipp' }), /^section metadata: no collections of ipps at 13, expected/],
    [
      'fewer collections',
      counts((all) => all.slice(1)),
      /^section metadata: no collections of acquisitions at 0, expected/,
    ],
    [
      'no JSON',
      replaced('metadata', () => Uint8Array.of(0x92, 0x93)),
      /^section metadata: Unexpected token .*, expected JSON$/,
    ],
  ])('is refused: %s', async (_what, change, expected) => {
    expect(await refusalWith(change)).toMatch(expected);
  });
});
