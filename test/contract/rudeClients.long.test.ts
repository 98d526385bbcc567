// Ill-behaved clients of a running server: the bytes they receive are right to the last one, and afterwards the server
// has as many descriptors and as much memory as before. The holdings are read from Linux. There are as many clients of
// each kind as the requirements demand.
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientOf } from '../support/client.ts';
import { holdingsOf, runServer, type Holdings } from '../support/commandProcess.ts';
import { RawSocket, requestOf } from '../support/rawSocket.ts';
import { times } from '../support/ring.ts';
import { sampleSnapshot } from '../support/sampleSnapshot.ts';

/**
 * Pages of 100 observations, about 310 kB each, 40 kB with gzip: neighbours, scattered ones, and a short one without
 * stored blocks.
 */
const TARGETS = [
  '/api/v3/observations/',
  '/api/v3/observations/?offset=100',
  '/api/v3/observations/?offset=200',
  '/api/v3/observations/?offset=300',
  '/api/v3/observations/?publicationState=citable',
  '/api/v2/observations/?limit=15',
];
const HEAVY = requestOf('GET', '/api/v3/observations/?abstract__regex=wi.d');

const SLOW_READERS = 60;
const ABORTS = times(4000, 10_000);
const UNREAD_CLIENTS = 100;
const UNREAD_PAGES = 40;
/** Pages of 400 kB that a Linux socket accepts before it is full at 4 MB. */
const PIPELINED_PAGES = 8;

/** Allowed growth of memory at the end: garbage that is not collected yet. */
const GROWTH_BYTES_MAX = 32 << 20;
/** Maximum of repetitions: the allocator's reserve grows once, a leak grows each time. */
const REPEATS_MAX = 3;

describe.skipIf(process.platform !== 'linux').each(['uWebSockets.js', 'node:http'])('over %s', (transport) => {
  const isNode = transport === 'node:http';
  let server: Awaited<ReturnType<typeof runServer>>;
  let port = 0;
  let before: Holdings;
  beforeAll(async () => {
    server = await runServer(['--data', await sampleSnapshot(), '--threads', '1']);
    port = isNode ? server.http10Port : server.port;
    // The heap of a thread never shrinks. The warm-up therefore has as many clients as the test, but fewer that
    // disconnect.
    const pages = await bothCodings();
    await readSlowly(port, pages, SLOW_READERS);
    await pipelineUnread(port, cycle(pages, UNREAD_PAGES), UNREAD_CLIENTS);
    await abort(port, pages, HEAVY, ABORTS / 20);
    await startPool();
    before = await settledHoldings();
  });
  afterAll(() => server.kill());

  describe.each(['identity', 'gzip'])('with %s', (coding) => {
    let pages: readonly KnownPage[];
    beforeAll(async () => {
      pages = await knownPages(port, TARGETS, coding);
    });

    test(`sends ${SLOW_READERS} slow readers the right bytes`, async () => {
      await expectHeldAfter(async () => expectAllRight(await readSlowly(port, pages, SLOW_READERS), 1));
    });

    test(`sends ${PIPELINED_PAGES} pipelined pages completely to each of ${UNREAD_CLIENTS} clients that read`, async () => {
      const eight = cycle(pages, PIPELINED_PAGES);
      await expectHeldAfter(async () => expectAllRight(await pipeline(port, eight, UNREAD_CLIENTS), PIPELINED_PAGES));
    });

    test(`sends nothing wrong to ${UNREAD_CLIENTS} clients that pipeline ${UNREAD_PAGES} pages and do not read`, async () => {
      // uWebSockets.js closes a connection with further requests when a page does not fit into the socket; node:http
      // waits.
      const least = isNode ? UNREAD_PAGES : PIPELINED_PAGES;
      await expectHeldAfter(async () => {
        const sent = await pipelineUnread(port, cycle(pages, UNREAD_PAGES), UNREAD_CLIENTS);
        expect(sent.flatMap(({ wrong }) => wrong ?? [])).toEqual([]);
        expect(Math.min(...sent.map(({ whole }) => whole))).toBeGreaterThanOrEqual(least);
      });
    });
  });

  test(`leaves nothing behind after ${ABORTS} clients that leave in the middle`, async () => {
    const pages = await bothCodings();
    await expectHeldAfter(async () => {
      await abort(port, pages, HEAVY, ABORTS);
      expectAllRight(await pipeline(port, pages, 1), pages.length);
    });
  });

  async function bothCodings(): Promise<readonly KnownPage[]> {
    return [...(await knownPages(port, TARGETS, 'identity')), ...(await knownPages(port, TARGETS, 'gzip'))];
  }

  /** Keeps every thread of the pool busy at once, because each has its own descriptors. */
  async function startPool(): Promise<void> {
    const client = clientOf(`http://127.0.0.1:${port}`);
    const targets = Array.from({ length: POOL_QUERIES }, (_, i) => `/api/v3/observations/?abstract__regex=${i}.*wi.d`);
    await Promise.all(targets.map((target) => client.get(target)));
    client.close();
  }

  function expectAllRight(sent: readonly Sent[], whole: number): void {
    expect(new Set(sent.map((one) => one.wrong ?? one.whole))).toEqual(new Set([whole]));
  }

  async function expectHeldAfter(act: () => Promise<void>): Promise<void> {
    let grownBytes = Infinity;
    let { residentBytes } = before;
    for (let repeats = 0; grownBytes >= GROWTH_BYTES_MAX && repeats <= REPEATS_MAX; repeats++) {
      await act();
      const holdings = await settledHoldings(before.descriptors);
      expect(holdings.descriptors).toBeLessThanOrEqual(before.descriptors);
      grownBytes = holdings.residentBytes - residentBytes;
      ({ residentBytes } = holdings);
    }
    expect(grownBytes).toBeLessThan(GROWTH_BYTES_MAX);
  }

  /**
   * The server's holdings after it has released our connections: at most `wanted` descriptors, or an unchanged number.
   */
  async function settledHoldings(wanted?: number): Promise<Holdings> {
    let still = 0;
    let holdings = holdingsOf(server.pid);
    for (let looks = 0; looks < LOOKS_MAX && still < STILL_LOOKS; looks++) {
      await delay(LOOK_MS);
      const last = holdings.descriptors;
      holdings = holdingsOf(server.pid);
      const isSettled = wanted === undefined ? holdings.descriptors === last : holdings.descriptors <= wanted;
      still = isSettled ? still + 1 : 0;
    }
    return holdings;
  }
});

const POOL_QUERIES = 32;
const LOOK_MS = 50;
const STILL_LOOKS = 3;
/** Connections that the client did not close itself are released within 10 s. */
const LOOKS_MAX = 300;

function cycle(pages: readonly KnownPage[], count: number): readonly KnownPage[] {
  return Array.from({ length: count }, (_, i) => pages[i % pages.length]!);
}

/** A request, and its response body by content coding when sent alone, as Latin-1 text. */
interface KnownPage {
  readonly request: string;
  readonly bodies: Readonly<Record<string, string>>;
}

/**
 * Sends each request alone, with and without gzip, and expects the same content. `coding` is what the requests accept.
 */
async function knownPages(port: number, targets: readonly string[], coding: string): Promise<KnownPage[]> {
  const client = clientOf(`http://127.0.0.1:${port}`);
  const pages: KnownPage[] = [];
  for (const target of targets) {
    const { bytes: identity } = await client.get(target);
    const { bytes: gzip } = await client.get(target, { 'accept-encoding': 'gzip' });
    assert(gunzipSync(gzip).equals(identity), target);
    const request = requestOf('GET', target, [`Accept-Encoding: ${coding}`]);
    pages.push({ request, bodies: { identity: identity.toString('latin1'), gzip: gzip.toString('latin1') } });
  }
  client.close();
  return pages;
}

/** The number of complete, correct responses that a client received, and what was wrong with the next one. */
interface Sent {
  readonly whole: number;
  readonly wrong: string | undefined;
}

/** Reads the responses, and compares the received part of one that the end of the connection cuts. */
async function readOut(socket: RawSocket, pages: readonly KnownPage[]): Promise<Sent> {
  for (const [whole, { bodies }] of pages.entries()) {
    const answer = await socket.answer();
    if (!answer) {
      const [, part = ''] = (await socket.ended()).split(/\r\n\r\n([^]*)/);
      const isRight = Object.values(bodies).some((body) => body.startsWith(part));
      return { whole, wrong: isRight ? undefined : `response ${whole} has other bytes` };
    }
    const body = bodies[answer.headers.get('content-encoding')?.[0] ?? 'identity'];
    if (answer.status !== 200 || answer.body !== body) return { whole, wrong: `response ${whole} is another` };
  }
  socket.finish();
  const wrong = (await socket.ended()) === '' ? undefined : 'bytes after the last response';
  return { whole: pages.length, wrong };
}

/** Clients that read 4 KiB of a page per turn of the event loop. */
function readSlowly(port: number, pages: readonly KnownPage[], clients: number): Promise<Sent[]> {
  const one = async (): Promise<Sent> => {
    const socket = await RawSocket.open(port, true, 4096);
    await socket.write(pages[0]!.request);
    return readOut(socket, pages.slice(0, 1));
  };
  return Promise.all(Array.from({ length: clients }, one));
}

/** Clients that send all requests at once and read the responses as they come. */
function pipeline(port: number, pages: readonly KnownPage[], clients: number): Promise<Sent[]> {
  const text = pages.map(({ request }) => request).join('');
  const one = async (): Promise<Sent> => {
    const socket = await RawSocket.open(port);
    await socket.write(text);
    return readOut(socket, pages);
  };
  return Promise.all(Array.from({ length: clients }, one));
}

/**
 * Clients that send all requests at once and read nothing until a later request of another client is answered. Then
 * they read everything.
 */
async function pipelineUnread(port: number, pages: readonly KnownPage[], clients: number): Promise<Sent[]> {
  const text = pages.map(({ request }) => request).join('');
  const sockets = await Promise.all(Array.from({ length: clients }, () => RawSocket.open(port, false)));
  await Promise.all(sockets.map((socket) => socket.write(text)));
  const other = clientOf(`http://127.0.0.1:${port}`);
  await other.get('/api/v3/');
  other.close();
  return Promise.all(
    sockets.map((socket) => {
      socket.read();
      return readOut(socket, pages);
    }),
  );
}

/** Concurrent requests that clients abort: enough for a quick test, and few enough for the limits of every system. */
const ABORTS_AT_ONCE = 100;

/**
 * Clients that reset their connection: in turn before their request is complete, after it, after the first bytes of the
 * response, after several requests, and after `heavy`, which runs in the pool.
 */
async function abort(port: number, pages: readonly KnownPage[], heavy: string, clients: number): Promise<void> {
  const all = pages.map(({ request }) => request).join('');
  const one = async (i: number): Promise<void> => {
    const socket = await RawSocket.open(port);
    const { request } = pages[i % pages.length]!;
    const way = i % 5;
    await socket.write([request.slice(0, 20), request, request, all, heavy][way]!);
    if (way === 2) await socket.more();
    socket.vanish();
  };
  let next = 0;
  const some = async (): Promise<void> => {
    while (next < clients) await one(next++);
  };
  await Promise.all(Array.from({ length: ABORTS_AT_ONCE }, some));
}
