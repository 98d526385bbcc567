// Blocks of records in a file: their content, and that they are made once, reused, and made again if the file is
// damaged or belongs to other records.
import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { blocksFile, keepBlocks, loadBlocks } from '../../../../data/blocks/blockStore.ts';
import { type DeflatedRun, type DeflateOrder, startDeflaters } from '../../../../data/blocks/deflate.ts';
import { loadSnapshot } from '../../../../data/store/load.ts';
import { SPEC_LINK_END } from '../../../../engine/column/served.ts';
import { measured, ndjsonRows } from '../../../../engine/page/rows.ts';
import { stitchedRows } from '../../../../engine/page/stitch.ts';
import { COLLECTIONS } from '../../../../engine/schema/catalogue.ts';
import { openBlocks, openSnapshot } from '../../../../engine/snapshot/open.ts';
import type { LoadedSnapshot } from '../../../../engine/snapshot/loaded.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { textOf } from '../../../support/pages.ts';
import { randomOf } from '../../../support/random.ts';
import { replaced, rewriteSnapshot, SMALL_TEXTS, snapshotOf } from '../../../support/snapshots.ts';

const DIRECTORY = temporaryDirectory();
const SNAPSHOT = join(DIRECTORY, 'small.snapshot');
const BASE_URL = 'http://catalogue.test';
const QUIET = (): void => {};
/** Records in short runs, so that collections have several chunks. */
const CHUNK_BYTES = 300;
const SEED = 11;

let loaded: LoadedSnapshot;
beforeAll(async () => {
  await snapshotOf(SNAPSHOT, SMALL_TEXTS, CHUNK_BYTES);
  loaded = await loadSnapshot(SNAPSHOT, { baseUrl: BASE_URL });
});

const blocks = (file: string | undefined): ReturnType<typeof loadBlocks> =>
  loadBlocks(loaded, { file, threads: 0 }, QUIET);
const fileIn = (name: string): string => blocksFile(join(DIRECTORY, name), loaded);

/** All records of a collection as lines, from the blocks and from the records. */
function linesOf(from: LoadedSnapshot, name: string): [fromBlocks: string, fromRecords: string] {
  const catalogue = openSnapshot(loaded);
  const { records } = catalogue.collection(name);
  const form = { baseUrl: BASE_URL, version: 'v3', linkEnd: SPEC_LINK_END } as const;
  const rows = { records, rows: { kind: 'range', start: 0, end: records.rows }, form, keys: undefined } as const;
  const nothing = new Uint8Array(0);
  const stored = openBlocks(from, catalogue)(name);
  const body = stitchedRows(rows, { stored, head: nothing, tail: nothing, isLines: true })?.();
  const bytes = Buffer.alloc(body?.bytes ?? 0);
  for (let at = 0; at < bytes.length;) {
    const piece = body!.pieceAt(at);
    bytes.set(piece, at);
    at += piece.length;
  }
  return [body ? gunzipSync(bytes).toString() : '', textOf(measured(ndjsonRows(rows)))];
}

describe('blocks', () => {
  test('contain every record of every collection, also in several chunks', async () => {
    const { loaded: made } = await blocks(undefined);
    expect(openSnapshot(loaded).collection('phenomona').records.chunks.length).toBeGreaterThan(2);
    for (const { name } of COLLECTIONS) {
      const [fromBlocks, fromRecords] = linesOf(made, name);
      expect(fromBlocks, name).toBe(fromRecords);
    }
  });

  test('are stored under generation and base URL, reused, and have the same bytes whoever makes them', async () => {
    const file = fileIn('kept.snapshot');
    const { made } = await blocks(file);
    expect(made?.records).toBe(18);
    expect(made?.deflated).toBe(made?.records);
    const bytes = readFileSync(file);
    expect(await blocks(file)).toMatchObject({ file, made: undefined, refusal: undefined });
    expect(basename(file)).toMatch(
      new RegExp(`^kept\\.snapshot\\.${loaded.generation.slice(0, 12)}-[0-9a-f]{8}\\.blocks$`),
    );
    expect(blocksFile('a', { ...loaded, baseUrl: 'http://other.test' })).not.toBe(blocksFile('a', loaded));
    const other = await keepBlocks(SNAPSHOT, { baseUrl: BASE_URL, threads: 2 }, QUIET);
    expect(other.file).toBe(fileIn('small.snapshot'));
    expect(readFileSync(other.file).equals(bytes)).toBe(true);
  });

  test.each(['independentEnds', 'chainedEnds'])(
    'are made again if their number of %s differs from that of the records',
    async (ends) => {
      const file = fileIn(`forged-${ends}.snapshot`);
      await blocks(file);
      const fewer = replaced(`phenomona/blocks/0.${ends}`, (elements) => elements.slice(1));
      await rewriteSnapshot(file, file, fewer);
      const again = await blocks(file);
      expect(again.made?.records).toBe(18);
      expect(again.refusal).toMatch(new RegExp(`section phenomona/blocks/0\\.${ends}: `));
    },
  );

  test('are made from those of the previous generation if these are intact', async () => {
    const snapshot = join(DIRECTORY, 'rotten.snapshot');
    await snapshotOf(snapshot, SMALL_TEXTS, CHUNK_BYTES);
    await keepBlocks(snapshot, { baseUrl: BASE_URL, threads: 0 }, QUIET);
    await snapshotOf(snapshot, { ...SMALL_TEXTS, platforms: '{"ob_id":1}\n{"ob_id":3}\n' }, CHUNK_BYTES);
    const { file } = await keepBlocks(snapshot, { baseUrl: BASE_URL, threads: 0 }, QUIET);
    writeFileSync(file, readFileSync(file).fill(0, 0, 4));
    const next = await loadSnapshot(snapshot, { baseUrl: BASE_URL });
    const { made, refusal } = await loadBlocks(next, { file, threads: 0 }, QUIET);
    expect([made, refusal]).toEqual([{ records: 18, deflated: 1 }, expect.stringContaining(file)]);
  });

  test('of older generations under the same names are removed except the last one, and no other file is', async () => {
    const older = { ...loaded, generation: 'a'.repeat(64) };
    const keptFor = (name: string, one: LoadedSnapshot): string => blocksFile(join(DIRECTORY, name), one);
    const others = [
      keptFor('again.snapshot', { ...older, baseUrl: 'http://other.test' }),
      keptFor('again.snapshot.copy', older),
      keptFor('other.again.snapshot', older),
      join(DIRECTORY, 'again.snapshot'),
    ];
    const last = keptFor('again.snapshot', { ...loaded, generation: 'b'.repeat(64) });
    for (const file of [keptFor('again.snapshot', older), last, ...others]) writeFileSync(file, 'x');
    utimesSync(keptFor('again.snapshot', older), 1, 1);
    utimesSync(last, 2, 2);
    await blocks(fileIn('again.snapshot'));
    expect(existsSync(keptFor('again.snapshot', older))).toBe(false);
    for (const file of [fileIn('again.snapshot'), last, ...others]) expect(existsSync(file), file).toBe(true);
  });

  test(`are made again if they are damaged anywhere, and the damage is reported (seed ${SEED})`, async () => {
    const random = randomOf(SEED);
    const file = fileIn('damaged.snapshot');
    await blocks(file);
    const good = readFileSync(file);
    for (let n = 0; n < 60; n++) {
      const bad = Buffer.from(good);
      const at = random.integer(0, bad.length - 1);
      bad[at] = bad[at]! ^ (1 << random.integer(0, 7));
      writeFileSync(file, n % 10 === 9 ? bad.subarray(0, at) : bad);
      const made = await blocks(file);
      expect(made.made?.deflated, `byte ${at}`).toBe(made.made?.records);
      expect(made.refusal?.startsWith(`${file}: `), `byte ${at}`).toBe(true);
      expect(readFileSync(file).equals(good), `byte ${at}`).toBe(true);
    }
  });

  test('of other records or another base URL are made again, and so is a snapshot in their place', async () => {
    const file = fileIn('other.snapshot');
    const others = await loadBlocks({ ...loaded, generation: 'f'.repeat(64) }, { file, threads: 0 }, QUIET);
    expect(others.made).toBeDefined();
    expect((await blocks(file)).refusal).toMatch(/blocks of .*ffff.*, expected .*deflate blocks/);
    writeFileSync(file, readFileSync(SNAPSHOT));
    expect((await blocks(file)).refusal).toMatch(/blocks of , expected/);
    expect((await blocks(file)).made).toBeUndefined();
  });
});

test('deflates in threads what the calling thread does, in the same order, and carries over the same', async () => {
  const orders = openSnapshot(loaded)
    .collection('phenomona')
    .records.chunks.map((chunk, i): DeflateOrder => ({
      collection: 'phenomona',
      run: { chunk: i, first: 0, end: chunk.ends.length },
    }));
  const { file: earlier } = await keepBlocks(SNAPSHOT, { baseUrl: BASE_URL, threads: 0 }, QUIET);
  const cases = [
    { threads: 0, earlier: undefined },
    { threads: 1, earlier: undefined },
    { threads: 3, earlier },
  ];
  const [inline, threaded, carried] = await Promise.all(
    cases.map(async ({ threads, earlier }) => {
      const deflaters = startDeflaters({ loaded, earlier }, threads);
      try {
        const runs: DeflatedRun[] = [];
        for await (const run of deflaters.runs(orders)) runs.push(run);
        return runs;
      } finally {
        await deflaters.close();
      }
    }),
  );
  expect(inline).toHaveLength(orders.length);
  expect(threaded).toEqual(inline);
  expect(carried).toEqual(inline!.map((run) => ({ ...run, deflated: 0 })));
});
