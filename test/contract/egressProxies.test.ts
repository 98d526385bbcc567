// Crawls, comparisons and targets through the proxies that the environment names: Debian's tinyproxy, with a password.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { steadyPort } from '../../bench/proxy/shippedProxies.ts';
import { ComparedServer } from '../../data/compare/compare.ts';
import { openTarget } from '../../data/distribution/openTarget.ts';
import { crawlingOf } from '../../server/commands/crawl.ts';
import { readSettings } from '../../server/settings/declarations.ts';
import { AUTHORITY, tlsInFrontOf } from '../support/certificates.ts';
import { type CommandProcess, runProgram } from '../support/commandProcess.ts';
import { crawled, newOutputIn, QUICK_CRAWL } from '../support/crawls.ts';
import { hasProgram } from '../support/debian.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { plainUpstreams } from '../support/plainUpstream.ts';

const directory = temporaryDirectory();
const startUpstream = plainUpstreams();
const upstream = () => startUpstream({ collections: { notes: [{ ob_id: 1 }] } });
const { signal } = new AbortController();

/** A file with the authority of the test servers. */
const ca = join(directory, 'ca.pem');
writeFileSync(ca, AUTHORITY.pem);

/** Closes what was opened once the work has ended. */
async function closedAfter<T extends { close(): Promise<void> }>(opened: T, work: (opened: T) => Promise<unknown>) {
  try {
    await work(opened);
  } finally {
    await opened.close();
  }
}

/** Requests as clients of each kind send them. Each rejects if it gets no response of the server. */
const CLIENTS: Readonly<Record<string, (origin: string) => Promise<unknown>>> = {
  'a crawl': (origin) =>
    crawled(origin, newOutputIn(directory), { ...crawlingOf(origin, readSettings({ ca }, {}), false), ...QUICK_CRAWL }),
  'a comparison': (origin) =>
    closedAfter(new ComparedServer({ ...QUICK_CRAWL, base: origin }), (server) => server.open()),
  'an HTTP target': async (origin) => {
    const target = await openTarget(`${origin}/folder`, { timeoutMs: 10_000, ca });
    await closedAfter(target, () => target.readPointer(undefined, signal));
  },
  'an S3 target': async (origin) => {
    const keys = { id: 'id', secret: 'secret', token: '' };
    const s3 = { endpoint: origin, region: 'us-east-1', keys };
    const target = await openTarget('s3://bucket/folder', { timeoutMs: 10_000, ca, s3 });
    await closedAfter(target, () => target.readPointer(undefined, signal));
  },
};

describe.skipIf(!hasProgram('tinyproxy'))('a proxy in the environment', () => {
  let proxy: CommandProcess;
  let address: string;
  beforeAll(async () => {
    const port = await steadyPort();
    const file = join(directory, 'tinyproxy.conf');
    writeFileSync(file, `Port ${port}\nListen 127.0.0.1\nBasicAuth user secret\nLogLevel Info\n`);
    proxy = runProgram('tinyproxy', ['-d', '-c', file]);
    await proxy.printed(/Accepting connections/);
    address = `127.0.0.1:${port}`;
  });
  afterAll(() => proxy.kill());
  beforeEach(() => void vi.stubEnv('no_proxy', ''));
  afterEach(() => void vi.unstubAllEnvs());

  /** The number of requests that the proxy has logged with this text. */
  const logged = (text: string): number => proxy.out().split(text).length - 1;

  test.each(Object.entries(CLIENTS))('gets the requests of %s by their whole URLs', async (_, ask) => {
    vi.stubEnv('http_proxy', `user:secret@${address}`);
    const { url } = await upstream();
    await ask(url);
    expect(logged(`GET ${url}/`)).toBeGreaterThan(0);
    expect(logged(`CONNECT ${new URL(url).host}`)).toBe(0);
  });

  test.each(Object.entries(CLIENTS))('opens tunnels for %s over TLS', async (_, ask) => {
    vi.stubEnv('HTTPS_PROXY', `http://user:secret@${address}`);
    const server = await tlsInFrontOf((await upstream()).url);
    await ask(server.origin);
    expect(logged(`CONNECT ${new URL(server.origin).host}`)).toBeGreaterThan(0);
    server.close();
  });

  test.each(['127.0.0.1', 'example.org, 127.0.0.1', '*'])('gets none for hosts in NO_PROXY=%s', async (hosts) => {
    vi.stubEnv('http_proxy', `http://user:secret@${address}`);
    vi.stubEnv('no_proxy', hosts);
    const { url } = await upstream();
    for (const ask of Object.values(CLIENTS)) await ask(url);
    expect(logged(url)).toBe(0);
  });

  test.each(['http', 'https'])('is told by its status if it refuses requests for %s', async (scheme) => {
    vi.stubEnv(`${scheme}_proxy`, address);
    const { url } = await upstream();
    const server = await tlsInFrontOf(url);
    await expect(CLIENTS['a crawl']!(scheme === 'http' ? url : server.origin)).rejects.toThrow(/407/);
    server.close();
  });

  test.each(['ftp://proxy', 'http://', 'socks5://localhost'])('%s is refused without its text', async (value) => {
    vi.stubEnv('http_proxy', value);
    const message = 'environment variable HTTP_PROXY: want a proxy such as http://proxy.example.org:3128';
    for (const ask of Object.values(CLIENTS))
      await expect((async () => ask('http://127.0.0.1:1'))()).rejects.toMatchObject({ code: 'usage', message });
  });
});
