// Verifying snapshots whose checksums are all right: a good one is described, one that contradicts FORMAT.md is refused
// with the section, what was found and what was expected.
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { OperationError } from '../../../../data/operationError.ts';
import { loadSnapshot } from '../../../../data/store/load.ts';
import { verifyFile } from '../../../../data/store/verify.ts';
import { COLLECTIONS } from '../../../../engine/schema/catalogue.ts';
import {
  decodeMetadata,
  encodeMetadata,
  type CollectionCounts,
  type Metadata,
} from '../../../../engine/snapshot/metadata.ts';
import { imported, temporaryDirectory } from '../../../support/dataSets.ts';
import {
  refusalOf,
  replaced,
  restateSections,
  rewriteSnapshot,
  SMALL_TEXTS,
  snapshotOf,
  swap,
  within,
  type Change,
  type NamedSection,
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

test('a good snapshot is described: every check with what was found, and the records', async () => {
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
  expect(report.checks.map(({ name }) => name)).toEqual(
    ['magic and version', 'lengths', 'alignment', 'checksums', 'schema hash', 'digests', 'records', 'ids'].concat([
      'embedded rows',
      'values',
      'posting lists',
      'bitmaps',
    ]),
  );
  expect(report.checks.every(({ outcome }) => outcome.length > 0)).toBe(true);
});

test('the sample is good, and its progress reaches the end of every phase', async () => {
  const { file, report } = await imported(SAMPLE, { file: join(SCRATCH, 'sample.snapshot') });
  const last = new Map<string, boolean>();
  const verified = await verifyFile(file, ({ phase, done, total }) => last.set(phase, done === total));
  expect(verified.generation).toBe(report.generation);
  expect(verified.created).toBe('2024-01-01T00:00:00Z');
  expect(last.get('hashing the snapshot')).toBe(true);
  expect(last.get('verifying offsets and order')).toBe(true);
});

test('a snapshot may be named as it is', async () => {
  const named = join(SCRATCH, 'observations.json.snapshot');
  copyFileSync(GOOD, named);
  expect((await verifyFile(named, () => undefined)).collections.length).toBe(COLLECTIONS.length);
});

test('a snapshot rewritten as it was is the same file', async () => {
  await rewriteSnapshot(GOOD, LYING, (sections) => sections);
  expect(readFileSync(LYING).equals(readFileSync(GOOD))).toBe(true);
});

test.each([
  [join(SCRATCH, 'nowhere'), 'no such file'],
  [SAMPLE, 'is a directory: want a snapshot file, which import makes of it'],
  [join(SAMPLE, 'times.ndjson'), `is a file; name the directory that holds it: ${SAMPLE}`],
])('%s cannot be read: %s', async (file, why) => {
  const error: unknown = await verifyFile(file, () => undefined).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(OperationError);
  expect((error as OperationError).message).toContain(file);
  expect((error as OperationError).message).toContain(why);
});

/** Has the directory state another digest of one section, under right checksums. */
function stateDigest(name: string, digest: string): void {
  restateSections(GOOD, LYING, (sections) => sections.map((one) => (one.name === name ? { ...one, digest } : one)));
}

test('a digest that is not that of its section is refused', async () => {
  stateDigest('phenomona/records/0.bytes', '0'.repeat(64));
  expect(await refusalOf(LYING)).toMatch(/^section phenomona\/records\/0\.bytes: digest [0-9a-f]{64}, expected 0{64}$/);
});

test.each(['', 'f'.repeat(63), 'F'.repeat(64), '0'.repeat(100_000)])(
  'what is no digest is not told: %#',
  async (text) => {
    stateDigest('metadata', text);
    expect(await refusalOf(LYING)).toBe(
      `section metadata: a digest of ${text.length} characters, expected 64 hexadecimal digits`,
    );
  },
);

test('a section of another digest, checksums alike, makes another generation', async () => {
  const generationOf = async (file: string): Promise<string> =>
    (await loadSnapshot(file, { baseUrl: 'http://a.example.org' })).generation;
  stateDigest('metadata', 'f'.repeat(64));
  expect(await generationOf(LYING)).not.toBe(await generationOf(GOOD));
});

describe('records that contradict their positions are refused:', () => {
  const part = (name: string): string => `phenomona/records/0.${name}`;
  const pairs = (name: string): string => `ipps/records/0.${name}`;
  test.each([
    [
      'ends that descend',
      within(part('ends'), (ends) => swap(ends, 2, 3)),
      /^section phenomona\/records\/0\.ends: element 3 is \d+, expected at least the \d+ before it$/,
    ],
    [
      'an end before the last',
      within(part('ends'), (ends) => void ends[9]!--),
      /records\/0\.ends: the last element is \d+, expected \d+$/,
    ],
    [
      'an end inside a record',
      within(part('ends'), (ends) => void ends[4]!--),
      /records\/0\.bytes: record 4 does not run from \{ to \}/,
    ],
    [
      'a record without its comma',
      within(part('bytes'), (bytes) => void (bytes[bytes.length - 1] = 0x20)),
      /record 9 does not run/,
    ],
    [
      'own URLs that are none',
      within(pairs('links'), (links) => void links[1]!++),
      /^section ipps\/records\/0\.links: no own URL at \d+, expected "\{base_url\}$/,
    ],
    [
      'own URLs out of order',
      within(pairs('links'), (links) => swap(links, 1, 2)),
      /records\/0\.bytes: own URL 2 at \d+, expected it at \d+ or later$/,
    ],
    [
      'own URLs past the end',
      within(pairs('links'), (links) => void (links[5] = 4_000_000_000)),
      /the last own URL ends at 4000000010, past the end at \d+$/,
    ],
    [
      'own URLs of another record',
      within(pairs('linkEnds'), (ends) => void ends[0]!--),
      /linkEnds: record 1 with own URLs outside it/,
    ],
    [
      'fewer own URLs than there are',
      within(pairs('linkEnds'), (ends) => void ends[2]!--),
      /linkEnds: the last element is 5, expected 6$/,
    ],
    [
      'a count of own URLs too few',
      replaced(pairs('linkEnds'), (ends) => ends.slice(1)),
      /linkEnds: 2 elements, expected 3$/,
    ],
    [
      'a member that ends inside its value',
      within(pairs('members'), (members) => void members[1]!--),
      /records\/0\.members: record 0 without its member 1 in its place/,
    ],
    [
      'a member too few',
      (all: readonly NamedSection[]) =>
        within(
          pairs('memberEnds'),
          (ends) => void ends[2]!--,
        )(replaced(pairs('members'), (members) => members.slice(0, -1))(all)),
      /members: record 2 without its member 2 in its place/,
    ],
    [
      'members counted wrong',
      within(pairs('memberEnds'), (ends) => void ends[2]!++),
      /memberEnds: the last element is 10, expected 9$/,
    ],
    [
      'an outline too few',
      replaced(pairs('outlines'), (outlines) => outlines.slice(1)),
      /outlines: 2 elements, expected 3$/,
    ],
    [
      'an outline that is not there',
      within(pairs('outlines'), (outlines) => void (outlines[1] = 1)),
      /outlines: outline 1 of record 1, expected at most 1$/,
    ],
  ])('%s', async (_what, change, expected) => {
    expect(await refusalWith(change)).toMatch(expected);
  });
});

describe('links that lead elsewhere are refused:', () => {
  const TARGETS = 'ipps/platform.targets';
  test.each([
    [
      'a record that does not exist',
      within(TARGETS, (targets) => void (targets[2] = 1)),
      /element 2 is 1, expected 4294967295$/,
    ],
    ['another record', within(TARGETS, (targets) => swap(targets, 0, 1)), /element 0 is 1, expected 0$/],
    [
      'nowhere, though the record exists',
      within(TARGETS, (targets) => void (targets[1] = 0xffffffff)),
      /element 1 is 4294967295, expected 1$/,
    ],
    ['too few of them', replaced(TARGETS, (targets) => targets.slice(0, 2)), /2 elements, expected 3$/],
  ])('%s', async (_, change, pattern) => {
    expect(await refusalWith(change)).toMatch(new RegExp(`^section ${TARGETS}: `));
    expect(await refusalWith(change)).toMatch(pattern);
  });
});

describe('embedded rows that contradict their parents are refused:', () => {
  test.each([
    [
      'a first row that is not 0',
      within('phenomona/terms.rowStarts', (starts) => void (starts[0] = 1)),
      /rowStarts: element 0 is 1, expected 0$/,
    ],
    [
      'starts that descend',
      within('phenomona/terms.rowStarts', (starts) => swap(starts, 4, 5)),
      /rowStarts: element 5 is 16, expected at least the 20 before it$/,
    ],
    [
      'a last start that is not the number of rows',
      within('phenomona/terms.rowStarts', (starts) => void starts[10]!--),
      /rowStarts: the last element is 39, expected 40$/,
    ],
    [
      'a parent too few',
      replaced('phenomona/terms.rowStarts', (starts) => starts.slice(0, 10)),
      /rowStarts: 10 elements, expected 11$/,
    ],
    [
      'a row of another parent',
      within('phenomona/terms.parents', (parents) => void (parents[7] = 2)),
      /^section phenomona\/terms\.parents: row 7 of parent 2, expected/,
    ],
  ])('%s', async (_what, change, expected) => {
    expect(await refusalWith(change)).toMatch(expected);
  });
});

describe('a directory that lists other sections than the declaration asks for is refused:', () => {
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
      'one stands twice',
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
  ])('%s', async (_what, change, expected) => {
    expect(await refusalWith(change)).toMatch(expected);
  });
});

test.each(['ipps/platform.codes', 'ipps/records/0.members', 'ipps/records/0.outlines'])(
  '%s in wider elements than its values need is refused',
  async (name) => {
    expect(await refusalWith(replaced(name, (elements) => Uint16Array.from(elements)))).toBe(
      `section ${name}: elements of 2 bytes, expected of 1`,
    );
  },
);

describe('metadata that contradicts the sections is refused:', () => {
  const outlined = (keys: readonly string[], lists: readonly (readonly number[])[]): Change =>
    replaced('metadata', (bytes) => {
      const metadata = decodeMetadata(bytes as Uint8Array) as Metadata;
      const outlines = metadata.outlines.map((one) => (one.name === 'ipps' ? { ...one, keys, lists } : one));
      return encodeMetadata({ ...metadata, outlines });
    });
  const IPPS = ['ob_id', 'platform', 'instrument'];
  const counts = (change: (collections: CollectionCounts[]) => CollectionCounts[]): Change =>
    replaced('metadata', (bytes) => {
      const { collections, ...rest } = decodeMetadata(bytes as Uint8Array) as Metadata;
      return encodeMetadata({ collections: change([...collections]), ...rest });
    });
  const with1 = (name: string, other: Partial<CollectionCounts>): Change =>
    counts((all) => all.map((one) => (one.name === name ? { ...one, ...other } : one)));
  test.each([
    ['records', with1('ipps', { records: 4 }), /^section metadata: 4 records in ipps, expected 3$/],
    ['nulls', with1('ipps', { nulls: 0 }), /^section metadata: 0 nulls in ipps, expected 9$/],
    ['runs', with1('ipps', { chunks: 0 }), /of the directory: ipps\/records\/0\.bytes/],
    ['names', with1('ipps', { name: 'ipp' }), /^section metadata: no collections of ipps at 13, expected/],
    [
      'another key',
      outlined(['id', ...IPPS.slice(1)], [[0, 1, 2]]),
      /members: record 0 without its member 0 in its place/,
    ],
    [
      'a key too few',
      outlined(IPPS.slice(1), [[0, 1, 2]]),
      /^section metadata: outlines of ipps with outline 0 of keys that are not below 2, expected/,
    ],
    ['no outline', outlined(IPPS, []), /outlines: outline 0 of record 0, expected at most 0$/],
    ['an outline too many', outlined(IPPS, [[0, 1, 2], [0]]), /^section metadata: 2 outlines of ipps, expected 1$/],
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
  ])('%s', async (_what, change, expected) => {
    expect(await refusalWith(change)).toMatch(expected);
  });
});
