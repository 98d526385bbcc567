import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientOf } from '../support/client.ts';
import { holdingsOf, type runServer } from '../support/commandProcess.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { RawSocket, requestOf } from '../support/rawSocket.ts';
import { servePaths } from '../support/servedPaths.ts';

const OBSERVATIONS = 40_000;
/** Allowed growth of resident memory; 20 complete listings take 160 MB. */
const GROWTH_BYTES_MAX = 48 << 20;
const STALLED = 20;

let server: Awaited<ReturnType<typeof runServer>>;
beforeAll(async () => {
  server = await servePaths(temporaryDirectory(), OBSERVATIONS);
});
afterAll(() => server.kill());

test('uses no memory for listings that clients do not read', async () => {
  for (const port of [server.port, server.http10Port]) {
    const first = clientOf(`http://127.0.0.1:${port}`);
    await first.get('/api/v0/obs/all');
    first.close();
  }
  const before = holdingsOf(server.pid).residentBytes;
  const sockets: RawSocket[] = [];
  for (let i = 0; i < STALLED; i++) {
    const socket = await RawSocket.open(i % 2 === 0 ? server.port : server.http10Port, false);
    await socket.write(requestOf('GET', '/api/v0/obs/all'));
    sockets.push(socket);
  }
  const client = clientOf(`http://127.0.0.1:${server.port}`);
  // The same thread answers these after all the others.
  for (let i = 0; i < 5; i++) await client.get('/api/v0/obs/all');
  expect(holdingsOf(server.pid).residentBytes - before).toBeLessThan(GROWTH_BYTES_MAX);
  for (const socket of sockets) socket.vanish();
  client.close();
});
