import { mkdtempSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SnapshotCache } from '../../../../data/distribution/cache.ts';
import { nextPointer, type Pointer, snapshotName } from '../../../../data/distribution/target.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';

const directory = temporaryDirectory();

test('reports a cache folder that cannot be made with the flag that names it', async () => {
  const file = join(directory, 'file');
  writeFileSync(file, '');
  const message = expect.stringContaining(`cannot write ${file}/cache, the folder of --cache: ENOTDIR`) as unknown;
  await expect(SnapshotCache.open(`${file}/cache`, 'file:///target')).rejects.toMatchObject({ code: 'file', message });
});

test('lets no replica of a shared cache remove what another one is ahead with, or fetches', async () => {
  const shared = mkdtempSync(join(directory, 'shared-'));
  const pointers: Pointer[] = [];
  for (const letter of 'abc') {
    const hash = letter.repeat(64);
    const next = { generation: hash, sha256: hash, size: 1, created: undefined, refreshed: undefined };
    pointers.push(nextPointer({ ...next, counts: {}, blocks: [] }, pointers.at(-1)));
  }
  const [first, second, third] = pointers as [Pointer, Pointer, Pointer];
  const namesIn = (): readonly string[] => readdirSync(shared).map((name) => name.replace(/^(.)\1*/, '$1'));
  const fetch = (...fetched: readonly Pointer[]): void => {
    for (const pointer of fetched) writeFileSync(join(shared, snapshotName(pointer)), '');
  };
  const kept = async (cache: SnapshotCache, pointer: Pointer): Promise<void> => {
    await cache.keep(pointer);
    await cache.removeOthers();
  };
  fetch(first, second, third);
  const target = 'file:///target';
  const [ahead, behind] = [await SnapshotCache.open(shared, target), await SnapshotCache.open(shared, target)];
  await kept(ahead, first);
  fetch(second, third);
  await kept(behind, first);
  expect(namesIn()).toEqual(['a.snapshot', 'cache.json']);
  fetch(second, third);
  await kept(ahead, second);
  fetch(third);
  await kept(ahead, third);
  const partial = join(shared, `${'d'.repeat(64)}.snapshot.partial`);
  writeFileSync(partial, '');
  fetch(second);
  await kept(behind, second);
  expect(namesIn()).toEqual(expect.arrayContaining(['b.snapshot', 'c.snapshot', 'd.snapshot.partial']));
  expect((await SnapshotCache.open(shared, target)).pointers[0]).toEqual(third);
  const longAgo = Date.now() / 1000 - 3600;
  utimesSync(partial, longAgo, longAgo);
  await kept(behind, third);
  expect(namesIn()).not.toContain('d.snapshot.partial');
});
