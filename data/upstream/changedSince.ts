// Updates a collection by the modification dates of its records: requests those that changed since the latest date of
// the last crawl, and compares the count. Verifies that the upstream filters by that date (A110).
import { parseInstant } from '../../engine/query/decimal.ts';
import type { Collection } from '../../engine/schema/types.ts';
import { OperationError } from '../operationError.ts';
import { Trouble } from './client.ts';
import type { HeldRecords } from './held.ts';
import { type SentRecord, STAMP } from './page.ts';
import { type CollectionPart, NOTHING, OVERLAP_MICROSECONDS } from './part.ts';
import { fetchCount, Drift, walk, type Walker } from './walk.ts';

/** A service may read a date without a zone in another zone than that of its dates. The difference is at most this. */
const ZONES_MICROSECONDS = 15 * 3_600_000_000;

/** If more records than this number and this fraction changed, the collection is read in full. */
const CHANGED_MAX = { records: 1000, fraction: 0.25 };
/**
 * Changed records are kept in memory until they are merged. If they are longer than this, the collection is read in
 * full.
 */
const CHANGED_CHARACTERS_MAX = 128 << 20;

const ADDED_RECORDS = 1000;

/** A date later than all others, but not among the last years: zones shift it, and services calculate with it. */
const NEVER_MS = Date.UTC(9000, 0);

/** The requests of a comparison by dates: a test of the filter, the records of the last day, and the count. */
export const DATE_REQUESTS = 3;

/** A collection of the last crawl: its records by ascending id, and their latest date. */
export interface HeldDates {
  readonly records: HeldRecords;
  readonly latest: string;
}

/**
 * Fills an empty part with the records of the last crawl and those that changed since. Returns false if that does not
 * match the upstream: it does not filter by the date, or its count differs. The part must then be emptied. `judge` is
 * called after each batch, and throws OperationError `input` if there are too many records. Throws the errors of the
 * upstream, unless other requests may succeed. Cost: DATE_REQUESTS and a pass over the records.
 */
export async function addChangedSince(
  walker: Walker,
  collection: Collection,
  held: HeldDates,
  part: CollectionPart,
  judge: () => void,
): Promise<boolean> {
  try {
    const since = parseInstant(held.latest) - OVERLAP_MICROSECONDS;
    const changed = await collectChangedSince(walker, collection, held, since);
    if (!changed) return false;
    const count = await fetchCount(walker, collection);
    if (!merge(held.records, changed, since + ZONES_MICROSECONDS, part, judge) || part.ids.size !== count) return false;
    part.compared = 'dates';
    return true;
  } catch (error) {
    if (error instanceof Drift || isRefusedQuestion(error)) return false;
    throw error;
  }
}

/**
 * Whether the upstream filters by date: no record must be newer than `NEVER_MS`. `stamp` is a date in the format of the
 * upstream. Throws the errors of the upstream.
 */
export async function filtersByDate(walker: Walker, collection: Collection, stamp: string): Promise<boolean> {
  return (await fetchCount(askingSince(walker, stamp, NEVER_MS), collection)) === 0;
}

function askingSince(walker: Walker, stamp: string, ms: number): Walker {
  return { ...walker, query: `&${STAMP}__gte=${encodeURIComponent(formatLike(stamp, ms))}` };
}

/**
 * The records that changed since a time, by ascending id; undefined if the upstream does not filter or too many
 * changed.
 */
async function collectChangedSince(
  walker: Walker,
  collection: Collection,
  { records: { count: heldCount }, latest }: HeldDates,
  since: number,
): Promise<readonly SentRecord[] | undefined> {
  if (!(await filtersByDate(walker, collection, latest))) return undefined;
  const changedMax = Math.max(CHANGED_MAX.records, heldCount * CHANGED_MAX.fraction);
  const changed: SentRecord[] = [];
  let characters = 0;
  for await (const { records, count } of walk(
    askingSince(walker, latest, since / 1000),
    collection,
    NOTHING.position,
  )) {
    characters += records.reduce((sum, { text }) => sum + text.length, 0);
    if (count > changedMax || characters > CHANGED_CHARACTERS_MAX) return undefined;
    if (records.some(({ stamp = '' }) => !(parseInstant(stamp) >= since - ZONES_MICROSECONDS))) return undefined;
    changed.push(...records);
  }
  return changed;
}

/**
 * Adds all records by ascending id, the changed ones instead of their old versions. Returns false if a record that is
 * dated `certain` or later is not among the changed ones: then the upstream returns nothing for a condition that it
 * cannot apply.
 */
function merge(
  held: HeldRecords,
  changed: readonly SentRecord[],
  certain: number,
  part: CollectionPart,
  judge: () => void,
): boolean {
  let next = 0;
  const add = (records: readonly SentRecord[]): void => {
    const repeated = part.add(records);
    if (repeated) throw new Drift(`id ${repeated.id} occurs twice`);
    judge();
  };
  for (let start = 0; start < held.count; start += ADDED_RECORDS) {
    const merged: SentRecord[] = [];
    for (const record of held.slice(start, start + ADDED_RECORDS)) {
      while (next < changed.length && changed[next]!.id < record.id) merged.push(changed[next++]!);
      if (changed[next]?.id === record.id) merged.push(changed[next++]!);
      else if (parseInstant(record.stamp ?? '') >= certain) return false;
      else merged.push(record);
    }
    add(merged);
  }
  for (; next < changed.length; next += ADDED_RECORDS) add(changed.slice(next, next + ADDED_RECORDS));
  return true;
}

/**
 * Formats a time (milliseconds since 1970) in whole seconds like the dates of the service: days, times without a zone,
 * or times in UTC. A service whose dates have no zone may fail for a date with one.
 */
function formatLike(stamp: string, ms: number): string {
  const end = stamp.length > 'YYYY-MM-DD'.length ? 'YYYY-MM-DDTHH:MM:SS'.length : 'YYYY-MM-DD'.length;
  const zone = /(?:Z|[+-]\d\d:\d\d)$/.test(stamp) ? 'Z' : '';
  return new Date(ms).toISOString().slice(0, end) + zone;
}

/**
 * Whether the upstream failed because of a filter by dates, or did not respond in time, for example for lack of an
 * index. A busy upstream would fail for any request.
 */
function isRefusedQuestion(error: unknown): boolean {
  const trouble = error instanceof OperationError && error.cause instanceof Trouble ? error.cause : undefined;
  return trouble !== undefined && !trouble.isMuchLater && trouble.status !== 429 && trouble.status !== 503;
}
