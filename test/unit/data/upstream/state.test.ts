// The checkpoint of a crawl stays short enough to be read, whatever validators pages have, and an old comparison of a
// refresh is repeated.
import { expect, test } from 'vitest';
import type { PageMark } from '../../../../data/upstream/page.ts';
import { CrawlState } from '../../../../data/upstream/state.ts';
import { collectionsOfPath } from '../../../../engine/schema/catalogue.ts';
import { newOutputIn } from '../../../support/crawls.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';

const directory = temporaryDirectory();
const BASE = 'https://a.example.org';
const COLLECTIONS = ['notes', 'times'].map((name) => collectionsOfPath(name, 'v3')[0]!);

/** Pages, each with a tag of the longest kind, of characters that JSON escapes. */
function marksOf(count: number): PageMark[] {
  return Array.from({ length: count }, () => [100, `"${'\\'.repeat(200)}"`] as const);
}

async function opened(state: string): Promise<CrawlState> {
  const found = CrawlState.open(state, BASE, { now: '2026-01-31T00:00:00Z', isRefresh: false });
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
  'at %s, after a start at 0:00 (of a refresh: %s), regards finished collections as finished: %s, and resumes the rest',
  async (now, isRefresh, isDone) => {
    const place = newOutputIn(directory);
    const begun = CrawlState.open(place, BASE, { now: '2026-01-31T00:00:00Z', isRefresh });
    await begun.openParts(COLLECTIONS, new Set([BASE]));
    begun.parts.get('notes')!.isDone = true;
    for (const name of ['notes', 'times']) {
      const part = begun.parts.get(name)!;
      part.add([{ id: 1, stamp: undefined, text: '{"ob_id":1}' }]);
      part.position = { ...part.position, collected: 1 };
      begun.save(name);
    }
    begun.close();
    const next = CrawlState.open(place, BASE, { now, isRefresh });
    await next.openParts(COLLECTIONS, new Set([BASE]));
    const [notes, times] = ['notes', 'times'].map((name) => next.parts.get(name)!) as [Part, Part];
    expect([next.isResumed, notes.isDone, notes.ids.size, times.ids.size]).toEqual([true, isDone, isDone ? 1 : 0, 1]);
    expect(next.begun).toBe(begun.begun);
    times.isDone = true;
    next.save('times');
    next.close();
    // If nothing of the old run is left, this is a new one.
    const last = CrawlState.open(place, BASE, { now, isRefresh });
    expect(last.begun).toBe(isDone ? begun.begun : now);
    last.close();
  },
);

test('keeps the marks of pages, except those that would make the checkpoint too long to be read', async () => {
  const directoryOfState = newOutputIn(directory);
  const state = await opened(directoryOfState);
  // About half of the room, and more than the rest.
  const some = marksOf(15_000);
  const [notes, times] = COLLECTIONS.map(({ name }) => state.parts.get(name)!) as [Part, Part];
  notes.marks = [...some];
  state.save('notes');
  times.marks = marksOf(25_000);
  state.save('times');
  times.addPage(some[0]!, false);
  state.save('times');
  state.close();
  const next = await opened(directoryOfState);
  expect(next.isResumed).toBe(true);
  expect(COLLECTIONS.map(({ name }) => next.parts.get(name)!.marks)).toEqual([some, undefined]);
  next.close();
});

type Part = ReturnType<CrawlState['parts']['get']> & object;
