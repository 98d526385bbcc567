// A real server that follows a target: the generations that it loads, refuses and starts from, and its reports.
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { decodePointer, encodePointer, type Pointer, snapshotName } from '../../../../data/distribution/target.ts';
import { openPublishingTarget } from '../../../../data/distribution/openTarget.ts';
import { confirmPublished, publishSnapshot } from '../../../../data/distribution/publish.ts';
import { runCommand } from '../../../support/commandProcess.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import {
  newFolder,
  published,
  type Release,
  releaseOf,
  wholePointer,
  cacheOf,
  type FolderServer,
  type Follower,
  serveFolder,
  startFollower,
} from '../../../support/distributions.ts';

const directory = temporaryDirectory();
const POLL = { timeout: 20_000, interval: 50 };
let first: Release;
let second: Release;
let third: Release;
beforeAll(async () => {
  [first, second, third] = [
    await releaseOf(directory, 1),
    await releaseOf(directory, 2),
    await releaseOf(directory, 3),
  ];
});

const running: (Follower | FolderServer)[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await ('kill' in one ? one.kill() : one.close());
});

async function follower(...start: Parameters<typeof startFollower>): Promise<Follower> {
  const started = await startFollower(...start);
  running.push(started);
  return started;
}

async function handedOut(folder: string): Promise<FolderServer> {
  const server = await serveFolder(folder);
  running.push(server);
  return server;
}

const newCache = (): string => join(mkdtempSync(join(directory, 'cache-')), 'cache');

async function serves(server: Follower, { generation }: Pick<Release, 'generation'>): Promise<void> {
  await expect.poll(async () => (await server.status()).data?.generation, POLL).toBe(generation);
}

/** A server that has served both of two generations, published one after the other. */
async function servedTwo(url: string, cache: string): Promise<Follower> {
  await published(url, first);
  const server = await follower(url, cache);
  await serves(server, first);
  await published(url, second);
  await serves(server, second);
  return server;
}

/** Puts an altered pointer into a folder, as no publisher would. */
function alterPointer(folder: string, change: (pointer: Pointer) => Partial<Pointer>): void {
  const file = join(folder, 'current.json');
  const pointer = decodePointer(readFileSync(file, 'utf8'), folder);
  writeFileSync(`${file}.new`, encodePointer({ ...pointer, ...change(pointer) }));
  renameSync(`${file}.new`, file);
}

describe('a server that follows a target', () => {
  test('waits for its first snapshot and reports it, loads it, and then each next one', async () => {
    const { folder, url } = newFolder(directory);
    const cache = newCache();
    const server = await follower(url, cache);
    const reason = expect.stringMatching(/^waiting for the first snapshot of file:.*: nothing is published/) as string;
    await expect.poll(() => server.readyz(), POLL).toEqual({ code: 503, status: 'loading', reason });
    await published(url, first);
    await server.printed(/listening on/);
    await serves(server, first);
    expect(await server.readyz()).toEqual({ code: 200, status: 'ready' });
    await published(url, second);
    await serves(server, second);
    const { size } = wholePointer(folder)!;
    await expect
      .poll(async () => (await server.status()).target, POLL)
      .toMatchObject({
        generation: second.generation,
        sequence: 2,
        lastFetch: { generation: second.generation, bytes: size, seconds: expect.any(Number) as number },
        lastSuccess: expect.any(String) as string,
        kept: [second.generation, first.generation],
      });
    expect(server.out()).toMatch(/^fetched generation .{12} of file:.*: [\d.]+ kB in [\d.]+ s$/m);
    await expect.poll(() => server.out(), POLL).toMatch(/nobody reads it any more, its memory is free/);
    expect(await server.metrics()).toMatch(new RegExp(`^catalogue_replica_target_fetch_bytes ${size}$`, 'm'));
    await published(url, third);
    await serves(server, third);
    await expect.poll(() => cacheOf(cache).snapshots.length, POLL).toBe(2);
    // The folder is on the same file system: nothing was copied.
    const name = snapshotName(wholePointer(folder)!);
    expect(statSync(join(cache, name)).ino).toBe(statSync(join(folder, name)).ino);
    expect(cacheOf(cache).others).toEqual(['cache.json']);
  });

  test('starts from its cache when the target is gone, and reports that it is stale, until it is back', async () => {
    const { folder, url } = newFolder(directory);
    const cache = newCache();
    const server = await handedOut(folder);
    await published(url, first);
    const before = await follower(server.url, cache);
    await serves(before, first);
    await before.kill();
    server.misbehave = (_, response) => !!response.socket?.destroy();
    const after = await follower(server.url, cache, ['--max-stale', '1s']);
    await serves(after, first);
    const reason = expect.stringMatching(/^the data is stale: for \d+ s it was not confirmed by http.*: /) as string;
    await expect.poll(() => after.readyz(), POLL).toEqual({ code: 503, status: 'stale', reason });
    expect(await after.metrics()).toMatch(/^catalogue_replica_ready 0$/m);
    const [, origin] = await after.printed(/listening on (http:\S+)\n/);
    const healthz = async (): Promise<number> => (await fetch(`${origin}/healthz`)).status;
    await expect.poll(healthz, POLL).toBe(503);
    expect((await fetch(`${origin}/api/v3/`)).status).toBe(200);
    expect((await after.status()).target.lastFailure?.reason).toContain(`${server.url}current.json: `);
    server.misbehave = () => false;
    await expect.poll(() => after.readyz(), POLL).toEqual({ code: 200, status: 'ready' });
    await expect.poll(healthz, POLL).toBe(200);
    // It is logged once, however often the server polls.
    expect(after.out().split('not taken, generation').length).toBeLessThanOrEqual(3);
  });

  test('is stale when its publisher no longer follows the catalogue, although the target responds', async () => {
    const { url } = newFolder(directory);
    const target = await openPublishingTarget(url, {});
    const refreshedAgo = (ms: number): string => new Date(Date.now() - ms).toISOString();
    const publish = async (refreshed: string): Promise<void> =>
      void (await publishSnapshot({ file: first.file, target, allowRollback: false, refreshed }, () => undefined));
    await publish(refreshedAgo(3_600_000));
    const server = await follower(url, newCache(), ['--max-stale', '4s']);
    const stale = (): unknown => ({
      code: 503,
      status: 'stale',
      reason: expect.stringMatching(
        /^the data is stale: for \d+ s the publisher of file:.* did not refresh it; /,
      ) as string,
    });
    await expect.poll(() => server.readyz(), POLL).toEqual(stale());
    const age = async (): Promise<number> =>
      Number(/^catalogue_replica_refresh_age_seconds ([\d.]+)$/m.exec(await server.metrics())?.[1]);
    expect(await age()).toBeGreaterThan(3599);
    // A change while it watches counts as current, whatever clock the publisher has.
    const said = refreshedAgo(-86_400_000);
    expect(await confirmPublished(target, first.generation, said)).toBe(true);
    await expect.poll(() => server.readyz(), POLL).toEqual({ code: 200, status: 'ready' });
    expect(await age()).toBeLessThan(5);
    expect((await server.status()).target).toMatchObject({ refreshed: said, sequence: 2 });
    // The publisher refreshes nothing from now on.
    await expect.poll(() => server.readyz(), POLL).toEqual(stale());
    // A manual publication promises no interval.
    await published(url, second);
    await expect.poll(() => server.readyz(), POLL).toEqual({ code: 200, status: 'ready' });
    expect(await server.metrics()).not.toMatch(/^catalogue_replica_refresh_age_seconds /m);
  });

  test('polls often enough to know that it is current, however long the interval', async () => {
    const { url } = newFolder(directory);
    await published(url, first);
    const server = await follower(url, newCache(), ['--poll', '1h', '--max-stale', '5s']);
    await serves(server, first);
    const { lastSuccess } = (await server.status()).target;
    for (let i = 0; i < 45; i++) {
      expect(await server.readyz()).toEqual({ code: 200, status: 'ready' });
      await wait(200);
    }
    expect((await server.status()).target.lastSuccess).not.toBe(lastSuccess);
  });

  test('starts from the previous generation if the last one was damaged on disk, and fetches that again', async () => {
    const { folder, url } = newFolder(directory);
    const server = await handedOut(folder);
    const cache = newCache();
    await published(url, first);
    const before = await follower(server.url, cache);
    await serves(before, first);
    await published(url, second);
    await serves(before, second);
    // Only now does a restart begin with it.
    await expect.poll(() => readFileSync(join(cache, 'cache.json'), 'utf8'), POLL).toContain(second.generation);
    await before.kill();
    const file = join(cache, snapshotName(wholePointer(folder)!));
    const bytes = readFileSync(file);
    bytes[5000]! ^= 1;
    writeFileSync(file, bytes);
    const after = await follower(server.url, cache);
    await after.printed(/generation .{12} of the cache is not taken: .*checksum/);
    await serves(after, second);
    expect(after.out()).toMatch(new RegExp(`^(?![^]*went back)[^]*generation ${first.generation.slice(0, 12)}`));
  });

  test('refuses an older generation, by its data or by its number, unless that is allowed', async () => {
    const { folder, url } = newFolder(directory);
    const cache = newCache();
    await published(url, first);
    const old = readFileSync(join(folder, 'current.json'));
    await published(url, second);
    const server = await follower(url, cache);
    await serves(server, second);
    writeFileSync(join(folder, 'current.json'), old);
    const reason = expect.stringMatching(/is older than .*, which is served/) as string;
    expect(await server.reload()).toMatchObject({ status: 'refused', reason });
    await published(url, first, { allowRollback: true });
    expect(await server.reload()).toMatchObject({ status: 'refused' });
    expect((await server.status()).data!.generation).toBe(second.generation);
    await server.kill();
    const willing = await follower(url, cache, ['--allow-rollback']);
    await serves(willing, first);
  });

  test.each([
    ['another time', '2026-01-31T00:00:00Z'],
    ['no time', undefined],
  ])('refuses an old generation that a pointer with a higher number gives %s', async (_, created) => {
    const { folder, url } = newFolder(directory);
    await published(url, first);
    const old = wholePointer(folder)!;
    await published(url, second);
    const server = await follower(url, newCache());
    await serves(server, second);
    alterPointer(folder, ({ sequence }) => ({ ...old, created, sequence: sequence + 1 }));
    const reason = expect.stringMatching(/dates generation .{12} .*, but its snapshot has 2026-01-01/) as string;
    expect(await server.reload()).toMatchObject({ status: 'refused', reason });
    expect((await server.status()).data!.generation).toBe(second.generation);
  });

  test('goes back on POST /rollback, and stays there until something newer is published', async () => {
    const { url } = newFolder(directory);
    const server = await servedTwo(url, newCache());
    await server.rollback();
    await serves(server, first);
    const { lastSuccess } = (await server.status()).target;
    await expect.poll(async () => (await server.status()).target.lastSuccess, POLL).not.toBe(lastSuccess);
    expect((await server.status()).data!.generation).toBe(first.generation);
    await published(url, third);
    await serves(server, third);
  });

  test('keeps a rollback over a restart, and can go forth and back again', async () => {
    const { folder, url } = newFolder(directory);
    const cache = newCache();
    const server = await servedTwo(url, cache);
    expect(await server.rollback()).toMatchObject({ status: 'swapped' });
    await server.kill();
    const again = await follower(url, cache);
    await serves(again, first);
    const confirmed = async (): Promise<unknown> => (await again.status()).target.lastSuccess;
    await expect.poll(confirmed, POLL).not.toBeNull();
    const { data, target } = await again.status();
    expect([data!.generation, target.heldBack]).toEqual([first.generation, true]);
    await again.printed(/is served after a rollback from [0-9a-f]{12}, until/);
    // The generation that it rolled back from stays held back, even if it is published again.
    alterPointer(folder, ({ sequence }) => ({ sequence: sequence + 1 }));
    const { sequence } = wholePointer(folder)!;
    await expect.poll(async () => (await again.status()).target.sequence, POLL).toBe(sequence);
    await expect.poll(() => readFileSync(join(cache, 'cache.json'), 'utf8'), POLL).toContain(`"sequence":${sequence}`);
    await again.kill();
    const stays = await follower(url, cache);
    await serves(stays, first);
    expect(await stays.rollback()).toMatchObject({ status: 'swapped', served: second.generation });
    await stays.kill();
    const last = await follower(url, cache);
    await serves(last, second);
    expect(await last.rollback()).toMatchObject({ status: 'swapped', served: first.generation });
    await published(url, third);
    await serves(last, third);
    const kept = async (): Promise<readonly string[]> => (await last.status()).target.kept;
    await expect.poll(kept, POLL).toEqual([third.generation, first.generation]);
    expect((await last.status()).target.heldBack).toBe(false);
  });

  test('resumes a cut fetch, however often, and also if the server knows no ranges', async () => {
    const { folder, url } = newFolder(directory);
    const large = await releaseOf(directory, 4, 'x'.repeat(1_000_000));
    await published(url, large);
    const server = await handedOut(folder);
    let cuts = 0;
    server.misbehave = (request, response, file) => {
      if (!file.endsWith('.snapshot') || ++cuts > 4) return false;
      const start = Number(/\d+/.exec(request.headers.range ?? '0')![0]);
      const body = readFileSync(file);
      // The third response starts at the first byte, whatever the request.
      const isWhole = cuts === 3 || start === 0;
      const from = isWhole ? 0 : start;
      const headers = { 'content-length': body.length - from, 'content-range': `bytes ${from}-${body.length - 1}/*` };
      response.writeHead(isWhole ? 200 : 206, headers);
      response.write(body.subarray(from, start + 100_000), () => response.socket!.end());
      return true;
    };
    const replica = await follower(server.url, newCache());
    await serves(replica, large);
    const { size } = wholePointer(folder)!;
    expect((await replica.status()).target.lastFetch!.bytes).toBe(size);
    const ranges = server.asked.filter((path) => path.includes('bytes='));
    expect(ranges.length).toBeGreaterThanOrEqual(3);
  });
});

describe('the served data if the target', () => {
  const { folder, url } = newFolder(directory);
  const cache = newCache();
  let day = 1;
  let served: Release;
  let server: FolderServer;
  let replica: Follower;
  beforeAll(async () => {
    server = await serveFolder(folder);
    served = await releaseOf(directory, day);
    await published(url, served);
    replica = await startFollower(server.url, cache);
    await replica.printed(/listening on/);
  });
  afterAll(async () => {
    server.close();
    await replica.kill();
  });

  test.each<[string, () => void, RegExp]>([
    ['sends other bytes', () => spoil(server, (body) => body.fill(1, 3000, 3001)), /has SHA-256 .*, expected/],
    ['sends too few', () => spoil(server, (body) => body.subarray(0, -1)), /ended at byte \d+ of \d+/],
    ['sends none', () => spoil(server, (body) => body.subarray(0, 0)), /ended at byte 0 of/],
    ['sends too many', () => spoil(server, (body) => Buffer.concat([body, body])), /is longer than \d+ bytes/],
    ['names a longer one', () => alterPointer(folder, ({ size }) => ({ size: size + 1 })), /ended at byte/],
    ['names one for which the disk has no room', () => alterPointer(folder, () => ({ size: 2 ** 40 })), /no room in/],
    ['names another generation', () => alterPointer(folder, () => ({ generation: 'a'.repeat(64) })), /is of gener/],
    ['has lost it', () => rmSync(join(folder, snapshotName(wholePointer(folder)!))), /is gone$/],
    ['has a pointer of another version', () => putPointer(folder, '{"format": 2}'), /has format 2, expected 1/],
    ['has half a pointer', () => putPointer(folder, '{"format": 1'), /is no JSON/],
    ['has an endless pointer', () => putPointer(folder, ' '.repeat(1 << 17)), /more than 65536 bytes/],
    ['has none any more', () => rmSync(join(folder, 'current.json')), /nothing is published there/],
  ])('%s: is kept, and the reason is reported', async (_, harm, message) => {
    const kept = cacheOf(cache).snapshots;
    // No poll reads the folder while the test damages it.
    server.misbehave = (_request, response) => !!response.writeHead(503).end();
    await published(url, await releaseOf(directory, ++day));
    server.misbehave = () => false;
    harm();
    await expect.poll(async () => (await replica.status()).target.lastFailure?.reason, POLL).toMatch(message);
    expect((await replica.status()).data!.generation).toBe(served.generation);
    expect(await replica.readyz()).toMatchObject({ code: 200 });
    expect(cacheOf(cache).snapshots).toEqual(kept);
    // The fault is repaired: the next reload loads the data.
    server.misbehave = () => false;
    rmSync(join(folder, 'current.json'), { force: true });
    served = await releaseOf(directory, ++day);
    await published(url, served);
    expect(await replica.reload()).toMatchObject({ status: expect.stringMatching(/swapped|unchanged/) as string });
    await serves(replica, served);
  });

  test('moves its pointer during a download: is replaced by that one, and then by the next', async () => {
    const [next, last] = [await releaseOf(directory, ++day), await releaseOf(directory, ++day)];
    const begun = Promise.withResolvers<() => void>();
    server.misbehave = (_, response, file) => {
      if (!file.endsWith('.snapshot')) return false;
      server.misbehave = () => false;
      begun.resolve(() => response.writeHead(200).end(readFileSync(file)));
      return true;
    };
    await published(url, next);
    const goOn = await begun.promise;
    await published(url, last);
    goOn();
    await serves(replica, last);
    expect(replica.out()).toContain(`fetched generation ${next.generation.slice(0, 12)}`);
  });
});

describe('serve --from', () => {
  test.each([
    [['--data', 'x.snapshot'], 2, /flag --data: not beside from/],
    [['--watch'], 2, /flag --watch: not beside from/],
    [['--check', '--from', 'nats://host'], 2, /flag --from: no target: want nats:/],
    [['--from', 'https://me:hunter2@a.example.org/'], 2, /flag --from: a target has no user/],
    [['--poll', '10'], 2, /flag --poll: got "10", want a time such as 500ms/],
  ])('is refused with %j', async (words, code, message) => {
    const command = runCommand(['serve', '--from', 'file:///nowhere', '--cache', newCache(), '--port', '0', ...words]);
    expect(await command.ended).toMatchObject({ code });
    expect(command.err()).toMatch(message);
    expect(command.out() + command.err()).not.toContain('hunter2');
  });

  test('is refused with the cache of another target', async () => {
    const [a, b] = [newFolder(directory), newFolder(directory)];
    const cache = newCache();
    await published(a.url, first);
    await serves(await follower(a.url, cache), first);
    const command = runCommand(['serve', '--from', b.url, '--cache', cache, '--port', '0']);
    expect(await command.ended).toMatchObject({ code: 2 });
    expect(command.err()).toMatch(/has generations of file:.*: name another with --cache/);
  });
});

test('reports by serve --check the content of a target, and one that does not respond', async () => {
  const { url } = newFolder(directory);
  await published(url, first);
  const good = runCommand(['serve', '--check', '--from', url]);
  const bad = runCommand(['serve', '--check', '--from', 'http://127.0.0.1:1/']);
  expect([(await good.ended).code, (await bad.ended).code]).toEqual([0, 0]);
  expect(good.out()).toMatch(
    new RegExp(`^data: of file:.*, a snapshot \\(.*\\), generation ${first.generation}, number 1$`, 'm'),
  );
  expect(bad.out()).toMatch(/^data: of http:.*, which gives none now: .*ECONNREFUSED/m);
});

function spoil(server: FolderServer, change: (body: Buffer) => Uint8Array): void {
  server.misbehave = (request, response, file) => {
    if (!file.endsWith('.snapshot')) return false;
    const body = change(readFileSync(file));
    const start = Number(/\d+/.exec(request.headers.range ?? '0')![0]);
    // Without a length, so that the end of the connection is the end of the body.
    response.writeHead(start === 0 ? 200 : 206, { 'content-range': `bytes ${start}-/*`, connection: 'close' });
    response.end(body.subarray(start));
    return true;
  };
}

function putPointer(folder: string, text: string): void {
  writeFileSync(join(folder, 'current.json'), text);
}
