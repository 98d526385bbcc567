// Crawls of a catalogue that behaves, but changes, shrinks, has dangling links or is another one than before; and the
// politeness of the requests.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { crawled, filesOf, newOutputIn, recordsFrom, recordsOf } from '../../../support/crawls.ts';
import { temporaryDirectory, ndjsonOf } from '../../../support/dataSets.ts';
import {
  type PlainRecord,
  type PlainUpstream,
  type PlainUpstreamOptions,
  plainUpstreams,
  sendJson,
  startRudeUpstream,
} from '../../../support/plainUpstream.ts';

const directory = temporaryDirectory();
const upstreamOf = plainUpstreams();
const newOutput = (): string => newOutputIn(directory);

/** Runs `change` before the response to the first page of notes at or after the given offset. */
function once(offset: number, change: () => void): NonNullable<PlainUpstreamOptions['onRequest']> {
  let isDone = false;
  return ({ url }) => {
    const found = /\/notes\/.*offset=(\d+)/.exec(url!);
    if (isDone || !found || Number(found[1]) < offset) return;
    isDone = true;
    change();
  };
}

test.each([
  ['ordered', true],
  ['unordered', false],
])('finds records that come and go while %s pages are read by another pass', async (_order, heedsOrder) => {
  const collections = { notes: recordsFrom(0, 1000).toReversed() };
  const change = once(200, () => {
    collections.notes = [...recordsFrom(2000, 2003), ...collections.notes.filter(({ ob_id: id }) => id % 300 > 0)];
  });
  const { url } = await upstreamOf({ collections, heedsOrder, onRequest: change });
  const output = newOutput();
  await crawled(url, output);
  const wanted = heedsOrder ? collections.notes.toSorted((a, b) => a.ob_id - b.ob_id) : collections.notes;
  expect(recordsOf(output)).toEqual({ 'notes.ndjson': ndjsonOf(...wanted) });
});

test('reads a collection again if it grew after it was read', async () => {
  const collections = { notes: recordsFrom(0, 300), times: recordsFrom(0, 5) };
  const grow = ({ url }: { url?: string | undefined }): void => {
    if (url!.includes('/times/') && collections.notes.length === 300) collections.notes = recordsFrom(0, 301);
  };
  const { url } = await upstreamOf({ collections, onRequest: grow });
  const output = newOutput();
  expect((await crawled(url, output))?.counts).toEqual({ notes: 301, times: 5 });
});

test('gives up a collection that keeps changing, and names it', async () => {
  const collections = { notes: recordsFrom(0, 5000) };
  let removed = 0;
  const shift = ({ url }: { url?: string | undefined }): void => {
    if (url!.includes('offset=')) collections.notes = recordsFrom(++removed, removed + 5000);
  };
  const { url, requests } = await upstreamOf({ collections, onRequest: shift });
  const output = newOutput();
  await expect(crawled(url, output)).rejects.toThrow(/^notes, page at offset \d+ \(http.*\): it does not continue/);
  expect(requests.length).toBeLessThan(60);
  expect(existsSync(output)).toBe(false);
});

test('never accepts a random order', async () => {
  const collections = { notes: recordsFrom(0, 5000) };
  let turn = 0;
  const shuffle = (): void => {
    collections.notes = collections.notes.toSorted((a, b) => ((a.ob_id * 7919 + ++turn) % 101) - (b.ob_id % 101));
  };
  const { url } = await upstreamOf({ collections, heedsOrder: false, onRequest: shuffle });
  await expect(crawled(url, newOutput())).rejects.toThrow(/^notes.*; looked at notes 4 times$/);
});

const LINKED = (base: string): Record<string, readonly PlainRecord[]> => ({
  notes: recordsFrom(0, 10).map((note) => ({ ...note, time: `${base}/api/v3/times/${note.ob_id}/?format=api` })),
  times: recordsFrom(0, 9),
});

test('fails if links dangle, unless --links-min allows it, and keeps the fetched records until then', async () => {
  const collections: Record<string, readonly PlainRecord[]> = { notes: [], times: [] };
  const upstream = await upstreamOf({ collections });
  Object.assign(collections, LINKED(upstream.url));
  const output = newOutput();
  const why = '1 of 10 links lead to no record, 1 as notes link to times/9; less than 99.9 % resolve';
  await expect(crawled(upstream.url, output)).rejects.toMatchObject({
    code: 'input',
    message: expect.stringContaining(why),
  });
  expect(existsSync(output)).toBe(false);
  const pages = (): number => upstream.requests.filter(({ url }) => !url!.includes('limit=1&')).length;
  const before = pages();
  const worst = '1 as notes link to times/9';
  expect(await crawled(upstream.url, output, { linksMin: 90 })).toMatchObject({ links: 10, dangling: 1, worst });
  // One page: the root view. Each collection is only counted again.
  expect(pages() - before).toBe(1);
});

test.each<[string, string, (output: string) => { [file: string]: string; state: string }]>([
  [
    'an output that is no data set',
    'is no data set: it holds mail',
    (output) => ({ [`${output}/mail`]: '', state: '' }),
  ],
  [
    'a state of another kind',
    'no state of a crawl: it holds mail',
    (output) => ({ [`${output}.crawl/mail`]: '', state: '' }),
  ],
  ['a state within the output', 'may not hold each other', (output) => ({ state: `${output}/state` })],
  ['a state around the output', 'may not hold each other', (output) => ({ state: join(output, '..') })],
  ['a state that is the output', 'may not hold each other', (output) => ({ state: output })],
  [
    'a state of another catalogue',
    'holds a crawl of http://other.example.org',
    (output) => {
      const checkpoint = { version: 1, url: 'http://other.example.org', begun: '', isAccepted: false, parts: {} };
      return { [`${output}.crawl/checkpoint.json`]: JSON.stringify(checkpoint), state: '' };
    },
  ],
  [
    'a state that is damaged',
    'is no checkpoint',
    (output) => ({ [`${output}.crawl/checkpoint.json`]: '{', state: '' }),
  ],
])('refuses %s before any request, and leaves it as it is', async (_what, why, given) => {
  const output = newOutput();
  const { state, ...files } = given(output);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(file));
    writeFileSync(file, text);
  }
  const { url, requests } = await upstreamOf({ collections: {} });
  const options = state === '' ? {} : { state };
  await expect(crawled(url, output, options)).rejects.toMatchObject({ message: expect.stringContaining(why) });
  expect(requests).toEqual([]);
  for (const [file, text] of Object.entries(files)) expect(readFileSync(file, 'utf8')).toBe(text);
});

/** A clock by which each page takes long enough to be saved. */
function slowClock(): () => number {
  let ms = 0;
  return () => (ms += 1500);
}

/** A catalogue of 3,000 notes that closes the connection of pages from `brokenFrom` on. */
async function breakingUpstream(): Promise<{
  upstream: PlainUpstream;
  notes: PlainUpstreamOptions;
  break(at: number): void;
}> {
  let brokenFrom = Infinity;
  const notes = { collections: { notes: recordsFrom(0, 3000) } };
  const upstream = await upstreamOf({
    ...notes,
    onRequest: ({ url, socket }) => {
      if (Number(/offset=(\d+)/.exec(url!)?.[1] ?? 0) >= brokenFrom) socket.destroy();
    },
  });
  return { upstream, notes, break: (at) => (brokenFrom = at) };
}

function offsetsOf(requests: PlainUpstream['requests']): readonly number[] {
  return requests.flatMap(({ url }) => /limit=(?!1&).*offset=(\d+)/.exec(url!)?.slice(1).map(Number) ?? []);
}

test('resumes a crawl that ended within a collection', async () => {
  const { upstream, break: breakAt } = await breakingUpstream();
  const output = newOutput();
  breakAt(1500);
  await expect(crawled(upstream.url, output, { clock: slowClock() })).rejects.toThrow(/^notes, page at offset 1\d\d\d/);
  breakAt(Infinity);
  const before = upstream.requests.length;
  const told: (string | undefined)[] = [];
  await crawled(upstream.url, output, { onBegun: (resumed) => told.push(resumed), now: '2026-02-01T00:00:00Z' });
  expect(told).toEqual(['2026-01-31T00:00:00Z']);
  expect(Math.min(...offsetsOf(upstream.requests.slice(before)))).toBeGreaterThan(900);
  const lines = ndjsonOf(...recordsFrom(0, 3000));
  const manifest = JSON.parse(filesOf(output)!['MANIFEST.json']!) as { sha256: Record<string, string> };
  expect(recordsOf(output)).toEqual({ 'notes.ndjson': lines });
  expect(manifest.sha256['notes.ndjson']).toBe(createHash('sha256').update(lines).digest('hex'));
});

test('restarts a collection that changed since the crawl ended, and may end again', async () => {
  const { upstream, notes, break: breakAt } = await breakingUpstream();
  const output = newOutput();
  breakAt(1500);
  await expect(crawled(upstream.url, output, { clock: slowClock() })).rejects.toThrow('page at offset');
  notes.collections['notes'] = recordsFrom(1, 3000);
  // The overlap differs, and the connection breaks again after the first pages of the second pass.
  breakAt(2500);
  await expect(crawled(upstream.url, output, { clock: slowClock() })).rejects.toThrow('page at offset');
  breakAt(Infinity);
  await crawled(upstream.url, output);
  expect(recordsOf(output)).toEqual({ 'notes.ndjson': ndjsonOf(...recordsFrom(1, 3000)) });
});

test('does not share a state between two crawls', async () => {
  const { url } = await upstreamOf({ collections: { notes: recordsFrom(0, 1) } });
  const output = newOutput();
  mkdirSync(`${output}.crawl`);
  writeFileSync(join(`${output}.crawl`, 'lock'), 'process 1 of another\n');
  await expect(crawled(url, output)).rejects.toThrow('process 1 of another crawls there; ');
});

test('skips and reports unknown collections', async () => {
  const { url } = await upstreamOf({ collections: { notes: recordsFrom(0, 1), plankton: [] } });
  const output = newOutput();
  expect(await crawled(url, output)).toMatchObject({ unknown: ['plankton'], counts: { notes: 1 } });
  expect(Object.keys(filesOf(output)!)).toEqual(['MANIFEST.json', 'notes.ndjson']);
});

test('sends its name, accepts gzip, bounds concurrent requests, and requests pages of up to 1,000', async () => {
  const pause = async (): Promise<void> => setTimeout(5);
  const { url, requests, underWayMax } = await upstreamOf({
    collections: { notes: recordsFrom(0, 20_000) },
    onRequest: pause,
  });
  await crawled(url, newOutput(), { concurrency: 4, userAgent: 'catalogue-replica/0 (+me@example.org)' });
  expect(underWayMax()).toBe(4);
  for (const { headers } of requests)
    expect(headers).toMatchObject({
      'user-agent': 'catalogue-replica/0 (+me@example.org)',
      'accept-encoding': 'gzip',
      accept: 'application/json',
    });
  const limits = requests.map((request) => Number(/limit=(\d+)/.exec(request.url!)?.[1] ?? 100));
  expect([limits[1], Math.max(...limits)]).toEqual([100, 1000]);
});

test.each([
  ['counts more records than are taken', 'refused at once', { count: 10_001, links: 0 }, /10001 records are counted/],
  ['makes up a record for each that is asked for', 'bounded', { count: 0, links: 0 }, /\d+ records are counted/],
  ['links to ever more records', 'bounded', { count: 5000, links: 10 }, /notes links to \d+ records of times/],
  ['has more ids in all than are held', 'bounded', { count: 5000, links: 1, idsMax: 6000 }, /has \d+ ids of records/],
])(
  'limits an upstream that %s: it is %s',
  async (_does, _is, { count, links, idsMax = 40_000 }: { count: number; links: number; idsMax?: number }, message) => {
    const requests: number[] = [];
    const server = createServer(({ url, headers }, response) => {
      const base = `http://${headers.host}`;
      const { pathname, searchParams } = new URL(url!, base);
      if (pathname === '/api/v3/')
        return sendJson(response, { notes: `${base}/api/v3/notes/`, times: `${base}/api/v3/times/` });
      const [limit, offset] = ['limit', 'offset'].map((key) => Number(searchParams.get(key))) as [number, number];
      requests.push(offset);
      const all = count || offset + limit + 1;
      const results = Array.from({ length: Math.min(limit, all - offset) }, (_, i) => {
        const ids = Array.from({ length: links }, (_link, j) => (offset + i) * links + j);
        return { ob_id: offset + i, links: ids.map((id) => `${base}/api/v3/times/${id}/?format=api`) };
      });
      sendJson(response, { count: all, next: offset + limit < all ? base : null, previous: null, results });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const refused = crawled(url, newOutput(), { recordsMax: 10_000, idsMax });
      const named = new RegExp(
        `^(?:notes|times), page at offset \\d+ .*${message.source}.*, more than \\d+, the most that is taken$`,
      );
      await expect(refused).rejects.toMatchObject({ code: 'input', message: expect.stringMatching(named) });
      expect(requests.length).toBeLessThanOrEqual(count > 10_000 ? 2 : 30);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  },
);

test('distinguishes a service with page numbers from a faulty one', async () => {
  const server = createServer(({ headers, url }, response) => {
    const base = `http://${headers.host}`;
    if (url === '/api/v3/') return sendJson(response, { notes: `${base}/api/v3/notes/` });
    const next = `${base}/api/v3/notes/?page=2`;
    return sendJson(response, { count: 900, next, previous: null, results: recordsFrom(0, 50) });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await expect(crawled(`http://127.0.0.1:${port}`, newOutput())).rejects.toThrow(
    'a page of 50 records, where 100 of 900 are due; its pages do not go by limit and offset; tried 3 times',
  );
  server.closeAllConnections();
  server.close();
});

test('requests no faster than --rate', async () => {
  const { url, requests } = await upstreamOf({ collections: { notes: recordsFrom(0, 500) } });
  const startMs = performance.now();
  await crawled(url, newOutput(), { rate: 50 });
  expect(performance.now() - startMs).toBeGreaterThanOrEqual((requests.length - 1) * 20);
});

test('sends no request before the time in Retry-After', async () => {
  const upstream = await startRudeUpstream(
    ({ response }) => void response.writeHead(429, { 'retry-after': '1' }).end(),
    'first',
    1,
  );
  const startMs = performance.now();
  await crawled(upstream.url, newOutput());
  await upstream.close();
  expect(performance.now() - startMs).toBeGreaterThanOrEqual(1000);
});

test('costs one more request if a page is too short once', async () => {
  const asked = [];
  for (const times of [0, 1]) {
    const upstream = await startRudeUpstream(
      ({ response, page }) => sendJson(response, { ...page, results: page.results.slice(1) }),
      'middle',
      times,
    );
    await crawled(upstream.url, newOutput(), { concurrency: 1 });
    asked.push(upstream.asked());
    await upstream.close();
  }
  expect(asked[1]! - asked[0]!).toBe(1);
});

test('writes time, source, counts, sums and the comparison of each collection into the manifest', async () => {
  const { url } = await upstreamOf({ collections: { notes: recordsFrom(0, 1) } });
  const output = newOutput();
  await crawled(url, output);
  expect(JSON.parse(readFileSync(join(output, 'MANIFEST.json'), 'utf8'))).toEqual({
    created: '2026-01-31T00:00:00Z',
    source: url,
    counts: { notes: 1 },
    sha256: { 'notes.ndjson': expect.stringMatching(/^[0-9a-f]{64}$/) },
    collections: {
      notes: { compared: 'full', lastFullRead: '2026-01-31T00:00:00Z', requests: 1, isOrdered: true },
    },
  });
});
