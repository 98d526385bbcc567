// The stop of a server: clients are asked to leave while they are still served, responses in flight finish, and cut
// ones are reported. test/load/drains.long.test.ts repeats the first test forty times.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DEMONSTRATION_FILES, demonstrationDirectory } from '../../../../server/authority/demonstration.ts';
import { runCommand } from '../../../support/commandProcess.ts';
import { dataSetOf, temporaryDirectory } from '../../../support/dataSets.ts';
import { hasProgram } from '../../../support/debian.ts';
import { drainUnderLoad } from '../../../support/drains.ts';
import { call } from '../../../support/envelopes.ts';
import { longProperties } from '../../../support/longProperties.ts';
import { RUN_SEED, randomOf } from '../../../support/random.ts';
import { RawSocket, requestOf } from '../../../support/rawSocket.ts';

test(`loses no request of clients that leave when asked to (seed ${RUN_SEED})`, async () => {
  const { answered, told, lost, end } = await drainUnderLoad(randomOf(RUN_SEED));
  expect({ lost, end }).toEqual({ lost: [], end: { code: 0, signal: null } });
  expect(told).toBeGreaterThan(0);
  expect(answered).toBeGreaterThan(told);
});

describe('a client that does not read', () => {
  const data = dataSetOf(temporaryDirectory(), { 'migrationproperties.ndjson': longProperties(150) });

  test('is cut after its time, which is reported, and the exit code is 0', async () => {
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

test.skipIf(!hasProgram('script'))('exits although an authority thread waits for the disk of its audit', async () => {
  // A terminal that shows nothing more acts as a disk that does not respond: writers block.
  const terminal = spawn('script', ['-qefc', 'tty; exec sleep 120', '/dev/null'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const shown: AsyncIterator<Buffer> = terminal.stdout[Symbol.asyncIterator]();
  const audit = String((await shown.next()).value).trim();
  terminal.kill('SIGSTOP');
  const flags = ['--drain-grace-seconds', '0', '--drain-seconds', '1', '--audit-log', audit];
  const server = runCommand(['serve', '--port', '0', '--threads', '1', ...flags]);
  try {
    const [, port] = await server.printed(/listening on http:\/\/\S+:(\d+)\n/);
    // A grant: each has its line, while refusals are counted.
    const user = readFileSync(join(demonstrationDirectory()!, DEMONSTRATION_FILES.user), 'utf8');
    const body = call('reqAuthorisation', `<usrProxyCert>${user}</usrProxyCert><usrAttCert></usrAttCert>`);
    const asked = async (): Promise<boolean> => {
      const signal = AbortSignal.timeout(10_000);
      const headers = { 'content-type': 'text/xml' };
      const url = `http://127.0.0.1:${port}/attAuthority.wsdl`;
      return fetch(url, { method: 'POST', headers, body, signal }).then(
        () => true,
        () => false,
      );
    };
    let answered = 0;
    while (answered < 5000 && (await asked())) answered++;
    expect(answered).toBeGreaterThan(10);
    expect(answered).toBeLessThan(5000);
    server.signal('SIGTERM');
    expect(await server.ended).toEqual({ code: 0, signal: null });
  } finally {
    terminal.kill('SIGKILL');
    await server.kill();
  }
});
