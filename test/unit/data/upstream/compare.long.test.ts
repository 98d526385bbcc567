// A refresh gives the same bytes as a whole crawl of the same upstream, however it compares the collections and however
// the upstream misbehaves.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { crawled, filesOf, newOutputIn, recordsFrom, recordsOf } from '../../../support/crawls.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import {
  type PlainRecord,
  type PlainUpstream,
  type PlainUpstreamOptions,
  plainUpstreams,
  sendJson,
} from '../../../support/plainUpstream.ts';
import { randomOf } from '../../../support/random.ts';
import { IS_WHOLE } from '../../../support/ring.ts';

const directory = temporaryDirectory();
const upstreamOf = plainUpstreams();

const newOutput = (): string => newOutputIn(directory);

/** The last change of a record, as a number of days after 2026-01-01. */
function dayOf(day: number): string {
  return new Date(Date.UTC(2026, 0, 1) + day * 86_400_000).toISOString();
}

function noteOf(id: number, day: number, text = 'as it was'): PlainRecord {
  return { ob_id: id, text: `${text} ${id}`, lastUpdatedDate: dayOf(day) };
}

function notesOf(count: number): PlainRecord[] {
  return Array.from({ length: count }, (_, i) => noteOf(i * 3, i % 10));
}

/** The result of a whole crawl into a new directory. */
async function whole(url: string): Promise<Readonly<Record<string, string>>> {
  const output = newOutput();
  await crawled(url, output);
  return recordsOf(output)!;
}

const UPSTREAMS: readonly Omit<PlainUpstreamOptions, 'collections'>[] = [
  { heedsDates: true },
  {},
  { heedsOrder: false, heedsDates: true },
  { tags: 'honest' },
  { heedsOrder: false, tags: 'honest' },
  { heedsDates: true, tags: 'honest' },
];

test('gives the result of a whole crawl after many random changes and refreshes', async () => {
  const random = randomOf(7);
  for (const options of UPSTREAMS) {
    const collections: Record<string, readonly PlainRecord[]> = { notes: notesOf(300) };
    const { url } = await upstreamOf({ ...options, collections });
    const output = newOutput();
    for (let day = 11; day < 19; day++) {
      await crawled(url, output, { kind: 'refresh', isForced: true });
      expect(recordsOf(output)).toEqual(await whole(url));
      let notes = [...collections['notes']!];
      for (let n = random.integer(0, 5); n > 0; n--) {
        const at = random.integer(0, notes.length);
        const id = random.pick([notes[at]!.ob_id, random.integer(0, 3000)]);
        notes = notes.filter(({ ob_id: one }) => one !== id);
        if (random.chance(0.7)) notes.push(noteOf(id, day, `day ${day}`));
      }
      collections['notes'] = notes;
    }
  }
});

const SHAPES: readonly [form: string, shape: RegExp, stampOf: (day: number) => string][] = [
  ['as days', /^\d{4}-\d\d-\d\d$/, (day) => dayOf(day).slice(0, 10)],
  ['without a zone', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/, (day) => dayOf(day).slice(0, -1)],
  ['in UTC', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, dayOf],
  ['in another zone', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, (day) => dayOf(day).replace('Z', '+00:00')],
];

test.each(SHAPES)(
  'requests by dates if a service has dates %s, and fails at such requests at others',
  async (_, shape, stampOf) => {
    const stamped = (id: number, day: number, text: string): PlainRecord => ({
      ...noteOf(id, day, text),
      lastUpdatedDate: stampOf(day),
    });
    const notes = notesOf(900).map(({ ob_id: id }, i) => stamped(id, i % 10, 'as it was'));
    const collections: Record<string, readonly PlainRecord[]> = { notes };
    const asked: string[] = [];
    const failsAt = (query: URLSearchParams): boolean => {
      const since = query.get('lastUpdatedDate__gte');
      if (since !== null) asked.push(since);
      return since !== null && !shape.test(since);
    };
    const upstream = await upstreamOf({ collections, heedsDates: true, failsAt });
    const output = newOutput();
    await crawled(upstream.url, output);
    collections['notes'] = notes.with(200, stamped(600, 20, 'changed'));
    const before = upstream.sent();
    const report = await crawled(upstream.url, output, { kind: 'refresh' });
    const sent = upstream.sent() - before;
    expect(report?.comparisons['notes']?.compared).toBe('dates');
    expect(sent).toBeLessThan(400);
    expect(recordsOf(output)).toEqual(await whole(upstream.url));
    expect(asked.every((since) => shape.test(since) && since < '9001')).toBe(true);
  },
);

describe('a refresh by dates after which many links dangle', () => {
  const linking = (url: string, id: number, day: number, time: number | null): PlainRecord => ({
    ...noteOf(id, day),
    time: time === null ? null : `${url}/api/v3/times/${time}/`,
  });
  const held = async (): Promise<{ upstream: PlainUpstream; output: string; collections: Collections }> => {
    const collections: Collections = { notes: [], times: [1, 2, 3, 4].map((id) => ({ ob_id: id })) };
    const upstream = await upstreamOf({ collections, heedsDates: true });
    collections['notes'] = Array.from({ length: 200 }, (_, i) => linking(upstream.url, i, i % 10, (i % 4) + 1));
    const output = newOutput();
    await crawled(upstream.url, output);
    return { upstream, output, collections };
  };
  type Collections = Record<string, readonly PlainRecord[]>;

  test('finds the records that lost a link without a new date', async () => {
    const { upstream, output, collections } = await held();
    collections['times'] = collections['times']!.slice(0, 3);
    collections['notes'] = collections['notes']!.map((note) =>
      String(note['time']).endsWith('/4/') ? { ...note, time: null } : note,
    );
    const report = await crawled(upstream.url, output, { kind: 'refresh', shrinkMax: 30 });
    expect(report).toMatchObject({ dangling: 0, comparisons: { notes: { compared: 'full' } } });
    expect(recordsOf(output)).toEqual(await whole(upstream.url));
  });

  test('finds a record that replaced another one, which records with a new date link to', async () => {
    const { upstream, output, collections } = await held();
    collections['times'] = [...collections['times']!.slice(0, 3), { ob_id: 5 }];
    collections['notes'] = collections['notes']!.map((note) =>
      String(note['time']).endsWith('/4/') ? linking(upstream.url, note.ob_id, 20, 5) : note,
    );
    const report = await crawled(upstream.url, output, { kind: 'refresh', shrinkMax: 30 });
    expect(report?.dangling).toBe(0);
    expect(recordsOf(output)).toEqual(await whole(upstream.url));
  });

  test('refuses a catalogue whose links really dangle', async () => {
    const { upstream, output, collections } = await held();
    collections['times'] = collections['times']!.slice(0, 3);
    const before = filesOf(output);
    await expect(crawled(upstream.url, output, { kind: 'refresh', shrinkMax: 30 })).rejects.toThrow(
      '50 of 200 links lead to no record, 50 as notes link to times/4; less than 99.9 % resolve: --links-min 75 accepts it',
    );
    expect(filesOf(output)).toEqual(before);
  });
});

test('requests pages by their tags and leaves an unchanged output as it is', async () => {
  const collections = { notes: notesOf(500).map(({ ob_id: id }) => ({ ob_id: id })) };
  const upstream = await upstreamOf({ collections, tags: 'honest' });
  const output = newOutput();
  await crawled(upstream.url, output);
  const before = upstream.sent();
  const report = await crawled(upstream.url, output, { kind: 'refresh', now: '2026-02-01T00:00:00Z' });
  const files = filesOf(output);
  expect(report).toMatchObject({ isUnchanged: true, comparisons: { notes: { compared: 'validators' } } });
  // One record for the request with a tag that no page has, and one for the count.
  expect(upstream.sent() - before).toBe(2);
  await crawled(upstream.url, output, { kind: 'refresh', now: '2026-02-02T00:00:00Z' });
  expect(filesOf(output)).toEqual(files);
});

test('receives only the page that changed', async () => {
  const notes = recordsFrom(0, 5000);
  const collections: Record<string, readonly PlainRecord[]> = { notes };
  const upstream = await upstreamOf({ collections, tags: 'honest' });
  const output = newOutput();
  await crawled(upstream.url, output);
  collections['notes'] = notes.with(4000, { ob_id: 4000, text: 'changed' });
  const before = upstream.sent();
  const report = await crawled(upstream.url, output, { kind: 'refresh' });
  expect(report).toMatchObject({ isUnchanged: false, comparisons: { notes: { compared: 'validators' } } });
  expect(upstream.sent() - before).toBeLessThan(1003);
  expect(recordsOf(output)).toEqual(await whole(upstream.url));
});

test.each([
  ['judged', false],
  ['forced', true],
])('reads everything if the old data is damaged or of another catalogue (%s)', async (_, isForced) => {
  const collections = { notes: notesOf(300), times: [{ ob_id: 1 }] };
  const upstream = await upstreamOf({ collections, heedsDates: true });
  const rewrite = (output: string, change: (text: string) => string): void => {
    const file = join(output, 'MANIFEST.json');
    writeFileSync(file, change(readFileSync(file, 'utf8')));
  };
  const spoilt: (readonly [spoil: (output: string) => void, told?: RegExp])[] = [
    [(output) => writeFileSync(join(output, 'notes.ndjson'), '{"ob_id":0}\n')],
    [(output) => writeFileSync(join(output, 'notes.ndjson'), '{"ob_id"')],
    [(output) => rmSync(join(output, 'notes.ndjson')), /notes\.ndjson is missing, which MANIFEST\.json names$/],
    [(output) => rmSync(join(output, 'MANIFEST.json'))],
    [(output) => rewrite(output, (text) => text.slice(0, 100)), /MANIFEST\.json: .*JSON/],
    [(output) => rewrite(output, (text) => text.replace(upstream.url, 'http://other.example.org'))],
  ];
  for (const [spoil, told] of spoilt) {
    const output = newOutput();
    await crawled(upstream.url, output);
    const files = filesOf(output);
    spoil(output);
    const damages: string[] = [];
    const onDamaged = (reason: string): void => void damages.push(reason);
    const report = await crawled(upstream.url, output, { kind: 'refresh', isForced, onDamaged });
    expect(report?.comparisons['notes']?.compared).toBe('full');
    expect(filesOf(output)).toEqual(files);
    expect(damages).toEqual(told && !isForced ? [expect.stringMatching(told)] : []);
  }
});

test.runIf(IS_WHOLE)('accepts up to a quarter of a large collection as changed', async () => {
  const [held, whole] = [600_000, 749_999];
  const lineOf = (id: number): string => JSON.stringify(noteOf(id, id < held - 1 ? 0 : 29));
  const server = createServer((request, response) => {
    const base = `http://${request.headers.host}`;
    const { pathname, searchParams } = new URL(request.url!, base);
    if (pathname === '/api/v3/') return sendJson(response, { notes: `${base}/api/v3/notes/` });
    const since = searchParams.get('lastUpdatedDate__gte') ?? '';
    const first = since > '2100' ? whole : since === '' ? 0 : held - 1;
    const start = first + Number(searchParams.get('offset'));
    const end = Math.min(whole, start + Number(searchParams.get('limit')));
    const next = end < whole ? `"${base}/api/v3/notes/?offset=${end - first}"` : 'null';
    const lines = Array.from({ length: end - start }, (_, i) => lineOf(start + i));
    response.end(`{"count":${whole - first},"next":${next},"previous":null,"results":[${lines.join(',')}]}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const source = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const output = newOutput();
    const file = join(output, 'notes.ndjson');
    const lines = Array.from({ length: whole }, (_, id) => `${lineOf(id)}\n`);
    const text = lines.slice(0, held).join('');
    const sha256 = { 'notes.ndjson': createHash('sha256').update(text).digest('hex') };
    mkdirSync(output);
    writeFileSync(file, text);
    const lastFullRead = '2026-01-31T00:00:00Z';
    const notes = { compared: 'full', lastFullRead, requests: 600, isOrdered: true, latest: dayOf(29) };
    const manifest = { created: lastFullRead, source, counts: { notes: held }, sha256, collections: { notes } };
    writeFileSync(join(output, 'MANIFEST.json'), JSON.stringify(manifest));
    const report = await crawled(source, output, { kind: 'refresh', now: '2026-02-01T00:00:00Z' });
    expect(report?.comparisons['notes']?.compared).toBe('dates');
    expect(readFileSync(file, 'utf8') === lines.join('')).toBe(true);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test.each([
  ['a header in a validator', (pages: unknown[][]) => (pages[0]![1] = '"x"\r\nx: y')],
  ['a path as a page size', (pages: unknown[][]) => (pages[0]![0] = '9&next=../../secrets')],
])('reads a collection in full if the manifest has %s', async (_, spoil) => {
  const upstream = await upstreamOf({ collections: { notes: [{ ob_id: 1 }] }, tags: 'honest' });
  const output = newOutput();
  await crawled(upstream.url, output);
  const file = join(output, 'MANIFEST.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as { collections: { notes: { pages: unknown[][] } } };
  spoil(manifest.collections.notes.pages);
  writeFileSync(file, JSON.stringify(manifest));
  const report = await crawled(upstream.url, output, { kind: 'refresh' });
  expect(report?.comparisons['notes']?.compared).toBe('full');
  expect(upstream.requests.some(({ url }) => url!.includes('secrets'))).toBe(false);
});

test('resumes after two refreshes that failed at different collections', async () => {
  let broken: RegExp | undefined;
  const collections: Record<string, readonly PlainRecord[]> = { notes: notesOf(50), times: [{ ob_id: 1 }] };
  const upstream = await upstreamOf({
    collections,
    onRequest: ({ url, socket }) => void (broken?.test(url!) === true && socket.destroy()),
  });
  const output = newOutput();
  await crawled(upstream.url, output);
  broken = /times/;
  await expect(crawled(upstream.url, output, { kind: 'refresh' })).rejects.toThrow('times');
  broken = /notes/;
  await expect(crawled(upstream.url, output, { kind: 'refresh' })).rejects.toThrow('notes');
  broken = undefined;
  collections['times'] = [{ ob_id: 1 }, { ob_id: 2 }];
  await crawled(upstream.url, output, { kind: 'refresh' });
  expect(recordsOf(output)).toEqual(await whole(upstream.url));
});

test.each([
  ['next year', '2027-06-30T00:00:00Z'],
  ['after all years', '9999-12-31T00:00:00Z'],
])('finds changes although one record is dated %s', async (_, lastUpdatedDate) => {
  const notes = [...notesOf(900), { ob_id: 5000, text: 'from the future', lastUpdatedDate }];
  const collections: Record<string, readonly PlainRecord[]> = { notes };
  const upstream = await upstreamOf({ collections, heedsDates: true });
  const output = newOutput();
  await crawled(upstream.url, output);
  for (const day of [32, 34]) {
    collections['notes'] = collections['notes']!.with(200, noteOf(600, day, 'changed'));
    const now = dayOf(day + 1);
    await crawled(upstream.url, output, { kind: 'refresh', now });
    expect(recordsOf(output)).toEqual(await whole(upstream.url));
  }
});
