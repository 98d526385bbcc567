// The access log of a real server over both transports: each member of its lines, one line for every counted request,
// and no line or request lost to logrotate or a full disk.
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientOf, type Client } from '../support/client.ts';
import { runCommand, runServer } from '../support/commandProcess.ts';
import { dataSetOf, temporaryDirectory } from '../support/dataSets.ts';
import { longProperties } from '../support/longProperties.ts';
import { RawSocket, requestOf } from '../support/rawSocket.ts';

type Server = Awaited<ReturnType<typeof runServer>>;
type Line = Readonly<Record<string, unknown>>;

const directory = temporaryDirectory();
const LIST = '/api/v3/observations/';
const HEX = /^[0-9a-f]{32}$/;
const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

let server: Server;
const file = join(directory, 'access.log');
beforeAll(async () => {
  server = await runServer(['--threads', '2', '--access-log', file, '--trusted-proxy', '127.0.0.1']);
});
afterAll(() => server.kill());

function linesOf(...files: readonly string[]): readonly Line[] {
  const texts = files.filter((one) => existsSync(one)).map((one) => readFileSync(one, 'utf8'));
  return texts.flatMap((text) => text.split('\n').slice(0, -1)).map((line) => JSON.parse(line) as Line);
}

/** Waits for the line of the request with this id. */
async function lineOf(id: string): Promise<Line> {
  const found = (): Line | undefined => linesOf(file).find((line) => line['id'] === id);
  await expect.poll(found, { timeout: 10_000 }).toBeDefined();
  return found()!;
}

async function sent(port: number, request: Parameters<Client['send']>[0]): Promise<Awaited<ReturnType<Client['get']>>> {
  const client = clientOf(`http://127.0.0.1:${port}`);
  try {
    return await client.send(request);
  } finally {
    client.close();
  }
}

describe.each(['port', 'http10Port'] as const)('a request to the %s', (name) => {
  let number = 0;
  const nextId = (): string => `${name}-${++number}`;
  const logged = async (request: Partial<Parameters<Client['send']>[0]>): Promise<Line> => {
    const id = nextId();
    const { headers, ...parts } = request;
    const all = { method: 'GET', target: LIST, ...parts, headers: { ...headers, 'x-request-id': id } };
    const { headers: answered } = await sent(server[name], all);
    expect(answered['x-request-id']).toBe(id);
    return lineOf(id);
  };

  test('has a line with its members, in order', async () => {
    const target = `${LIST}?title__contains=secret&limit=1&status__in=a,b&status__in!=c&limit=2&made_up=secret`;
    const line = await logged({ target, headers: { traceparent: TRACE } });
    expect(Object.keys(line)).toEqual(
      'time level event id traceparent method path route shape status bytes ms'.split(' '),
    );
    expect(line).toMatchObject({
      level: 'info',
      event: 'request',
      traceparent: TRACE,
      method: 'GET',
      path: LIST,
      route: 'list',
      shape: '*&limit&status__in&status__in!&title__contains',
      status: 200,
    });
    expect(new Date(line['time'] as string).toISOString()).toBe(line['time']);
    expect(line['ms']).toBeGreaterThan(0);
    expect(JSON.stringify(line)).not.toContain('secret');
  });

  test('is logged with its outcome: HEAD, 304, 400, 404, 405, SOAP, health', async () => {
    const { headers, bytes } = await sent(server[name], { method: 'GET', target: `${LIST}?limit=1`, headers: {} });
    expect(await logged({ target: `${LIST}?limit=1` })).toMatchObject({ status: 200, bytes: bytes.length });
    expect(await logged({ target: `${LIST}?limit=1`, method: 'HEAD' })).toMatchObject({ method: 'HEAD', bytes: 0 });
    const unchanged = await logged({ target: `${LIST}?limit=1`, headers: { 'if-none-match': headers['etag']! } });
    expect(unchanged).toMatchObject({ status: 304, bytes: 0, route: 'list' });
    expect(await logged({ target: `${LIST}?title__foo=1` })).toMatchObject({ status: 400, shape: '*' });
    expect(await logged({ target: `${LIST}99999999/` })).toMatchObject({ status: 404, route: 'record' });
    expect(await logged({ method: 'DELETE' })).toMatchObject({ status: 405, method: 'DELETE' });
    expect(await logged({ target: '/healthz' })).toMatchObject({ status: 200, route: 'health' });
    const soap = {
      method: 'POST',
      target: '/attAuthority.wsdl',
      headers: { 'content-type': 'text/xml' },
      body: '<x/>',
    };
    expect(await logged(soap)).toMatchObject({ status: 500, level: 'error', route: 'authority' });
  });

  test.each(['', 'x'.repeat(129), 'a b', 'a"b', 'a\tb', 'ä'])(
    'gets a new id instead of the invalid %j',
    async (given) => {
      const target = `/unusual${given.length}`;
      const { headers } = await sent(server[name], { method: 'GET', target, headers: { 'x-request-id': given } });
      expect(headers['x-request-id']).toMatch(HEX);
      expect(await lineOf(headers['x-request-id']!)).toMatchObject({ path: target, status: 404 });
    },
  );

  test.each([TRACE.toUpperCase(), `ff${TRACE.slice(2)}`, `${TRACE}x`, TRACE.replace('4bf9', '"bf9')])(
    'is logged without the invalid traceparent %j',
    async (traceparent) => expect(await logged({ headers: { traceparent } })).not.toHaveProperty('traceparent'),
  );

  test('is logged with a truncated and escaped path', async () => {
    const socket = await RawSocket.open(server[name]);
    const id = nextId();
    await socket.write(requestOf('GET', `/"\\<${'x'.repeat(3000)}`, [`X-Request-Id: ${id}`]));
    await socket.answer();
    socket.vanish();
    const line = await lineOf(id);
    expect(line['path']).toMatch(/^\/%22(?:%5C|\/)?<?x+\.\.\.$/);
    expect((line['path'] as string).length).toBeLessThan(300);
  });

  test('has a line even if it is pipelined after another', async () => {
    const [first, second] = [nextId(), nextId()];
    const socket = await RawSocket.open(server[name]);
    const request = (id: string): string => requestOf('GET', '/healthz', [`X-Request-Id: ${id}`]);
    await socket.write(request(first) + request(second));
    expect([await socket.answer(), await socket.answer()].map((answer) => answer?.headers.get('x-request-id'))).toEqual(
      [[first], [second]],
    );
    socket.vanish();
    expect([await lineOf(first), await lineOf(second)].map(({ status }) => status)).toEqual([200, 200]);
  });
});

test('accepts a request id from trusted proxies only, and sends none without a log', async () => {
  const other = join(directory, 'untrusted.log');
  const untrusting = await runServer(['--threads', '1', '--access-log', other, '--trusted-proxy', '10.0.0.0/8']);
  const silent = await runServer(['--threads', '1']);
  try {
    for (const name of ['port', 'http10Port'] as const) {
      const request = { method: 'GET', target: '/healthz', headers: { 'x-request-id': 'mine' } };
      expect((await sent(untrusting[name], request)).headers['x-request-id']).toMatch(HEX);
      expect((await sent(silent[name], request)).headers).not.toHaveProperty('x-request-id');
    }
  } finally {
    await Promise.all([untrusting.kill(), silent.kill()]);
  }
});

/** Sends requests over several connections until `end` is called, which resolves to the number of responses. */
function load(port: number, connections: number): { end(): Promise<number> } {
  let isOver = false;
  const loops = Array.from({ length: connections }, async () => {
    const client = clientOf(`http://127.0.0.1:${port}`);
    let answered = 0;
    for (; !isOver; answered++) expect((await client.get(`${LIST}?limit=1&offset=${answered % 400}`)).status).toBe(200);
    client.close();
    return answered;
  });
  return {
    end: async () => {
      isOver = true;
      return (await Promise.all(loops)).reduce((sum, one) => sum + one, 0);
    },
  };
}

test('writes one whole line for each counted request under load, through renames and SIGUSR2', async () => {
  const path = join(directory, 'rotated.log');
  const rotated = await runServer(['--threads', '2', '--access-log', path, '--admin-port', '0']);
  try {
    const files: string[] = [path];
    const asking = load(rotated.port, 8);
    for (let i = 1; i <= 4; i++) {
      await expect.poll(() => existsSync(path) && readFileSync(path).length > 10_000, { timeout: 20_000 }).toBe(true);
      renameSync(path, `${path}.${i}`);
      files.push(`${path}.${i}`);
      rotated.signal('SIGUSR2');
    }
    const answered = await asking.end();
    await expect.poll(() => linesOf(...files).length, { timeout: 10_000 }).toBe(answered);
    const ids = new Set(linesOf(...files).map(({ id }) => id));
    expect(ids.size).toBe(answered);
    const [, admin] = /admin on (http:\S+)status/.exec(rotated.out() + rotated.err())!;
    const metrics = await (await fetch(`${admin!}metrics`)).text();
    const counted = [...metrics.matchAll(/^catalogue_replica_requests_total\{\S+\} (\d+)$/gm)];
    expect(counted.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(answered);
    expect(metrics).toContain(`catalogue_replica_access_log_lines_total{outcome="taken"} ${answered}\n`);
    rotated.signal('SIGTERM');
    expect(await rotated.ended).toEqual({ code: 0, signal: null });
  } finally {
    await rotated.kill();
  }
});

test.runIf(process.platform === 'linux')('answers all requests while the disk is full, and reports it', async () => {
  const full = await runServer(['--threads', '1', '--access-log', '/dev/full']);
  try {
    const asking = load(full.port, 4);
    await full.printed(/the access log \/dev\/full cannot be written \(ENOSPC\)/);
    expect(await asking.end()).toBeGreaterThan(0);
  } finally {
    await full.kill();
  }
});

test('logs the sampled fraction of requests, and gives all an id', async () => {
  const path = join(directory, 'sampled.log');
  const sampled = await runServer(['--threads', '1', '--access-log', path, '--access-log-sample', '4']);
  try {
    const client = clientOf(sampled.url);
    for (let i = 0; i < 12; i++) expect((await client.get('/healthz')).headers['x-request-id']).toMatch(HEX);
    client.close();
    await expect.poll(() => linesOf(path).length, { timeout: 10_000 }).toBe(3);
  } finally {
    await sampled.kill();
  }
});

test('writes the access log alone to standard output, and events as JSON to standard error', async () => {
  const words = ['serve', '--port', '0', '--threads', '1', '--access-log', '-', '--log-format', 'json'];
  const one = runCommand([...words, '--audit-log', join(directory, 'audit.log')]);
  try {
    const [, port] = await one.printed(/listening on http:\/\/127\.0\.0\.1:(\d+)/);
    await one.printed(/try: curl/);
    expect((await sent(Number(port), { method: 'GET', target: '/healthz', headers: {} })).status).toBe(200);
    await one.printed(/"route":"health"/);
    one.signal('SIGUSR2');
    one.signal('SIGTERM');
    expect(await one.ended).toEqual({ code: 0, signal: null });
    const parsed = (text: string): readonly Line[] =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Line);
    expect(parsed(one.out()).map(({ event, route }) => [event, route])).toEqual([['request', 'health']]);
    const events = parsed(one.err());
    expect(events.length).toBeGreaterThan(3);
    for (const { time, level, message } of events) {
      expect([new Date(time as string).toISOString(), level, typeof message]).toEqual([time, 'info', 'string']);
    }
  } finally {
    await one.kill();
  }
});

test('reports a log that cannot be opened in one sentence at the start', async () => {
  const refused = runCommand(['serve', '--port', '0', '--access-log', join(directory, 'none', 'access.log')]);
  expect(await refused.ended).toEqual({ code: 1, signal: null });
  expect(refused.err()).toMatch(/^catalogue-replica: the access log \S+ cannot be written \(ENOENT\)$/m);
});

test('logs clients that leave before their response without a status, and requests refused with 503 with it', async () => {
  const path = join(directory, 'left.log');
  const data = dataSetOf(temporaryDirectory(), { 'migrationproperties.ndjson': longProperties(200) });
  const slow = await runServer(['--threads', '1', '--data', data, '--access-log', path]);
  const statuses = (): readonly unknown[] => linesOf(path).map(({ status }) => status);
  try {
    const heavy = (i: number): string => requestOf('GET', `/api/v3/migrationproperties/?value__regex=n.*${i}z`);
    const sockets = await Promise.all(Array.from({ length: 300 }, () => RawSocket.open(slow.port)));
    await Promise.all(sockets.map((socket, i) => socket.write(heavy(i))));
    await sockets.at(-1)!.answer();
    for (const socket of sockets) socket.vanish();
    await expect.poll(() => statuses().length, { timeout: 20_000 }).toBe(300);
    expect(statuses()).toContain(null);
    expect(statuses()).toContain(503);
    expect(linesOf(path).every(({ route }) => route === 'list')).toBe(true);
  } finally {
    await slow.kill();
  }
});
