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
import { someSteps, times } from '../support/ring.ts';
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

const KINDS = ['serving', 'pool', 'signing', 'document'] as const;
const SIGNED = CALL_SCENARIOS.map(({ call }) => call).find(({ operation }) => operation === 'reqAuthorisation')!;
/** The document is made once for each base URL: here is another one for each kill of a server. */
const DOCUMENT_HOSTS = Array.from({ length: 4 }, (_, i) => `d${i}.example.org`);
const DOCUMENTS = DOCUMENT_HOSTS.flatMap((host) => ['--allow-base-url', `http://${host}`]);
const heavyPath = (i: number): string => `/api/v3/observations/?abstract__iregex=a.*b.*c.*d${i}.*e`;

/** Whether a server does what a kind of thread is for; for the `i`-th time of that kind, after so many kills. */
async function works(kind: KilledKind, { url, port }: WatchedServer, i: number, kills = 0): Promise<boolean> {
  if (kind === 'pool') return (await statusOf(url, heavyPath(i))) === 200;
  if (kind === 'document') return (await statusOf(url, '/openapi.json', { host: DOCUMENT_HOSTS[kills]! })) === 200;
  if (kind === 'serving') return (await statusOf(url)) === 200;
  return checkCall(port, SIGNED, authority).then(
    () => true,
    () => false,
  );
}

const SERVERS = times(2, 5);
/** Fewer than a server bears within a minute. */
const KILLS = DOCUMENT_HOSTS.length;
/**
 * From the deed to the count of the death and the first answer of another thread of that kind. On a machine that others
 * keep busy, where a whole start takes longer than that: no longer than a start.
 */
const SERVED_MS_MAX = 2000;

test(`${SERVERS * KILLS} kills of every kind of thread under load: served again within 2 s, but for one of a kind, counted`, async () => {
  const took: Readonly<Record<KilledKind, number[]>> = { serving: [], pool: [], signing: [], document: [] };
  let startMs = 0;
  for (let n = 0; n < SERVERS; n++) {
    const begun = performance.now();
    // One of each kind, so that nobody answers in place of the one that is killed.
    const { server, killer } = await served('--data', SAMPLE, '--threads', '1', ...DOCUMENTS, ...authority.flags);
    startMs = Math.max(startMs, performance.now() - begun);
    const loading = new AbortController();
    const load = (async () => {
      while (!loading.signal.aborted) {
        await Promise.all([statusOf(server.url), statusOf(server.url, '/api/v3/observations/?limit=5')]);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    })();
    for (let i = 0; i < KILLS; i++) {
      for (const kind of KINDS) {
        const seen = await metricOf(server, `threads_replaced_total{thread="${kind}"}`);
        killer.kill(kind, i % 2 === 0 ? 'throws' : 'exits');
        let turn = 1000 * i;
        await until(async () => {
          await works(kind, server, turn++, i);
          return (await metricOf(server, `threads_replaced_total{thread="${kind}"}`)) > seen;
        });
        await until(() => works(kind, server, turn++, i));
        took[kind].push(killer.msSince(kind));
      }
    }
    loading.abort();
    await load;
    for (const kind of KINDS) expect(await metricOf(server, `threads_replaced_total{thread="${kind}"}`)).toBe(KILLS);
    server.signal('SIGTERM');
    expect(await server.ended).toEqual({ code: 0, signal: null });
  }
  process.stderr.write(`a start took up to ${Math.round(startMs)} ms\n`);
  for (const kind of KINDS) {
    const ms = took[kind].map(Math.round).toSorted((a, b) => a - b);
    process.stderr.write(`${kind}: served again after ${ms.join(', ')} ms\n`);
    expect(ms).toHaveLength(SERVERS * KILLS);
  }
  // The fourth thread that dies is started again after a wait.
  const within = Math.max(SERVED_MS_MAX, startMs + 500);
  // A machine that does something else for a second makes one of a kind late.
  for (const kind of KINDS) expect(took[kind].toSorted((a, b) => a - b).at(-2), kind).toBeLessThan(within);
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
  for (const status of [first, await statusOf(url, '/openapi.json')]) expect([200, 503]).toContain(status);
  for (const kind of KINDS) await until(() => works(kind, server, n));
  command.signal('SIGTERM');
  expect([n, await command.ended]).toEqual([n, { code: 0, signal: null }]);
  return { outcome: `${n}: ${first}`, asked: asked() };
}

test('each allocation of a thread or of memory fails once: refused in a line, or 503 and well again', async () => {
  const { asked } = await servedWithout(0);
  const outcomes: string[] = [];
  for (const n of someSteps(asked, Math.ceil(asked / 2))) outcomes.push((await servedWithout(n)).outcome);
  process.stderr.write(`${outcomes.join(', ')}\n`);
});
