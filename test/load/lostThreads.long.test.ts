// Threads that fall silent, die again and again, or cannot be started: what takes long of it.
// Real threads of a real server; how they are ended is in test/support/killer.ts.
import { afterEach, expect, test } from 'vitest';
import type { CommandProcess } from '../support/commandProcess.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { type Killer, killerIn } from '../support/killer.ts';
import { isServed, metricOf, runWatchedServer, until, type WatchedServer } from '../support/watchedServer.ts';

const directory = temporaryDirectory();

const running: CommandProcess[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((command) => command.kill()));
});

interface Served {
  readonly killer: Killer;
  readonly server: WatchedServer;
}

async function served(...words: readonly string[]): Promise<Served> {
  const killer = killerIn(directory);
  const server = await runWatchedServer(words, killer.node);
  running.push(server);
  return { killer, server };
}

test('a serving thread that is silent is stopped where it is, told with the place, and replaced', async () => {
  const one = await served('--threads', '2');
  one.killer.kill('serving', 'loops');
  await one.server.printed(/a serving thread died and is replaced.*did not turn for 10 s\n +at .*\n/);
  await until(async () => isServed(one.server));
  expect(await metricOf(one.server, 'threads_replaced_total{thread="serving"}')).toBe(1);
  one.server.signal('SIGTERM');
  expect(await one.server.ended).toEqual({ code: 0, signal: null });
});

test('a serving thread that waits for the system for good ends the process with 70', async () => {
  const one = await served('--threads', '2');
  one.killer.kill('serving', 'sleeps');
  await one.server.printed(/did not turn for 10 s and cannot be ended/);
  expect(await one.server.ended).toEqual({ code: 70, signal: null });
});
