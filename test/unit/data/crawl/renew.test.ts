// Upstreams that lie to a renewal, or may be thought to: what they have is found all the same. Those that do not lie,
// and what is asked of them, are in renew.long.test.ts.
import { expect, test } from 'vitest';
import { crawled, newOutputIn, recordsOf } from '../../../support/crawls.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { type PlainRecord, type PlainUpstreamOptions, plainUpstreams } from '../../../support/plainUpstream.ts';

const directory = temporaryDirectory();
const upstreamOf = plainUpstreams();

/** A record that was changed on a day of January 2026. */
function noteOf(id: number, day: number, text: string): PlainRecord {
  return { ob_id: id, text, lastUpdatedDate: new Date(Date.UTC(2026, 0, day)).toISOString() };
}

/** What a whole crawl into a new directory gives. */
async function whole(url: string): Promise<Readonly<Record<string, string>>> {
  const output = newOutputIn(directory);
  await crawled(url, output);
  return recordsOf(output)!;
}

/** How 200 notes come of which one has changed, from an upstream that is so; what comes is what a whole crawl gives. */
async function mannerWith(options: Omit<PlainUpstreamOptions, 'collections'>): Promise<unknown> {
  const notes = Array.from({ length: 200 }, (_, id) => noteOf(id, (id % 10) + 1, 'as it was'));
  const collections: Record<string, readonly PlainRecord[]> = { notes };
  const upstream = await upstreamOf({ ...options, collections });
  const output = newOutputIn(directory);
  await crawled(upstream.url, output);
  collections['notes'] = notes.with(199, noteOf(199, 20, 'changed'));
  const report = await crawled(upstream.url, output, { kind: 'renewal' });
  expect(recordsOf(output)).toEqual(await whole(upstream.url));
  return report?.manners.get('notes');
}

// Asked for is what changed from the 9th on: the notes of that day and the next, every fifth.
const LIES: readonly [what: string, leavesOut: (note: PlainRecord) => boolean][] = [
  ['lists nothing', () => true],
  ['leaves out all but the first', ({ ob_id: id }) => id > 8],
  ['leaves out the last', ({ ob_id: id }) => id >= 199],
];

test.each(
  LIES.flatMap(([what, leavesOut]) =>
    [
      [false, 'walked'],
      [true, 'patched'],
    ].map(([heedsFields, manner]) => [what, heedsFields, leavesOut, manner] as const),
  ),
)('an upstream that %s where it is asked by dates is not believed (it heeds fields: %s)', async (...of) => {
  const [, heedsFields, leavesOut, manner] = of;
  expect(await mannerWith({ heedsDates: true, heedsFields: heedsFields === true, leavesOut })).toBe(manner);
});

test.each([14, 5, 0, -5, -14])(
  'an upstream that reads dates as of a zone %i hours to the west of its own is not asked for all that it has',
  async (zone) => {
    // One an hour, for four days.
    const timed = (id: number, hour: number, text: string): PlainRecord => {
      return { ob_id: id, text, lastUpdatedDate: new Date(Date.UTC(2026, 0, 1, hour)).toISOString() };
    };
    const notes = Array.from({ length: 96 }, (_, id) => timed(id, id, 'as it was'));
    const collections: Record<string, readonly PlainRecord[]> = { notes };
    const upstream = await upstreamOf({ collections, heedsDates: true, zone });
    const output = newOutputIn(directory);
    await crawled(upstream.url, output);
    const sentBefore = upstream.sent();
    const unchanged = await crawled(upstream.url, output, { kind: 'renewal' });
    expect(['kept', 'patched']).toContain(unchanged?.manners.get('notes'));
    expect(upstream.sent() - sentBefore).toBeLessThan(60);
    collections['notes'] = notes.with(3, timed(3, 97, 'changed'));
    const changed = await crawled(upstream.url, output, { kind: 'renewal' });
    expect(changed?.manners.get('notes')).toBe('patched');
    expect(recordsOf(output)).toEqual(await whole(upstream.url));
  },
);

test.each([
  ['the dates of all records', true, 'patched'],
  ['every page', false, 'walked'],
])('where no question by dates is ever answered %s are asked for', async (_, heedsFields, manner) => {
  // As where a filter without an index takes longer than a proxy waits.
  const onRequest: PlainUpstreamOptions['onRequest'] = ({ url, socket }) =>
    void (url!.includes('__gte') && socket.destroy());
  expect(await mannerWith({ heedsFields, onRequest })).toBe(manner);
});

test('a record that is dated in the future hides nothing, whatever a wrong clock said of what is held', async () => {
  const notes = Array.from({ length: 50 }, (_, id) => noteOf(id, (id % 10) + 1, 'as it was'));
  notes[7] = { ...notes[7]!, lastUpdatedDate: '2035-01-01T00:00:00Z' };
  const collections: Record<string, readonly PlainRecord[]> = { notes };
  const { url } = await upstreamOf({ collections, heedsDates: true });
  const output = newOutputIn(directory);
  await crawled(url, output, { now: '2040-01-01T00:00:00Z' });
  collections['notes'] = notes.with(3, noteOf(3, 12, 'changed'));
  const report = await crawled(url, output, { kind: 'renewal', now: '2026-01-13T00:00:00Z' });
  expect(report?.manners.get('notes')).toBe('patched');
  expect(recordsOf(output)).toEqual(await whole(url));
});

test('what changed links to no more than a crawl takes: it is refused before all is held', async () => {
  const notes = Array.from({ length: 100 }, (_, id) => noteOf(id, (id % 10) + 1, 'as it was'));
  const collections: Record<string, readonly PlainRecord[]> = { notes };
  const { url } = await upstreamOf({ collections, heedsDates: true });
  const output = newOutputIn(directory);
  await crawled(url, output);
  const before = recordsOf(output);
  const links = Array.from({ length: 5000 }, (_, i) => `${url}/api/v3/times/${i}/`);
  collections['notes'] = notes.with(3, { ...noteOf(3, 12, 'changed'), links });
  await expect(crawled(url, output, { kind: 'renewal', idsMax: 4000 })).rejects.toThrow(
    /ids of records and of what their collections link to, more than 4000/,
  );
  expect(recordsOf(output)).toEqual(before);
});

test.each([
  ['tags', false],
  ['dates', true],
])('an upstream whose pages have %s is believed, unless nothing ever changed for it', async (_, datesPages) => {
  const notes = Array.from({ length: 300 }, (__, id) => ({ ob_id: id, text: 'as it was' }));
  for (const [tags, manner] of [
    ['honest', 'kept'],
    ['lying', 'walked'],
  ] as const) {
    const collections: Record<string, readonly PlainRecord[]> = { notes };
    const { url } = await upstreamOf({ collections, tags, datesPages });
    const output = newOutputIn(directory);
    await crawled(url, output);
    const unchanged = await crawled(url, output, { kind: 'renewal' });
    expect(unchanged?.manners.get('notes'), tags).toBe(manner);
    collections['notes'] = notes.with(3, { ob_id: 3, text: 'changed' });
    const changed = await crawled(url, output, { kind: 'renewal' });
    expect(changed?.manners.get('notes'), tags).toBe('walked');
    expect(recordsOf(output)).toEqual(await whole(url));
  }
});
