// Clients with bad manners against a running server: what they are sent is right to the last byte, and afterwards the
// server holds as many descriptors and as much memory as before. Linux tells what a process holds. There are as
// many of each kind as were promised.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientOf } from '../support/client.ts';
import { holdingsOf, runServer, type Holdings } from '../support/commandProcess.ts';
import { requestOf } from '../support/rawSocket.ts';
import {
  abort,
  knownPages,
  pipeline,
  pipelineUnread,
  readSlowly,
  type KnownPage,
  type Sent,
} from '../support/rudeClients.ts';
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
const ABORTS = 10_000;
const UNREAD_CLIENTS = 100;
const UNREAD_PAGES = 40;
/** What a socket of Linux takes of pages of 400 kB, before it is full at 4 MB. */
const PIPELINED_PAGES = 8;

/** What memory may have grown by when all is over: what the collectors have not come to yet. */
const GROWTH_BYTES_MAX = 32 << 20;
/**
 * As often as all is done again at most: what an allocator keeps for the next time it keeps once, a leak grows each
 * time.
 */
const REPEATS_MAX = 3;

describe.skipIf(process.platform !== 'linux').each(['uWebSockets.js', 'node:http'])('over %s', (transport) => {
  const isNode = transport === 'node:http';
  let server: Awaited<ReturnType<typeof runServer>>;
  let port = 0;
  let before: Holdings;
  beforeAll(async () => {
    server = await runServer(['--data', await sampleSnapshot(), '--threads', '1']);
    port = isNode ? server.http10Port : server.port;
    // The heap of a thread keeps the size that it once needed: so there are as many clients as later, and fewer that
    // leave.
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

    test(`${SLOW_READERS} clients that read slowly are sent the right bytes`, async () => {
      await expectHeldAfter(async () => expectAllRight(await readSlowly(port, pages, SLOW_READERS), 1));
    });

    test(`${PIPELINED_PAGES} pipelined pages arrive whole for each of ${UNREAD_CLIENTS} clients that read`, async () => {
      const eight = cycle(pages, PIPELINED_PAGES);
      await expectHeldAfter(async () => expectAllRight(await pipeline(port, eight, UNREAD_CLIENTS), PIPELINED_PAGES));
    });

    test(`${UNREAD_CLIENTS} clients that pipeline ${UNREAD_PAGES} pages and do not read get nothing wrong`, async () => {
      // uWebSockets.js ends a connection with requests behind a page that the socket does not take; node:http waits.
      const least = isNode ? UNREAD_PAGES : PIPELINED_PAGES;
      await expectHeldAfter(async () => {
        const sent = await pipelineUnread(port, cycle(pages, UNREAD_PAGES), UNREAD_CLIENTS);
        expect(sent.flatMap(({ wrong }) => wrong ?? [])).toEqual([]);
        expect(Math.min(...sent.map(({ whole }) => whole))).toBeGreaterThanOrEqual(least);
      });
    });
  });

  test(`${ABORTS} clients that leave in the middle leave nothing behind`, async () => {
    const pages = await bothCodings();
    await expectHeldAfter(async () => {
      await abort(port, pages, HEAVY, ABORTS);
      expectAllRight(await pipeline(port, pages, 1), pages.length);
    });
  });

  async function bothCodings(): Promise<readonly KnownPage[]> {
    return [...(await knownPages(port, TARGETS, 'identity')), ...(await knownPages(port, TARGETS, 'gzip'))];
  }

  /** Keeps every thread of the pool busy at once, since each has descriptors of its own. */
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
   * What the server holds once it has let go of our connections: its descriptors are at most `wanted`, or stay the
   * same.
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
/** What a client did not end itself is let go within 10 s. */
const LOOKS_MAX = 300;

function cycle(pages: readonly KnownPage[], count: number): readonly KnownPage[] {
  return Array.from({ length: count }, (_, i) => pages[i % pages.length]!);
}
