// Loading a snapshot with several memories, shared memory regions and threads. The loaded data never depends on them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { loadSnapshot } from '../../../../data/store/load.ts';
import { writeSnapshot } from '../../../../data/store/store.ts';
import { OperationError } from '../../../../data/operationError.ts';
import type { LoadedSnapshot } from '../../../../engine/snapshot/loaded.ts';
import { openSnapshot } from '../../../../engine/snapshot/open.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { recordTexts } from '../../../support/records.ts';
import { directoryOf, snapshotOf } from '../../../support/snapshots.ts';
import { someOf } from '../../../support/ring.ts';

const SCRATCH = temporaryDirectory();
const FILE = join(SCRATCH, 'twins.snapshot');
const BASE_URL = 'https://catalogue.example.org';
const PAGE_BYTES = 65_536;

/**
 * Records whose texts take several pages of memory. Two collections have the same texts, so that their columns share
 * memory.
 */
const twins = Array.from({ length: 3000 }, (_, i) =>
  JSON.stringify({ ob_id: i, text: `${'ab'.repeat(i % 90)}${i}`, at: `{base_url}/api/v3/notes/${i}/?format=api` }),
).join('\n');

beforeAll(async () => {
  await snapshotOf(FILE, { notes: twins, platforms: twins });
});

function everySection(loaded: LoadedSnapshot): ReadonlyMap<string, string> {
  const textOf = (i: number): string => {
    const { memory, offset, bytes } = loaded.placements[i]!;
    return Buffer.from(loaded.memories[memory]!.buffer, offset, bytes).toString('latin1');
  };
  return new Map(loaded.sections.map(({ name }, i) => [name, textOf(i)]));
}

test('stores equal columns of two collections once in memory', async () => {
  const { placements, sections } = await loadSnapshot(FILE, { baseUrl: BASE_URL });
  const placeOf = (name: string): unknown => placements[sections.findIndex((section) => section.name === name)];
  expect(placeOf('platforms/text.text')).toBe(placeOf('notes/text.text'));
  expect(placeOf('platforms/records/0.bytes')).not.toBe(placeOf('notes/records/0.bytes'));
});

test('stores sections that are equal only with their padding separately', async () => {
  const file = join(SCRATCH, 'padded.snapshot');
  await writeSnapshot(file, (writer) => {
    for (const [name, bytes] of [
      ['one', [1]],
      ['two', [1, 0]],
      ['three', [1]],
    ] as const)
      writer.addBytes(name, [Uint8Array.from(bytes)]);
    return Promise.resolve({ created: undefined });
  });
  const [one, two, three] = directoryOf(readFileSync(file)).sections;
  expect(one!.digest).toBe(two!.digest);
  expect([two!.offset === one!.offset, three!.offset === one!.offset]).toEqual([false, true]);
});

test.each(['/dev/zero', '/dev'])('refuses %s, which is not a snapshot to wait for', async (path) => {
  const message = `cannot read ${path}: it is no file but a pipe, a device or a directory`;
  await expect(loadSnapshot(path, { baseUrl: BASE_URL })).rejects.toMatchObject({ code: 'file', message });
});

test('loads the same data into any number of memories, with any number of threads', async () => {
  const expected = everySection(await loadSnapshot(FILE, { baseUrl: BASE_URL, threads: 1 }));
  for (const memoryPages of someOf([1, 2, 5, 9], 2)) {
    for (const threads of [1, 2, 4]) {
      const memoryBytesMax = memoryPages * PAGE_BYTES;
      const loaded = await loadSnapshot(FILE, { baseUrl: BASE_URL, memoryBytesMax, threads });
      expect(loaded.memories.length).toBeGreaterThan(1);
      expect(everySection(loaded), `${memoryPages} pages, ${threads} threads`).toEqual(expected);
    }
  }
});

test('puts the base URL into links of records that threads load', async () => {
  const catalogue = openSnapshot(await loadSnapshot(FILE, { baseUrl: BASE_URL, threads: 2 }));
  expect(recordTexts(catalogue.collection('platforms'))).toEqual(twins.replaceAll('{base_url}', BASE_URL).split('\n'));
});

test('ends progress with threads at the bytes of the file, each counted once', async () => {
  for (const threads of [1, 2]) {
    const steps: number[] = [];
    let whole = 0;
    await loadSnapshot(FILE, { baseUrl: BASE_URL, threads }, ({ done, total }) => {
      steps.push(done);
      whole = total;
    });
    expect(steps).toEqual(steps.toSorted((a, b) => a - b));
    expect(steps.at(-1)).toBe(whole);
  }
});

test('refuses damage that a thread finds as without threads', async () => {
  const bytes = readFileSync(FILE);
  for (const name of ['notes/text.text', 'platforms/records/0.bytes']) {
    const section = directoryOf(bytes).sections.find((one) => one.name === name)!;
    const damaged = Buffer.from(bytes);
    damaged[section.offset + 5]! ^= 1;
    const file = join(SCRATCH, 'damaged.snapshot');
    writeFileSync(file, damaged);
    const refusals = await Promise.all(
      [1, 2].map((threads) => loadSnapshot(file, { baseUrl: BASE_URL, threads }).catch((error: unknown) => error)),
    );
    for (const refusal of refusals) expect(refusal).toBeInstanceOf(OperationError);
    const [alone, threaded] = refusals as OperationError[];
    expect(threaded!.message).toBe(alone!.message);
    expect(threaded!.code).toBe('snapshot');
    expect(alone!.message).toMatch(new RegExp(`section ${name}: checksum`));
  }
});
