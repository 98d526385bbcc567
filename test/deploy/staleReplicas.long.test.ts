// The shipped proxies in front of three replicas with possibly stale data: a stale replica gets no traffic, and if all
// are stale, all get traffic (A112). Each replica follows a separate folder, which the test moves away.
import { mkdtempSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PROXIES } from '../../bench/proxy/shippedProxies.ts';
import {
  DEMONSTRATION_FILES,
  demonstrationDirectory,
  prepareDemonstration,
} from '../../server/authority/demonstration.ts';
import { epochSeconds } from '../../server/observe/clock.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { hasProgram } from '../support/debian.ts';
import { newFolder, published } from '../support/distributions.ts';
import { type Proxy, type Replica, requestsOf, startProxy, startReplica, loadOn } from '../support/proxies.ts';
import { RawSocket } from '../support/rawSocket.ts';
import { sampleSnapshot } from '../support/sampleSnapshot.ts';
import { until } from '../support/waits.ts';

const NAMES = (['nginx', 'haproxy', 'varnish'] as const).filter((name) => hasProgram(PROXIES[name].program));
/** After this time a proxy has noticed the change. */
const NOT_READY_MS = 2000;
const folder = temporaryDirectory();

describe.skipIf(NAMES.length === 0)('proxies in front of replicas with possibly stale data', () => {
  const targets: string[] = [];
  const following: Replica[] = [];
  const before: Proxy[] = [];
  beforeAll(async () => {
    const authority = join(prepareDemonstration(demonstrationDirectory(), epochSeconds()), DEMONSTRATION_FILES.config);
    const file = await sampleSnapshot();
    const started = [0, 1, 2].map(async (i) => {
      const target = newFolder(folder);
      await published(target.url, { file });
      targets[i] = target.folder;
      const cache = join(mkdtempSync(join(folder, 'cache-')), 'cache');
      const words = ['--from', target.url, '--cache', cache, '--poll', '100ms', '--max-stale', '5s'];
      return startReplica(1, [...words, '--authority', authority]);
    });
    following.push(...(await Promise.all(started)));
    for (const name of NAMES) before.push(await startProxy(name, folder, following));
  });
  afterAll(async () => {
    await Promise.all(before.map((proxy) => proxy.stop()));
    await Promise.all(following.map(({ process }) => process.kill()));
  });

  const readiness = async ({ adminPort }: Replica): Promise<unknown> =>
    ((await (await fetch(`http://127.0.0.1:${adminPort}/readyz`)).json()) as { readonly status: unknown }).status;
  /** Moves the target of a replica away or back. Resolves when the replica reports the new state. */
  const turn = async (i: number, to: 'stale' | 'ready'): Promise<void> => {
    const [here, away] = [targets[i]!, `${targets[i]!}.away`];
    if (to === 'stale') renameSync(here, away);
    else renameSync(away, here);
    await until(async () => (await readiness(following[i]!)) === to);
  };
  /** Which of the replicas get requests now. */
  const asked = async (): Promise<readonly boolean[]> => {
    const counted = (): Promise<readonly number[]> => Promise.all(following.map(requestsOf));
    const first = await counted();
    await delay(500);
    return (await counted()).map((count, i) => count > first[i]!);
  };

  test('send nothing to a stale one, serve on when all are stale, and use only the first that is fresh again', async () => {
    const loads = before.map((proxy) => loadOn(proxy));
    await delay(NOT_READY_MS);
    expect(await asked()).toEqual([true, true, true]);
    await turn(2, 'stale');
    await delay(NOT_READY_MS);
    expect(await asked()).toEqual([true, true, false]);
    await Promise.all([turn(0, 'stale'), turn(1, 'stale')]);
    await delay(NOT_READY_MS);
    expect(await asked()).toEqual([true, true, true]);
    for (const proxy of before) {
      const socket = await RawSocket.open(proxy.port);
      await socket.write(`GET /api/v3/observations/?limit=1 HTTP/1.0\r\n\r\n`);
      expect(await socket.ended()).toMatch(/^HTTP\/1\.[01] 200 [^]*"count":500[^]*\}$/);
    }
    await turn(1, 'ready');
    await delay(NOT_READY_MS);
    expect(await asked()).toEqual([false, true, false]);
    for (const load of loads) {
      const { answered, faults } = await load.stop();
      expect(faults).toEqual([]);
      expect(answered).toBeGreaterThan(100);
    }
  });
});
