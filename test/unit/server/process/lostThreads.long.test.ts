// Threads of a server that die while it serves: a lost serving thread ends the process, a thread of the pool is
// replaced and counted. Also a server without free descriptors.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { clientOf, statusOf } from '../../../support/client.ts';
import { type CommandProcess, runProgram, metricOf, runServer } from '../../../support/commandProcess.ts';
import { hasProgram } from '../../../support/debian.ts';
import { killerIn, killableServer, type KillableServer, WATCHED } from '../../../support/killer.ts';
import { dataSetOf, imported, temporaryDirectory } from '../../../support/dataSets.ts';
import { longProperties } from '../../../support/longProperties.ts';
import { until } from '../../../support/waits.ts';

const CLI = fileURLToPath(new URL('../../../../server/commands/cli.ts', import.meta.url));
const directory = temporaryDirectory();
let snapshot: string;
beforeAll(async () => {
  ({ file: snapshot } = await imported(dataSetOf(directory, { 'migrationproperties.ndjson': longProperties(100) })));
});

const running: CommandProcess[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((command) => command.kill()));
});

async function served(...words: readonly string[]): Promise<KillableServer> {
  const one = await killableServer(directory, ['--data', snapshot, ...words]);
  running.push(one.server);
  return one;
}

test.each(['throws', 'exits'] as const)('exits with 70 if a serving thread %s', async (deed) => {
  const one = await served('--threads', '2');
  one.killer.kill('serving', deed);
  await one.server.printed(/a serving thread died, please report it: [^]*\nthe process ends with status 70/);
  expect(await one.server.ended).toEqual({ code: 70, signal: null });
});

test('exits with 70 if the heap of a serving thread is full', async () => {
  const killer = killerIn(directory);
  const server = await runServer([...WATCHED, '--data', snapshot], {
    node: ['--max-old-space-size=200', ...killer.node],
  });
  running.push(server);
  killer.kill('serving', 'leaks');
  await server.printed(/a serving thread died, please report it: Error: its heap of \d+ MB is full/);
  expect(await server.ended).toEqual({ code: 70, signal: null });
});

test.each(['throws', 'exits'] as const)('loses one response if a pool thread %s, and counts it', async (deed) => {
  const one = await served('--threads', '1');
  const heavy = (i: number): Promise<number | 'none'> =>
    statusOf(one.server.url, `/api/v3/migrationproperties/?value__contains=needle${i}`);
  expect(await heavy(1)).toBe(200);
  one.killer.kill('pool', deed);
  expect([500, 503]).toContain(await heavy(2));
  expect(await heavy(3)).toBe(200);
  expect(await metricOf(one.server, 'threads_replaced_total{thread="pool"}')).toBe(1);
});

/** Takes all free descriptors from a running process. Returns a function that gives them back. */
function exhausted(pid: number): () => void {
  const hard = /^Max open files +\d+ +(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'latin1'))![1]!;
  const limit = (most: number | string): void => void execFileSync('prlimit', [`--pid=${pid}`, `--nofile=${most}:`]);
  const firstFree = (): number => {
    const used = new Set(readdirSync(`/proc/${pid}/fd`));
    let free = 0;
    while (used.has(String(free))) free++;
    return free;
  };
  // Repeats until no lower descriptor was freed meanwhile.
  let most: number;
  do {
    most = firstFree();
    limit(most);
  } while (firstFree() < most);
  return () => limit(hard);
}

const TICKS_PER_SECOND = 100;

/** The CPU time of a process so far, in seconds (proc_pid_stat(5)). */
function cpuSecondsOf(pid: number): number {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ')
    .slice(11);
  return (Number(user) + Number(system)) / TICKS_PER_SECOND;
}

const canLimit = process.platform === 'linux' && hasProgram('prlimit');

test.skipIf(!canLimit)('responds with 503 for lack of a descriptor, and recovers once there are some', async () => {
  const { server } = await served('--threads', '1');
  const client = clientOf(server.url);
  const heavy = async (i: number): Promise<number> =>
    (await client.get(`/api/v3/migrationproperties/?value__contains=needle${i}`)).status;
  const document = async (): Promise<number> => (await client.get('/openapi.json')).status;
  const page = async (): Promise<number> => (await client.get('/browse/')).status;
  const table = async (): Promise<number> => (await client.get('/api/v3/migrationproperties/?format=parquet')).status;
  expect((await client.get('/healthz')).status).toBe(200);
  const giveBack = exhausted(server.pid);
  expect([await heavy(1), await heavy(2)]).toEqual([503, 503]);
  expect([await document(), await page(), await table()]).toEqual([503, 503, 503]);
  server.signal('SIGHUP');
  await server.printed(/the new data is not taken, generation \w+ goes on: .*EMFILE/);
  expect((await client.get('/healthz')).status).toBe(200);
  await server.printed(/a pool thread cannot start/);
  giveBack();
  server.signal('SIGHUP');
  for (const isServed of [() => heavy(3), document, page, table]) await until(async () => (await isServed()) === 200);
  await server.printed(/the data has not changed/);
  expect(server.err() + server.out()).not.toContain('bug');
  client.close();
});

test.skipIf(!canLimit)(
  'uses no CPU while a client waits to be accepted for lack of a descriptor, and exits on SIGTERM',
  async () => {
    const { server } = await served('--threads', '1');
    const client = clientOf(server.url);
    await client.get('/healthz');
    const giveBack = exhausted(server.pid);
    const waiting = Promise.all(Array.from({ length: 8 }, () => statusOf(server.url)));
    await server.printed(/no descriptor is left \(EMFILE\)/);
    const before = cpuSecondsOf(server.pid);
    const start = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 2000));
    expect(cpuSecondsOf(server.pid) - before).toBeLessThan((0.3 * (performance.now() - start)) / 1000);
    giveBack();
    expect(await waiting).toEqual(Array.from({ length: 8 }, () => 200));
    exhausted(server.pid);
    client.close();
    server.signal('SIGTERM');
    expect(await server.ended).toEqual({ code: 0, signal: null });
    expect(
      server
        .out()
        .concat(server.err())
        .match(/no descriptor is left/g),
    ).toHaveLength(1);
  },
);

test.skipIf(!canLimit)('refuses a start with fewer descriptors than its threads need, in one line', async () => {
  const words = ['--nofile=64', process.execPath, CLI, 'serve', '--data', snapshot, '--port', '0', '--threads', '2'];
  const command = runProgram('prlimit', words);
  running.push(command);
  expect(await command.ended).toEqual({ code: 1, signal: null });
  expect(command.err()).toMatch(
    /^catalogue-replica: the process may open 64 descriptors, and 2 serving threads need 89: .*\n$/,
  );
});
