// Walks over a collection by limit and offset: some pages ahead, handed on in order, each overlapping the one before,
// so that records which come or go meanwhile are noticed. Builds every URL itself: no link is followed (A109).
import type { Collection } from '../../engine/schema/types.ts';
import { Trouble, type Upstream } from '../upstream.ts';
import { parsePage, type SentPage, type SentRecord } from './page.ts';
import type { PageSize } from './pageSize.ts';

/** Records that two neighbouring pages share: where ids ascend one tells of a shift, else a few must agree. */
const OVERLAP = { ordered: 1, unordered: 10 };

/** Where a walk stands: how many records it has, the ids of the last few, and whether it asks for the order of ids. */
export interface Position {
  readonly collected: number;
  readonly recent: readonly number[];
  readonly isOrdered: boolean;
}

/**
 * New records, where the walk stands behind them, how many there are in all as the upstream counts, and the page for
 * people.
 */
export interface WalkStep {
  readonly records: readonly SentRecord[];
  readonly position: Position;
  readonly count: number;
  readonly where: string;
  readonly page: PageMark;
}

/** A page as it was asked for, without what every page is, and what says later whether it is as it was. */
export interface PageMark {
  readonly query: string;
  readonly validator: string | undefined;
}

/** The collection is not as it was a moment ago, or not in one order: it must be walked anew. */
export class Drift extends Error {}

/** What a walk asks, and how many pages at once; `query` is added to that of every page. */
export interface Walker {
  readonly upstream: Upstream;
  readonly size: PageSize;
  readonly concurrency: number;
  readonly query?: string;
}

/**
 * The records of a collection behind `from`, page by page in the order of the upstream. Throws `Drift`, and what the
 * upstream throws. Holds at most `concurrency` pages, and the one that is read.
 */
export async function* walk(walker: Walker, collection: Collection, from: Position): AsyncGenerator<WalkStep> {
  const { isOrdered } = from;
  const overlap = isOrdered ? OVERLAP.ordered : OVERLAP.unordered;
  let position = from;
  for await (const page of pagesFrom(walker, collection, from, overlap)) {
    position = behind(position, page);
    const records = page.records.slice(page.records.length - (position.collected - from.collected));
    from = position;
    yield { records, position, count: page.count, where: page.where, page: page.mark };
  }
}

/** How many records the upstream counts now. Throws what it throws. */
export async function countOf(walker: Walker, collection: Collection): Promise<number> {
  const page = await fetchPage(walker, collection, { offset: 0, limit: 1, isOrdered: true });
  return page.count;
}

/** So many records from a place on, in the order of ids. Throws as a walk does. */
export async function recordsAt(
  walker: Walker,
  collection: Collection,
  offset: number,
  limit: number,
): Promise<readonly SentRecord[]> {
  const records: SentRecord[] = [];
  for (let left: Range | undefined = { offset, limit, isOrdered: true }; left;) {
    const { page, rest }: Fetched = await fetchFirst(walker, collection, left, 0);
    records.push(...page.records);
    left = rest;
  }
  return records;
}

/** Whether a page is as it was when it came with its validator. Throws what the upstream throws. */
export async function isPageAsBefore(
  { upstream }: Walker,
  { name }: Collection,
  { query, validator = '' }: PageMark,
): Promise<boolean> {
  return upstream.isAsBefore({ what: `${name}, page ${query}`, path: () => pathOf(name, query) }, validator);
}

function pathOf(name: string, query: string): string {
  return `/api/v3/${name}/?${query}`;
}

interface Page extends SentPage {
  readonly offset: number;
  readonly where: string;
  readonly mark: PageMark;
}

interface Range {
  readonly offset: number;
  readonly limit: number;
  readonly isOrdered: boolean;
}

async function* pagesFrom(
  walker: Walker,
  collection: Collection,
  { collected, isOrdered }: Position,
  overlap: number,
): AsyncGenerator<Page> {
  let start = Math.max(0, collected - overlap);
  let count = 0;
  const ahead: Promise<Fetched>[] = [];
  const fetched = (range: Range): Promise<Fetched> => {
    const page = fetchFirst(walker, collection, range, overlap);
    // Who waits for it hears of a failure; until then nobody does.
    page.catch(() => undefined);
    return page;
  };
  const fetchNext = (): void => {
    const range = { offset: start, limit: Math.max(walker.size.size, overlap + 1), isOrdered };
    start += range.limit - overlap;
    ahead.push(fetched(range));
  };
  fetchNext();
  while (ahead.length > 0) {
    const { page, rest } = await ahead.shift()!;
    if (rest) ahead.unshift(fetched(rest));
    count = page.count;
    yield page;
    while (ahead.length < walker.concurrency && start + overlap < count) fetchNext();
  }
}

/** The first page of a range of records, and what is left of the range where the upstream gives fewer at once. */
interface Fetched {
  readonly page: Page;
  readonly rest: Range | undefined;
}

async function fetchFirst(walker: Walker, collection: Collection, range: Range, overlap: number): Promise<Fetched> {
  const page = await fetchPage(walker, collection, range);
  const end = range.offset + range.limit;
  const next = range.offset + page.records.length;
  if (next >= Math.min(end, page.count)) return { page, rest: undefined };
  if (page.records.length <= overlap) throw new Drift(`${page.where}: pages of ${page.records.length} records`);
  const offset = next - overlap;
  return { page, rest: { ...range, offset, limit: end - offset } };
}

async function fetchPage(
  { upstream, size, query: more = '' }: Walker,
  { name, idField }: Collection,
  { offset, limit: most, isOrdered }: Range,
): Promise<Page> {
  let limit = most;
  let query = '';
  const path = (): string => {
    limit = Math.min(most, size.size);
    query = `limit=${limit}&offset=${offset}${isOrdered ? `&ordering=${idField}` : ''}${more}`;
    return pathOf(name, query);
  };
  const what = `${name}, page at offset ${offset}`;
  const request = { what, path, onTrouble: () => size.failed() };
  return upstream.get(request, ({ body, ms, url, validator }) => {
    const page = parsePage(body, idField);
    if (page.limit !== undefined && page.limit < limit && page.records.length === page.limit) size.limitTo(page.limit);
    else judgeLength(page, offset, limit);
    size.answered(ms);
    return { ...page, offset, where: `${what} (${url})`, mark: { query, validator } };
  });
}

/** A page holds as many records as were asked for and are there, and a link to more where there are more. */
function judgeLength(page: SentPage, offset: number, limit: number): void {
  const { count, hasNext, records } = page;
  const { length } = records;
  const due = Math.max(0, Math.min(limit, count - offset));
  if (length !== due) {
    // Nor does its link to the next page name one.
    const why = hasNext && page.limit === undefined ? '; its pages do not go by limit and offset' : '';
    throw new Trouble(`a page of ${length} records, where ${due} of ${count} are due${why}`);
  }
  if (!hasNext && offset + length < count)
    throw new Trouble(`next is null behind record ${offset + length} of ${count}`);
}

/** Where the walk stands behind a page. Throws `Drift` where the page does not continue what came before. */
function behind(position: Position, { offset, where, records }: Page): Position {
  const { collected, recent, isOrdered } = position;
  const ids = records.map(({ id }) => id);
  const shared = collected - offset;
  // Asked for while there were more records.
  if (shared < 0 && ids.length === 0) return position;
  const before = recent.slice(recent.length - shared);
  if (shared < 0 || before.some((id, i) => ids[i] !== id))
    throw new Drift(`${where}: it does not continue the page before`);
  const fresh = ids.slice(shared);
  const last = recent.at(-1) ?? -1;
  if (isOrdered && fresh.some((id, i) => id <= (fresh[i - 1] ?? last)))
    throw new Disorder(`${where}: its ids do not ascend, though ordering by them was asked for`);
  return { collected: offset + ids.length, recent: [...before, ...fresh].slice(-OVERLAP.unordered), isOrdered };
}

/** The upstream does not heed the order that was asked for, or the collection changed so that it looks like that. */
export class Disorder extends Drift {}
