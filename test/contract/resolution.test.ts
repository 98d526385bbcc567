// Paths outside the API, over both listeners of a real server: the same bytes, and correct lengths.
// unreadListings.long.test.ts checks the memory of listings that clients do not read.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientOf } from '../support/client.ts';
import type { runServer } from '../support/commandProcess.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { RawSocket, requestOf } from '../support/rawSocket.ts';
import { servePaths } from '../support/servedPaths.ts';

const OBSERVATIONS = 4000;
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
  '/cite/observations/8.txt',
  '/cite/observations/8.bib',
  '/cite/observations/8.ris',
  '/cite/observations/8.json',
];

let server: Awaited<ReturnType<typeof runServer>>;
beforeAll(async () => {
  server = await servePaths(temporaryDirectory(), OBSERVATIONS);
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

  test('allows no other methods', async () => {
    const client = clientOf(`http://127.0.0.1:${server.port}`);
    expect((await client.send({ method: 'POST', target })).status).toBe(405);
    client.close();
  });
});

test('lists every observation in the whole listing', async () => {
  const client = clientOf(`http://127.0.0.1:${server.port}`);
  const all = JSON.parse((await client.get('/api/v0/obs/all')).body) as Record<string, { url: string }>;
  client.close();
  expect(Object.keys(all)).toHaveLength(OBSERVATIONS);
  expect(all['/archive/p7/00007']?.url).toBe('http://catalogue.test/browse/observations/8/');
});

test('answers a path at once, so that a request pipelined after it is answered too', async () => {
  const socket = await RawSocket.open(server.port);
  await socket.write(requestOf('GET', '/api/v0/obs/get_info/archive/p7/00007').repeat(3));
  for (let i = 0; i < 3; i++) expect((await socket.answer())?.status).toBe(200);
  socket.vanish();
});

test('counts requests under a separate route', async () => {
  const [, origin] = await server.printed(/admin on (http:\S+)\/status/);
  const admin = clientOf(origin!);
  const { body } = await admin.get('/metrics');
  admin.close();
  expect(body).toMatch(/requests_total\{route="resolution",method="GET",status="200"\} [1-9]/);
});
