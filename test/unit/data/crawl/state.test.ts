// The checkpoint of a crawl stays so short that it can be read, however much pages are known by; one of a renewal is
// not gone on with when it is old.
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
])('what began at 0:00 is gone on with at %s (a renewal: %s): %s', async (now, isRenewal, isResumed) => {
  const place = newOutputIn(directory);
  const begun = CrawlState.open(place, BASE, { now: '2026-01-31T00:00:00Z', isRenewal });
  await begun.openParts(COLLECTIONS, new Set([BASE]));
  begun.save('notes');
  begun.close();
  const next = CrawlState.open(place, BASE, { now, isRenewal });
  expect([next.isResumed, next.begun === begun.begun]).toEqual([isResumed, isResumed]);
  next.close();
});

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
