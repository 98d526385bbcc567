// A target in a folder that is mounted from a file server, which goes silent: nobody waits for it but who asked, the
// server tells how stale it is, ends when it is told to, and goes on once there are answers again.
import { copyFileSync, mkdtempSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openTarget } from '../../../../data/distribution/openTarget.ts';
import { snapshotName } from '../../../../data/distribution/pointer.ts';
import { runCommand } from '../../../support/commandProcess.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { published, type Release, releaseOf, wholePointer } from '../../../support/distributions.ts';
import { type Follower, startFollower } from '../../../support/followers.ts';
import { type SilentMount, silentMount } from '../../../support/silentMount.ts';

const directory = temporaryDirectory();
const POLL = { timeout: 20_000, interval: 50 };
const probe = silentMount(directory);
afterAll(() => probe?.unmount());

describe.skipIf(!probe)('a mounted folder that went silent', () => {
  let mount: SilentMount;
  let source: string;
  let url: string;
  let release: Release;
  beforeEach(async () => {
    mount = silentMount(directory)!;
    source = pathToFileURL(mount.source).href;
    url = pathToFileURL(mount.folder).href;
    release = await releaseOf(directory, 1);
    await published(source, release);
  });
  const running: Follower[] = [];
  afterEach(async () => {
    mount.wake();
    for (const one of running.splice(0)) await one.kill();
    mount.unmount();
  });

  async function serving(words: readonly string[]): Promise<Follower> {
    const server = await startFollower(url, join(mkdtempSync(join(directory, 'cache-')), 'cache'), words);
    running.push(server);
    await server.printed(/listening on/);
    return server;
  }

  test('keeps a question for as long as it may take, and others until it was answered', async () => {
    const target = await openTarget(url, { timeoutMs: 300 });
    const { signal } = new AbortController();
    const ask = (): Promise<unknown> => target.readPointer(undefined, signal);
    expect(await ask()).toMatchObject({ text: expect.stringContaining(release.generation) as string });
    mount.silence();
    const message = (why: string): object => ({ code: 'network', message: `${url}: ${why}` });
    await expect(ask()).rejects.toMatchObject(message('no answer within 0.3 s'));
    // At once, and in the same words, which are told once.
    const startMs = performance.now();
    await expect(ask()).rejects.toMatchObject(message('no answer within 0.3 s'));
    expect(performance.now() - startMs).toBeLessThan(250);
    mount.wake();
    await expect.poll(async () => ask().catch(() => undefined), POLL).toMatchObject({ validator: expect.any(String) });
  });

  test('is asked again after ten minutes, since another server may be mounted by then, and then no more', async () => {
    const target = await openTarget(url, { timeoutMs: 300 });
    mount.silence();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const asked = async (): Promise<boolean> => {
        const ended = target.readPointer(undefined, new AbortController().signal).catch(() => 'ended');
        const isRefused = (await Promise.race([ended, setImmediate('waits')])) === 'ended';
        vi.advanceTimersByTime(300);
        await ended;
        return !isRefused;
      };
      expect([await asked(), await asked()]).toEqual([true, false]);
      vi.advanceTimersByTime(600_000);
      expect([await asked(), await asked()]).toEqual([true, false]);
      vi.advanceTimersByTime(600_000);
      expect(await asked()).toBe(false);
    } finally {
      vi.useRealTimers();
    }
    mount.wake();
    const ask = async (): Promise<unknown> =>
      target.readPointer(undefined, new AbortController().signal).catch(() => undefined);
    await expect.poll(ask, POLL).toMatchObject({ validator: expect.any(String) as string });
  });

  test('ends what is read of an object by its signal, and closes the file once it can', async () => {
    const target = await openTarget(url, { timeoutMs: 300 });
    const stop = new AbortController();
    const name = snapshotName(wholePointer(mount.source)!);
    const found = await target.read(name, 0, stop.signal);
    mount.silence();
    const came = (async () => {
      for await (const piece of found!.pieces) expect(piece.length).toBeGreaterThan(0);
    })();
    await wait(100);
    stop.abort();
    await expect(came).rejects.toMatchObject({ code: 'network', message: `${url}: is not asked any more` });
    mount.wake();
    const again = async (): Promise<boolean> =>
      (await target.read(name, 0, new AbortController().signal).catch(() => undefined)) !== undefined;
    await expect.poll(again, POLL).toBe(true);
  });

  test('leaves a server that serves, tells, and takes what is new once there are answers', async () => {
    const server = await serving(['--max-stale', '2s']);
    const [, origin] = await server.printed(/listening on (http:\S+)\n/);
    await expect.poll(() => server.readyz(), POLL).toMatchObject({ code: 200 });
    mount.silence();
    const reason = expect.stringMatching(/^the data is stale: for \d+ s it was not confirmed by file:/) as string;
    await expect.poll(() => server.readyz(), POLL).toEqual({ code: 503, status: 'stale', reason });
    expect((await fetch(`${origin}/api/v3/`)).status).toBe(200);
    expect(await server.metrics()).toMatch(/^catalogue_replica_ready 0$/m);
    const next = await releaseOf(directory, 2);
    await published(source, next);
    mount.wake();
    await expect.poll(async () => (await server.status()).data?.generation, POLL).toBe(next.generation);
    await expect.poll(() => server.readyz(), POLL).toEqual({ code: 200, status: 'ready' });
  });

  test('leaves a server that watches a file there, and takes what is new once there are answers', async () => {
    const [file, next] = [release.file, await releaseOf(directory, 2)];
    copyFileSync(file, join(mount.source, 'watched.snapshot'));
    const flags = ['--watch', '--port', '0', '--admin-port', '0', '--threads', '1'];
    const server = runCommand(['serve', '--data', join(mount.folder, 'watched.snapshot'), ...flags]);
    try {
      const [, admin] = await server.printed(/admin on (http:\S+)\/status[^]*try: /);
      mount.silence();
      // Longer than from one look to the next.
      await wait(2500);
      const answer = await fetch(`${admin}/livez`, { signal: AbortSignal.timeout(5000) });
      expect(answer.status).toBe(200);
      copyFileSync(next.file, join(mount.source, 'new.snapshot'));
      renameSync(join(mount.source, 'new.snapshot'), join(mount.source, 'watched.snapshot'));
      mount.wake();
      await server.printed(new RegExp(`generation ${next.generation.slice(0, 12)} is served now`));
    } finally {
      mount.wake();
      await server.kill();
    }
  });

  test('keeps no server from ending', async () => {
    const server = await serving(['--max-stale', '1s']);
    await expect.poll(() => server.readyz(), POLL).toMatchObject({ code: 200 });
    mount.silence();
    await expect.poll(() => server.readyz(), POLL).toMatchObject({ code: 503 });
    server.signal('SIGTERM');
    expect(await Promise.race([server.ended, wait(15_000)])).toEqual({ code: 0, signal: null });
  });
});
