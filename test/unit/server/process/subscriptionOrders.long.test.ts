// A real server that follows a target and gets reload requests: its responses and counters, and that it keeps serving
// if its cache is unusable.
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { encodePointer, snapshotName } from '../../../../data/distribution/target.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import {
  newFolder,
  published,
  type Release,
  releaseOf,
  wholePointer,
  cacheOf,
  type Follower,
  startFollower,
} from '../../../support/distributions.ts';

const directory = temporaryDirectory();
const POLL = { timeout: 20_000, interval: 50 };
let releases: readonly [Release, Release, Release];
beforeAll(async () => {
  releases = [await releaseOf(directory, 1), await releaseOf(directory, 2), await releaseOf(directory, 3)];
});

const running: Follower[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.kill();
});

/** A server that serves a target's data and has polled once by itself; then it polls at the interval `poll`. */
async function serving(url: string, cache: string, poll: string): Promise<Follower> {
  const server = await startFollower(url, cache, ['--poll', poll]);
  running.push(server);
  await server.printed(/listening on/);
  await expect.poll(async () => (await server.status()).target.lastSuccess, POLL).not.toBeNull();
  return server;
}

const newCache = (): string => join(mkdtempSync(join(directory, 'cache-')), 'cache');

/**
 * Makes the pointer of a folder name a copy of its snapshot with a wrong byte after the header, which only loading
 * detects.
 */
function damageSection(folder: string): void {
  const pointer = wholePointer(folder)!;
  const body = readFileSync(join(folder, snapshotName(pointer)));
  body[200]! ^= 1;
  const damaged = { ...pointer, sha256: createHash('sha256').update(body).digest('hex') };
  writeFileSync(join(folder, snapshotName(damaged)), body);
  writeFileSync(join(folder, 'current.json'), encodePointer(damaged));
}

test('serves data that it cannot record for a restart, reports it once, and records it as soon as it can', async () => {
  const { url } = newFolder(directory);
  const cache = newCache();
  const [first, second, third] = releases;
  await published(url, first);
  const server = await serving(url, cache, '1d');
  await published(url, second);
  expect(await server.reload()).toMatchObject({ status: 'swapped', served: second.generation });
  const index = join(cache, 'cache.json');
  const noted = readFileSync(index, 'utf8');
  expect(noted).toContain(second.generation);
  rmSync(index);
  // A file cannot replace a folder.
  mkdirSync(index);
  await published(url, third);
  expect(await server.reload()).toMatchObject({ status: 'swapped', served: third.generation });
  await server.printed(/a restart will not serve generation .{12}: cannot write .*cache\.json.*EISDIR/);
  expect((await server.status()).target.generation).toBe(third.generation);
  expect(await server.readyz()).toEqual({ code: 200, status: 'ready' });
  expect(await server.metrics()).toMatch(/^catalogue_replica_reloads_total\{status="refused"\} 0$/m);
  // The index, which would say that the first one is wanted, is gone.
  expect(cacheOf(cache).snapshots).toHaveLength(2);
  for (let i = 0; i < 2; i++) expect(await server.reload()).toMatchObject({ status: 'unchanged' });
  expect(server.out().match(/a restart will not serve/g)).toHaveLength(1);
  expect(server.out()).not.toContain('not taken');
  // A request that could not be recorded wakes the server, which may find a moment without an index.
  await wait(500);
  writeFileSync(`${index}.new`, noted);
  rmSync(index, { recursive: true });
  renameSync(`${index}.new`, index);
  await server.reload();
  expect(readFileSync(index, 'utf8')).toContain(third.generation);
});

test('loads new data on request, responds with the outcome and counts it once', async () => {
  const { folder, url } = newFolder(directory);
  const [first, second, third] = releases;
  await published(url, first);
  const server = await serving(url, newCache(), '1d');
  await published(url, second);
  expect(await server.reload()).toMatchObject({ status: 'swapped', served: second.generation });
  expect((await server.status()).lastChange).toMatchObject({ status: 'swapped' });
  await published(url, third);
  damageSection(folder);
  expect(await server.reload()).toMatchObject({ status: 'refused', served: second.generation });
  const counted = (await server.metrics()).matchAll(/^catalogue_replica_reloads_total\{status="(\w+)"\} (\d+)$/gm);
  expect([...counted].map(([, status, count]) => `${status} ${count}`)).toEqual([
    'swapped 1',
    'unchanged 0',
    'refused 1',
  ]);
});

test('keeps serving if its program is gone, reports it for each reload, and does not exit after a publication', async () => {
  const { url } = newFolder(directory);
  const [first, second] = releases;
  await published(url, first);
  const gone = join(mkdtempSync(join(directory, 'program-')), 'gone');
  const missing = `data:text/javascript,${encodeURIComponent(`
    import { existsSync } from 'node:fs';
    import { registerHooks } from 'node:module';
    registerHooks({
      resolve(specifier, context, next) {
        if (!specifier.endsWith('/loadThread.ts') || !existsSync(${JSON.stringify(gone)}))
          return next(specifier, context);
        throw Object.assign(new Error('gone'), { code: 'ERR_MODULE_NOT_FOUND' });
      },
    });`)}`;
  const server = await startFollower(url, newCache(), [], { node: ['--import', missing] });
  running.push(server);
  await server.printed(/listening on/);
  const reason = 'the program is not where it was when the server started: start the server again';
  writeFileSync(gone, '');
  await published(url, second);
  await expect.poll(async () => (await server.status()).target.lastFailure?.reason, POLL).toEqual(reason);
  expect(await server.reload()).toMatchObject({ status: 'refused', reason, served: first.generation });
  expect((await server.status()).lastChange).toMatchObject({ status: 'refused', reason });
  expect(await server.metrics()).not.toMatch(/^catalogue_replica_reloads_total\{status="refused"\} 0$/m);
  expect(await server.readyz()).toEqual({ code: 200, status: 'ready' });
});

test('keeps data without room in memory whole in the cache, and reports what a restart loads', async () => {
  const { url } = newFolder(directory);
  const [first, second] = releases;
  const cache = newCache();
  await published(url, first);
  const full = `data:text/javascript,${encodeURIComponent('process.constrainedMemory = () => 1')}`;
  const server = await startFollower(url, cache, ['--poll', '1d'], { node: ['--import', full] });
  running.push(server);
  await server.printed(/listening on/);
  await published(url, second);
  const told = `free: make room, or restart on it with ${cache} removed, which takes no room for both`;
  const reason = expect.stringContaining(told) as string;
  const refused = { status: 'refused', failure: 'memory', reason };
  for (let i = 0; i < 2; i++) expect(await server.reload()).toMatchObject(refused);
  const { snapshots, others } = cacheOf(cache);
  expect([snapshots.length, others]).toEqual([2, ['cache.json']]);
  expect((await server.status()).target.lastFailure?.reason).toContain(told);
  await server.kill();
  rmSync(cache, { recursive: true });
  const next = await startFollower(url, cache, ['--poll', '1d'], { node: ['--import', full] });
  running.push(next);
  await next.printed(/listening on/);
  expect((await next.status()).data?.generation).toBe(second.generation);
});

test('writes a cache again whose index was removed, and does not blame the target', async () => {
  const { url } = newFolder(directory);
  const [first] = releases;
  const cache = newCache();
  await published(url, first);
  const server = await serving(url, cache, '100ms');
  rmSync(join(cache, 'cache.json'));
  await expect.poll(() => cacheOf(cache).others, POLL).toEqual(['cache.json']);
  expect((await server.status()).target.lastFailure).toBeNull();
  expect(await server.reload()).toMatchObject({ status: 'unchanged' });
  expect(server.out()).not.toContain('not taken');
});

test('keeps serving if its cache is unreadable, reports it, and loads new data once it is readable', async () => {
  const { url } = newFolder(directory);
  const [first, second] = releases;
  const cache = newCache();
  await published(url, first);
  const server = await serving(url, cache, '100ms');
  renameSync(cache, `${cache}.away`);
  // A symbolic link to itself: the system reports neither its target nor that it is missing, as without permissions or
  // on a failing disk.
  symlinkSync(cache, cache);
  await published(url, second);
  const reason = expect.stringMatching(/^cannot read .*\.snapshot: ELOOP/) as string;
  await expect.poll(async () => (await server.status()).target.lastFailure?.reason, POLL).toEqual(reason);
  expect(await server.readyz()).toEqual({ code: 200, status: 'ready' });
  rmSync(cache);
  renameSync(`${cache}.away`, cache);
  await expect.poll(async () => (await server.status()).data?.generation, POLL).toBe(second.generation);
});
