// Folders mounted from a file server that becomes unresponsive: a target, --data, --cache and the CRLs of the
// authority. The server keeps serving, reports the failure, exits on SIGTERM, and continues once the file server
// responds.
import { execFileSync, spawnSync } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openTarget } from '../../../../data/distribution/openTarget.ts';
import { snapshotName } from '../../../../data/distribution/target.ts';
import { assertAnswers } from '../../../../data/timeLimit.ts';
import { epochSeconds } from '../../../../server/observe/clock.ts';
import { CONFIG_LINES, type TestSite, testSite, validAround } from '../../../support/authorities.ts';
import { makeCrl, pemOf } from '../../../support/certificates.ts';
import { type CommandProcess, runCommand } from '../../../support/commandProcess.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import {
  published,
  type Release,
  releaseOf,
  wholePointer,
  type Follower,
  serveFolder,
  startFollower,
} from '../../../support/distributions.ts';
import { ecPair } from '../../../support/pki.ts';

/** A mount of `source` at `folder`. */
interface SilentMount {
  readonly source: string;
  readonly folder: string;
  /** Stops all responses from now on. */
  silence(): void;
  /** Resumes responses, also to pending requests. */
  wake(): void;
  unmount(): void;
}

/** Makes a mount below `parent`; undefined if bindfs is missing or not permitted. */
function silentMount(parent: string): SilentMount | undefined {
  const place = mkdtempSync(join(parent, 'mount-'));
  const [source, folder] = [join(place, 'source'), join(place, 'mounted')];
  for (const made of [source, folder]) mkdirSync(made);
  // Without caches: each access reaches the program.
  const options = ['-o', 'attr_timeout=0,entry_timeout=0,negative_timeout=0'];
  if (spawnSync('bindfs', [...options, source, folder], { stdio: 'ignore' }).status !== 0) return undefined;
  // The kernel learns that bindfs needs no FLUSH. A process that waits for one, because it exits, cannot be killed.
  writeFileSync(join(source, 'first'), '');
  readFileSync(join(folder, 'first'));
  rmSync(join(source, 'first'));
  // bindfs runs in the background; its command line names the folder.
  const pid = Number(execFileSync('pgrep', ['--full', `bindfs.*${folder}$`], { encoding: 'utf8' }).trim());
  // After this time bindfs waits for requests.
  spawnSync('sleep', ['0.1']);
  const idle = callOf(pid);
  return {
    source,
    folder,
    silence: () => {
      for (;;) {
        process.kill(pid, 'SIGSTOP');
        while (!/\) T/.test(readFileSync(`/proc/${pid}/stat`, 'utf8')));
        // A process that waits for a request which the stopped program has accepted cannot be killed.
        if (callOf(pid) === idle) return;
        process.kill(pid, 'SIGCONT');
      }
    },
    wake: () => process.kill(pid, 'SIGCONT'),
    unmount: () => {
      process.kill(pid, 'SIGCONT');
      execFileSync('umount', ['--lazy', folder], { stdio: 'ignore' });
    },
  };
}

/** The system call of a sleeping process with its first argument: a number and a descriptor (proc(5)). */
function callOf(pid: number): string {
  return readFileSync(`/proc/${pid}/syscall`, 'utf8').split(' ').slice(0, 2).join(' ');
}

const directory = temporaryDirectory();
const POLL = { timeout: 20_000, interval: 50 };
const probe = silentMount(directory);
afterAll(() => probe?.unmount());

describe.skipIf(!probe)('an unresponsive mounted folder', () => {
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

  test('keeps a request for as long as it may take, and others until it is answered', async () => {
    const target = await openTarget(url, { timeoutMs: 300 });
    const { signal } = new AbortController();
    const ask = (): Promise<unknown> => target.readPointer(undefined, signal);
    expect(await ask()).toMatchObject({ text: expect.stringContaining(release.generation) as string });
    mount.silence();
    const message = (why: string): object => ({ code: 'network', message: `${mount.folder}: ${why}` });
    await expect(ask()).rejects.toMatchObject(message('no answer within 0.3 s'));
    // Immediately and with the same message, which is logged once.
    const startMs = performance.now();
    await expect(ask()).rejects.toMatchObject(message('no answer within 0.3 s'));
    expect(performance.now() - startMs).toBeLessThan(250);
    mount.wake();
    await expect.poll(async () => ask().catch(() => undefined), POLL).toMatchObject({ validator: expect.any(String) });
  });

  test('blocks at most two calls of the process, so that other names of the mount are refused and DNS works', async () => {
    mount.silence();
    const look = (name: string): Promise<unknown> =>
      assertAnswers(join(mount.folder, name)).catch((error: unknown) => error);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const names = Array.from({ length: 20 }, (_, i) => `name ${i}`);
    const looks = names.map(look);
    try {
      await vi.advanceTimersByTimeAsync(10_000);
    } finally {
      vi.useRealTimers();
    }
    const reasons = (await Promise.all(looks)).map(String);
    expect(reasons.filter((reason) => reason.endsWith('no answer within 10 s'))).toHaveLength(2);
    expect(reasons.filter((reason) => /not read while .* and .* do not answer$/.test(reason))).toHaveLength(18);
    expect(await lookup('localhost')).toMatchObject({ address: expect.any(String) as string });
    mount.wake();
    await expect.poll(async () => Promise.all(names.map(look)), POLL).toEqual(names.map(() => undefined));
  });

  test('ends a read of an object by its signal, and closes the file once it can', async () => {
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
    const message = expect.stringContaining(`${mount.folder}: no longer awaited`) as string;
    await expect(came).rejects.toMatchObject({ code: 'network', message });
    mount.wake();
    const again = async (): Promise<boolean> =>
      (await target.read(name, 0, new AbortController().signal).catch(() => undefined)) !== undefined;
    await expect.poll(again, POLL).toBe(true);
  });

  test('leaves a server serving, is reported, and new data is loaded once it responds', async () => {
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

  test('leaves a server that watches a file there serving, and new data is loaded once it responds', async () => {
    const [file, next] = [release.file, await releaseOf(directory, 2)];
    copyFileSync(file, join(mount.source, 'watched.snapshot'));
    const flags = ['--watch', '--port', '0', '--admin-port', '0', '--threads', '1'];
    const server = runCommand(['serve', '--data', join(mount.folder, 'watched.snapshot'), ...flags]);
    try {
      const [, admin] = await server.printed(/admin on (http:\S+)\/status[^]*try: /);
      mount.silence();
      // Longer than the interval between two polls.
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

  test('keeps no server from exiting', async () => {
    const server = await serving(['--max-stale', '1s']);
    await expect.poll(() => server.readyz(), POLL).toMatchObject({ code: 200 });
    mount.silence();
    await expect.poll(() => server.readyz(), POLL).toMatchObject({ code: 503 });
    await expectEnd(server);
  });

  describe('under the CRLs of the authority, and under', () => {
    let site: TestSite;
    let crls: SilentMount;
    beforeEach(() => {
      const now = epochSeconds();
      site = testSite({ site: ecPair(), partner: ecPair(), validity: validAround(now) });
      crls = silentMount(directory)!;
      const issuer = { subject: site.ca.name, keys: { privateKey: site.ca.key } };
      const crl = makeCrl({ issuer, revoked: [], thisUpdate: now - 60, nextUpdate: now + 3600 });
      writeFileSync(join(crls.source, 'ca.r0'), pemOf('X509 CRL', crl));
      site.write('authority.toml', [`crls = "${crls.folder}"`, ...CONFIG_LINES].join('\n'));
    });
    afterEach(() => {
      crls.wake();
      crls.unmount();
      site.remove();
    });

    test('the cache: leaves polls, DNS and /livez working, and is used once it responds', async () => {
      const target = await serveFolder(mount.source);
      // Each request resolves the name again.
      target.misbehave = (_, response) => !response.setHeader('connection', 'close');
      const from = target.url.replace('127.0.0.1', 'localhost');
      const cache = mkdtempSync(join(mount.folder, 'cache-'));
      const server = await startFollower(from, cache, ['--authority', site.config]);
      running.push(server);
      try {
        await expect.poll(() => server.readyz(), POLL).toMatchObject({ code: 200 });
        for (const one of [mount, crls]) one.silence();
        server.signal('SIGHUP');
        const polls = target.asked.length;
        const reason = expect.stringMatching(/: no answer within 10 s$/) as string;
        expect(await server.reload()).toMatchObject({ status: 'refused', reason });
        await server.printed(/authority\.toml: .*mounted: no answer within 10 s/);
        await expect
          .poll(async () => [await server.livez(), target.asked.length > polls + 20], POLL)
          .toEqual([200, true]);
        expect(await server.reload()).toMatchObject({ status: 'refused', reason });
        for (const one of [mount, crls]) one.wake();
        await expect.poll(async () => (await server.reload()).status, POLL).toBe('unchanged');
      } finally {
        target.close();
      }
    });

    test('the data: leaves /livez and SIGTERM working', async () => {
      copyFileSync(release.file, join(mount.source, 'data.snapshot'));
      const data = join(mount.folder, 'data.snapshot');
      const flags = [
        '--port',
        '0',
        '--admin-port',
        '0',
        '--threads',
        '1',
        '--gzip',
        'live',
        '--authority',
        site.config,
      ];
      const server = runCommand(['serve', '--data', data, ...flags]);
      try {
        const [, admin] = await server.printed(/admin on (http:\S+)\/status[^]*try: /);
        const ask = async (path: string, method: string): Promise<unknown> =>
          (await fetch(`${admin}${path}`, { method, signal: AbortSignal.timeout(60_000) })).json();
        expect(await ask('/reload', 'POST')).toMatchObject({ status: 'unchanged' });
        for (const one of [mount, crls]) one.silence();
        server.signal('SIGHUP');
        const reason = expect.stringMatching(/data\.snapshot: no answer within 10 s$/) as string;
        for (let i = 0; i < 20; i++) {
          const reload = ask('/reload', 'POST');
          expect(await ask('/livez', 'GET')).toMatchObject({ status: 'alive' });
          expect(await reload).toMatchObject({ status: 'refused', reason });
        }
        await server.printed(/authority\.toml: .*mounted: no answer within 10 s/);
        await expectEnd(server);
      } finally {
        for (const one of [mount, crls]) one.wake();
        await server.kill();
      }
    });
  });
});

/** Stops a server with SIGTERM and expects exit code 0 within 60 s. */
async function expectEnd(server: CommandProcess): Promise<void> {
  server.signal('SIGTERM');
  const late = wait(60_000, 'still runs after 60 s', { ref: false });
  expect(await Promise.race([server.ended, late])).toEqual({ code: 0, signal: null });
}
