// Data on a full disk: each step reports it, the old data stays, and the next run finishes the work once there is room.
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import {
  appendGeneration,
  changesSince,
  generationsIn,
  type NextGeneration,
} from '../../../data/upstream/changeLog.ts';
import { fetchObject } from '../../../data/distribution/fetch.ts';
import { snapshotName } from '../../../data/distribution/target.ts';
import { openPublishingTarget } from '../../../data/distribution/openTarget.ts';
import { runCommand } from '../../support/commandProcess.ts';
import { differencesFrom, followOnce } from '../../support/crawls.ts';
import { dataSetOf, imported, temporaryDirectory } from '../../support/dataSets.ts';
import {
  newFolder,
  published,
  releaseOf,
  strayNames,
  wholePointer,
  startFollower,
} from '../../support/distributions.ts';
import { type PlainRecord, startPlainUpstream } from '../../support/plainUpstream.ts';
import { randomOf } from '../../support/random.ts';
import { smallDisk } from '../../support/smallDisk.ts';

const directory = temporaryDirectory();
const disk = smallDisk(directory);
afterEach(() => disk?.empty());
afterAll(() => disk?.unmount());

/** A text that no index shortens. */
const random = randomOf(20_261_124);
const TEXT = Array.from({ length: 40_000 }, () => random.integer(0, 2 ** 30).toString(36)).join(' ');
const LEFT = 50_000;
const POLL = { timeout: 30_000, interval: 50 };
const FULL = /ENOSPC|no room in/;

async function run(words: readonly string[]): Promise<readonly [number | null, string]> {
  const command = runCommand(words);
  const { code } = await command.ended;
  return [code, command.out() + command.err()];
}

describe.skipIf(!disk)('on a full disk', () => {
  const at = (name: string): string => join(disk!.folder, name);

  test('keeps the previous snapshot if an import fails', async () => {
    const [small, large] = ['a', TEXT].map((note) =>
      dataSetOf(directory, { 'notes.ndjson': `${JSON.stringify({ ob_id: 7, note })}\n` }),
    ) as [string, string];
    const file = at('catalogue.snapshot');
    expect((await run(['import', small, '-o', file]))[0]).toBe(0);
    const before = readFileSync(file);
    disk!.fill(LEFT);
    expect(await run(['import', large, '-o', file])).toEqual([1, expect.stringMatching(FULL)]);
    expect(readFileSync(file).equals(before)).toBe(true);
    disk!.empty();
    expect((await run(['import', large, '-o', file]))[0]).toBe(0);
    expect((await run(['verify', file]))[0]).toBe(0);
  });

  test('keeps the current generation if publishing fails', async () => {
    const [old, next] = [await releaseOf(directory, 1), await releaseOf(directory, 2, TEXT)];
    const folder = at('target');
    const url = pathToFileURL(folder).href;
    await published(url, old);
    disk!.fill(LEFT);
    await expect(published(url, next)).rejects.toMatchObject({
      code: 'file',
      message: expect.stringMatching(FULL) as string,
    });
    expect(wholePointer(folder)!.generation).toBe(old.generation);
    expect(strayNames(folder)).toEqual([]);
    disk!.empty();
    await published(url, next);
    expect(wholePointer(folder)!).toMatchObject({ generation: next.generation, sequence: 2 });
  });

  test('requests nothing for a fetch, and completes it once there is room', async () => {
    const { url } = newFolder(directory);
    const { pointer } = await published(url, await releaseOf(directory, 2, TEXT));
    const target = await openPublishingTarget(url);
    const file = join(mkdtempSync(at('cache-')), 'snapshot');
    const { signal } = new AbortController();
    const options = { target, name: snapshotName(pointer), stored: pointer, file, signal, stallMs: 30_000 };
    disk!.fill(LEFT);
    await expect(fetchObject(options)).rejects.toMatchObject({ message: expect.stringMatching(FULL) as string });
    disk!.empty();
    expect(await fetchObject(options)).toBe(pointer.size);
  });

  test('keeps serving, reports why, and loads the new data once there is room', async () => {
    const [old, next] = [await releaseOf(directory, 1), await releaseOf(directory, 2, TEXT)];
    const { url } = newFolder(directory);
    await published(url, old);
    const server = await startFollower(url, at('cache-of-server'));
    try {
      await server.printed(/listening on/);
      disk!.fill(LEFT);
      await published(url, next);
      await expect.poll(async () => (await server.status()).target.lastFailure?.reason, POLL).toMatch(FULL);
      expect((await server.status()).data!.generation).toBe(old.generation);
      expect(await server.readyz()).toMatchObject({ code: 200 });
      disk!.empty();
      await expect.poll(async () => (await server.status()).data!.generation, POLL).toBe(next.generation);
    } finally {
      await server.kill();
    }
  });

  test('lets a server remove abandoned partial files from its cache, and none that another replica writes', async () => {
    const { url } = newFolder(directory);
    const release = await releaseOf(directory, 1);
    await published(url, release);
    const cache = mkdtempSync(at('cache-of-partials-'));
    const partialOf = (letter: string): string => join(cache, `${letter.repeat(64)}.snapshot.partial`);
    const [abandoned, written] = [partialOf('a'), partialOf('b')];
    writeFileSync(written, 'bytes');
    disk!.fill(LEFT);
    renameSync(at('filler'), abandoned);
    const server = await startFollower(url, cache);
    try {
      await expect.poll(async () => (await server.readyz()).reason, POLL).toMatch(FULL);
      expect(existsSync(abandoned)).toBe(true);
      utimesSync(abandoned, 0, 0);
      await server.reload();
      await expect.poll(async () => (await server.readyz()).code, POLL).toBe(200);
      expect([existsSync(abandoned), existsSync(written)]).toEqual([false, true]);
    } finally {
      await server.kill();
      rmSync(cache, { recursive: true });
    }
  });

  test('keeps compressed records in memory if they have no room next to the snapshot, and reports it', async () => {
    const { file } = await imported(dataSetOf(directory, { 'notes.ndjson': `{"ob_id":7,"note":"${TEXT}"}\n` }), {
      file: at('blocks.snapshot'),
    });
    disk!.fill(LEFT);
    const words = ['--data', file, '--base-url', 'http://a.example.org', '--port', '0', '--threads', '1'];
    const server = runCommand(['serve', ...words]);
    try {
      await server.printed(FULL);
      const [, url] = await server.printed(/listening on (http:\S+)\n/);
      const answer = await fetch(`${url}/api/v3/notes/7/`, { headers: { 'accept-encoding': 'gzip' } });
      expect([answer.headers.get('content-encoding'), await answer.json()]).toEqual(['gzip', { ob_id: 7, note: TEXT }]);
    } finally {
      await server.kill();
    }
  });

  test('leaves a change log as it was, and appends the generation once there is room', () => {
    const log = at('changes.log');
    const changes = Array.from({ length: 5000 }, (_, id) => {
      return { collection: 'notes', id, before: null, after: new Uint8Array(16) };
    });
    const generationOf = (i: number): NextGeneration => {
      return { generation: String(i).padStart(64, '0'), at: i, isBase: i === 0, changes: i === 0 ? [] : changes };
    };
    appendGeneration(log, generationOf(0));
    disk!.fill(LEFT);
    expect(() => appendGeneration(log, generationOf(1))).toThrow(FULL);
    expect(generationsIn(log).length).toBe(1);
    disk!.empty();
    appendGeneration(log, generationOf(1));
    expect([...changesSince(log, generationOf(0).generation)].flatMap((frame) => frame.changes).length).toBe(5000);
  });

  test('keeps the previous generation if a refresh fails, and the directory if a crawl fails', async () => {
    const notes: PlainRecord[] = [{ ob_id: 1, title: 'a' }];
    const upstream = await startPlainUpstream({ collections: { notes } });
    try {
      const [folder, crawled] = [at('replica'), at('crawled')];
      expect((await followOnce(upstream.url, folder).ended).code).toBe(0);
      const crawl = ['crawl', upstream.url, '-o', crawled, '--rate', '1000', '--force'];
      expect((await run(crawl))[0]).toBe(0);
      const before = [...notes];
      notes.push({ ob_id: 2, title: TEXT });
      disk!.fill(LEFT);
      const failed = followOnce(upstream.url, folder);
      expect((await failed.ended).code).toBe(1);
      expect(failed.out() + failed.err()).toMatch(FULL);
      expect(await differencesFrom(folder, before)).toEqual([]);
      expect(await run(crawl)).toEqual([1, expect.stringMatching(FULL)]);
      disk!.empty();
      expect((await followOnce(upstream.url, folder).ended).code).toBe(0);
      expect(await differencesFrom(folder, notes)).toEqual([]);
      expect((await run(crawl))[0]).toBe(0);
      expect(readFileSync(join(crawled, 'notes.ndjson'), 'utf8').split('\n').length).toBe(3);
    } finally {
      await upstream.close();
    }
  });
});
