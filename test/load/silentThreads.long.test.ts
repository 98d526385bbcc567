// Threads that fall silent: told with the place and replaced, or, where they cannot be ended, the end of the process.
// Real threads of a real server; how they are silenced is in test/support/killer.ts.
import { afterEach, expect, test } from 'vitest';
import type { CommandProcess } from '../support/commandProcess.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { isServed, killableServer, type KillableServer, metricOf } from '../support/watchedServer.ts';
import { until } from '../support/waits.ts';

const directory = temporaryDirectory();
let running: CommandProcess | undefined;
afterEach(() => running?.kill());

async function served(): Promise<KillableServer> {
  const one = await killableServer(directory, ['--threads', '2']);
  running = one.server;
  return one;
}

test('a serving thread that is silent is stopped where it is, told with the place, and replaced', async () => {
  const one = await served();
  one.killer.kill('serving', 'loops');
  await one.server.printed(/a serving thread died and is replaced.*did not turn for 10 s\n +at .*\n/);
  await until(async () => isServed(one.server));
  expect(await metricOf(one.server, 'threads_replaced_total{thread="serving"}')).toBe(1);
  one.server.signal('SIGTERM');
  expect(await one.server.ended).toEqual({ code: 0, signal: null });
});

test('a serving thread that waits for the system for good ends the process with 70', async () => {
  const one = await served();
  one.killer.kill('serving', 'sleeps');
  await one.server.printed(/did not turn for 10 s and cannot be ended/);
  expect(await one.server.ended).toEqual({ code: 70, signal: null });
});
