// The shipped proxies, run with Debian's packages in front of three replicas: all responses of the API are the same
// through them, connections that idle around any timeout lose nothing, nor do rolling restarts of the replicas under
// load, and a replica that is not ready gets no requests. test/support/proxies.ts describes the changes to the files.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../support/dataSets.ts';
import { DEMONSTRATION_FILES, demonstrationDirectory } from '../../server/authority/demonstration.ts';
import { claimPort } from '../../server/http/ports.ts';
import { type Client, clientOf, type Received, type Sent } from '../support/client.ts';
import { hasProgram } from '../support/debian.ts';
import { call } from '../support/envelopes.ts';
import { PROXIES, type ProxyName } from '../../bench/proxy/shippedProxies.ts';
import {
  type Proxy,
  PUBLIC_URL,
  type Replica,
  requestsOf,
  startProxy,
  startReplica,
  loadOn,
  soundRequest,
} from '../support/proxies.ts';
import { until } from '../support/waits.ts';
import { RawSocket, requestOf } from '../support/rawSocket.ts';

const LIST = '/api/v3/observations/';
const SOAP = '/attAuthority.wsdl';
const GZIP = { 'accept-encoding': 'gzip' };
const XML = { 'content-type': 'text/xml; charset=utf-8' };
/** Invalid certificates, in a body that exceeds a buffer of every proxy. */
const NO_CHAIN = `<usrProxyCert>${'MIIB/+='.repeat(30_000)}</usrProxyCert><usrAttCert/>`;
/** A query that fills a request line of 60 kB. */
const LONG = `title__contains=no&uuid__in=${Array.from({ length: 1600 }, (_, i) => `${i}`.padStart(36, 'u')).join(',')}`;

/** The data path of an observation in the sample. */
const DATA_PATH = '/neodc/usvsd6/data/automatic-weather-station-thornthwaite/v4/2014';
const PATHS = [
  '/',
  '/api/v2/',
  '/api/v3/',
  '/nothing',
  '/healthz',
  `${LIST}141/`,
  `${LIST}141.json`,
  `${LIST}9/`,
  ...['.csv', '.ndjson', '.csv?fields=uuid,title&limit=3', '.xml'].map((end) => LIST.slice(0, -1) + end),
  ...['', '/', '/observations/?status=completed', '/observations/141/', '/observations/9/', '/authority/'].map(
    (end) => `/browse${end}`,
  ),
  '/openapi.json',
  '/openapi.yaml',
  '/docs',
  '/docs/',
  '/docs/docs.js',
  '/docs/swagger-ui.css',
  ...[`get_info${DATA_PATH}`, 'get_info', 'all', 'all?limit=2'].map((end) => `/api/v0/obs/${end}`),
  ...['complete', 'drs_listing/', 'drs_listing/a%2Fb', 'drs_lookup/a.b'].map((end) => `/api/v0/${end}`),
  ...['', '?identifier=a%20b', '?identifier=badc.nerc.ac.uk__ATOM__x'].map((end) => `/api/legacy_lookup/${end}`),
];
const QUERIES = [
  '',
  '?limit=2&offset=90',
  '?limit=2&nonsense=1',
  '?limit=1&strict=1&nonsense=1',
  '?ob_id=x',
  '?format=ndjson',
  '?format=csv&fields=uuid,title',
  '?format=parquet&limit=50',
  '?pretty=1&limit=2',
  '?generation=fedcba987654&limit=2&offset=2',
  '?ordering=-title&limit=3',
  '?after=5&limit=2',
  '?facets=status&limit=1',
  '?title__regex=%5E%5BA-Z%5D&limit=1',
  '?title__icontains=%C3%A5&limit=1',
  "?title=a'b;c|d&limit=1",
  `?${LONG}`,
];
/** Every feature, as clients request it. */
const REQUESTS: readonly Sent[] = [...PATHS, ...QUERIES.map((query) => LIST + query)]
  .flatMap((target): Sent[] => [{ target }, { target, headers: GZIP }, { target, method: 'HEAD' }])
  .concat([
    // Redirections repeat the query.
    { target: `${LIST.slice(0, -1)}?${LONG}` },
    {
      target: LIST,
      method: 'OPTIONS',
      headers: { origin: 'https://a.example', 'access-control-request-method': 'GET' },
    },
    { target: LIST, method: 'DELETE' },
    { target: SOAP },
    { target: `${SOAP}?wsdl`, headers: GZIP },
    { target: SOAP, method: 'POST', headers: XML, body: call('getTrustedHostInfo', '') },
    {
      target: SOAP,
      method: 'POST',
      headers: { ...XML, 'transfer-encoding': 'chunked' },
      body: call('getAllHostsInfo', ''),
    },
    { target: SOAP, method: 'POST', headers: XML, body: 'no XML' },
    { target: SOAP, method: 'POST', headers: XML, body: call('reqAuthorisation', NO_CHAIN) },
  ]);

/** Gaps between requests, close to the idle timeouts of the proxies (5 s) and the replicas (8 to 12 s). */
const GAPS_MS = [4950, 7900, 8100, 10_000, 12_000];
/** After this time a proxy has noticed a change of a replica. */
const NOT_READY_MS = 2000;
const SEEN_MS = 1200;

/** Header lines that a hop may add, remove or rewrite; Last-Modified is no earlier than a replica's start. */
const OF_THE_HOP = new Set(
  'age connection date keep-alive last-modified server server-timing transfer-encoding via x-varnish'.split(' '),
);

function told({ status, headers, bytes }: Received) {
  const ends = Object.entries(headers).filter(([name]) => !OF_THE_HOP.has(name));
  const { 'content-length': length, ...others } = Object.fromEntries(ends.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  if (!headers['content-type']?.startsWith('text/html'))
    return { status, headers: { length, ...others }, body: bytes.toString('latin1') };
  // Browse pages contain the time that their list took.
  const page = headers['content-encoding'] === 'gzip' && bytes.length > 0 ? gunzipSync(bytes) : bytes;
  return { status, headers: others, body: page.toString('utf8').replace(/in [\d.]+ m?s</, 'in no time<') };
}

/** Every position between two bytes. */
function everyByte(length: number): readonly number[] {
  return Array.from({ length: length - 1 }, (_, i) => i + 1);
}

/** Both ends, and the positions where proxies and replicas start another buffer, also a byte before and after. */
function aroundBuffers(length: number): readonly number[] {
  const sizes = [1024, 2048, 4096, 8192, 16_384, 32_768, 49_152, length - 14];
  return [1, ...sizes.flatMap((size) => [size - 1, size, size + 1]), length - 1];
}

const NAMES = (Object.keys(PROXIES) as ProxyName[]).filter((name) => hasProgram(PROXIES[name].program));
/** Proxies with health checks on the replicas. */
const CHECKING = NAMES.filter((name) => name !== 'nginx');
const folder = temporaryDirectory();
const replicas: Replica[] = [];
const proxies = new Map<ProxyName, Proxy>();
beforeAll(async () => {
  replicas.push(...(await Promise.all([1, 1, 5].map((grace) => startReplica(grace)))));
  for (const name of NAMES) proxies.set(name, await startProxy(name, folder, replicas));
});
afterAll(async () => {
  await Promise.all([...proxies.values()].map((proxy) => proxy.stop()));
  await Promise.all(replicas.map(({ process }) => process.kill()));
});

describe.each(NAMES)('the shipped %s', (name) => {
  let proxy: Proxy;
  let client: Client;
  let direct: Client;
  beforeAll(() => {
    proxy = proxies.get(name)!;
    client = clientOf(proxy.url);
    direct = clientOf(`http://127.0.0.1:${replicas[0]!.port}`, false);
  });
  afterAll(() => [client, direct].forEach((one) => one.close()));

  /** Varnish ignores Range, and so removes Accept-Ranges from what it may cache. */
  function compared(answer: Received) {
    const { headers, ...others } = told(answer);
    const { 'accept-ranges': _ranges, ...rest } = headers;
    return { ...others, headers: name === 'varnish' ? rest : headers };
  }

  test('returns every response as a replica does', async () => {
    for (const sent of REQUESTS) {
      const [through, own] = [await client.send(sent), await direct.send(sent)];
      expect(compared(through), `${sent.method ?? 'GET'} ${sent.target.slice(0, 80)}`).toEqual(compared(own));
    }
  });

  test('passes 304 on, for a tag, for that of gzip, and for a date', async () => {
    for (const headers of [{}, GZIP]) {
      const { etag = '' } = (await client.get(LIST, headers)).headers;
      expect(etag).toMatch(/^"/);
      for (const condition of [{ 'if-none-match': etag }, { 'if-modified-since': new Date().toUTCString() }]) {
        const { status, body, headers: answered } = await client.get(LIST, { ...headers, ...condition });
        expect([status, body, answered['etag']]).toEqual([304, '', etag]);
      }
    }
  });

  test('has public addresses in links, whatever Host a client sends', async () => {
    for (const host of ['catalogue.example.org', 'evil.example.net']) {
      const { body } = await client.get(`${LIST}?limit=1`, { host });
      expect((JSON.parse(body) as { next: string }).next).toMatch(`${PUBLIC_URL}${LIST}`);
    }
  });

  test('gives a request an id that is in its log, the log of the replica and the response', async () => {
    const accessLog = join(folder, `${name}.access.log`);
    const replica = await startReplica(1, ['--access-log', accessLog, '--trusted-proxy', '127.0.0.0/8']);
    const watched = await startProxy(name, folder, [replica]);
    const one = clientOf(watched.url);
    try {
      // Varnish itself adds no request ids; the proxy in front of it does.
      const sent = name === 'varnish' ? {} : { 'x-request-id': 'of-the-client' };
      const { headers } = await one.get(`${LIST}?limit=1`, sent);
      const { 'x-request-id': id = '' } = headers;
      expect(id).toMatch(/^[\da-f-]+$/);
      const logs = (): readonly string[] => [
        readFileSync(accessLog, 'utf8'),
        ...(name === 'varnish' ? [] : [watched.log()]),
      ];
      await until(() => Promise.resolve(logs().every((log) => log.includes(id))));
      expect(logs().join('')).not.toContain('of-the-client');
    } finally {
      one.close();
      await watched.stop();
      await replica.process.kill();
    }
  });

  test.skipIf(name !== 'varnish')(
    'keeps the id that a proxy in front of it gave, even if it has cached the page',
    async () => {
      const accessLog = join(folder, 'kept.access.log');
      const replica = await startReplica(1, ['--access-log', accessLog, '--trusted-proxy', '127.0.0.0/8']);
      const cache = await startProxy(name, folder, [replica], [['beresp.ttl = 2s', 'beresp.ttl = 1h']]);
      const one = clientOf(cache.url);
      try {
        for (const id of ['first', 'second']) {
          const { headers } = await one.get(`${LIST}?limit=1`, { 'x-request-id': id });
          expect(headers['x-request-id']).toBe(id);
        }
        await until(() => Promise.resolve(readFileSync(accessLog, 'utf8').includes('"id":"first"')));
        expect(readFileSync(accessLog, 'utf8')).not.toContain('"id":"second"');
      } finally {
        one.close();
        await cache.stop();
        await replica.process.kill();
      }
    },
  );

  test('forwards the requested name and port, by which an allowed base URL is selected', async () => {
    const allowed = 'http://other.example.net:8443';
    const replica = await startReplica(1, ['--allow-base-url', allowed, '--trusted-proxy', '127.0.0.0/8']);
    const before = await startProxy(name, folder, [replica]);
    const one = clientOf(before.url);
    try {
      for (const [host, base] of [
        ['other.example.net:8443', allowed],
        ['other.example.net', PUBLIC_URL],
      ] as const) {
        const { body } = await one.get(`${LIST}?limit=1`, { host });
        expect((JSON.parse(body) as { next: string }).next).toMatch(`${base}${LIST}`);
      }
    } finally {
      one.close();
      await before.stop();
      await replica.process.kill();
    }
  });

  test('answers an HTTP/1.0 client', async () => {
    const socket = await RawSocket.open(proxy.port);
    await socket.write(`GET ${LIST}?limit=1 HTTP/1.0\r\n\r\n`);
    expect(await socket.ended()).toMatch(/^HTTP\/1\.[01] 200 [^]*"count":500[^]*\}$/);
  });

  test.each([
    ['a request that is cut into two at any byte', `${LIST}141/`, everyByte],
    ['a request line of 60 kB that is cut around the sizes of buffers', `${LIST}?${LONG}`, aroundBuffers],
  ])('answers %s, and stays usable when a client stops there', async (_, target, cutsOf) => {
    const request = requestOf('GET', target, ['X-Forwarded-Proto: http']);
    const { status, bytes } = await client.get(target);
    const answers = cutsOf(request.length).map(async (cut) => {
      const [whole, gone] = [await RawSocket.open(proxy.port), await RawSocket.open(proxy.port)];
      await gone.write(request.slice(0, cut));
      gone.finish();
      await whole.write(request.slice(0, cut));
      await delay(20);
      await whole.write(request.slice(cut));
      const answer = await whole.answer();
      for (const socket of [whole, gone]) socket.vanish();
      return [answer?.status, answer?.body];
    });
    for (const answer of await Promise.all(answers)) expect(answer).toEqual([status, bytes.toString('latin1')]);
  });

  test('passes on the header of a single response: an attribute certificate, whole', async () => {
    const proxyFile = join(demonstrationDirectory()!, DEMONSTRATION_FILES.user);
    const chain = `<usrProxyCert>${readFileSync(proxyFile, 'utf8')}</usrProxyCert><usrAttCert/>`;
    const sent = { target: SOAP, method: 'POST', headers: XML, body: call('reqAuthorisation', chain) };
    const [through, own] = [await client.send(sent), await direct.send(sent)];
    const { headers, status } = told(through);
    expect({ status, names: Object.keys(headers) }).toEqual({ status: 200, names: Object.keys(told(own).headers) });
    expect(through.body).toMatch(/AccessGranted[^]*Envelope>\s*$/);
    expect(through.bytes.length).toBe(Number(through.headers['content-length']));
  });

  test('keeps a walk by links on one generation', async () => {
    const { next } = JSON.parse((await direct.get(`${LIST}?limit=2`)).body) as { next: string };
    const target = next.slice(PUBLIC_URL.length);
    expect(target).toContain('generation=');
    expect(compared(await client.get(target))).toEqual(compared(await direct.get(target)));
  });

  test.skipIf(!PROXIES[name].endsTls || !hasProgram('curl'))('ends TLS, with HTTP/2', () => {
    const words = ['--silent', '--insecure', '--write-out', ' %{http_version}', '--http2'];
    const url = `https://127.0.0.1:${proxy.tlsPort}${LIST}?limit=1&${LONG.slice(0, 30_000)}`;
    const { stdout } = spawnSync('curl', [...words, url], { encoding: 'utf8' });
    expect(stdout).toMatch(/^\{"count":\d+.* 2$/);
  });

  test.skipIf(name === 'varnish')('logs the times of the replica', async () => {
    await client.get(`${LIST}?limit=1&logged`);
    const line = (): string | undefined =>
      proxy
        .log()
        .split('\n')
        .find((one) => one.includes('logged'));
    await expect
      .poll(line, { timeout: 30_000 })
      .toMatch(name === 'nginx' ? /"upstream_seconds":"0\.\d+"/ : / catalogue\/[abc] \d+(\/\d+){4} 200 /);
  });
});

describe.skipIf(NAMES.length === 0)('all shipped proxies', () => {
  test('answer requests on a connection that idled around any timeout', async () => {
    const idle = NAMES.flatMap((name) => GAPS_MS.map((gapMs) => ({ name, gapMs })));
    const faults = idle.map(async ({ name, gapMs }) => {
      const proxy = await startProxy(name, folder, replicas);
      const client = clientOf(proxy.url);
      // Both rounds use the same connections to the proxy, and those to the replicas idle in between.
      const round = (): Promise<Received[]> =>
        Promise.all(Array.from({ length: 5 }, (_, n) => client.send(soundRequest(n + gapMs))));
      await round();
      await delay(gapMs);
      const statuses = await round().then((all) => all.map(({ status }) => status), String);
      client.close();
      await proxy.stop();
      return { name, gapMs, statuses };
    });
    for (const one of await Promise.all(faults)) expect(one).toEqual({ ...one, statuses: [200, 200, 200, 200, 200] });
  });

  test('lose no request while the replicas restart one after another', async () => {
    const loads = NAMES.map((name) => [name, loadOn(proxies.get(name)!)] as const);
    for (const replica of replicas) {
      replica.process.signal('SIGTERM');
      expect(await replica.process.ended).toEqual({ code: 0, signal: null });
      await replica.start();
      await delay(SEEN_MS);
    }
    for (const [name, load] of loads) {
      const { answered, faults } = await load.stop();
      expect({ name, faults }).toEqual({ name, faults: [] });
      expect(answered).toBeGreaterThan(100);
    }
  });

  test.skipIf(!NAMES.includes('nginx'))(
    'send no requests to a draining replica, nginx as soon as it closes its port',
    async () => {
      const [first, nginx] = [replicas[0]!, proxies.get('nginx')!];
      const load = loadOn(nginx);
      await delay(SEEN_MS);
      first.process.signal('SIGTERM');
      await delay(NOT_READY_MS);
      const seen = nginx.log().length;
      await delay(NOT_READY_MS / 2);
      const lines = nginx.log().slice(seen).trimEnd().split('\n');
      expect(lines.length).toBeGreaterThan(20);
      // nginx retries the replica once in 2 s, and the replica refuses.
      expect(lines.filter((line) => line.includes(`:${first.port}`)).length).toBeLessThanOrEqual(1);
      expect((await load.stop()).faults).toEqual([]);
      await first.process.ended;
      await first.start();
    },
  );

  test('send no requests to a replica that drains, as probes show, or loads', async () => {
    const last = replicas[2]!;
    const checking = CHECKING.map((name) => loadOn(proxies.get(name)!));
    const passive = NAMES.filter((name) => name === 'nginx').map((name) => loadOn(proxies.get(name)!));
    await delay(SEEN_MS);
    await Promise.all(passive.map((load) => load.stop()));
    last.process.signal('SIGTERM');
    await delay(NOT_READY_MS);
    const before = [await requestsOf(last), checking.map((load) => load.answered())] as const;
    await delay(500);
    expect(await requestsOf(last)).toBe(before[0]);
    checking.forEach((load, i) => expect(load.answered()).toBeGreaterThan(before[1][i]!));
    await last.process.ended;
    for (const load of checking) expect((await load.stop()).faults).toEqual([]);

    // Holds the port like a replica that loads data, and responds with 503.
    const claimed = await claimPort('127.0.0.1', last.port);
    if (proxies.has('nginx')) {
      const nginx = proxies.get('nginx')!;
      const load = loadOn(nginx);
      await delay(NOT_READY_MS);
      const seen = nginx.log().length;
      await delay(1.5 * NOT_READY_MS);
      const lines = nginx.log().slice(seen).trimEnd().split('\n');
      expect(lines.length).toBeGreaterThan(50);
      expect(lines.filter((line) => line.includes(`:${last.port}`)).length).toBeLessThanOrEqual(3);
      expect((await load.stop()).faults).toEqual([]);
    }
    await claimed.release();
    await last.start();
  });
});
