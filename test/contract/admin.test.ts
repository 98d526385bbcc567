// The admin port of a serving server: its responses, and its counts of requests over both transports.
// test/unit/server/observe/phases.long.test.ts covers the phases before and after.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LAUNCHER_FILE } from '../../bench/processes/processes.ts';
import { COLLECTIONS } from '../../engine/engine.ts';
import { jsonAnswer, listenForAdmin } from '../../server/observe/adminListener.ts';
import { packageVersion } from '../../server/settings/values.ts';
import { type Client, clientOf, type Received } from '../support/client.ts';
import { runProgram, runServer } from '../support/commandProcess.ts';
import { RawSocket, requestOf } from '../support/rawSocket.ts';
import { sampleSnapshot } from '../support/sampleSnapshot.ts';

type Server = Awaited<ReturnType<typeof runServer>>;

let server: Server;
let admin: Client;
beforeAll(async () => {
  server = await runServer(['--threads', '2', '--admin-port', '0']);
  const [, origin] = await server.printed(/admin on (http:\/\/127\.0\.0\.1:\d+)\/status\n/);
  admin = clientOf(origin!);
});
afterAll(async () => {
  admin.close();
  await server.kill();
});

/** The samples that are not 0, without the prefix of their names. */
async function samples(): Promise<ReadonlyMap<string, number>> {
  const { body } = await admin.get('/metrics');
  const lines = [...body.matchAll(/^catalogue_replica_(\S+) (\S+)$/gm)];
  return new Map(lines.map(([, name, value]) => [name!, Number(value)]));
}

/** Returns by how much the samples of these names grew during `work`. */
async function grown(names: readonly string[], work: () => Promise<unknown>): Promise<readonly number[]> {
  const before = await samples();
  await work();
  const after = await samples();
  return names.map((name) => after.get(name)! - before.get(name)!);
}

async function once(port: number, request: Parameters<Client['send']>[0]): Promise<Received> {
  const client = clientOf(`http://127.0.0.1:${port}`);
  try {
    return await client.send(request);
  } finally {
    client.close();
  }
}

describe('the admin port', () => {
  test('accepts its address and localhost as Host if it listens on this host alone, and no other name', async () => {
    const statusAs = async (host: string): Promise<number> =>
      (await admin.send({ method: 'GET', target: '/livez', headers: { host }, body: '' })).status;
    const hosts = [
      'rebound.example',
      'rebound.example:9090',
      'localhost.example',
      '127.0.0.1',
      'localhost:1',
      '[::1]:1',
    ];
    expect(await Promise.all(hosts.map(statusAs))).toEqual([403, 403, 403, 200, 200, 200]);
  });

  test.each(['localhost', '::ffff:127.0.0.1'])('recognises %s as an address of this host alone', async (host) => {
    const views = { '/livez': () => jsonAnswer(200, {}) };
    const listener = await listenForAdmin({ host, port: 0, onError: () => undefined }, () => ({
      views,
      commands: {},
    }));
    const client = clientOf(`http://127.0.0.1:${listener.port}`);
    const asked = await client.send({
      method: 'GET',
      target: '/livez',
      headers: { host: 'rebound.example' },
      body: '',
    });
    expect(asked.status).toBe(403);
    client.close();
    listener.stop();
  });

  test('closes a connection whose request head or body does not arrive in time', async () => {
    const commands = { '/reload': () => jsonAnswer(200, {}) };
    const options = { host: '127.0.0.1', port: 0, requestMsMax: 100, onError: () => undefined };
    const listener = await listenForAdmin(options, () => ({ views: {}, commands }));
    const starts = ['', 'GET /livez HTTP/1.1\r\nHost: ', requestOf('POST', '/reload', ['Content-Length: 9'], '{')];
    const sockets = await Promise.all(starts.map(() => RawSocket.open(listener.port)));
    await Promise.all(sockets.map((socket, i) => socket.write(starts[i]!)));
    for (const socket of sockets) await socket.ended();
    listener.stop();
  });

  test('closes connections beyond 64, while the public port responds and has descriptors left', async () => {
    const few = ['-c', 'ulimit -n 256; exec "$0" "$@"', process.execPath, LAUNCHER_FILE];
    const flags = ['--data', await sampleSnapshot(), '--port', '0', '--threads', '1', '--admin-port', '0'];
    const limited = runProgram('sh', [...few, 'serve', ...flags]);
    try {
      const [, port] = await limited.printed(/admin on http:\/\/127\.0\.0\.1:(\d+)\/status\n/);
      const [, url] = await limited.printed(/listening on (http:\S+)\n/);
      const idle = await Promise.all(Array.from({ length: 64 }, () => RawSocket.open(Number(port))));
      const refused = await Promise.all(Array.from({ length: 250 }, () => RawSocket.open(Number(port))));
      for (const socket of refused) expect(await socket.ended()).toBe('');
      const client = clientOf(url!);
      expect((await client.get('/api/v3/observations/?limit=1')).status).toBe(200);
      client.close();
      for (const socket of idle) socket.vanish();
      expect(limited.out() + limited.err()).not.toContain('no descriptor is left');
    } finally {
      await limited.kill();
    }
  });

  test('reports that the process lives and is ready, to GET and HEAD', async () => {
    for (const [path, word] of [
      ['/livez', 'alive'],
      ['/readyz', 'ready'],
    ] as const) {
      const { status, headers, body } = await admin.get(path);
      expect([status, headers['cache-control'], JSON.parse(body)]).toEqual([200, 'no-store', { status: word }]);
      const head = await admin.send({ method: 'HEAD', target: path, headers: {} });
      expect([head.status, head.headers['content-length'], head.body]).toEqual([200, headers['content-length'], '']);
    }
  });

  test('reports the served data and the settings', async () => {
    const { body } = await admin.get('/status?pretty');
    const status = JSON.parse(body) as Record<string, Record<string, unknown>>;
    expect(status).toMatchObject({ status: 'ready', threads: { serving: 2 } });
    const [, generation] = /generation ([0-9a-f]+)/.exec(server.err())!;
    expect(status['data']!['generation']).toMatch(new RegExp(`^${generation!}`));
    expect(Object.keys(status['data']!['records'] as object)).toHaveLength(COLLECTIONS.length);
    expect(status['data']!['records']).toMatchObject({ observations: 500 });
    expect(status['settings']).toMatchObject({ port: 0, adminHost: '127.0.0.1', threads: 2 });
    expect(status['memory']!['dataBytes']).toMatchObject({ records: expect.any(Number) as number });
  });

  test('lists its paths on an unknown one, and the methods that it allows', async () => {
    expect(await admin.get('/metrics/x')).toMatchObject({ status: 404, body: expect.stringContaining('/readyz') });
    expect(await admin.get('/toString')).toMatchObject({ status: 404 });
    const post = await admin.send({ method: 'POST', target: '/status', headers: {}, body: '' });
    expect([post.status, post.headers['allow']]).toEqual([405, 'GET, HEAD']);
  });

  test('reports on the attribute authority, and when its certificates expire', async () => {
    const { authority } = JSON.parse((await admin.get('/status')).body) as { authority: Record<string, unknown> };
    const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/) as string;
    expect(authority).toEqual({
      siteName: 'Demonstration',
      users: 1,
      trustedHosts: 2,
      unusableFiles: 0,
      notes: expect.arrayContaining(['revocation is not checked: the configuration names no crls']) as unknown,
      loaded: instant,
      expires: { certificate: instant, cas: instant },
      refused: null,
    });
    const expires = authority['expires'] as Record<string, string>;
    const told = await samples();
    for (const what of ['certificate', 'cas'])
      expect(told.get(`authority_expiry_timestamp_seconds{what="${what}"}`)).toBe(Date.parse(expires[what]!) / 1000);
    expect(told.has('authority_expiry_timestamp_seconds{what="crls"}')).toBe(false);
  });

  test('serves nothing on the public port', async () => {
    for (const target of ['/livez', '/readyz', '/metrics', '/status']) {
      expect((await once(server.port, { method: 'GET', target, headers: {} })).status).toBe(404);
    }
  });

  test('has the same samples whatever clients send', async () => {
    // The metrics of Node appear with the events that they count, such as kinds of garbage collections.
    const names = async (): Promise<readonly string[]> =>
      [...(await samples()).keys()].filter((name) => !/^(?:process|nodejs)_/.test(name));
    const before = await names();
    for (const [method, target] of [
      ['BREW', '/made/up'],
      ['GET', '/api/v3/observations/?made_up=1&title__made_up=2'],
      ['PATCH', '/api/v3/made_up/'],
      ['GET', '/api/v9/observations/1/'],
    ] as const) {
      await once(server.port, { method, target, headers: { 'x-request-id': 'made-up', 'user-agent': 'made up' } });
    }
    expect(await names()).toEqual(before);
    expect(before.join()).not.toContain('made');
  });

  test('has the running version, and names every time as one', async () => {
    const { body } = await admin.get('/metrics');
    expect(body).toContain(`\ncatalogue_replica_build_info{version="${packageVersion()}"} 1\n`);
    const helps = [...body.matchAll(/^# HELP catalogue_replica_(\S+) .*$/gm)];
    const times = helps.filter(([line]) => line.includes('since 1970')).map(([, name]) => name!);
    expect(times.length).toBeGreaterThan(3);
    expect(times.filter((name) => !name.endsWith('_timestamp_seconds'))).toEqual([]);
  });

  test('has exactly the metrics that its guide lists', async () => {
    const { body } = await admin.get('/metrics');
    const exported = [...body.matchAll(/^# TYPE catalogue_replica_(\S+) /gm)].map(([, name]) => name!);
    const guide = readFileSync(new URL('../../server/observe/README.md', import.meta.url), 'utf8');
    const [, chapter] = /^## Metrics$(.*?)^## /ms.exec(guide)!;
    const described = [...chapter!.matchAll(/^\| `([a-z_]+)` /gm)].map(([, name]) => name!);
    const local = exported.filter((name) => !/^(?:process|nodejs)_/.test(name));
    expect(described.toSorted()).toEqual(local.toSorted());
  });
});

describe('metrics that threads report once a second', () => {
  const LISTS = '/api/v3/observations/';

  const seconds = async (thread: number): Promise<number> =>
    (await samples()).get(`event_loop_delay_seconds_count{thread="${thread}"}`)!;

  /** Resolves once both threads have reported their current metrics. */
  const told = async (): Promise<void> => {
    const before = [await seconds(0), await seconds(1)];
    for (const thread of [0, 1]) {
      await expect.poll(() => seconds(thread), { timeout: 10_000 }).toBeGreaterThan(before[thread]!);
    }
  };

  test('exist from 0 on, before any request', async () => {
    const fresh = await samples();
    for (const outcome of ['found', 'busy', 'gone', 'overtime']) {
      expect(fresh.has(`pool_queries_total{outcome="${outcome}"}`)).toBe(true);
    }
    for (const thread of [0, 1]) expect(fresh.has(`event_loop_delay_seconds_count{thread="${thread}"}`)).toBe(true);
    expect(fresh.has('event_loop_delay_seconds_count{thread="2"}')).toBe(false);
  });

  test.each(['port', 'http10Port'] as const)('count opened and closed connections to the %s', async (name) => {
    const count = async (): Promise<number> => (await samples()).get('connections')!;
    await expect.poll(count, { timeout: 10_000 }).toBe(0);
    const socket = await RawSocket.open(server[name]);
    await socket.write(requestOf('GET', '/healthz'));
    expect((await socket.answer())?.status).toBe(200);
    await expect.poll(count, { timeout: 10_000 }).toBe(1);
    socket.vanish();
    await expect.poll(count, { timeout: 10_000 }).toBe(0);
  });

  test('count lists, look-ups and exported rows in the thread that does the work', async () => {
    const queries = [
      'limit=2&offset=7',
      'format=ndjson&limit=12',
      'format=csv&limit=3',
      'abstract__regex=q.*z',
      'abstract__regex=x.*z',
    ];
    const grownBy = {
      'lists_found_total{place="inline"}': 3,
      'answer_cache_lookups_total{outcome="miss"}': 5,
      export_rows_total: 15,
      'row_set_cache_lookups_total{outcome="miss"}': 2,
      'pool_queries_total{outcome="found"}': 2,
    };
    // By then the threads have reported everything that was done before.
    await told();
    const counts = await grown(Object.keys(grownBy), async () => {
      for (const query of queries) await once(server.port, { method: 'GET', target: `${LISTS}?${query}`, headers: {} });
      await told();
    });
    expect(Object.fromEntries(Object.keys(grownBy).map((name, i) => [name, counts[i]]))).toEqual(grownBy);
  });
});

describe.each(['port', 'http10Port'] as const)('the metrics of requests to the %s', (name) => {
  const LIST = '/api/v3/observations/?limit=3';
  const one = (route: string, method: string, status: number | string): string =>
    `requests_total{route="${route}",method="${method}",status="${status}"}`;
  const CASES: readonly (readonly [sample: string, request: Parameters<Client['send']>[0]])[] = [
    [one('list', 'GET', 200), { method: 'GET', target: LIST, headers: {} }],
    [one('list', 'HEAD', 200), { method: 'HEAD', target: LIST, headers: {} }],
    [one('list', 'GET', 400), { method: 'GET', target: '/api/v3/observations/?limit=3&title__foo=1', headers: {} }],
    [one('list', 'other', 405), { method: 'DELETE', target: LIST, headers: {} }],
    [one('record', 'GET', 404), { method: 'GET', target: '/api/v3/observations/99999999/', headers: {} }],
    [one('other', 'GET', 301), { method: 'GET', target: '/api/v3/observations', headers: {} }],
    [one('root', 'OPTIONS', 200), { method: 'OPTIONS', target: '/api/v3/', headers: {} }],
    [one('other', 'GET', 404), { method: 'GET', target: '/nothing/here', headers: {} }],
    [one('health', 'GET', 200), { method: 'GET', target: '/healthz', headers: {} }],
    [one('health', 'POST', 405), { method: 'POST', target: '/healthz', headers: {}, body: '' }],
    [one('authority', 'GET', 200), { method: 'GET', target: '/attAuthority.wsdl', headers: {} }],
    [
      one('authority', 'POST', 500),
      { method: 'POST', target: '/attAuthority.wsdl', headers: { 'content-type': 'text/xml' }, body: '<x/>' },
    ],
  ];

  test.each(CASES)('count %s', async (sample, request) => {
    const [, status] = /status="(\d+)"/.exec(sample)!;
    const send = async (): Promise<void> => expect((await once(server[name], request)).status).toBe(Number(status));
    expect(await grown([sample], send)).toEqual([1]);
  });

  // Bytes that node:http cannot parse make no request that could be counted.
  if (name === 'port')
    test('count a malformed request', async () => {
      const send = async (): Promise<void> => {
        const socket = await RawSocket.open(server[name]);
        await socket.write('GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n');
        expect((await socket.answer())?.status).toBe(400);
        socket.vanish();
      };
      expect(await grown([one('index', 'GET', 400), one('other', 'GET', 400)], send)).toContain(1);
    });

  test('contain the bytes of bodies, compressed or not, and their times', async () => {
    const names = ['answer_bytes_total', 'gzip_answers_total', 'answer_seconds_count'].map(
      (metric) => `${metric}{route="list"}`,
    );
    const ask = (method: string, codings: string) => async (): Promise<number> =>
      (await once(server[name], { method, target: '/api/v3/observations/', headers: { 'accept-encoding': codings } }))
        .bytes.length;
    for (const [method, codings, gzip] of [
      ['GET', 'identity', 0],
      ['GET', 'gzip', 1],
      ['HEAD', 'gzip', 1],
    ] as const) {
      let bytes = -1;
      const work = async (): Promise<void> => void (bytes = await ask(method, codings)());
      const [counted, ...others] = await grown(names, work);
      expect([method, codings, counted, ...others]).toEqual([method, codings, bytes, gzip, 1]);
    }
    const now = await samples();
    const below = [...now].filter(([sample]) => sample.startsWith('answer_seconds_bucket{route="list"'));
    expect(below.map(([, count]) => count)).toEqual(below.map(([, count]) => count).toSorted((a, b) => a - b));
    expect(now.get('answer_seconds_bucket{route="list",le="+Inf"}')).toBe(
      now.get('answer_seconds_count{route="list"}'),
    );
    expect(now.get('answer_seconds_sum{route="list"}')).toBeGreaterThan(0);
  });
});
