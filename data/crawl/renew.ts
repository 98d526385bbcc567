// Brings a collection up to date out of what is held of it, asking only for what changed: by the dates of its records,
// else by the validators of its pages, else by its count. Whatever does not fit is no answer: it is then walked (A110).
import { GrowableF64 } from '../../engine/bits/growable.ts';
import { parseInstant } from '../../engine/query/instant.ts';
import type { Collection } from '../../engine/schema/types.ts';
import { readLines, type CollectionFile } from '../import/ndjson.ts';
import { OperationError } from '../operationError.ts';
import { Trouble } from '../upstream.ts';
import type { SentRecord } from './page.ts';
import { type CollectionPart, NOTHING } from './part.ts';
import { countOf, Drift, isPageAsBefore, type PageMark, recordsAt, walk, type Walker } from './walk.ts';

/** The member of records that says when each was changed last, where a service has one. */
const STAMP = 'lastUpdatedDate';

/**
 * Changes are asked for from so long before the last known one: zones may differ, and a change may come in late. One
 * that is dated as long behind the time of the data is no change that was known by then.
 */
const OVERLAP_MICROSECONDS = 86_400_000_000;

/** What a service takes a date without a zone for lies so far from what it shows it as. */
const ZONES_MICROSECONDS = 15 * 3_600_000_000;

/** More of a collection is walked: so many records, or this part of it. */
const CHANGED_MAX = { records: 1000, part: 0.25 };
/** What changed is held in memory until it is put in place: beyond so many characters a collection is walked. */
const CHANGED_CHARACTERS_MAX = 128 << 20;

/** Changed records with fewer unchanged ones between them are asked for at once. */
const GAP_RECORDS = 20;

/** A window of records is at most this long. */
const WINDOW_RECORDS = 100;

/** So many records are added at a time. */
const ADDED_RECORDS = 1000;

/** A date behind all others, but for the last years that there are: zones move it, and services count further. */
const NEVER = Date.UTC(9000, 0);

/**
 * What is held of a collection: its file, the time of its data where that is told, and its pages as they came where
 * each had a validator, none where they were too many.
 */
export interface HeldCollection {
  readonly file: CollectionFile;
  readonly created: string | undefined;
  readonly pages: readonly PageMark[] | undefined;
}

/** How a collection came: as it was held, with some records changed, or every record anew. */
export type Manner = 'kept' | 'patched' | 'walked';

/**
 * Fills an empty part with what the upstream has now, out of what is held. Answers how, or undefined where that is in
 * doubt, and the part is to be emptied. Throws what the upstream throws but for what it refuses to be asked. With
 * each thousand records `judge` is asked, which throws OperationError `input` where they are too much. Cost: two passes
 * over the file; memory holds ids and dates of its records, and those that changed.
 */
export async function renew(
  walker: Walker,
  collection: Collection,
  held: HeldCollection,
  part: CollectionPart,
  judge: () => void,
): Promise<Manner | undefined> {
  try {
    const survey = await surveyOf(held, collection);
    const patch = await patchOf(walker, collection, survey, held);
    if (!patch) return undefined;
    await fill(part, held.file, { ids: survey.ids, patch, judge });
    const isKept = patch.records.length === 0 && patch.gone.size === 0;
    if (isKept) part.pages = held.pages?.length === 0 ? 'tooMany' : held.pages && [...held.pages];
    return isKept ? 'kept' : 'patched';
  } catch (error) {
    if (error instanceof Drift || isUnaskable(error)) return undefined;
    // What is held is damaged, or too much: a walk says more.
    if (error instanceof OperationError && error.code === 'input') return undefined;
    throw error;
  }
}

/** Whether the upstream refused to be asked that, or failed at it as at a bug of its own: other questions may do. */
function isUnaskable(error: unknown): boolean {
  const { isPassing, status, isMuchLater } = troubleIn(error) ?? {};
  return (isPassing === false && !isMuchLater) || status === 500;
}

/**
 * Whether the upstream did not come to an answer either, as by dates without an index. Who is busy, or wants to be left
 * alone, is.
 */
function isTooMuch(error: unknown): boolean {
  const trouble = troubleIn(error);
  return trouble?.isPassing === true && !trouble.isMuchLater && trouble.status !== 429 && trouble.status !== 503;
}

function troubleIn(error: unknown): Trouble | undefined {
  return error instanceof OperationError && error.cause instanceof Trouble ? error.cause : undefined;
}

/**
 * The ids of the lines of a file, the dates by id where each has one, and the last of them that may be believed, in
 * microseconds since 1970: one in the future would hide all changes until then.
 */
interface Survey {
  readonly ids: Float64Array;
  readonly stamps: ReadonlyMap<number, string>;
  readonly latest: number;
  readonly isAscending: boolean;
}

async function surveyOf({ file, created = '' }: HeldCollection, { idField }: Collection): Promise<Survey> {
  const ids = new GrowableF64();
  const stamps = new Map<number, string>();
  // NaN without a time of the data.
  const latestMax = parseInstant(created) + OVERLAP_MICROSECONDS;
  let latest = 0;
  let isAscending = true;
  for await (const { bytes } of readLines(file)) {
    for (const line of linesOf(bytes)) {
      const record = recordIn(line, file);
      const id = record[idField];
      if (typeof id !== 'number') throw new OperationError('input', `${file.path}: a record without ${idField}`);
      isAscending &&= ids.length === 0 || id > ids.at(ids.length - 1);
      ids.push(id);
      const stamp = record[STAMP];
      if (!isStamp(stamp)) continue;
      stamps.set(id, stamp);
      const instant = parseInstant(stamp);
      if (!(instant > latestMax)) latest = Math.max(latest, instant);
    }
  }
  return { ids: ids.view(), stamps, latest, isAscending };
}

function linesOf(bytes: Uint8Array): readonly string[] {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    .toString()
    .split('\n')
    .filter((line) => line.trim() !== '');
}

function recordIn(line: string, { path }: CollectionFile): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(line) as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw new OperationError('input', `${path}: ${(error as Error).message}`, error);
  }
}

function isStamp(value: unknown): value is string {
  return typeof value === 'string' && !Number.isNaN(parseInstant(value));
}

/** What is other than held: records created or changed, by ascending id, and ids that are gone. */
interface Patch {
  readonly records: readonly SentRecord[];
  readonly gone: ReadonlySet<number>;
}

const NO_PATCH: Patch = { records: [], gone: new Set() };

async function patchOf(
  walker: Walker,
  collection: Collection,
  survey: Survey,
  { pages }: HeldCollection,
): Promise<Patch | undefined> {
  const { ids, stamps, isAscending } = survey;
  if (stamps.size === ids.length && ids.length > 0) {
    const patch = (await patchSince(walker, collection, survey)) ?? (await patchByDates(walker, collection, survey));
    // Where a new record belongs is known in the order of ids only.
    return isAscending || patch === NO_PATCH ? patch : undefined;
  }
  if (pages) return (await areAsBefore(walker, collection, pages)) ? NO_PATCH : undefined;
  return (await countOf(walker, collection)) === ids.length ? NO_PATCH : undefined;
}

/** What changed since the last date that is held; undefined where that cannot be asked, or the count says otherwise. */
async function patchSince(walker: Walker, collection: Collection, survey: Survey): Promise<Patch | undefined> {
  try {
    return await patchBehindLast(walker, collection, survey);
  } catch (error) {
    if (isUnaskable(error) || isTooMuch(error)) return undefined;
    throw error;
  }
}

async function patchBehindLast(
  walker: Walker,
  collection: Collection,
  { ids, stamps, latest, isAscending: isOrdered }: Survey,
): Promise<Patch | undefined> {
  const write = writerLike(stamps.values());
  const asking = (stamp: string): Walker => ({ ...walker, query: `&${STAMP}__gte=${encodeURIComponent(stamp)}` });
  // A service that does not know the filter answers with all records.
  if ((await countOf(asking(write(NEVER)), collection)) > 0) return undefined;
  const from = write((latest - OVERLAP_MICROSECONDS) / 1000);
  const since = parseInstant(from);
  const records: SentRecord[] = [];
  let characters = 0;
  for await (const step of walk(asking(from), collection, { ...NOTHING.position, isOrdered })) {
    characters += charactersIn(step.records);
    if (characters > CHANGED_CHARACTERS_MAX) return undefined;
    if (step.count > changedMax(ids)) return undefined;
    if (step.records.some(({ text }) => !(instantIn(text) >= since - ZONES_MICROSECONDS))) return undefined;
    records.push(...step.records);
  }
  const created = records.filter(({ id }) => !stamps.has(id)).length;
  if ((await countOf(walker, collection)) !== ids.length + created) return undefined;
  // A service that answers nothing to what it cannot filter would have what is held of that time left out.
  const sent = new Set(records.map(({ id }) => id));
  const certain = since + ZONES_MICROSECONDS;
  for (const [id, stamp] of stamps) if (!sent.has(id) && parseInstant(stamp) >= certain) return undefined;
  // In the order of ids they are taken whatever their dates say, which may be those of days.
  const isSame = !isOrdered && records.every(({ id, text }) => stamps.get(id) === stampIn(text));
  return isSame ? NO_PATCH : { records, gone: new Set() };
}

/**
 * Writes a time, in milliseconds since 1970, in whole seconds as a service writes its dates, and so takes them: days,
 * times without a zone, or times with one, which is UTC then. A service whose dates have no zone may fail at one.
 */
function writerLike(stamps: Iterable<string>): (ms: number) => string {
  let end = 'YYYY-MM-DD'.length;
  let zone = '';
  for (const stamp of stamps) {
    if (stamp.length > 'YYYY-MM-DD'.length) end = 'YYYY-MM-DDTHH:MM:SS'.length;
    if (/(?:Z|[+-]\d\d:\d\d)$/.test(stamp)) zone = 'Z';
  }
  return (ms) => new Date(ms).toISOString().slice(0, end) + zone;
}

function instantIn(text: string): number {
  const stamp = stampIn(text);
  return isStamp(stamp) ? parseInstant(stamp) : Number.NaN;
}

function stampIn(text: string): unknown {
  return (JSON.parse(text) as Readonly<Record<string, unknown>>)[STAMP];
}

/** What changed by the dates of all records; undefined where they cannot be had alone, or too much changed. */
async function patchByDates(
  walker: Walker,
  collection: Collection,
  { ids: held, stamps, isAscending: isOrdered }: Survey,
): Promise<Patch | undefined> {
  const ids: number[] = [];
  const places: number[] = [];
  const dates = { ...walker, query: `&fields=${collection.idField},${STAMP}` };
  for await (const { records } of walk(dates, collection, { ...NOTHING.position, isOrdered })) {
    for (const { id, text } of records) {
      const record = JSON.parse(text) as Readonly<Record<string, unknown>>;
      if (Object.keys(record).length !== 2 || !isStamp(record[STAMP])) return undefined;
      if (stamps.get(id) !== record[STAMP] || (!isOrdered && held[ids.length] !== id)) places.push(ids.length);
      ids.push(id);
    }
    if (places.length > changedMax(held)) return undefined;
  }
  const there = new Set(ids);
  const gone = new Set(held.filter((id) => !there.has(id)));
  if (places.length === 0 && gone.size === 0) return NO_PATCH;
  const records: SentRecord[] = [];
  let characters = 0;
  for (const [start, end] of windowsOf(places)) {
    const found = await recordsAt(walker, collection, start, end - start);
    characters += charactersIn(found);
    if (characters > CHANGED_CHARACTERS_MAX) return undefined;
    if (found.length !== end - start || found.some(({ id }, i) => id !== ids[start + i])) return undefined;
    records.push(...found);
  }
  return { records, gone };
}

function charactersIn(records: readonly SentRecord[]): number {
  return records.reduce((sum, { text }) => sum + text.length, 0);
}

/** Ranges that hold all places, which ascend. */
function windowsOf(places: readonly number[]): readonly (readonly [start: number, end: number])[] {
  const windows: [number, number][] = [];
  for (const place of places) {
    const last = windows.at(-1);
    if (last && place - last[1] < GAP_RECORDS && place - last[0] < WINDOW_RECORDS) last[1] = place + 1;
    else windows.push([place, place + 1]);
  }
  return windows;
}

/** Whether all pages are as they came: the last one first, since what is new stands there. */
async function areAsBefore(walker: Walker, collection: Collection, pages: readonly PageMark[]): Promise<boolean> {
  // Who says so of a page that nobody has seen, or has had since before there were pages, says it of any.
  const [first] = pages;
  const unseen = first?.validator?.endsWith('"') ? '"never-seen"' : new Date(0).toUTCString();
  if (!first || (await isPageAsBefore(walker, collection, { ...first, validator: unseen }))) return false;
  for (const page of pages.toReversed()) if (!(await isPageAsBefore(walker, collection, page))) return false;
  return true;
}

function changedMax(ids: Float64Array): number {
  return Math.max(CHANGED_MAX.records, ids.length * CHANGED_MAX.part);
}

/** Adds what is held and not gone, with what is new in its place; `judge` throws where it becomes too much. */
async function fill(
  part: CollectionPart,
  file: CollectionFile,
  { ids, patch, judge }: { readonly ids: Float64Array; readonly patch: Patch; readonly judge: () => void },
): Promise<void> {
  const { records, gone } = patch;
  const fresh = new Set(records.map(({ id }) => id));
  let batch: SentRecord[] = [];
  const flush = (): void => {
    const repeated = part.add(batch);
    if (repeated) throw new Drift(`id ${repeated.id} came twice`);
    judge();
    batch = [];
  };
  const add = (record: SentRecord): void => {
    if (batch.push(record) >= ADDED_RECORDS) flush();
  };
  let row = 0;
  let next = 0;
  for await (const { bytes } of readLines(file)) {
    for (const text of linesOf(bytes)) {
      const id = ids[row++]!;
      while (next < records.length && records[next]!.id < id) add(records[next++]!);
      if (!gone.has(id) && !fresh.has(id)) add({ id, text });
    }
  }
  while (next < records.length) add(records[next++]!);
  flush();
}
