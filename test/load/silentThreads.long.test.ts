// Unresponsive threads end the process, and it is restarted. If the whole process is paused, no thread is blamed. Uses
// the threads of a real server; test/support/killer.ts blocks them.
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { statusOf } from '../support/client.ts';
import type { CommandProcess } from '../support/commandProcess.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { killableServer, type KillableServer } from '../support/killer.ts';
import { times } from '../support/ring.ts';

const directory = temporaryDirectory();
let running: CommandProcess | undefined;
afterEach(() => running?.kill());

async function served(): Promise<KillableServer> {
  const one = await killableServer(directory, ['--threads', '2']);
  running = one.server;
  return one;
}

test.each(['loops', 'sleeps'] as const)('exits with 70 when a serving thread %s', async (deed) => {
  const { killer, server } = await served();
  killer.kill('serving', deed);
  await server.printed(/a serving thread did not turn for 10 s, please report it\nthe process ends with status 70/);
  expect(await server.ended).toEqual({ code: 70, signal: null });
});

test('serves as before after a pause of the whole process', async () => {
  const { server } = await served();
  server.signal('SIGSTOP');
  await delay(times(16_000, 60_000));
  server.signal('SIGCONT');
  // Longer than the time to detect an unresponsive thread.
  await delay(12_000);
  expect(await statusOf(server.url)).toBe(200);
  server.signal('SIGTERM');
  expect(await server.ended).toEqual({ code: 0, signal: null });
  expect(server.err()).not.toContain('did not turn');
});
