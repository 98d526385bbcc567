// 100,000 requests over persistent connections, in bursts with gaps around the timeouts of idle connections: each is
// answered with 200. Each gap has its own proxy, so that the proxy's connections to the replicas idle equally long.
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PROXIES, type ProxyName } from '../../bench/proxy/shippedProxies.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { hasProgram } from '../support/debian.ts';
import { type Replica, startProxy, startReplica } from '../support/proxies.ts';
import { requestOf } from '../support/rawSocket.ts';

const NAMES = (Object.keys(PROXIES) as ProxyName[]).filter((name) => hasProgram(PROXIES[name].program));
/** Proxies keep idle connections to replicas for 5 s, replicas close them after 8 to 12 s. */
const GAPS_MS = [4900, 4990, 7950, 10_000, 12_000];
const SECONDS = 36;
const APART_MS = 300;
const CONNECTIONS = 40;
/** Requests in a burst on one connection: nginx closes one after 1000 requests. */
const IN_BURST: Readonly<Record<ProxyName, number>> = { nginx: 90, haproxy: 9, varnish: 9 };

/** How often each status occurred, or that the connection was cut. */
type Tally = Map<string, number>;
const add = (tally: Tally, what: string, count = 1): unknown => tally.set(what, (tally.get(what) ?? 0) + count);

const burstOf = (count: number): string =>
  Array.from({ length: count }, (_, n) =>
    requestOf('GET', `/api/v3/observations/?fields=ob_id&limit=1&offset=${n}`),
  ).join('');

/** Sends bursts of `inBurst` requests over one connection, with a gap between each two. */
async function askedOver(port: number, inBurst: number, gapMs: number, tally: Tally): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let [rest, waiting, wake] = ['', 0, (): void => undefined];
  socket.on('data', (chunk) => {
    rest += chunk.toString('latin1');
    let end = 0;
    for (const match of rest.matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
      add(tally, match[1]!);
      waiting--;
      end = match.index + match[0].length;
    }
    rest = rest.slice(Math.max(end, rest.length - 'HTTP/1.1 200'.length));
    if (waiting === 0) wake();
  });
  socket.on('error', () => undefined);
  socket.once('close', () => wake());
  const burst = burstOf(inBurst);
  for (let n = burstsWithin(gapMs); n > 0; n--) {
    waiting = inBurst;
    await new Promise<void>((resolve) => {
      wake = resolve;
      socket.write(burst);
    });
    if (waiting > 0) return void add(tally, 'cut', waiting + (n - 1) * inBurst);
    if (n > 1) await delay(gapMs);
  }
  socket.destroy();
}

function burstsWithin(gapMs: number): number {
  return 1 + Math.floor((SECONDS * 1000) / gapMs);
}

describe.skipIf(NAMES.length === 0)('over connections that idle around the timeouts', () => {
  const folder = temporaryDirectory();
  const replicas: Replica[] = [];
  beforeAll(async () => void replicas.push(...(await Promise.all([0, 0].map((grace) => startReplica(grace))))));
  afterAll(() => Promise.all(replicas.map(({ process }) => process.kill())));

  test('answers 100,000 requests with 200 through nginx, and a tenth of them through the others', async () => {
    const ways = NAMES.flatMap((name) => GAPS_MS.map((gapMs) => ({ name, gapMs, inBurst: IN_BURST[name] })));
    const came = ways.map(async ({ name, gapMs, inBurst }, i) => {
      const proxy = await startProxy(name, folder, replicas);
      const tally: Tally = new Map();
      // Not all at once: the test is about idle connections, not about load.
      await delay(i * APART_MS);
      await Promise.all(Array.from({ length: CONNECTIONS }, () => askedOver(proxy.port, inBurst, gapMs, tally)));
      await proxy.stop();
      return { name, gapMs, tally: Object.fromEntries(tally) };
    });
    const all = await Promise.all(came);
    const wanted = ways.map(({ name, gapMs, inBurst }) => {
      return { name, gapMs, tally: { 200: CONNECTIONS * inBurst * burstsWithin(gapMs) } };
    });
    expect(all).toEqual(wanted);
    const sum = all.reduce((total, { tally }) => total + (tally['200'] ?? 0), 0);
    process.stderr.write(`${sum} requests were answered 200\n`);
  });
});
