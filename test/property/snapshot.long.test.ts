// The snapshot file as a whole: reading returns what was written, byte for byte, and a file that is damaged anywhere
// never opens. Seeded; each failure names the seed or the position.
import { appendFileSync, copyFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { OperationError } from '../../data/operationError.ts';
import { loadSnapshot } from '../../data/store/load.ts';
import { verifyFile } from '../../data/store/verify.ts';
import { computeChecksum } from '../../engine/bits/checksum.ts';
import { type CollectionIndex, rowOfId } from '../../engine/index/table.ts';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import { openSnapshot } from '../../engine/snapshot/open.ts';
import { FORMAT_VERSION, HEADER_BYTES, paddedBytes } from '../../engine/snapshot/header.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { type Random, randomOf } from '../support/random.ts';
import { recordTexts, withBaseUrl } from '../support/records.ts';
import { directoryOf, restateSections, snapshotOf } from '../support/snapshots.ts';

const SCRATCH = temporaryDirectory();
const SEED = 41;

interface Made {
  readonly id: number;
  readonly text: string;
}

/**
 * Records of all forms that matter to the file: with and without own URLs, long and short, ids with gaps, up to 2^53 -
 * 1.
 */
function randomRecords(random: Random, collection: string): readonly Made[] {
  const ids = new Set(random.several(0, 25, () => random.pick([random.integer(0, 50), random.integer(0, 2 ** 53)])));
  return random.shuffled([...ids]).map((id) => {
    const extra = random.several(0, 5, () =>
      random.pick([
        '{base_url}',
        `{base_url}/x/${random.integer(0, 999)}`,
        'not {base_url}',
        'é\u{1f600}',
        'y'.repeat(300),
      ]),
    );
    const platform = { platform: `{base_url}/api/v3/platforms/${id}/?format=api` };
    const record = { ob_id: id, ...(collection === 'ipps' && random.chance(0.7) ? platform : {}), extra };
    return { id, text: JSON.stringify(record) };
  });
}

function randomTexts(random: Random): ReadonlyMap<string, readonly Made[]> {
  return new Map(
    ['acquisitions', 'bboxes', 'ipps', 'notes', 'times'].map((name) => [name, randomRecords(random, name)]),
  );
}

/** `x` is shorter than the placeholder, `{base_url}` as long. */
const BASE_URLS = ['http://localhost:8080', '{base_url}', 'x', `https://${'long.'.repeat(40)}example/catalogue`];
const CHUNK_BYTES = [1, 100, 2000, undefined];
const MEMORY_BYTES = [64, 4096, 65_536, undefined];

describe.each([0, 1, 2, 3, 4, 5])('the snapshot of a random catalogue (seed 41 + %i)', (round) => {
  test('returns the catalogue byte for byte, under any base URL, in any number of runs and memories', async () => {
    const random = randomOf(SEED + round);
    const made = randomTexts(random);
    const texts = Object.fromEntries(
      [...made].map(([name, records]) => [name, records.map(({ text }) => text).join('\n')]),
    );
    for (const chunkBytesMax of CHUNK_BYTES) {
      const file = join(SCRATCH, `round-${round}-${chunkBytesMax}.snapshot`);
      await snapshotOf(file, texts, chunkBytesMax);
      await verifyFile(file, () => undefined);
      for (const baseUrl of BASE_URLS) {
        const memoryBytesMax = random.pick(MEMORY_BYTES);
        const where = `seed ${SEED + round}, runs of ${chunkBytesMax}, memories of ${memoryBytesMax}, ${baseUrl}`;
        const loaded = await loadSnapshot(file, { baseUrl, ...(memoryBytesMax ? { memoryBytesMax } : {}) });
        // Array.from, unlike map, visits a hole, which would be sent to another thread.
        const shared = Array.from(
          loaded.memories,
          (memory: WebAssembly.Memory | undefined) => memory?.buffer instanceof SharedArrayBuffer,
        );
        expect(shared, where).not.toContain(false);
        const catalogue = openSnapshot(loaded);
        expect(catalogue.baseUrl).toBe(baseUrl);
        for (const [name, records] of made) expectRecords(catalogue.collection(name), records, { baseUrl, where });
      }
    }
  });
});

function expectRecords(
  collection: CollectionIndex,
  made: readonly Made[],
  { baseUrl, where }: { baseUrl: string; where: string },
): void {
  const sorted = made.toSorted((a, b) => a.id - b.id);
  expect(collection.rows, where).toBe(made.length);
  expect(recordTexts(collection), where).toEqual(sorted.map(({ text }) => withBaseUrl(text, baseUrl)));
  for (const [row, { id }] of sorted.entries()) expect(rowOfId(collection, id), where).toBe(row);
  expect(rowOfId(collection, 51), where).toBe(sorted.findIndex(({ id }) => id === 51));
}

test('has runs of at least one record and at most the maximum of bytes', async () => {
  const text = Array.from({ length: 20 }, (_, i) => JSON.stringify({ ob_id: i, a: 'x'.repeat(i * 10) })).join('\n');
  const file = join(SCRATCH, 'runs.snapshot');
  await snapshotOf(file, { notes: text }, 150);
  const { chunks } = openSnapshot(await loadSnapshot(file, { baseUrl: '{base_url}' })).collection('notes').records;
  expect(chunks.length).toBeGreaterThan(5);
  for (const { bytes, ends, firstRow } of chunks) {
    expect(bytes.length <= 150 || ends.length === 1).toBe(true);
    expect(firstRow).toBe(
      chunks.filter((other) => other.firstRow < firstRow).reduce((sum, one) => sum + one.ends.length, 0),
    );
  }
});

test('has all collections, empty, for a catalogue without records', async () => {
  const file = join(SCRATCH, 'empty.snapshot');
  await snapshotOf(file, {});
  const catalogue = openSnapshot(await loadSnapshot(file, { baseUrl: 'http://localhost' }));
  for (const { name } of COLLECTIONS) expect(catalogue.collection(name).rows).toBe(0);
  expect(() => catalogue.collection('nothing')).toThrow('no collection nothing is declared');
});

describe('a snapshot is refused with a message and never opened if it has', () => {
  const GOOD = join(SCRATCH, 'good.snapshot');
  const BAD = join(SCRATCH, 'bad.snapshot');
  let good: Buffer;
  let boundaries: number[];

  beforeAll(async () => {
    const made = randomTexts(randomOf(SEED));
    await snapshotOf(
      GOOD,
      Object.fromEntries([...made].map(([name, records]) => [name, records.map(({ text }) => text).join('\n')])),
    );
    good = readFileSync(GOOD);
    const ends = directoryOf(good).sections.flatMap(({ offset, bytes }) => [
      offset,
      offset + bytes,
      offset + paddedBytes(bytes),
    ]);
    boundaries = [...new Set([0, HEADER_BYTES, ...ends])].toSorted((a, b) => b - a);
  });

  async function expectRefused(what: string, pattern: RegExp = /./): Promise<void> {
    const outcome: unknown = await loadSnapshot(BAD, { baseUrl: 'http://localhost:8080' }).catch(
      (error: unknown) => error,
    );
    expect(outcome, what).toBeInstanceOf(OperationError);
    const { code, message } = outcome as OperationError;
    expect(code, `${what}: ${message}`).toBe('snapshot');
    expect(message.startsWith(`${BAD}: `), `${what}: ${message}`).toBe(true);
    expect(message.slice(BAD.length), what).toMatch(pattern);
  }

  async function expectFlipRefused(bit: number, pattern?: RegExp): Promise<void> {
    const bytes = Buffer.from(good);
    bytes[bit >>> 3]! ^= 1 << (bit & 7);
    writeFileSync(BAD, bytes);
    await expectRefused(`bit ${bit & 7} of byte ${bit >>> 3}`, pattern);
  }

  test('(no damage: it opens)', async () => {
    copyFileSync(GOOD, BAD);
    expect(
      openSnapshot(await loadSnapshot(BAD, { baseUrl: 'http://localhost:8080' })).collection('notes').rows,
    ).toBeGreaterThan(0);
  });

  test('any bit of the header flipped', async () => {
    for (let bit = 0; bit < HEADER_BYTES * 8; bit++) {
      await expectFlipRefused(bit, bit < 64 ? /not a snapshot/ : bit < 96 ? /format version/ : /header checksum/);
    }
  });

  test.each([
    [FORMAT_VERSION - 1, 'import the data set again'],
    [FORMAT_VERSION + 1, 'read it with a newer version'],
  ])('version %i, with what to do', async (version, cure) => {
    const bytes = Buffer.from(good);
    bytes.writeUInt32LE(version, 8);
    writeFileSync(BAD, bytes);
    await expectRefused(
      `version ${version}`,
      new RegExp(`format version ${version}, this version reads ${FORMAT_VERSION}: ${cure}$`),
    );
  });

  test('an unused byte of the header that is not 0, under a valid checksum', async () => {
    for (const at of [48, 101, 123]) {
      const bytes = Buffer.from(good);
      bytes[at] = 7;
      bytes.writeUInt32LE(computeChecksum(Uint8Array.from(bytes.subarray(0, 124))), 124);
      writeFileSync(BAD, bytes);
      await expectRefused(`byte ${at}`, new RegExp(`header byte ${at} is 7, expected 0$`));
    }
  });

  test('a bit flipped anywhere, padding and directory included', async () => {
    const random = randomOf(SEED);
    for (let i = 0; i < 400; i++)
      await expectFlipRefused(random.integer(HEADER_BYTES * 8, good.length * 8), /checksum/);
  });

  test('a bit flipped in each section and in its padding', async () => {
    const random = randomOf(SEED);
    // If sections share a place, the error names the first one.
    const placed = new Set<number>();
    for (const { name, offset, bytes } of directoryOf(good).sections) {
      if (bytes === 0 || placed.has(offset)) continue;
      placed.add(offset);
      const expected = new RegExp(`section ${name}: checksum [0-9a-f]{8}, expected [0-9a-f]{8}$`);
      await expectFlipRefused(random.integer(offset * 8, (offset + bytes) * 8), expected);
      const padded = offset + paddedBytes(bytes);
      if (padded > offset + bytes) await expectFlipRefused(random.integer((offset + bytes) * 8, padded * 8), expected);
    }
  });

  test('a cut at any boundary', async () => {
    copyFileSync(GOOD, BAD);
    for (const length of boundaries) {
      truncateSync(BAD, length);
      await expectRefused(
        `cut to ${length}`,
        length < HEADER_BYTES ? /a header takes 128/ : /file has \d+ bytes, expected \d+/,
      );
    }
  });

  test('a cut anywhere', async () => {
    const random = randomOf(SEED);
    copyFileSync(GOOD, BAD);
    const lengths = [good.length - 1, ...Array.from({ length: 300 }, () => random.integer(0, good.length))];
    for (const length of lengths.toSorted((a, b) => b - a)) {
      truncateSync(BAD, length);
      await expectRefused(`cut to ${length}`);
    }
  });

  test('bytes after the end', async () => {
    for (const extra of ['\0', 'x'.repeat(64), good.toString('latin1')]) {
      copyFileSync(GOOD, BAD);
      appendFileSync(BAD, extra, 'latin1');
      await expectRefused(`${extra.length} more bytes`, /file has \d+ bytes, expected \d+/);
    }
  });

  test('two sections exchanged', async () => {
    const random = randomOf(SEED);
    const { sections } = directoryOf(good);
    const textOf = ({ offset, bytes }: { offset: number; bytes: number }): Buffer =>
      good.subarray(offset, offset + paddedBytes(bytes));
    const filled = sections.filter(({ bytes }) => bytes > 0);
    let swaps = 0;
    for (const a of random.shuffled(filled)) {
      const b = filled.find((one) => textOf(one).length === textOf(a).length && !textOf(one).equals(textOf(a)));
      if (!b || swaps++ >= 60) continue;
      const bytes = Buffer.from(good);
      textOf(b).copy(bytes, a.offset);
      textOf(a).copy(bytes, b.offset);
      writeFileSync(BAD, bytes);
      await expectRefused(`${a.name} and ${b.name}`, /section .*: checksum/);
    }
    expect(swaps).toBeGreaterThan(30);
  });

  test('a section at the place of another with another length, checksum or digest', async () => {
    const { sections } = directoryOf(good);
    const filled = sections.filter(({ bytes }) => bytes > 0).map(({ offset }) => offset);
    expect(new Set(filled).size, 'sections with equal bytes share a place').toBeLessThan(filled.length);
    const [{ offset, bytes, checksum, digest }, last] = [sections.find((one) => one.bytes > 0)!, sections.at(-1)!];
    for (const other of [
      { checksum, digest },
      { bytes, digest },
      { bytes, checksum },
    ]) {
      restateSections(GOOD, BAD, (all) => [...all.slice(0, -1), { ...last, offset, ...other }]);
      await expectRefused('a wrongly shared place', /section metadata at the place of .*, which is another$/);
    }
  });

  test('the header of another snapshot, or zeros for one, as an interrupted import leaves', async () => {
    const other = join(SCRATCH, 'other.snapshot');
    await snapshotOf(other, { notes: '{"ob_id":1}' });
    for (const header of [readFileSync(other).subarray(0, HEADER_BYTES), Buffer.alloc(HEADER_BYTES)]) {
      writeFileSync(BAD, Buffer.concat([header, good.subarray(HEADER_BYTES)]));
      await expectRefused('another header');
    }
  });

  test.each([
    ['an empty file', Buffer.alloc(0), /file has 0 bytes, a header takes 128/],
    ['a short file', Buffer.from('\x89CAT\r\n\x1a\n', 'latin1'), /file has 8 bytes, a header takes 128/],
    ['a long run of zeros', Buffer.alloc(100_000), /not a snapshot: it starts with 00 00/],
    [
      'NDJSON',
      Buffer.from('{"ob_id":1}\n'.repeat(100)),
      /not a snapshot: it starts with 7b 22 .*, expected 89 43 41 54 0d 0a 1a 0a/,
    ],
  ])('the content of %s', async (what, bytes, pattern) => {
    writeFileSync(BAD, bytes);
    await expectRefused(what, pattern);
  });
});
