// Pool and signing threads that die again and again under load: how soon another one answers.
// Real threads of a real server; how they are ended is in test/support/killer.ts.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type BenchAuthority, openBenchAuthority } from '../../bench/authority/authorityFiles.ts';
import { THREAD_KINDS, type ThreadKind } from '../../server/observe/events.ts';
import { SAMPLE } from '../../server/settings/declarations.ts';
import type { CommandProcess } from '../support/commandProcess.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { isAtWork } from '../support/threadWork.ts';
import { killableServer, metricOf, statusOf } from '../support/watchedServer.ts';
import { until } from '../support/waits.ts';

const directory = temporaryDirectory();

let authority: BenchAuthority;
beforeAll(async () => void (authority = await openBenchAuthority()));
afterAll(() => authority.stop());

let running: CommandProcess | undefined;
afterEach(() => running?.kill());

const SERVERS = 5;
/** Fewer than a server bears within a minute. */
const KILLS = 4;
/**
 * From the deed to the count of the death and the first answer of another thread of that kind. On a machine that others
 * keep busy, where a whole start takes longer than that: no longer than a start.
 */
const SERVED_MS_MAX = 2000;

test(`${SERVERS * KILLS} kills of every kind of thread under load: served again within 2 s, but for one of a kind, counted`, async () => {
  const took: Readonly<Record<ThreadKind, number[]>> = { pool: [], signing: [] };
  let startMs = 0;
  for (let n = 0; n < SERVERS; n++) {
    const begun = performance.now();
    // One of each kind, so that nobody answers in place of the one that is killed.
    const words = ['--data', SAMPLE, '--threads', '1', ...authority.flags];
    const { server, killer } = await killableServer(directory, words);
    running = server;
    startMs = Math.max(startMs, performance.now() - begun);
    const loading = new AbortController();
    const load = (async () => {
      while (!loading.signal.aborted) {
        await Promise.all([statusOf(server.url), statusOf(server.url, '/api/v3/observations/?limit=5')]);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    })();
    for (let i = 0; i < KILLS; i++) {
      for (const kind of THREAD_KINDS) {
        const seen = await metricOf(server, `threads_replaced_total{thread="${kind}"}`);
        killer.kill(kind, i % 2 === 0 ? 'throws' : 'exits');
        let turn = 1000 * i;
        await until(async () => {
          await isAtWork(kind, server, authority, turn++);
          return (await metricOf(server, `threads_replaced_total{thread="${kind}"}`)) > seen;
        });
        await until(() => isAtWork(kind, server, authority, turn++));
        took[kind].push(killer.msSince(kind));
      }
    }
    loading.abort();
    await load;
    for (const kind of THREAD_KINDS)
      expect(await metricOf(server, `threads_replaced_total{thread="${kind}"}`)).toBe(KILLS);
    server.signal('SIGTERM');
    expect(await server.ended).toEqual({ code: 0, signal: null });
  }
  process.stderr.write(`a start took up to ${Math.round(startMs)} ms\n`);
  for (const kind of THREAD_KINDS) {
    const ms = took[kind].map(Math.round).toSorted((a, b) => a - b);
    process.stderr.write(`${kind}: served again after ${ms.join(', ')} ms\n`);
    expect(ms).toHaveLength(SERVERS * KILLS);
  }
  // The fourth thread that dies is started again after a wait.
  const within = Math.max(SERVED_MS_MAX, startMs + 500);
  // A machine that does something else for a second makes one of a kind late.
  for (const kind of THREAD_KINDS) expect(took[kind].toSorted((a, b) => a - b).at(-2), kind).toBeLessThan(within);
});
