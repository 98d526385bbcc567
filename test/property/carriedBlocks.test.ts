// Blocks that are carried over from an earlier generation equal, byte for byte, those made by deflating the whole new
// generation, for any edits, insertions and deletions, and any division of records into runs. Failures print their
// seed.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeBlocks } from '../../data/blocks/blockWriter.ts';
import { deflateRun } from '../../data/blocks/deflate.ts';
import { DeflateEncoder } from '../../data/blocks/encoder.ts';
import { openEarlier } from '../../data/blocks/earlierBlocks.ts';
import { RecordMatcher } from '../../data/blocks/recordMatcher.ts';
import { loadSnapshot } from '../../data/store/load.ts';
import { CHAINED_ROWS } from '../../engine/column/blocks.ts';
import type { Records } from '../../engine/column/records.ts';
import { openSnapshot } from '../../engine/snapshot/open.ts';
import type { LoadedSnapshot } from '../../engine/snapshot/loaded.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { type Random, randomOf, RUN_SEED } from '../support/random.ts';
import { snapshotOf } from '../support/snapshots.ts';
import { times } from '../support/ring.ts';

const DIRECTORY = temporaryDirectory();
const BASE_URL = 'http://catalogue.test';
const QUIET = (): void => {};
const RECORDS = 450;
const GENERATIONS = times(4, 6);
/** Records in several chunks, whose ends move as records come and go. */
const CHUNK_BYTES = 16_384;
const NAME = 'migrationproperties';
const ENCODER = new DeflateEncoder();

type Values = ReadonlyMap<number, string>;

const valueIn = (random: Random): string =>
  random
    .several(0, 30, () => random.pick(['sea', 'surface', 'temperature', 'ä', `${random.integer(0, 999)}`]))
    .join(' ');

/** Changes each record with a probability. Also returns the number of changes. */
function changed(random: Random, before: Values, share: number): { values: Values; touched: number } {
  const values = new Map<number, string>();
  let touched = 0;
  for (const [id, value] of before) {
    const isTouched = random.chance(share);
    if (isTouched) touched++;
    const how = isTouched ? random.pick(['edited', 'inserted', 'deleted']) : 'kept';
    if (how !== 'deleted') values.set(id, how === 'edited' ? valueIn(random) : value);
    if (how === 'inserted') values.set(id + 1 + random.integer(0, 8), valueIn(random));
  }
  return { values: new Map([...values].toSorted(([a], [b]) => a - b)), touched };
}

async function loadedOf(file: string, values: Values): Promise<LoadedSnapshot> {
  const lines = [...values].map(([id, value]) => JSON.stringify({ id, key: 'k', value, modified: '2020-01-01' }));
  await snapshotOf(file, { [NAME]: `${lines.join('\n')}\n` }, CHUNK_BYTES);
  return loadSnapshot(file, { baseUrl: BASE_URL });
}

const recordsOf = (loaded: LoadedSnapshot): Records => openSnapshot(loaded).collection(NAME).records;

test(`carries blocks over from memory or a file byte for byte, and deflates few (seed ${RUN_SEED})`, async () => {
  const random = randomOf(RUN_SEED);
  let values: Values = new Map(Array.from({ length: RECORDS }, (_, i) => [10 * i + 1, valueIn(random)]));
  let before = await loadedOf(join(DIRECTORY, '0'), values);
  let blocks = join(DIRECTORY, '0.blocks');
  await writeBlocks(blocks, { loaded: before, earlier: undefined }, 0, QUIET);
  for (let n = 1; n <= GENERATIONS; n++) {
    const next = changed(random, values, random.pick([0, 0.01, 0.1, 0.7]));
    const loaded = await loadedOf(join(DIRECTORY, `${n}`), next.values);
    const inMemory = await loadSnapshot(blocks, { baseUrl: BASE_URL });
    const whole = join(DIRECTORY, `${n}.blocks`);
    expect(await writeBlocks(whole, { loaded, earlier: undefined }, 0, QUIET)).toEqual({
      records: next.values.size,
      deflated: next.values.size,
    });
    const chunks = recordsOf(before).chunks.length + recordsOf(loaded).chunks.length;
    expect(chunks).toBeGreaterThan(4);
    for (const earlier of [inMemory, blocks]) {
      const carried = join(DIRECTORY, `${n}.carried`);
      const { deflated } = await writeBlocks(carried, { loaded, earlier }, 0, QUIET);
      expect(deflated).toBeLessThanOrEqual((CHAINED_ROWS + 1) * (2 * next.touched + chunks));
      expect(readFileSync(carried).equals(readFileSync(whole))).toBe(true);
    }
    [values, before, blocks] = [next.values, loaded, whole];
  }
});

test(`makes the same blocks of a chunk however it is cut, with matching and other earlier ones (seed ${RUN_SEED})`, async () => {
  const random = randomOf(RUN_SEED);
  const values: Values = new Map(Array.from({ length: RECORDS }, (_, i) => [10 * i + 1, valueIn(random)]));
  const loaded = await loadedOf(join(DIRECTORY, 'cut'), values);
  const other = await loadedOf(join(DIRECTORY, 'other'), changed(random, values, 0.2).values);
  const blocks = join(DIRECTORY, 'other.blocks');
  await writeBlocks(blocks, { loaded: other, earlier: undefined }, 0, QUIET);
  const opened = openEarlier(blocks)!;
  const matcher = new RecordMatcher(opened.collection(NAME));
  const records = recordsOf(loaded);
  const end = records.chunks[1]!.ends.length;
  const whole = deflateRun(ENCODER, records, { chunk: 1, first: 0, end });
  for (let n = 0; n < 5; n++) {
    const cuts = [0, ...random.several(1, 9, () => random.integer(1, end)), end].toSorted((a, b) => a - b);
    const parts = [...new Set(cuts)].slice(0, -1).map((first, i, firsts) => {
      const run = { chunk: 1, first, end: firsts[i + 1] ?? end };
      return deflateRun(ENCODER, records, run, n % 2 === 0 ? matcher : undefined);
    });
    for (const kind of ['independent', 'chained', 'crcs'] as const)
      expect(Buffer.concat(parts.map((part) => Buffer.from(part[kind].buffer)))).toEqual(
        Buffer.from(whole[kind].buffer),
      );
  }
  opened.close();
});

test('deflates records whose checksums match different ones', async () => {
  const values: Values = new Map(Array.from({ length: 40 }, (_, i) => [i + 1, `value ${i}`]));
  const loaded = await loadedOf(join(DIRECTORY, 'sums'), values);
  const other = await loadedOf(join(DIRECTORY, 'forged'), new Map([...values].map(([id, text]) => [id, `${text}!`])));
  const blocks = join(DIRECTORY, 'forged.blocks');
  await writeBlocks(blocks, { loaded: other, earlier: undefined }, 0, QUIET);
  const records = recordsOf(loaded);
  const run = { chunk: 0, first: 0, end: records.chunks[0]!.ends.length };
  const whole = deflateRun(ENCODER, records, run);
  const opened = openEarlier(blocks)!;
  const forged = { ...opened.collection(NAME), crcs: whole.crcs };
  expect(deflateRun(ENCODER, records, run, new RecordMatcher(forged))).toEqual(whole);
  const streams = {
    ...forged,
    blocks: (kind: 'independent' | 'chained', row: number, end: number) => {
      const stretch = forged.blocks(kind, row, end);
      return { ...stretch, bytes: stretch.bytes.map(() => 0xff) };
    },
  };
  expect(deflateRun(ENCODER, records, run, new RecordMatcher(streams))).toEqual(whole);
  const alike = { ...forged, crcs: new Uint32Array(1000).fill(whole.crcs[0]!) };
  expect(
    new RecordMatcher(alike).findRows({
      bytes: Buffer.alloc(0),
      starts: new Uint32Array(2),
      crcs: whole.crcs.slice(1, 2),
    }),
  ).toEqual(Int32Array.of(-1));
  opened.close();
});
