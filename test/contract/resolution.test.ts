// What is resolved beside the API, over both listeners of a real server: the same bytes, the lengths they say, and flat
// memory however slowly a listing is read. One thread on 40,000 made-up observations without anything but a path.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientOf } from '../support/client.ts';
import { holdingsOf, runServer } from '../support/commandProcess.ts';
import { dataSetOf, imported, temporaryDirectory } from '../support/dataSets.ts';
import { RawSocket, requestOf } from '../support/rawSocket.ts';

const OBSERVATIONS = 40_000;
/** What reading may add to resident memory; 20 listings held whole are 160 MB. */
const GROWTH_BYTES_MAX = 48 << 20;
const STALLED = 20;
const TARGETS: readonly string[] = [
  '/api/v0/obs/get_info/archive/p7/00007/x.nc',
  '/api/v0/obs/get_info//archive/p7/00007/',
  '/api/v0/obs/get_info%2Farchive%2Fp7%2F00007',
  '/api/v0/obs/get_info/nothing',
  '/api/v0/obs/all',
  '/api/v0/complete/',
  '/api/v0/drs_lookup/d.7',
  '/api/v0/drs_listing/d.',
  '/api/legacy_lookup/?identifier=https://o.example.org/7',
];

const directory = temporaryDirectory();
let server: Awaited<ReturnType<typeof runServer>>;
const lines = (count: number, line: (i: number) => object): string =>
  Array.from({ length: count }, (_, i) => `${JSON.stringify(line(i))}\n`).join('');

beforeAll(async () => {
  const data = dataSetOf(directory, {
    'observations.ndjson': lines(OBSERVATIONS, (i) => ({
      ob_id: i + 1,
      title: `A title that is about as long as one of a catalogue, number ${i}`,
      publicationState: 'citable',
      status: 'completed',
      result_field: { dataPath: `/archive/p${i % 9}/${String(i).padStart(5, '0')}` },
    })),
    'drsdatasets.ndjson': lines(2000, (i) => ({
      ob_id: i + 1,
      drsId: `d.${i}`,
      version: 20_200_000 + i,
      isLatest: true,
      observation: `{base_url}/api/v3/observations/${i + 1}/?format=api`,
    })),
    'identifiers.ndjson': lines(10, (i) => ({
      ob_id: i + 1,
      url: `https://o.example.org/${i}`,
      identifierType: 'legacy2_url',
      relatedTo: { ob_id: i + 1, uuid: '', short_code: 'ob' },
    })),
  });
  const { file } = await imported(data, { file: join(directory, 'paths.snapshot') });
  const flags = ['--data', file, '--threads', '1', '--admin-port', '0', '--base-url', 'http://catalogue.test'];
  server = await runServer(flags);
}, 60_000);
afterAll(() => server.kill());

describe.each(TARGETS)('%s', (target) => {
  test('has the same head and body on both listeners, and HEAD the same length', async () => {
    const seen = [];
    for (const port of [server.port, server.http10Port]) {
      const client = clientOf(`http://127.0.0.1:${port}`);
      const got = await client.get(target);
      const head = await client.send({ method: 'HEAD', target });
      const again = await client.get(target, { 'If-None-Match': got.headers['etag']! });
      client.close();
      expect([got.status, head.status, again.status]).toEqual([200, 200, 304]);
      expect(Number(got.headers['content-length'])).toBe(got.bytes.length);
      expect(head.headers['content-length']).toBe(got.headers['content-length']);
      const { etag, 'content-type': type } = got.headers;
      seen.push([etag, type, createHash('sha256').update(got.bytes).digest('hex')]);
    }
    expect(seen[1]).toEqual(seen[0]);
  });

  test('has no other methods', async () => {
    const client = clientOf(`http://127.0.0.1:${server.port}`);
    expect((await client.send({ method: 'POST', target })).status).toBe(405);
    client.close();
  });
});

test('the whole listing has every observation', async () => {
  const client = clientOf(`http://127.0.0.1:${server.port}`);
  const all = JSON.parse((await client.get('/api/v0/obs/all')).body) as Record<string, { url: string }>;
  client.close();
  expect(Object.keys(all)).toHaveLength(OBSERVATIONS);
  expect(all['/archive/p7/00007']?.url).toBe('http://catalogue.test/browse/observations/8/');
});

test('a path is answered at once, so that a request pipelined behind it is answered too', async () => {
  const socket = await RawSocket.open(server.port);
  await socket.write(requestOf('GET', '/api/v0/obs/get_info/archive/p7/00007').repeat(3));
  for (let i = 0; i < 3; i++) expect((await socket.answer())?.status).toBe(200);
  socket.vanish();
});

test('listings that nobody reads take no memory', async () => {
  const before = holdingsOf(server.pid).residentBytes;
  const sockets: RawSocket[] = [];
  for (let i = 0; i < STALLED; i++) {
    const socket = await RawSocket.open(i % 2 === 0 ? server.port : server.http10Port, false);
    await socket.write(requestOf('GET', '/api/v0/obs/all'));
    sockets.push(socket);
  }
  const client = clientOf(`http://127.0.0.1:${server.port}`);
  // Answered behind all of them, by the same thread.
  for (let i = 0; i < 5; i++) await client.get('/api/v0/obs/all');
  expect(holdingsOf(server.pid).residentBytes - before).toBeLessThan(GROWTH_BYTES_MAX);
  for (const socket of sockets) socket.vanish();
  client.close();
});

test('requests are counted under a route of their own', async () => {
  const [, origin] = await server.printed(/admin on (http:\S+)\/status/);
  const admin = clientOf(origin!);
  const { body } = await admin.get('/metrics');
  admin.close();
  expect(body).toMatch(/requests_total\{route="resolution",method="GET",status="200"\} [1-9]/);
});
