// The checkpoint of a crawl stays so short that it can be read, however much pages are known by; what is
// done of an old renewal is done again.
import { expect, test } from 'vitest';
import type { PageMark } from '../../../../data/crawl/walk.ts';
import { pagesOf as pagesOfManifest } from '../../../../data/crawl/held.ts';
import { CrawlState } from '../../../../data/crawl/state.ts';
import { collectionsOfPath } from '../../../../engine/schema/catalogue.ts';
import { newOutputIn } from '../../../support/crawls.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';

const directory = temporaryDirectory();
const BASE = 'https://a.example.org';
const COLLECTIONS = ['notes', 'times'].map((name) => collectionsOfPath(name, 'v3')[0]!);

/** So many pages, each known by a tag of the longest kind, of characters that JSON escapes. */
function pagesOf(count: number): PageMark[] {
  const validator = `"${'\\'.repeat(200)}"`;
  return Array.from({ length: count }, (_, i) => ({ query: `limit=100&offset=${i * 100}&ordering=ob_id`, validator }));
}

async function opened(state: string): Promise<CrawlState> {
  const found = CrawlState.open(state, BASE, { now: '2026-01-31T00:00:00Z', isRenewal: false });
  await found.openParts(COLLECTIONS, new Set([BASE]));
  return found;
}

test.each([
  ['2026-01-31T00:59:00Z', true, true],
  ['2026-01-31T01:01:00Z', true, false],
  // A clock that went back.
  ['2026-01-30T22:59:00Z', true, false],
  ['2026-03-01T00:00:00Z', false, true],
])(
  'at %s what was done since 0:00 (of a renewal: %s) is done: %s; the rest goes on',
  async (now, isRenewal, isDone) => {
    const place = newOutputIn(directory);
    const begun = CrawlState.open(place, BASE, { now: '2026-01-31T00:00:00Z', isRenewal });
    await begun.openParts(COLLECTIONS, new Set([BASE]));
    begun.parts.get('notes')!.isDone = true;
    for (const name of ['notes', 'times']) {
      const part = begun.parts.get(name)!;
      part.add([{ id: 1, text: '{"ob_id":1}' }]);
      part.position = { ...part.position, collected: 1 };
      begun.save(name);
    }
    begun.close();
    const next = CrawlState.open(place, BASE, { now, isRenewal });
    await next.openParts(COLLECTIONS, new Set([BASE]));
    const [notes, times] = ['notes', 'times'].map((name) => next.parts.get(name)!) as [Part, Part];
    expect([next.isResumed, notes.isDone, notes.ids.size, times.ids.size]).toEqual([true, isDone, isDone ? 1 : 0, 1]);
    expect(next.begun).toBe(begun.begun);
    times.isDone = true;
    next.save('times');
    next.close();
    // Where nothing is left of then it is a new one.
    const last = CrawlState.open(place, BASE, { now, isRenewal });
    expect(last.begun).toBe(isDone ? begun.begun : now);
    last.close();
  },
);

test('pages of a part are kept, but for those that would make the checkpoint too long to be read', async () => {
  const directoryOfState = newOutputIn(directory);
  const state = await opened(directoryOfState);
  // Some half of what there is room for, and more than the rest.
  const some = pagesOf(15_000);
  const [notes, times] = COLLECTIONS.map(({ name }) => state.parts.get(name)!) as [Part, Part];
  notes.pages = [...some];
  state.save('notes');
  times.pages = pagesOf(25_000);
  state.save('times');
  // What comes behind them is not known by anything either.
  times.addPage(some[0]!);
  state.save('times');
  state.close();
  const next = await opened(directoryOfState);
  expect(next.isResumed).toBe(true);
  expect(COLLECTIONS.map(({ name }) => next.parts.get(name)!.pages)).toEqual([some, 'tooMany']);
  // A renewal knows that nothing tells it whether they are as they were, whatever the count says.
  expect(pagesOfManifest(next.parts).map(([name, pages]) => [name, pages.length])).toEqual([
    ['notes', some.length],
    ['times', 0],
  ]);
  next.close();
});

type Part = ReturnType<CrawlState['parts']['get']> & object;
