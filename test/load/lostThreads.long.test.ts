// Threads that fall silent, die again and again, or cannot be started: what takes long of it.
// Real threads of a real server; how they are ended is in test/support/killer.ts.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type BenchAuthority, openBenchAuthority } from '../../bench/authority/authorityFiles.ts';
import { checkCall } from '../../bench/authority/callCheck.ts';
import { CALL_SCENARIOS } from '../../bench/authority/callScenarios.ts';
import { SAMPLE } from '../../server/settings/declarations.ts';
import { type CommandProcess, runCommand } from '../support/commandProcess.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { failedAllocation } from '../support/failedAllocations.ts';
import type { KilledKind } from '../support/killer.ts';
import { isServed, killableServer, type KillableServer, metricOf, statusOf, until } from '../support/watchedServer.ts';
import type { WatchedServer } from '../support/watchedServer.ts';

const directory = temporaryDirectory();

let authority: BenchAuthority;
beforeAll(async () => void (authority = await openBenchAuthority()));
afterAll(() => authority.stop());

const running: CommandProcess[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((command) => command.kill()));
});

async function served(...words: readonly string[]): Promise<KillableServer> {
  const one = await killableServer(directory, words);
  running.push(one.server);
  return one;
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

const SIGNED = CALL_SCENARIOS.map(({ call }) => call).find(({ operation }) => operation === 'reqAuthorisation')!;
const heavyPath = (i: number): string => `/api/v3/observations/?abstract__iregex=a.*b.*c.*d${i}.*e`;

/** Whether a server does what a kind of thread is for. */
async function works(kind: KilledKind, { url, port }: WatchedServer, i: number): Promise<boolean> {
  if (kind === 'pool') return (await statusOf(url, heavyPath(i))) === 200;
  if (kind === 'serving') return (await statusOf(url)) === 200;
  return checkCall(port, SIGNED, authority).then(
    () => true,
    () => false,
  );
}

const SERVERS = 5;
/** Fewer than a server bears within a minute. */
const KILLS = 4;
/** Within 2 s on a machine of its own; others may be 2.4 times as slow. */
const SERVED_MS_MAX = 4800;

test(`${SERVERS * KILLS} kills of every kind of thread under load: served again within 2 s, counted`, async () => {
  const slowest = { serving: 0, pool: 0, signing: 0 };
  for (let n = 0; n < SERVERS; n++) {
    const { server, killer } = await served('--data', SAMPLE, '--threads', '2', ...authority.flags);
    const loading = new AbortController();
    const load = (async () => {
      while (!loading.signal.aborted) {
        await Promise.all([statusOf(server.url), statusOf(server.url, '/api/v3/observations/?limit=5')]);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    })();
    for (let i = 0; i < KILLS; i++) {
      for (const kind of ['serving', 'pool', 'signing'] as const) {
        const seen = await metricOf(server, `threads_replaced_total{thread="${kind}"}`);
        killer.kill(kind, i % 2 === 0 ? 'throws' : 'exits');
        let turn = 1000 * i;
        await until(async () => {
          await works(kind, server, turn++);
          return (await metricOf(server, `threads_replaced_total{thread="${kind}"}`)) > seen;
        });
        const start = performance.now();
        await until(() => works(kind, server, turn++));
        slowest[kind] = Math.max(slowest[kind], performance.now() - start);
      }
    }
    loading.abort();
    await load;
    for (const kind of ['serving', 'pool', 'signing'] as const)
      expect(await metricOf(server, `threads_replaced_total{thread="${kind}"}`)).toBe(KILLS);
    server.signal('SIGTERM');
    expect(await server.ended).toEqual({ code: 0, signal: null });
  }
  process.stderr.write(`served again within ${JSON.stringify(slowest)} ms\n`);
  for (const ms of Object.values(slowest)) expect(ms).toBeLessThan(SERVED_MS_MAX);
});

/** Serves with an allocation that fails, and does everything. Answers what came of it, and how many were asked for. */
async function servedWithout(n: number): Promise<{ readonly outcome: string; readonly asked: number }> {
  const { node, asked } = failedAllocation(directory, n);
  const words = ['serve', '--data', SAMPLE, '--port', '0', '--threads', '1', '--gzip', 'live', ...authority.flags];
  const command = runCommand(words, { node });
  running.push(command);
  const [, url, port] = (await command.printed(/listening on (http:\S+:(\d+))\n/).catch(() => [])) as string[];
  if (url === undefined) {
    const { code } = await command.ended;
    expect([n, code, command.err()]).toEqual([n, 1, expect.stringMatching(/(?:^|\n)catalogue-replica: .*\n$/)]);
    expect(command.err()).not.toMatch(/^ +at /m);
    return { outcome: `${n}: ended with ${code}`, asked: asked() };
  }
  const server = { ...command, url, port: Number(port), http10Port: 0, adminUrl: '' };
  const first = await statusOf(url, heavyPath(n));
  expect([200, 503]).toContain(first);
  for (const kind of ['pool', 'signing', 'serving'] as const) await until(() => works(kind, server, n));
  command.signal('SIGTERM');
  expect([n, await command.ended]).toEqual([n, { code: 0, signal: null }]);
  return { outcome: `${n}: ${first}`, asked: asked() };
}

test('each allocation of a thread or of memory fails once: refused in a line, or 503 and well again', async () => {
  const { asked } = await servedWithout(0);
  const outcomes: string[] = [];
  for (let n = 1; n <= asked; n++) outcomes.push((await servedWithout(n)).outcome);
  process.stderr.write(`${outcomes.join(', ')}\n`);
});
