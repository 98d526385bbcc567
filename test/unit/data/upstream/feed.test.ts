// The change feed of a generation, from the change log next to its snapshot.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CHANGES_FILE, decodeFeed } from '../../../../data/changeFeed.ts';
import { appendGeneration, FRAME_CHANGES_MAX } from '../../../../data/upstream/changeLog.ts';
import { encodeLogFeed } from '../../../../data/upstream/feed.ts';
import { dataSetOf, temporaryDirectory } from '../../../support/dataSets.ts';

const directory = temporaryDirectory();
const DIGEST = new Uint8Array(16);

function generationOf(n: number): string {
  return String(n).padStart(16, '0').repeat(4);
}

/** The path of a snapshot next to a log of these generations by number; a negative one starts the log again. */
function snapshotOf(numbers: readonly number[], changesEach = 1): string {
  const folder = dataSetOf(directory, {});
  numbers.forEach((n, i) => {
    const isBase = i === 0 || n < 0;
    const ids = Array.from({ length: isBase ? 0 : changesEach }, (_, id) => i * 10_000 + id);
    const changes = ids.map((id) => ({ collection: 'notes', id, before: null, after: DIGEST }));
    const generation = generationOf(Math.abs(n));
    appendGeneration(join(folder, CHANGES_FILE), { generation, at: 1_000_000_000 + i, isBase, changes });
  });
  return join(folder, 'catalogue.snapshot');
}

/** The ids that a client of each known generation gets. */
async function idsSince(snapshot: string, n: number, bytesMax?: number): Promise<Record<string, readonly number[]>> {
  const bytes = await encodeLogFeed(snapshot, generationOf(n), bytesMax);
  const feed = decodeFeed(bytes!, generationOf(n), 'the feed');
  const entries = feed.generations.map(([generation, offset]) => {
    const lines = Buffer.from(feed.bytes.subarray(offset)).toString().trimEnd().split('\n');
    const objects = lines.map((line) => JSON.parse(line) as { readonly id: number });
    expect(objects.pop()).toEqual({ next: generationOf(n).slice(0, 12) });
    return [Number(generation.slice(0, 16)), objects.map(({ id }) => id)] as const;
  });
  return Object.fromEntries(entries);
}

test('has the changes since each generation that the log has, up to the one of the snapshot', async () => {
  const snapshot = snapshotOf([1, 2, 3, 4]);
  expect(await idsSince(snapshot, 4)).toEqual({ 1: [10_000, 20_000, 30_000], 2: [20_000, 30_000], 3: [30_000], 4: [] });
  expect(await idsSince(snapshot, 3)).toEqual({ 1: [10_000, 20_000], 2: [20_000], 3: [] });
  expect(await encodeLogFeed(snapshot, generationOf(9))).toBeUndefined();
  expect(await encodeLogFeed(join(directory, 'none.snapshot'), generationOf(1))).toBeUndefined();
});

test('begins where the log was restarted', async () => {
  expect(await idsSince(snapshotOf([1, 2, -3, 4]), 4)).toEqual({ 3: [30_000], 4: [] });
});

test('counts the changes since the last appearance of a generation that came back', async () => {
  const snapshot = snapshotOf([1, 2, 1, 3]);
  expect(await idsSince(snapshot, 1)).toEqual({ 1: [], 2: [20_000] });
  expect(await idsSince(snapshot, 3)).toEqual({ 1: [30_000], 2: [20_000, 30_000], 3: [] });
});

test('forgets the oldest generations beyond its limit, the newest too if that alone exceeds it', async () => {
  const snapshot = snapshotOf([1, 2, 3], FRAME_CHANGES_MAX + 1);
  const whole = (await idsSince(snapshot, 3))[1]!;
  expect(whole).toHaveLength(2 * (FRAME_CHANGES_MAX + 1));
  const lineBytes = 132;
  expect(await idsSince(snapshot, 3, 3 * FRAME_CHANGES_MAX * lineBytes)).toMatchObject({ 1: whole });
  expect(await idsSince(snapshot, 3, 1.5 * FRAME_CHANGES_MAX * lineBytes)).toEqual({
    2: whole.slice(FRAME_CHANGES_MAX + 1),
    3: [],
  });
  expect(await idsSince(snapshot, 3, lineBytes)).toEqual({ 3: [] });
});

test('reports a damaged feed, a feed of another generation and a damaged log', async () => {
  const snapshot = snapshotOf([1, 2]);
  const bytes = (await encodeLogFeed(snapshot, generationOf(2)))!;
  for (let at = 0; at < bytes.length; at++) {
    const damaged = Uint8Array.from(bytes);
    damaged[at]! ^= 1;
    expect(() => decodeFeed(damaged, generationOf(2), 'x'), `byte ${at}`).toThrow('x: it is damaged');
  }
  for (const length of [0, 10, bytes.length - 1])
    expect(() => decodeFeed(bytes.slice(0, length), generationOf(2), 'x')).toThrow('x: it is damaged');
  expect(() => decodeFeed(bytes, generationOf(1), 'x')).toThrow('x: it is the change feed of another generation');
  writeFileSync(join(snapshot, '..', CHANGES_FILE), 'no change log');
  await expect(encodeLogFeed(snapshot, generationOf(2))).rejects.toThrow('damaged at byte 0');
});
