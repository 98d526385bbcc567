// How a server stops: clients are told to leave while they are still served, answers in flight finish, and what is cut
// is said. test/load/drains.long.test.ts does the first of it forty times.
import { describe, expect, test } from 'vitest';
import { runCommand } from '../../../support/commandProcess.ts';
import { dataSetOf, temporaryDirectory } from '../../../support/dataSets.ts';
import { drainUnderLoad } from '../../../support/drains.ts';
import { longProperties } from '../../../support/longProperties.ts';
import { freshSeed, randomOf } from '../../../support/random.ts';
import { RawSocket, requestOf } from '../../../support/rawSocket.ts';

const SEED = freshSeed();

test(`no request is lost of clients that leave when they are told to (seed ${SEED})`, async () => {
  const { answered, told, lost, end } = await drainUnderLoad(randomOf(SEED));
  expect({ lost, end }).toEqual({ lost: [], end: { code: 0, signal: null } });
  expect(told).toBeGreaterThan(0);
  expect(answered).toBeGreaterThan(told);
});

describe('a client that does not read', () => {
  const data = dataSetOf(temporaryDirectory(), { 'migrationproperties.ndjson': longProperties(150) });

  test('is cut after the time for it, which is said, and the end is a good one', async () => {
    const flags = ['--drain-grace-seconds', '0', '--drain-seconds', '1'];
    const server = runCommand(['serve', '--data', data, '--port', '0', '--threads', '1', ...flags]);
    try {
      const [, port] = await server.printed(/listening on http:\/\/\S+:(\d+)\n/);
      const reader = await RawSocket.open(Number(port), false);
      await reader.write(requestOf('GET', '/api/v3/migrationproperties/?limit=1000'));
      const probe = await RawSocket.open(Number(port));
      await probe.write(requestOf('GET', '/healthz'));
      expect((await probe.answer())?.status).toBe(200);
      server.signal('SIGTERM');
      await server.printed(/\n1 answer was cut, since it took longer than 1 s\n/);
      expect(await server.ended).toEqual({ code: 0, signal: null });
      reader.vanish();
      probe.vanish();
    } finally {
      await server.kill();
    }
  });
});
