// Threads of a server that die while it serves: replaced, counted, and the end of the process where they keep dying.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { clientOf } from '../../../support/client.ts';
import { type CommandProcess, runProgram } from '../../../support/commandProcess.ts';
import { hasProgram } from '../../../support/debian.ts';
import { dataSetOf, imported, temporaryDirectory } from '../../../support/dataSets.ts';
import { killerIn } from '../../../support/killer.ts';
import { longProperties } from '../../../support/longProperties.ts';
import { RUN_SEED, randomOf } from '../../../support/random.ts';
import { times } from '../../../support/ring.ts';
import { swappedServer, versionOf } from '../../../support/swaps.ts';
import { isServed, metricOf, killableServer, type KillableServer, statusOf } from '../../../support/watchedServer.ts';
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

test.each(['throws', 'exits'] as const)('a serving thread that %s is replaced and counted', async (deed) => {
  const one = await served('--threads', '2');
  one.killer.kill('serving', deed);
  await one.server.printed(/a serving thread died and is replaced/);
  await until(async () => isServed(one.server));
  expect(await metricOf(one.server, 'threads_replaced_total{thread="serving"}')).toBe(1);
  one.server.signal('SIGTERM');
  expect(await one.server.ended).toEqual({ code: 0, signal: null });
});

test('a server whose only thread died says that it is not ready until another one serves', async () => {
  const { killer, server } = await served('--threads', '1');
  const words = new Set<string>();
  const word = async (): Promise<string> => {
    const answer = await fetch(`${server.adminUrl}/readyz`);
    const { status } = (await answer.json()) as { readonly status: string };
    expect([status, answer.status]).toEqual([status, status === 'ready' ? 200 : 503]);
    words.add(status);
    return status;
  };
  expect(await word()).toBe('ready');
  // Again where it was back before anybody looked.
  for (let kills = 1; words.size === 1; kills++) {
    killer.kill('serving', 'exits');
    const replaced = (): Promise<number> => metricOf(server, 'threads_replaced_total{thread="serving"}');
    await until(async () => (await word()) !== 'ready' || (await replaced()) === kills);
  }
  await until(async () => (await word()) === 'ready');
  expect([...words]).toEqual(['ready', 'restarting']);
});

test('serving threads that keep dying end the process with 70', async () => {
  const one = await served('--threads', '2');
  for (let i = 0; i < 5; i++) {
    one.killer.kill('serving', i < 4 ? 'exits' : 'throws');
    await one.server.printed(new RegExp(`(?:a serving thread died[^]*){${i + 1}}`));
  }
  expect(await one.server.ended).toEqual({ code: 70, signal: null });
  expect(one.server.err()).toMatch(/this is a bug .*\nError: sabotage\n +at /);
});

test.each(['throws', 'exits'] as const)('a pool thread that %s costs one answer, and is counted', async (deed) => {
  const one = await served('--threads', '1');
  const heavy = (i: number): Promise<number | 'none'> =>
    statusOf(one.server.url, `/api/v3/migrationproperties/?value__contains=needle${i}`);
  expect(await heavy(1)).toBe(200);
  one.killer.kill('pool', deed);
  expect([500, 503]).toContain(await heavy(2));
  expect(await heavy(3)).toBe(200);
  expect(await metricOf(one.server, 'threads_replaced_total{thread="pool"}')).toBe(1);
});

test(`serving threads that end while data is renewed leave no thread behind (seed ${RUN_SEED})`, async () => {
  const random = randomOf(RUN_SEED);
  const versions = [await versionOf(directory, 'a', 3), await versionOf(directory, 'b', 4)];
  // More deaths in a row would end the process, as they should.
  for (let server = 0; server < times(1, 4); server++) {
    const killer = killerIn(directory);
    const one = await swappedServer(directory, versions[0]!, ['--threads', '2'], killer.node);
    running.push(one);
    for (let kill = 1; kill <= 3; kill++) {
      one.replace(versions[kill % 2]!);
      // The thread looks every 20 ms, and a swap of so little data takes less than 100.
      setTimeout(() => killer.kill('serving', random.pick(['throws', 'exits'])), random.integer(0, 60));
      const { status, body } = await one.admin.send({ method: 'POST', target: '/reload' });
      expect(status, body).toBe(200);
      await one.printed(new RegExp(`(?:a serving thread died and is replaced[^]*){${kill}}`));
      await until(async () => (await generationsOf(one.url)).every((name) => name !== 'none'));
      const { served } = JSON.parse(body) as { readonly served: string };
      expect(served).toBe(versions[kill % 2]!.generation);
      expect(new Set(await generationsOf(one.url))).toEqual(new Set([served.slice(0, 12)]));
    }
    one.admin.close();
    await one.kill();
  }
});

/** What each of many connections of their own is served: with two threads each of them has some. */
async function generationsOf(url: string): Promise<readonly string[]> {
  const one = async (): Promise<string> => {
    const client = clientOf(url);
    try {
      return (await client.get('/api/v3/migrationproperties/?limit=1')).headers['x-generation'] ?? 'none';
    } catch {
      return 'none';
    } finally {
      client.close();
    }
  };
  return Promise.all(Array.from({ length: 20 }, one));
}

/** Leaves a process that runs no room for one descriptor more; answers what gives it back. */
function exhausted(pid: number): () => void {
  const hard = /^Max open files +\d+ +(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'latin1'))![1]!;
  const limit = (most: number | string): void => void execFileSync('prlimit', [`--pid=${pid}`, `--nofile=${most}:`]);
  const firstFree = (): number => {
    const used = new Set(readdirSync(`/proc/${pid}/fd`));
    let free = 0;
    while (used.has(String(free))) free++;
    return free;
  };
  // Until none below was given back meanwhile.
  let most: number;
  do {
    most = firstFree();
    limit(most);
  } while (firstFree() < most);
  return () => limit(hard);
}

const TICKS_PER_SECOND = 100;

/** The CPU time of a process so far, in seconds, as Linux tells it (proc_pid_stat(5)). */
function cpuSecondsOf(pid: number): number {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ')
    .slice(11);
  return (Number(user) + Number(system)) / TICKS_PER_SECOND;
}

const canLimit = process.platform === 'linux' && hasProgram('prlimit');

test.skipIf(!canLimit)(
  'without a descriptor left, what needs one gets 503, and all is well once there are',
  async () => {
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
    // Taken once there is a descriptor for its code.
    server.signal('SIGHUP');
    expect((await client.get('/healthz')).status).toBe(200);
    await server.printed(/a pool thread cannot start/);
    giveBack();
    for (const isServed of [() => heavy(3), document, page, table]) await until(async () => (await isServed()) === 200);
    await server.printed(/the data has not changed/);
    expect(server.err() + server.out()).not.toContain('bug');
    client.close();
  },
);

test.skipIf(!canLimit)(
  'without a descriptor left, who waits to be accepted burns no core, and SIGTERM ends',
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

test.skipIf(!canLimit)('a start with fewer descriptors than its threads need is refused, in one line', async () => {
  const words = ['--nofile=64', process.execPath, CLI, 'serve', '--data', snapshot, '--port', '0', '--threads', '2'];
  const command = runProgram('prlimit', words);
  running.push(command);
  expect(await command.ended).toEqual({ code: 1, signal: null });
  expect(command.err()).toMatch(
    /^catalogue-replica: the process may open 64 descriptors, and 2 serving threads need 89: .*\n$/,
  );
});
