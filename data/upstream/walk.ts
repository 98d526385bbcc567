// Reads a collection by limit and offset. Pages are fetched ahead and returned in order. Each overlaps the one before,
// so that inserted and deleted records are noticed. If a page with a validator is unchanged, its records are taken from
// the last crawl. Every URL is built here: no link is followed (A109).
import type { Collection } from '../../engine/schema/types.ts';
import type { HeldRecords } from './held.ts';
import { Trouble, type Upstream } from './client.ts';
import { type PageMark, type PageSize, parsePage, type SentPage, type SentRecord } from './page.ts';

/**
 * Records that two neighbouring pages share. If ids ascend, one is enough to reveal a shift; otherwise several must
 * agree.
 */
const OVERLAP = { ordered: 1, unordered: 10 };

/** The position of a walk: the number of records so far, the last few ids, and whether it requests the order of ids. */
export interface Position {
  readonly collected: number;
  readonly recent: readonly number[];
  readonly isOrdered: boolean;
}

/** The pages and records of a collection in the last crawl. */
export interface HeldPages {
  readonly marks: readonly PageMark[];
  readonly records: HeldRecords;
}

/**
 * New records, the position after them, the upstream's count of all records, the page in words for messages, and
 * whether the response was a 304.
 */
export interface WalkStep {
  readonly records: readonly SentRecord[];
  readonly position: Position;
  readonly count: number;
  readonly where: string;
  readonly mark: PageMark;
  readonly isUnchanged: boolean;
}

/** The collection has changed while it was read, or its order is not stable: it must be read again. */
export class Drift extends Error {}

/** The upstream of a walk, and the number of pages to request at once. `query` is added to the query of every page. */
export interface Walker {
  readonly upstream: Upstream;
  readonly size: PageSize;
  readonly concurrency: number;
  readonly query?: string;
}

/**
 * The records of a collection after `from`, page by page in the order of the upstream. With `held`, it requests the
 * pages of the last crawl with their validators. Throws `Drift`, and the errors of the upstream. Memory: at most
 * `concurrency` pages, and the current one.
 */
export async function* walk(
  walker: Walker,
  collection: Collection,
  from: Position,
  held?: HeldPages,
): AsyncGenerator<WalkStep> {
  let position = from;
  for await (const page of pagesFrom(walker, collection, from, held)) {
    position = positionAfter(position, page);
    const records = page.records.slice(page.records.length - (position.collected - from.collected));
    from = position;
    const { count, where, mark, isUnchanged } = page;
    yield { records, position, count, where, mark, isUnchanged };
  }
}

/** The upstream's current count of a collection. Throws the errors of the upstream. */
export async function fetchCount(walker: Walker, collection: Collection): Promise<number> {
  const page = await fetchPage(walker, collection, { offset: 0, limit: 1, isOrdered: true });
  return page.count;
}

/** Sends a validator that no page ever had. Returns whether the upstream correctly responds 200 to it. */
export async function usesValidators({ upstream }: Walker, { name }: Collection, validator: string): Promise<boolean> {
  const unseen = validator.endsWith('"') ? '"never-seen"' : new Date(0).toUTCString();
  const request = {
    what: `${name}, one record`,
    path: () => listPath(name, 'limit=1&offset=0'),
    validator: () => unseen,
  };
  return upstream.get(request, (answer) => answer !== undefined);
}

function listPath(name: string, query: string): string {
  return `/api/v3/${name}/?${query}`;
}

function rangeQuery({ offset, limit, isOrdered }: Range, idField: string): string {
  return `limit=${limit}&offset=${offset}${isOrdered ? `&ordering=${idField}` : ''}`;
}

interface Page extends Pick<SentPage, 'count' | 'records'> {
  readonly offset: number;
  readonly where: string;
  readonly mark: PageMark;
  readonly isUnchanged: boolean;
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
  held: HeldPages | undefined,
): AsyncGenerator<Page> {
  const overlap = isOrdered ? OVERLAP.ordered : OVERLAP.unordered;
  const marks = marksByOffset(held?.marks ?? [], overlap);
  let start = Math.max(0, collected - overlap);
  let count = 0;
  const ahead: Promise<Fetched>[] = [];
  const fetchRange = (range: Range, mark?: PageMark): Promise<Fetched> => {
    const page = fetchFirst(walker, collection, range, overlap, mark && { mark, records: held!.records });
    // The loop below awaits it later. Until then a failure must not count as unhandled.
    page.catch(() => undefined);
    return page;
  };
  const fetchNext = (): void => {
    const mark = marks.get(start);
    const limit = mark?.[0] ?? Math.max(walker.size.size, overlap + 1);
    ahead.push(fetchRange({ offset: start, limit, isOrdered }, mark));
    start += limit - overlap;
  };
  fetchNext();
  while (ahead.length > 0) {
    const { page, rest } = await ahead.shift()!;
    if (rest) ahead.unshift(fetchRange(rest));
    count = page.count;
    yield page;
    while (ahead.length < walker.concurrency && start + overlap < count) fetchNext();
  }
}

function marksByOffset(marks: readonly PageMark[], overlap: number): ReadonlyMap<number, PageMark> {
  const byOffset = new Map<number, PageMark>();
  let offset = 0;
  for (const mark of marks) {
    byOffset.set(offset, mark);
    offset += mark[0] - overlap;
  }
  return byOffset;
}

/** The first page of a range of records, and the rest of the range if the upstream sends fewer records at once. */
interface Fetched {
  readonly page: Page;
  readonly rest: Range | undefined;
}

interface HeldPage {
  readonly mark: PageMark;
  readonly records: HeldRecords;
}

async function fetchFirst(
  walker: Walker,
  collection: Collection,
  range: Range,
  overlap: number,
  held: HeldPage | undefined,
): Promise<Fetched> {
  const page = await fetchPage(walker, collection, range, held);
  const end = range.offset + range.limit;
  const next = range.offset + page.records.length;
  if (next >= Math.min(end, page.count)) return { page, rest: undefined };
  if (page.records.length <= overlap) throw new Drift(`${page.where}: pages of ${page.records.length} records`);
  const offset = next - overlap;
  return { page, rest: { ...range, offset, limit: end - offset } };
}

async function fetchPage(
  { upstream, size, query: options = '' }: Walker,
  { name, idField }: Collection,
  range: Range,
  held?: HeldPage,
): Promise<Page> {
  const { offset } = range;
  let { limit } = range;
  let known = held;
  const path = (): string => {
    limit = known?.mark[0] ?? Math.min(range.limit, size.size);
    return listPath(name, rangeQuery({ ...range, limit }, idField) + options);
  };
  const subject = `${name}, page at offset ${offset}`;
  const onTrouble = (): void => {
    size.noteFailure();
    known = undefined;
  };
  return upstream.get({ what: subject, path, validator: () => known?.mark[1] ?? undefined, onTrouble }, (answer) => {
    if (!answer) {
      const { mark, records } = known!;
      const page = { count: records.count, records: records.slice(offset, offset + limit) };
      return { ...page, offset, where: subject, mark, isUnchanged: true };
    }
    const { body, ms, url, validator = null } = answer;
    const page = parsePage(body, idField);
    const { count, records } = page;
    const isCut = page.limit !== undefined && page.limit < limit && records.length === page.limit;
    if (isCut) size.limitTo(page.limit);
    else checkPageLength(page, offset, limit);
    size.noteTime(ms);
    const mark = [isCut ? page.limit : limit, validator] as const;
    return { count, records, offset, where: `${subject} (${url})`, mark, isUnchanged: false };
  });
}

/**
 * Throws unless a page has the requested number of records, as far as they exist, and a link to the next page if there
 * are more.
 */
function checkPageLength(page: SentPage, offset: number, limit: number): void {
  const { count, hasNext, records } = page;
  const { length } = records;
  const due = Math.max(0, Math.min(limit, count - offset));
  if (length !== due) {
    // The link to the next page has no limit either.
    const cause = hasNext && page.limit === undefined ? '; its pages do not go by limit and offset' : '';
    throw new Trouble(`a page of ${length} records, where ${due} of ${count} are due${cause}`);
  }
  if (!hasNext && offset + length < count)
    throw new Trouble(`next is null after record ${offset + length} of ${count}`);
}

/** The position after a page. Throws `Drift` if the page does not continue the one before. */
function positionAfter(position: Position, { offset, where, records }: Page): Position {
  const { collected, recent, isOrdered } = position;
  const ids = records.map(({ id }) => id);
  const shared = collected - offset;
  // It was requested when there were more records.
  if (shared < 0 && ids.length === 0) return position;
  const before = recent.slice(recent.length - shared);
  if (shared < 0 || before.some((id, i) => ids[i] !== id))
    throw new Drift(`${where}: it does not continue the previous page`);
  const fresh = ids.slice(shared);
  const last = recent.at(-1) ?? -1;
  if (isOrdered && fresh.some((id, i) => id <= (fresh[i - 1] ?? last)))
    throw new Disorder(`${where}: its ids do not ascend, although the request orders by them`);
  return { collected: offset + ids.length, recent: [...before, ...fresh].slice(-OVERLAP.unordered), isOrdered };
}

/** The upstream ignores the requested order, or the collection has changed so that it looks like that. */
export class Disorder extends Drift {}
