// Threads of a server that die while it serves: replaced, counted, and the end of the process where they keep dying.
import { afterEach, beforeAll, expect, test } from 'vitest';
import { clientOf } from '../../../support/client.ts';
import { type CommandProcess, runServer } from '../../../support/commandProcess.ts';
import { dataSetOf, imported, temporaryDirectory } from '../../../support/dataSets.ts';
import { type Killer, killerIn } from '../../../support/killer.ts';
import { longProperties } from '../../../support/longProperties.ts';

const directory = temporaryDirectory();
let snapshot: string;
beforeAll(async () => {
  ({ file: snapshot } = await imported(dataSetOf(directory, { 'migrationproperties.ndjson': longProperties(100) })));
});

const running: CommandProcess[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((command) => command.kill()));
});

interface Served {
  readonly killer: Killer;
  readonly url: string;
  readonly adminUrl: string;
  readonly server: CommandProcess;
}

async function served(...words: readonly string[]): Promise<Served> {
  const killer = killerIn(directory);
  const { node } = killer;
  const flags = ['--data', snapshot, '--gzip', 'live', '--admin-port', '0', ...words];
  const server = await runServer(flags, { node });
  running.push(server);
  const [, adminUrl] = await server.printed(/admin on (http:\S+)\/status/);
  return { killer, url: server.url, adminUrl: adminUrl!, server };
}

/** What one request of its own connection gets: a status, or why there is none. */
async function statusOf(url: string, path = '/healthz'): Promise<number | 'refused'> {
  const client = clientOf(url);
  try {
    return (await client.get(path)).status;
  } catch {
    return 'refused';
  } finally {
    client.close();
  }
}

async function metricOf({ adminUrl }: Served, name: string): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`catalogue_replica_${name} `));
  return Number(line?.split(' ')[1]);
}

/** Resolves when a condition holds; the test's own time bounds it. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** Every one of many connections of their own is answered. */
const isServed = async ({ url }: Served): Promise<boolean> =>
  (await Promise.all(Array.from({ length: 20 }, () => statusOf(url)))).every((status) => status === 200);

test.each(['throws', 'exits'] as const)('a serving thread that %s is replaced and counted', async (deed) => {
  const one = await served('--threads', '2');
  one.killer.kill('serving', deed);
  await one.server.printed(/a serving thread died and is replaced/);
  await until(async () => isServed(one));
  expect(await metricOf(one, 'threads_replaced_total{thread="serving"}')).toBe(1);
  one.server.signal('SIGTERM');
  expect(await one.server.ended).toEqual({ code: 0, signal: null });
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
  const heavy = (i: number): Promise<number | 'refused'> =>
    statusOf(one.url, `/api/v3/migrationproperties/?value__contains=needle${i}`);
  expect(await heavy(1)).toBe(200);
  one.killer.kill('pool', deed);
  expect([500, 503]).toContain(await heavy(2));
  expect(await heavy(3)).toBe(200);
  expect(await metricOf(one, 'threads_replaced_total{thread="pool"}')).toBe(1);
});
