// A crawl that asks only for what changed ends in what a whole crawl of the same upstream gives, byte for byte, by
// whatever the upstream can be asked for and however it lies; what cannot be asked for is found by the next sweep.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { crawled, filesOf, newOutputIn, recordsOf } from '../../../support/crawls.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import {
  type PlainRecord,
  type PlainUpstream,
  type PlainUpstreamOptions,
  plainUpstreams,
} from '../../../support/plainUpstream.ts';
import { randomOf } from '../../../support/random.ts';
import { type Misbehave, notesLines, sendJson, startRudeUpstream } from '../../../support/rudeUpstream.ts';
import { RUDE_WAYS } from '../../../support/rudeWays.ts';

const directory = temporaryDirectory();
const upstreamOf = plainUpstreams();

const newOutput = (): string => newOutputIn(directory);

/** The day of a record that was changed so late. */
function dayOf(day: number): string {
  return new Date(Date.UTC(2026, 0, 1) + day * 86_400_000).toISOString();
}

function noteOf(id: number, day: number, text = 'as it was'): PlainRecord {
  return { ob_id: id, text: `${text} ${id}`, lastUpdatedDate: dayOf(day) };
}

function notesOf(count: number): PlainRecord[] {
  return Array.from({ length: count }, (_, i) => noteOf(i * 3, i % 10));
}

/** What a whole crawl into a new directory gives. */
async function whole(url: string): Promise<Readonly<Record<string, string>>> {
  const output = newOutput();
  await crawled(url, output);
  return recordsOf(output)!;
}

const UPSTREAMS: readonly [what: string, options: Omit<PlainUpstreamOptions, 'collections'>, isSparing: boolean][] = [
  ['heeds dates and fields', { heedsDates: true, heedsFields: true }, true],
  ['heeds dates only', { heedsDates: true }, true],
  ['heeds fields only', { heedsFields: true }, true],
  ['heeds none', {}, false],
  ['has its own order', { heedsOrder: false, heedsDates: true, heedsFields: true }, false],
  ['has entity tags', { tags: 'honest' }, false],
  ['has dates, fields and entity tags', { heedsDates: true, heedsFields: true, tags: 'honest' }, true],
];

describe.each(UPSTREAMS)('of an upstream that %s', (_what, options, isSparing) => {
  const isOrdered = options.heedsOrder ?? true;
  test.each<[string, (notes: PlainRecord[]) => PlainRecord[], boolean]>([
    ['nothing changed', (notes) => notes, true],
    ['one changed', (notes) => notes.with(200, noteOf(600, 20, 'changed')), true],
    ['one came', (notes) => [...notes, noteOf(5000, 20)], true],
    ['one came among the others', (notes) => [...notes, noteOf(4, 20)], true],
    ['one went', (notes) => notes.toSpliced(7, 1), options.heedsFields === true],
    ['one went and one came', (notes) => [...notes.toSpliced(7, 1), noteOf(5000, 20)], options.heedsFields === true],
    [
      'the last went and one changed',
      (notes) => notes.with(0, noteOf(0, 21, 'x')).slice(0, -1),
      options.heedsFields === true,
    ],
    ['all changed', (notes) => notes.map(({ ob_id: id }) => noteOf(id, 20, 'changed')), false],
  ])('%s', async (_change, change, isSparingHere) => {
    const collections: Record<string, readonly PlainRecord[]> = { notes: notesOf(900), times: [{ ob_id: 1 }] };
    const upstream = await upstreamOf({ ...options, collections });
    const output = newOutput();
    await crawled(upstream.url, output);
    collections['notes'] = change([...collections['notes']!]);
    const before = upstream.sent();
    const report = await crawled(upstream.url, output, { kind: 'renewal', now: '2026-02-01T00:00:00Z' });
    const sent = upstream.sent() - before;
    expect(recordsOf(output)).toEqual(await whole(upstream.url));
    const isUnchanged = _change === 'nothing changed';
    expect(report?.isUnchanged).toBe(isUnchanged);
    expect(JSON.parse(filesOf(output)!['MANIFEST.json']!)).toMatchObject({
      created: isUnchanged ? '2026-01-31T00:00:00Z' : '2026-02-01T00:00:00Z',
    });
    if (isSparing && isSparingHere && isOrdered) expect(sent).toBeLessThan(400);
  });
});

test('many random changes, one renewal after the other, end in what a whole crawl gives', async () => {
  const random = randomOf(7);
  for (const [, options] of UPSTREAMS) {
    const collections: Record<string, readonly PlainRecord[]> = { notes: notesOf(300) };
    const { url } = await upstreamOf({ ...options, collections });
    const output = newOutput();
    for (let day = 11; day < 19; day++) {
      await crawled(url, output, { kind: 'renewal', isForced: true });
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

test.each(SHAPES)('a service that has dates %s is asked with such, and fails at others', async (_, shape, stampOf) => {
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
  const report = await crawled(upstream.url, output, { kind: 'renewal' });
  const sent = upstream.sent() - before;
  expect(report?.manners.get('notes')).toBe('patched');
  expect(sent).toBeLessThan(400);
  expect(recordsOf(output)).toEqual(await whole(upstream.url));
  expect(asked.every((since) => shape.test(since) && since < '9001')).toBe(true);
});

test.each([
  [true, 'patched'],
  [false, 'walked'],
])('a service that fails at a filter of dates is asked for all dates (heeded: %s)', async (heedsFields, manner) => {
  const collections: Record<string, readonly PlainRecord[]> = { notes: notesOf(900) };
  const failsAt = (query: URLSearchParams): boolean => query.has('lastUpdatedDate__gte');
  const upstream = await upstreamOf({ collections, heedsDates: true, heedsFields, failsAt });
  const output = newOutput();
  await crawled(upstream.url, output);
  collections['notes'] = collections['notes']!.with(200, noteOf(600, 20, 'changed'));
  const report = await crawled(upstream.url, output, { kind: 'renewal' });
  expect(report?.manners.get('notes')).toBe(manner);
  expect(recordsOf(output)).toEqual(await whole(upstream.url));
});

describe('a renewal in which many links lead nowhere is walked where that may be', () => {
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

  test('what was deleted goes out of records that link to it, which have their dates as before', async () => {
    const { upstream, output, collections } = await held();
    collections['times'] = collections['times']!.slice(0, 3);
    collections['notes'] = collections['notes']!.map((note) =>
      String(note['time']).endsWith('/4/') ? { ...note, time: null } : note,
    );
    const report = await crawled(upstream.url, output, { kind: 'renewal', shrinkMax: 30 });
    expect(report).toMatchObject({
      dangling: 0,
      manners: new Map(Object.entries({ notes: 'walked', times: 'walked' })),
    });
    expect(recordsOf(output)).toEqual(await whole(upstream.url));
  });

  test('what came in the place of another is linked to before the count says so', async () => {
    const { upstream, output, collections } = await held();
    collections['times'] = [...collections['times']!.slice(0, 3), { ob_id: 5 }];
    collections['notes'] = collections['notes']!.map((note) =>
      String(note['time']).endsWith('/4/') ? linking(upstream.url, note.ob_id, 20, 5) : note,
    );
    const report = await crawled(upstream.url, output, { kind: 'renewal', shrinkMax: 30 });
    expect(report?.dangling).toBe(0);
    expect(recordsOf(output)).toEqual(await whole(upstream.url));
  });

  test('a catalogue whose links lead nowhere is refused all the same', async () => {
    const { upstream, output, collections } = await held();
    collections['times'] = collections['times']!.slice(0, 3);
    const before = filesOf(output);
    await expect(crawled(upstream.url, output, { kind: 'renewal', shrinkMax: 30 })).rejects.toThrow(
      '50 of 200 links lead to no record, 50 as notes link to times/4; less than 99.9 % resolve: --links-min accepts it',
    );
    expect(filesOf(output)).toEqual(before);
  });
});

test('pages that are as they were are asked for by their tags, and nothing is sent; the output stays as it is', async () => {
  const collections = { notes: notesOf(500).map(({ ob_id: id }) => ({ ob_id: id })) };
  const upstream = await upstreamOf({ collections, tags: 'honest' });
  const output = newOutput();
  await crawled(upstream.url, output);
  const files = filesOf(output);
  const before = upstream.sent();
  const report = await crawled(upstream.url, output, { kind: 'renewal', now: '2026-02-01T00:00:00Z' });
  expect(report).toMatchObject({ isUnchanged: true, manners: new Map([['notes', 'kept']]) });
  // The page of a tag that nobody has, and the count.
  expect(upstream.sent() - before).toBeLessThan(110);
  expect(filesOf(output)).toEqual(files);
});

test('tags that lie are found out at once; a change that shows nowhere is found by the next sweep', async () => {
  const notes = notesOf(300).map(({ ob_id: id }) => ({ ob_id: id, text: 'a' }));
  for (const tags of ['lying', undefined] as const) {
    const collections = { notes };
    const { url } = await upstreamOf({ collections, tags });
    const output = newOutput();
    await crawled(url, output);
    collections.notes = notes.with(3, { ob_id: 9, text: 'b' });
    await crawled(url, output, { kind: 'renewal' });
    if (tags === 'lying') expect(recordsOf(output)).toEqual(await whole(url));
    await crawled(url, output, { kind: 'sweep' });
    expect(recordsOf(output)).toEqual(await whole(url));
    expect(await crawled(url, output, { kind: 'sweep' })).toMatchObject({ isUnchanged: true, isRenewal: false });
  }
});

test.each([
  ['judged', false],
  ['forced', true],
])('what is held is of no use where it is damaged, of another catalogue, or of nobody: %s', async (_, isForced) => {
  const collections = { notes: notesOf(300), times: [{ ob_id: 1 }] };
  const upstream = await upstreamOf({ collections, heedsDates: true, heedsFields: true });
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
    const report = await crawled(upstream.url, output, { kind: 'renewal', isForced, onDamaged });
    expect(report?.manners.get('notes')).toBe('walked');
    expect(filesOf(output)).toEqual(files);
    expect(damages).toEqual(told && !isForced ? [expect.stringMatching(told)] : []);
  }
});

test('of a large collection a quarter may be new', async () => {
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
    const manifest = { created: '2026-01-31T00:00:00Z', source, counts: { notes: held }, sha256 };
    writeFileSync(join(output, 'MANIFEST.json'), JSON.stringify(manifest));
    const report = await crawled(source, output, { kind: 'renewal', now: '2026-02-01T00:00:00Z' });
    expect(report?.manners.get('notes')).toBe('patched');
    expect(readFileSync(file, 'utf8') === lines.join('')).toBe(true);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('pages that a manifest names elsewhere are never asked for', async () => {
  const upstream = await upstreamOf({ collections: { notes: [{ ob_id: 1 }] }, tags: 'honest' });
  const output = newOutput();
  await crawled(upstream.url, output);
  const file = join(output, 'MANIFEST.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as { pages: [string, [string, string][]][] };
  manifest.pages[0]![1][0]![0] = '../../../secrets';
  writeFileSync(file, JSON.stringify(manifest));
  expect((await crawled(upstream.url, output, { kind: 'renewal' }))?.manners.get('notes')).toBe('kept');
  expect(upstream.requests.some(({ url }) => url!.includes('secrets'))).toBe(false);
});

describe('an upstream that misbehaves in a renewal', () => {
  const ways = RUDE_WAYS.filter(({ isLong, name }, i) => !isLong && !/never|stops|repeats/.test(name) && i % 3 === 0);
  test.each(ways.map((way) => [way.name, way] as const))('%s', async (_name, way) => {
    let isRude = false;
    const misbehave: Misbehave = (occasion) =>
      isRude ? way.misbehave(occasion) : sendJson(occasion.response, occasion.page);
    const upstream = await startRudeUpstream(misbehave, 'first', Infinity);
    try {
      const output = newOutput();
      await crawled(upstream.url, output);
      const old = filesOf(output);
      isRude = true;
      const error = await crawled(upstream.url, output, { kind: 'renewal' }).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (error === undefined) expect(recordsOf(output)?.['notes.ndjson']).toBe(notesLines());
      else
        expect([error, filesOf(output)]).toEqual([
          expect.objectContaining({ message: expect.stringContaining('notes') }),
          old,
        ]);
      expect(upstream.asked()).toBeLessThan(80);
    } finally {
      await upstream.close();
    }
  });
});

test('a sweep that fails where a renewal was ended before leaves a state with which the next renewal goes on', async () => {
  let broken: RegExp | undefined;
  const collections: Record<string, readonly PlainRecord[]> = { notes: notesOf(50), times: [{ ob_id: 1 }] };
  const upstream = await upstreamOf({
    collections,
    onRequest: ({ url, socket }) => void (broken?.test(url!) === true && socket.destroy()),
  });
  const output = newOutput();
  await crawled(upstream.url, output);
  broken = /times/;
  await expect(crawled(upstream.url, output, { kind: 'renewal' })).rejects.toThrow('times');
  broken = /notes/;
  await expect(crawled(upstream.url, output, { kind: 'sweep' })).rejects.toThrow('notes');
  broken = undefined;
  collections['times'] = [{ ob_id: 1 }, { ob_id: 2 }];
  await crawled(upstream.url, output, { kind: 'renewal' });
  expect(recordsOf(output)).toEqual(await whole(upstream.url));
});

test.each([
  ['next year', '2027-06-30T00:00:00Z'],
  ['behind all years', '9999-12-31T00:00:00Z'],
])('a record that is dated %s hides no change of others', async (_, lastUpdatedDate) => {
  const notes = [...notesOf(900), { ob_id: 5000, text: 'from the future', lastUpdatedDate }];
  const collections: Record<string, readonly PlainRecord[]> = { notes };
  const upstream = await upstreamOf({ collections, heedsDates: true });
  const output = newOutput();
  await crawled(upstream.url, output);
  for (const day of [32, 34]) {
    collections['notes'] = collections['notes']!.with(200, noteOf(600, day, 'changed'));
    const now = dayOf(day + 1);
    await crawled(upstream.url, output, { kind: 'renewal', now });
    expect(recordsOf(output)).toEqual(await whole(upstream.url));
  }
});
