// Upstreams whose dates or validators cannot be trusted, or seem so: a refresh still finds all their changes.
// compare.long.test.ts has the trustworthy ones, and counts the requests to them.
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

/** The result of a whole crawl into a new directory. */
async function whole(url: string): Promise<Readonly<Record<string, string>>> {
  const output = newOutputIn(directory);
  await crawled(url, output);
  return recordsOf(output)!;
}

/** The comparison of 200 notes after one has changed. The refresh must give the same result as a whole crawl. */
async function comparedWith(options: Omit<PlainUpstreamOptions, 'collections'>): Promise<unknown> {
  const notes = Array.from({ length: 200 }, (_, id) => noteOf(id, (id % 10) + 1, 'as it was'));
  const collections: Record<string, readonly PlainRecord[]> = { notes };
  const upstream = await upstreamOf({ ...options, collections });
  const output = newOutputIn(directory);
  await crawled(upstream.url, output);
  collections['notes'] = notes.with(199, noteOf(199, 20, 'changed'));
  const report = await crawled(upstream.url, output, { kind: 'refresh' });
  expect(recordsOf(output)).toEqual(await whole(upstream.url));
  return report?.comparisons['notes']?.compared;
}

// The refresh requests the changes from the 9th on: the notes of that day and the next, every fifth.
test.each<[string, Omit<PlainUpstreamOptions, 'collections'>]>([
  ['ignores the filter', {}],
  ['lists nothing by dates', { heedsDates: true, leavesOut: () => true }],
  ['omits all but the first by dates', { heedsDates: true, leavesOut: ({ ob_id: id }) => id > 8 }],
  ['omits the last by dates', { heedsDates: true, leavesOut: ({ ob_id: id }) => id >= 199 }],
  // As when a filter without an index takes longer than a proxy waits.
  [
    'never answers a question by dates',
    { onRequest: ({ url, socket }) => void (url!.includes('__gte') && socket.destroy()) },
  ],
  ['fails at a question by dates', { heedsDates: true, failsAt: (query) => query.has('lastUpdatedDate__gte') }],
])('reads a collection in full if the upstream %s', async (_, options) => {
  expect(await comparedWith(options)).toBe('full');
});

test.each([14, 5, 0, -5, -14])(
  'requests few records of an upstream that parses dates in a zone %i hours to the west of its own',
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
    const unchanged = await crawled(upstream.url, output, { kind: 'refresh' });
    expect(unchanged).toMatchObject({ isUnchanged: true, comparisons: { notes: { compared: 'dates' } } });
    expect(upstream.sent() - sentBefore).toBeLessThan(60);
    collections['notes'] = notes.with(3, timed(3, 97, 'changed'));
    const changed = await crawled(upstream.url, output, { kind: 'refresh' });
    expect(changed?.comparisons['notes']?.compared).toBe('dates');
    expect(recordsOf(output)).toEqual(await whole(upstream.url));
  },
);

test('finds changes after a clock that was ahead accepted a record dated in the future', async () => {
  const notes = Array.from({ length: 50 }, (_, id) => noteOf(id, (id % 10) + 1, 'as it was'));
  notes[7] = { ...notes[7]!, lastUpdatedDate: '2035-01-01T00:00:00Z' };
  const collections: Record<string, readonly PlainRecord[]> = { notes };
  const { url } = await upstreamOf({ collections, heedsDates: true });
  const output = newOutputIn(directory);
  await crawled(url, output, { now: '2040-01-01T00:00:00Z' });
  collections['notes'] = notes.with(3, noteOf(3, 12, 'changed'));
  await crawled(url, output, { kind: 'refresh', now: '2026-01-13T00:00:00Z' });
  expect(recordsOf(output)).toEqual(await whole(url));
});

test('refuses changed records with more dangling links than a crawl accepts', async () => {
  const notes = Array.from({ length: 100 }, (_, id) => noteOf(id, (id % 10) + 1, 'as it was'));
  const collections: Record<string, readonly PlainRecord[]> = { notes };
  const { url } = await upstreamOf({ collections, heedsDates: true });
  const output = newOutputIn(directory);
  await crawled(url, output);
  const before = recordsOf(output);
  const links = Array.from({ length: 5000 }, (_, i) => `${url}/api/v3/times/${i}/`);
  collections['notes'] = notes.with(3, { ...noteOf(3, 12, 'changed'), links });
  await expect(crawled(url, output, { kind: 'refresh', idsMax: 4000 })).rejects.toThrow(
    /ids of records and of what their collections link to, more than 4000/,
  );
  expect(recordsOf(output)).toEqual(before);
});

test.each([
  ['tags', false],
  ['dates', true],
])('trusts pages with %s unless they respond 304 to a validator that they never had', async (_, datesPages) => {
  const notes = Array.from({ length: 300 }, (__, id) => ({ ob_id: id, text: 'as it was' }));
  for (const [tags, compared] of [
    ['honest', 'validators'],
    ['lying', 'full'],
  ] as const) {
    const collections: Record<string, readonly PlainRecord[]> = { notes };
    const { url } = await upstreamOf({ collections, tags, datesPages });
    const output = newOutputIn(directory);
    await crawled(url, output);
    const unchanged = await crawled(url, output, { kind: 'refresh' });
    expect(unchanged, tags).toMatchObject({ isUnchanged: true, comparisons: { notes: { compared } } });
    collections['notes'] = notes.with(3, { ob_id: 3, text: 'changed' });
    const changed = await crawled(url, output, { kind: 'refresh' });
    expect(changed, tags).toMatchObject({ isUnchanged: false, comparisons: { notes: { compared } } });
    expect(recordsOf(output)).toEqual(await whole(url));
  }
});
