// The full hostile ring: rounds of everything at once against one server per configuration, with clients that stall,
// vanish and flood, until the server's memory and descriptors stop growing. The quick version is
// test/property/fuzz.test.ts.
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { POOL_LIMITS } from '../../workers/pool.ts';
import { clientOf } from '../support/client.ts';
import { holdingsOf, runServer } from '../support/commandProcess.ts';
import { dataSetOf, imported, temporaryDirectory } from '../support/dataSets.ts';
import {
  DESCRIPTORS_SPARE,
  dribble,
  finalWords,
  fuzzBytes,
  fuzzRequests,
  leakedDescriptors,
  STALL_MS_MAX,
  testimony,
  type Victim,
  abandonedFlood,
  abandonedPages,
  flood,
  slowPages,
} from '../support/fuzz.ts';
import { longProperties } from '../support/longProperties.ts';
import { type Random, randomOf, RUN_SEED } from '../support/random.ts';
import { RawSocket, requestOf } from '../support/rawSocket.ts';

const RECORDS = 150;
/** Minimum number of rounds, and the maximum while memory still grows. */
const ROUNDS_MIN = 4;
const ROUNDS_MAX = 8;
/** Per round and transport. */
const REQUESTS = 1500;
const CONNECTIONS = 400;
const DRIBBLERS = 60;
const UNREAD_PAGES = 30;

/** Allowed growth of memory after half of the rounds: garbage that is not collected yet. */
const GROWTH_BYTES_MAX = 48 << 20;
/** Small caches fill soon, so that later growth cannot come from a cache that fills. */
const SMALL_CACHES = ['--answer-cache-mb', '0', '--row-set-cache-mb', '1'];
const PAGE = requestOf('GET', '/api/v3/migrationproperties/?limit=5000');

/** Every way to send a request slowly or never to the end. */
const STALLS: readonly { readonly head: string; readonly bytes: string }[] = [
  { head: '', bytes: '' },
  { head: '', bytes: 'GET /api/v3/ HTTP/1.1\r\nHost: x\r\nX: y\r\n' },
  { head: '', bytes: '\r\n' },
  { head: 'GET / HTTP/1.1\r\nHost: x\r\nX: ', bytes: 'y' },
  { head: 'GET / HTTP/1.1\r\n', bytes: 'Host: x\r\n' },
  { head: requestOf('GET', '/'), bytes: '' },
  { head: requestOf('GET', '/'), bytes: 'x' },
  { head: requestOf('POST', '/', ['Content-Length: 100000']), bytes: 'x' },
  { head: requestOf('POST', '/', ['Content-Length: 100000000']), bytes: 'x' },
  { head: requestOf('POST', '/', ['Transfer-Encoding: chunked']), bytes: '1\r\nx\r\n' },
  { head: requestOf('POST', '/', ['Transfer-Encoding: chunked']), bytes: '1;' },
  { head: requestOf('GET', '/', ['Expect: 100-continue', 'Content-Length: 5']), bytes: 'x' },
];

const directory = temporaryDirectory();
let victim: Victim | undefined;
afterEach(() => victim?.kill());

let file: string;
beforeAll(async () => {
  ({ file } = await imported(dataSetOf(directory, { 'migrationproperties.ndjson': longProperties(RECORDS) })));
});

async function started(...flags: readonly string[]): Promise<Victim> {
  victim = await runServer(['--data', file, ...SMALL_CACHES, ...flags]);
  return victim;
}

async function dribblers({ port, http10Port }: Victim): Promise<readonly string[]> {
  const all = [port, http10Port].flatMap((to) => Array.from({ length: DRIBBLERS }, (_, i) => [to, i] as const));
  const faults = all.map(async ([to, i]) => {
    const stall = STALLS[i % STALLS.length]!;
    return (await dribble(to, stall))
      ? []
      : [`${to === port ? 'uws' : 'node'} waits on after ${JSON.stringify(stall)}`];
  });
  return (await Promise.all(faults)).flat();
}

/** Floods the server while cheap requests continue. All slots must be free afterwards. */
async function floods({ port, http10Port }: Victim): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const to of [port, http10Port]) {
    let isOver = false as boolean;
    const flooding = flood(to, POOL_LIMITS.waitingMax * 4).finally(() => (isOver = true));
    const client = clientOf(`http://127.0.0.1:${to}`);
    for (let i = 0; i < 20; i++) {
      const { status } = await client.get('/api/v3/migrationproperties/?limit=1');
      if (status !== 200) faults.push(`${status} to a cheap request beside a flood`);
    }
    if (isOver) faults.push('cheap requests waited for the flood');
    client.close();
    const { statuses, faults: flooded } = await flooding;
    faults.push(...flooded, ...[...statuses.keys()].filter((status) => status !== 200 && status !== 503).map(String));
    await abandonedFlood(to, POOL_LIMITS.waitingMax * 2);
    await abandonedPages(to, UNREAD_PAGES);
  }
  return faults;
}

/**
 * Checks that a flood within the limits is answered completely once earlier floods are gone, however their clients
 * left.
 */
async function slotsComeBack({ port, http10Port }: Victim): Promise<void> {
  for (const to of [port, http10Port]) {
    await expect
      .poll(async () => (await flood(to, POOL_LIMITS.waitingMax)).statuses, POLL)
      .toEqual(new Map([[200, POOL_LIMITS.waitingMax]]));
  }
}

const POLL = { timeout: 30_000, interval: 500 };

async function round(server: Victim, random: Random): Promise<readonly string[]> {
  const faults = await Promise.all([
    fuzzBytes(server, random, { count: CONNECTIONS, leaves: false }),
    dribblers(server),
    fuzzRequests(server, random, REQUESTS),
  ]);
  const flooded = await floods(server);
  await slotsComeBack(server);
  const lengths = new Set(await slowPages(server, 6));
  return [
    ...faults.flat(),
    ...flooded,
    ...(lengths.size === 1 ? [] : [`slow readers got ${[...lengths].join(' and ')} bytes`]),
  ];
}

/**
 * How far each of the later rounds exceeds all of the early ones, and the allowed amount. A leak makes it grow with the
 * number of rounds; late collections and thread buffers do not.
 */
function growthOf(residentBytes: readonly number[]): number {
  const half = residentBytes.length >> 1;
  const early = Math.max(...residentBytes.slice(0, half));
  return Math.min(...residentBytes.slice(half)) - early - GROWTH_BYTES_MAX;
}

const CONFIGURATIONS = [
  ['--threads', '1', '--trusted-proxy', '127.0.0.0/8', '--allow-base-url', 'http://b.example.org'],
  ['--threads', '2', '--strict', '--filter-errors', 'ignore', '--links', 'request'],
  ['--threads', '3', '--filter-errors', 'empty', '--limit-max', '5000', '--cors'],
];

describe.skipIf(process.platform !== 'linux')(`a server among hostile clients (seed ${RUN_SEED})`, () => {
  test.each(CONFIGURATIONS)('recovers completely with the flags %s %s %s', async (...flags) => {
    const server = await started(...flags);
    const before = await testimony(server);
    await slotsComeBack(server);
    const { descriptors } = holdingsOf(server.pid);
    const random = randomOf(RUN_SEED);
    const residentBytes: number[] = [];
    while (residentBytes.length < ROUNDS_MIN || (growthOf(residentBytes) > 0 && residentBytes.length < ROUNDS_MAX)) {
      expect(await round(server, random)).toEqual([]);
      expect(await leakedDescriptors(server, descriptors)).toBe(0);
      expect(await testimony(server)).toBe(before);
      residentBytes.push(holdingsOf(server.pid).residentBytes);
    }
    expect(growthOf(residentBytes), residentBytes.join(' ')).toBeLessThanOrEqual(0);
    expect(await finalWords(server)).toEqual({ code: 0, complaints: [] });
  });

  test('disconnects clients that read nothing', async () => {
    const server = await started('--threads', '2');
    await testimony(server);
    const { descriptors } = holdingsOf(server.pid);
    const sockets = await Promise.all(
      [server.port, server.http10Port].flatMap((port) =>
        Array.from({ length: UNREAD_PAGES }, () => RawSocket.open(port, false)),
      ),
    );
    await Promise.all(sockets.map((socket) => socket.write(PAGE)));
    // The server has to accept the bytes in the system's queue before it can close the connections.
    const held = (): number => holdingsOf(server.pid).descriptors;
    await expect.poll(held, POLL).toBeGreaterThanOrEqual(descriptors + sockets.length - DESCRIPTORS_SPARE + 1);
    expect(await leakedDescriptors(server, descriptors)).toBe(0);
    for (const socket of sockets) socket.vanish();
    expect(await finalWords(server)).toEqual({ code: 0, complaints: [] });
  });

  test('drains', async () => {
    const server = await started('--threads', '2');
    await slotsComeBack(server);
    const sockets = await Promise.all(
      [server.port, server.http10Port].flatMap((port) => Array.from({ length: 5 }, () => RawSocket.open(port, false))),
    );
    await Promise.all(sockets.map((socket) => socket.write(PAGE)));
    void flood(server.port, POOL_LIMITS.waitingMax * 2).catch(() => undefined);
    void flood(server.http10Port, POOL_LIMITS.waitingMax * 2).catch(() => undefined);
    await testimony(server);
    const end = await Promise.race([finalWords(server), delay(STALL_MS_MAX, 'still there')]);
    expect(end).toEqual({ code: 0, complaints: [] });
    for (const socket of sockets) socket.vanish();
  });
});
