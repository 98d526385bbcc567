// Publishing into a folder: its content afterwards, with concurrent publishers and any snapshot, and the result of
// pruning. kills.long.test.ts kills publishers.
import {
  copyFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { blocksFile, keepBlocks } from '../../../../data/blocks/blockStore.ts';
import { encodePointer, snapshotName } from '../../../../data/distribution/target.ts';
import { confirmPublished, publishSnapshot } from '../../../../data/distribution/publish.ts';
import { pruneTarget } from '../../../../data/distribution/prune.ts';
import { openPublishingTarget, openTarget } from '../../../../data/distribution/openTarget.ts';
import { runCommand } from '../../../support/commandProcess.ts';
import { dataSetOf, imported, temporaryDirectory } from '../../../support/dataSets.ts';
import {
  newFolder,
  published,
  type Release,
  releaseOf,
  strayNames,
  wholePointer,
} from '../../../support/distributions.ts';
import { altered } from '../../../support/targetSuite.ts';

const directory = temporaryDirectory();
let old: Release;
let next: Release;
beforeAll(async () => {
  [old, next] = [await releaseOf(directory, 1), await releaseOf(directory, 2)];
  await keepBlocks(next.file, { baseUrl: 'https://a.example.org', threads: 1 }, () => undefined);
});

const refusal = (message: RegExp, code: string): Error =>
  expect.objectContaining({ code, message: expect.stringMatching(message) as string }) as Error;

describe('publishing', () => {
  test('stores the snapshot and its compressed records, and points to them', async () => {
    const { folder, url } = newFolder(directory);
    await published(url, old);
    const { isNew, sentBytes } = await published(url, next);
    const pointer = wholePointer(folder)!;
    expect(isNew).toBe(true);
    expect(pointer).toMatchObject({ sequence: 2, generation: next.generation, created: '2026-01-02T00:00:00Z' });
    expect(pointer.counts['notes']).toBe(1);
    expect(pointer.earlier.map(({ generation }) => generation)).toEqual([old.generation]);
    expect(pointer.blocks.length).toBe(1);
    expect(sentBytes).toBe(pointer.size + pointer.blocks[0]!.size);
    expect(strayNames(folder)).toEqual([]);
  });

  test('sends and changes only what was lost meanwhile when it is repeated', async () => {
    const { folder, url } = newFolder(directory);
    await published(url, next);
    expect(await published(url, next)).toMatchObject({ isNew: false, sentBytes: 0 });
    const pointer = wholePointer(folder)!;
    rmSync(join(folder, snapshotName(pointer)));
    expect(await published(url, next)).toMatchObject({ isNew: false, sentBytes: pointer.size });
    expect(wholePointer(folder)).toEqual(pointer);
  });

  test('links an immutable file into a folder of its file system, replaces a damaged object, and copies other files', async () => {
    const { folder, url } = newFolder(directory);
    await published(url, old);
    const object = join(folder, snapshotName(wholePointer(folder)!));
    expect(statSync(object).ino).not.toBe(statSync(old.file).ino);
    const bytes = readFileSync(object);
    bytes[200]! ^= 1;
    writeFileSync(object, bytes);
    expect(await published(url, old, { isImmutable: true })).toMatchObject({ isNew: false, sentBytes: 0 });
    expect(statSync(object).ino).toBe(statSync(old.file).ino);
    const { sentBytes } = await published(url, next, { isImmutable: true });
    expect(sentBytes).toBeGreaterThan(statSync(next.file).size);
    expect(statSync(join(folder, snapshotName(wholePointer(folder)!))).ino).toBe(statSync(next.file).ino);
    expect(strayNames(folder)).toEqual([]);
  });

  test('records when the data was found current, next to other publishers', async () => {
    const { folder, url } = newFolder(directory);
    const target = await openPublishingTarget(url, {});
    const at = (minute: number): string => `2026-02-01T00:0${minute}:00.000Z`;
    expect(await confirmPublished(target, old.generation, at(1))).toBe(false);
    await published(url, old);
    const first = wholePointer(folder)!;
    expect(first.refreshed).toBeUndefined();
    expect(await confirmPublished(target, old.generation, at(2))).toBe(true);
    expect(wholePointer(folder)).toEqual({ ...first, sequence: 2, refreshed: at(2) });
    expect(
      await publishSnapshot({ file: old.file, target, allowRollback: false, refreshed: at(3) }, () => undefined),
    ).toMatchObject({
      isNew: false,
      sentBytes: 0,
      pointer: { ...first, sequence: 3, refreshed: at(3) },
    });
    const all = await Promise.all([4, 5, 6, 7].map((minute) => confirmPublished(target, old.generation, at(minute))));
    expect(all).toEqual([true, true, true, true]);
    expect(wholePointer(folder)!.sequence).toBe(7);
    await published(url, next);
    const other = wholePointer(folder)!;
    expect(other).toMatchObject({ generation: next.generation, refreshed: undefined });
    expect(await confirmPublished(target, old.generation, at(8))).toBe(true);
    expect(wholePointer(folder)).toEqual(other);
    expect(strayNames(folder)).toEqual([]);
  });

  test('reports what blocks access to the folder, and so does a reader', async () => {
    const { folder, url } = newFolder(directory);
    rmSync(folder, { recursive: true });
    symlinkSync(folder, folder);
    await expect(published(url, next)).rejects.toEqual(refusal(/^cannot read .*current\.json: ELOOP/, 'file'));
    const target = await openPublishingTarget(url);
    const read = target.readPointer(undefined, new AbortController().signal);
    await expect(read).rejects.toEqual(refusal(/^cannot read .*current\.json: ELOOP/, 'file'));
    await expect(target.has(snapshotName({ sha256: 'a'.repeat(64), size: 1 }), 1)).rejects.toEqual(
      refusal(/ELOOP/, 'file'),
    );
  });

  test('refuses older data before it sends anything, unless it is allowed', async () => {
    const { folder, url } = newFolder(directory);
    await published(url, next);
    const names = readdirSync(folder);
    await expect(published(url, old)).rejects.toThrow(
      refusal(/2026-01-01.* is older than .*--allow-rollback/, 'refused'),
    );
    expect(readdirSync(folder)).toEqual(names);
    await published(url, old, { allowRollback: true });
    expect(wholePointer(folder)).toMatchObject({ sequence: 2, generation: old.generation });
  });

  test('refuses data dated more than a day in the future before it sends anything, unless --force is given', async () => {
    const { folder, url } = newFolder(directory);
    const created = new Date(Date.now() + 2 * 86_400_000).toISOString();
    const { file } = await imported(dataSetOf(directory, { 'notes.ndjson': '{"ob_id":7}\n' }), { created });
    const refused = runCommand(['publish', file, '--to', url]);
    expect((await refused.ended).code).toBe(1);
    expect(refused.err()).toMatch(/--force publishes it anyway$/m);
    expect(readdirSync(folder)).toEqual([]);
    expect((await runCommand(['publish', file, '--to', url, '--force']).ended).code).toBe(0);
    expect(wholePointer(folder)).toMatchObject({ created });
  });

  test.each([
    ['truncated', (file: string) => truncateSync(file, 1000), /file has 1000 bytes, expected/],
    ['of no bytes', (file: string) => truncateSync(file, 0), /file has 0 bytes, a header takes 128$/],
    ['of another version', (file: string) => patch(file, 8, 99), /version 99/],
    ['with a bit flipped', (file: string) => patch(file, 200, readFileSync(file)[200]! ^ 1), /checksum/],
  ])('refuses a snapshot that is %s, and leaves the target as it was', async (_, spoil, message) => {
    const { folder, url } = newFolder(directory);
    await published(url, old);
    const before = readFileSync(join(folder, 'current.json'), 'utf8');
    const file = join(directory, 'spoilt.snapshot');
    copyFileSync(next.file, file);
    spoil(file);
    await expect(published(url, { file })).rejects.toThrow(refusal(message, 'snapshot'));
    expect(readFileSync(join(folder, 'current.json'), 'utf8')).toBe(before);
    expect(readdirSync(folder).length).toBe(2);
  });

  test.each<[string, string, (file: string) => void]>([
    ['damaged', 'https://a.example.org', (file) => patch(file, readFileSync(file).indexOf('{"kind":') - 1, 1)],
    ['cut short', 'https://a.example.org', (file) => truncateSync(file, 1000)],
    ['of another base URL', 'https://b.example.org', () => undefined],
  ])('skips compressed records that are %s, and reports it', async (what, baseUrl, spoil) => {
    const { folder, url } = newFolder(directory);
    const { generation } = next;
    const file = join(directory, `${what}.snapshot`);
    const blocks = blocksFile(file, { generation, baseUrl });
    copyFileSync(next.file, file);
    copyFileSync(blocksFile(next.file, { generation, baseUrl: 'https://a.example.org' }), blocks);
    spoil(blocks);
    const command = runCommand(['publish', file, '--to', url]);
    expect(await command.ended).toEqual({ code: 0, signal: null });
    expect(command.out()).toContain(`\n${blocks}: left out, since it is damaged or of other records: each replica`);
    expect(wholePointer(folder)).toMatchObject({ generation, blocks: [] });
  });

  test('publishes a file as it was verified if another file gets its name meanwhile', async () => {
    const { folder, url } = newFolder(directory);
    const file = join(directory, 'replaced.snapshot');
    copyFileSync(old.file, file);
    const target = await openPublishingTarget(url);
    let isReplaced = false;
    await publishSnapshot({ file, target, allowRollback: false }, ({ phase }) => {
      if (phase !== 'hashing the snapshot' || isReplaced) return;
      isReplaced = true;
      copyFileSync(next.file, `${file}.next`);
      renameSync(`${file}.next`, file);
    });
    expect(isReplaced).toBe(true);
    const pointer = wholePointer(folder)!;
    expect(pointer.generation).toBe(old.generation);
    expect(readFileSync(join(folder, snapshotName(pointer))).equals(readFileSync(old.file))).toBe(true);
  });

  test('refuses a file that is overwritten meanwhile', async () => {
    const { folder, url } = newFolder(directory);
    const file = join(directory, 'overwritten.snapshot');
    copyFileSync(old.file, file);
    utimesSync(file, 1, 1);
    const target = await openPublishingTarget(url);
    const publishing = publishSnapshot({ file, target, allowRollback: false }, ({ phase }) => {
      if (phase === 'hashing the snapshot') writeFileSync(file, readFileSync(next.file));
    });
    await expect(publishing).rejects.toThrow(refusal(/was changed while it was read: publish again/, 'file'));
    expect(readdirSync(folder)).toEqual([]);
  });

  test('refuses a file that changes while it is sent', async () => {
    const { folder, url } = newFolder(directory);
    const file = join(directory, 'moving.snapshot');
    copyFileSync(next.file, file);
    const target = await openPublishingTarget(url);
    const moving = {
      ...target,
      write: (...[name, size, pieces]: Parameters<typeof target.write>) => {
        patch(file, 300, readFileSync(file)[300]! ^ 1);
        return target.write(name, size, pieces);
      },
    };
    await expect(published(url, { file }, { target: moving })).rejects.toThrow(refusal(/was changed while/, 'file'));
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('concurrent publishing', () => {
  test('gives each of two publishers its turn, and leaves the newer data current', async () => {
    for (let round = 0; round < 5; round++) {
      const { folder, url } = newFolder(directory);
      const ends = await Promise.allSettled([published(url, old), published(url, next)]);
      expect(ends[1].status).toBe('fulfilled');
      const pointer = wholePointer(folder)!;
      expect(pointer.generation).toBe(next.generation);
      expect(pointer.sequence).toBe(ends.filter(({ status }) => status === 'fulfilled').length);
      expect(strayNames(folder)).toEqual([]);
    }
  });

  test('loses no publication of many processes', async () => {
    const { folder, url } = newFolder(directory);
    const releases = await Promise.all([1, 2, 3, 4].map((i) => releaseOf(directory, undefined, `text ${i}`)));
    const commands = releases.map(({ file }) => runCommand(['publish', file, '--to', url]));
    const ends = await Promise.all(commands.map(({ ended }) => ended));
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    const pointer = wholePointer(folder)!;
    expect(pointer.sequence).toBe(4);
    const all = [pointer, ...pointer.earlier].map(({ generation }) => generation);
    expect(all.toSorted()).toEqual(releases.map(({ generation }) => generation).toSorted());
  });

  test('counts a publisher killed right before the rename of its pointer as published, once another one publishes', async () => {
    const { folder, url } = newFolder(directory);
    await published(url, old);
    const before = readFileSync(join(folder, 'current.json'), 'utf8');
    await published(url, next);
    // The claim as the killed publisher left it, and the old pointer.
    writeFileSync(join(folder, 'current.2.json'), readFileSync(join(folder, 'current.json')));
    writeFileSync(join(folder, 'current.json'), before);
    const third = await releaseOf(directory, 3);
    await published(url, third);
    const pointer = wholePointer(folder)!;
    expect(pointer).toMatchObject({ sequence: 3, generation: third.generation });
    expect(pointer.earlier.map(({ generation }) => generation)).toEqual([next.generation, old.generation]);
    expect(strayNames(folder)).toEqual([]);
  });
});

describe('pruning', () => {
  const DAY = 86_400_000;

  test('keeps the given number of generations, and what another process may be publishing', async () => {
    const { folder, url } = newFolder(directory);
    const releases = [old, next, await releaseOf(directory, 3), await releaseOf(directory, 4)];
    for (const release of releases) await published(url, release);
    const stray = `${'e'.repeat(64)}.snapshot`;
    writeFileSync(join(folder, stray), 'half');
    const target = await openPublishingTarget(url);
    const now = Date.now();
    const pruned = await pruneTarget(target, 2, now);
    // The snapshot of the first generation, and snapshot and compressed records of the second.
    expect(pruned).toMatchObject({ removed: 3, kept: 3 });
    expect(wholePointer(folder)!.generation).toBe(releases[3]!.generation);
    expect(readdirSync(folder)).toContain(stray);
    utimesSync(join(folder, stray), now / 1000, (now - 2 * DAY) / 1000);
    expect(await pruneTarget(target, 2, now)).toMatchObject({ removed: 1, removedBytes: 4, kept: 2 });
    expect(await pruneTarget(target, 1, now)).toMatchObject({ removed: 1, kept: 1 });
    expect(wholePointer(folder)!.generation).toBe(releases[3]!.generation);
  });

  test('names objects that became needed while it removed them, unless they exist again', async () => {
    for (const isSentAgain of [false, true]) {
      const { folder, url } = newFolder(directory);
      await published(url, old);
      const first = wholePointer(folder)!;
      await published(url, next);
      const target = await openPublishingTarget(url);
      // A publisher found the object and points to it after its removal.
      const remove = async (name: string): Promise<void> => {
        await target.remove(name);
        if (isSentAgain) await published(url, old, { allowRollback: true });
        else writeFileSync(join(folder, 'current.json'), encodePointer({ ...first, sequence: 3 }));
      };
      const { removed, missing } = await pruneTarget(altered(target, { remove }), 1, Date.now());
      expect([removed, missing]).toEqual([1, isSentAgain ? undefined : expect.stringMatching(/\.snapshot$/)]);
    }
  });

  test('is refused without a pointer that names what is needed, whatever the clock', async () => {
    const { folder, url } = newFolder(directory);
    const stray = `${'e'.repeat(64)}.snapshot`;
    writeFileSync(join(folder, stray), 'half');
    await expect(pruneTarget(await openPublishingTarget(url), 1, Date.now() + 1000 * DAY)).rejects.toMatchObject({
      code: 'network',
      message: `${url}: nothing is published there, it has no current.json`,
    });
    expect(readdirSync(folder)).toEqual([stray]);
  });

  test('is refused without the folder, and so is reading', async () => {
    const { folder, url } = newFolder(directory);
    rmSync(folder, { recursive: true });
    await expect(pruneTarget(await openPublishingTarget(url), 1, Date.now())).rejects.toThrow(
      `cannot read ${folder}: ENOENT`,
    );
    const target = await openTarget(url, { timeoutMs: 1000 });
    await expect(target.readPointer(undefined, new AbortController().signal)).rejects.toMatchObject({
      code: 'file',
      message: `${url}: there is no such folder`,
    });
  });
});

function patch(file: string, offset: number, byte: number): void {
  const bytes = readFileSync(file);
  bytes[offset] = byte;
  writeFileSync(file, bytes);
}
