// Fetches a catalogue into a data set directory. The steps are here in order: root view, every collection, another
// check of what changed meanwhile, acceptance, publication. A run resumes a crawl that was killed.
import { collectionsOfPath } from '../../engine/schema/catalogue.ts';
import type { Collection } from '../../engine/schema/types.ts';
import { MANIFEST_FILE } from '../import/manifest.ts';
import { OperationError } from '../operationError.ts';
import type { OnProgress } from '../progress.ts';
import { Trouble, Upstream, type UpstreamOptions } from './client.ts';
import { type Acceptance, collectionsAtRisk, judgeCrawl, surveyLinks, worstLinks } from './acceptance.ts';
import { PAGE_RECORDS_MAX, PageSize, parseJson } from './page.ts';
import type { CollectionPart } from './part.ts';
import { countsIn, assertOutput, assertSource, publish, publishManifest } from './publish.ts';
import { addChangedSince, DATE_REQUESTS } from './changedSince.ts';
import {
  type CollectionRead,
  readCreated,
  type HeldCollection,
  readHeld,
  HeldRecords,
  laterTime,
  findUnchanged,
} from './held.ts';
import { CrawlState } from './state.ts';
import { fetchCount, Disorder, Drift, usesValidators, type HeldPages, walk, type Walker } from './walk.ts';

/** A collection that changes while it is read is read at most this many times. */
const LOOKS_MAX = 4;

/** Interval between checkpoints on the disk. A killed run loses no more than this. */
const SAVE_EVERY_MS = 1000;

const ROOT_BYTES_MAX = 1 << 16;

/**
 * The source and the output of a crawl. `state` is the directory of unfinished work, `now` the time of day. A `new`
 * crawl reads everything and replaces the output; it replaces the data of another catalogue only if it `isForced`. A
 * `refresh` compares with the output and replaces it if it differs. It reads a collection in full if that has not been
 * done for `sweepEveryMs`.
 */
export interface CrawlOptions extends UpstreamOptions, Acceptance {
  readonly output: string;
  /** Whether collections may lose any number of records. */
  readonly isForced: boolean;
  readonly sweepEveryMs?: number;
  /** Limit of the records of a collection, and of the records that it links to in another one. */
  readonly recordsMax: number;
  /** Limit of the ids of all records and links together. */
  readonly idsMax: number;
  readonly now: string;
  /** Called before the first request, with the start of the resumed run, if any. */
  readonly onBegun?: (resumed: string | undefined) => void;
  /** Called with the minimum number of requests of a refresh, after the root view was read. */
  readonly onExpected?: (requests: number) => void;
  /** Called with the reason if the old data set is damaged, so that losses are unknown. */
  readonly onDamaged?: (reason: string) => void;
}

/** The method by which a collection was compared with the upstream. */
export type Comparison = Pick<CollectionRead, 'compared' | 'lastFullRead'>;

/**
 * The result of a crawl. `counts` are records by collection; `dangling` is the number of `links` that lead to no
 * record.
 */
export interface CrawlReport {
  /** When the crawl, or the run that it resumes, began. Later changes may be missing. */
  readonly begun: string;
  readonly isResumed: boolean;
  /** Whether the output had the same records. */
  readonly isUnchanged: boolean;
  readonly comparisons: Readonly<Record<string, Comparison>>;
  readonly counts: Readonly<Record<string, number>>;
  readonly bytes: number;
  readonly links: number;
  readonly dangling: number;
  /** The most frequent dangling links, see worstLinks. */
  readonly worst: string | undefined;
  /** Collections of the upstream that the declaration does not have. */
  readonly unknown: readonly string[];
}

/**
 * Crawls a catalogue. The data set in `output` is replaced completely or not at all. If an earlier run accepted a data
 * set and was killed before publishing it, a new crawl publishes that and returns undefined. A refresh publishes it and
 * continues. Throws OperationError `network` if the upstream gives no usable response, `input` if the data is not
 * accepted, `usage` and `file`. Cost: limited by the upstream and `idsMax`. Memory: the ids, the targets of links, and
 * a page for each of `concurrency`.
 */
export async function crawl(options: CrawlOptions, onProgress: OnProgress): Promise<CrawlReport | undefined> {
  assertOutput(options.output, options.state);
  for (;;) {
    const held = options.kind === 'refresh' ? await readHeld(options.output, options.base) : new Map<never, never>();
    const state = CrawlState.open(options.state, options.base, { now: options.now, isRefresh: held.size > 0 });
    try {
      if (!state.isAccepted) return await crawlInto(state, held, options, onProgress);
      publish(state, options.output);
      if (options.kind === 'new') return undefined;
    } finally {
      state.close();
    }
  }
}

async function crawlInto(
  state: CrawlState,
  held: Crawling['held'],
  options: CrawlOptions,
  onProgress: OnProgress,
): Promise<CrawlReport> {
  if (options.kind === 'new' && !options.isForced) await assertSource(options.output, options.base, false);
  options.onBegun?.(state.isResumed ? state.begun : undefined);
  const upstream = new Upstream(options);
  try {
    const walker = { upstream, size: new PageSize(), concurrency: options.concurrency };
    return await collect({ walker, state, held, options, onProgress, heedsValidators: undefined });
  } finally {
    await upstream.close();
  }
}

interface Crawling {
  readonly walker: Walker;
  readonly state: CrawlState;
  /** The collections of the last crawl. */
  readonly held: ReadonlyMap<string, HeldCollection>;
  readonly options: CrawlOptions;
  readonly onProgress: OnProgress;
  /**
   * Whether the upstream checks validators: it must not accept one that it never sent. Undefined before that was
   * tested.
   */
  heedsValidators: boolean | undefined;
}

async function collect(crawling: Crawling): Promise<CrawlReport> {
  const { walker, state, held, options } = crawling;
  const { bases, collections, unknown } = await fetchRootView(walker.upstream, options.base);
  if (options.onExpected && !state.isResumed) options.onExpected(await requestsExpected(crawling, collections));
  await state.openParts(collections, bases);
  for (const collection of collections) await compare(crawling, collection);
  for (const collection of collections) await checkCountAgain(crawling, collection);
  let survey = surveyLinks(state.parts);
  const doubtful = collectionsAtRisk(survey, state.parts, options);
  for (const collection of collections.filter(({ name }) => doubtful.has(name))) await readAgain(crawling, collection);
  if (doubtful.size > 0) survey = surveyLinks(state.parts);
  const counts = Object.fromEntries([...state.parts].map(([name, { ids }]) => [name, ids.size]));
  const before = options.isForced ? new Map<string, number>() : await countsIn(options.output, options.onDamaged);
  judgeCrawl(survey, before, counts, options);
  const bytes = [...state.parts.values()].reduce((sum, part) => sum + part.bytes, 0);
  const sha256 = Object.fromEntries([...state.parts].map(([name, part]) => [`${name}.ndjson`, part.sum()]));
  const reads = Object.fromEntries(
    [...state.parts].map(([name, part]) => [name, readOf(part, held.get(name), state.begun)]),
  );
  const { begun, isResumed } = state;
  const same = options.kind === 'new' ? undefined : await findUnchanged(options.output, sha256);
  const created = same?.created ?? laterTime(await readCreated(options.output), begun);
  const manifest = { created, source: options.base, counts, sha256, collections: reads };
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  if (same) publishManifest(state, options.output, text);
  else {
    state.accept(text, MANIFEST_FILE);
    publish(state, options.output);
  }
  const comparisons = Object.fromEntries(
    Object.entries(reads).map(([name, { compared, lastFullRead }]) => [name, { compared, lastFullRead }]),
  );
  const { links, dangling } = survey;
  const isUnchanged = same !== undefined;
  const worst = worstLinks(survey);
  return { begun, isResumed, isUnchanged, comparisons, counts, bytes, links, dangling, worst, unknown };
}

function readOf(part: CollectionPart, held: HeldCollection | undefined, begun: string): CollectionRead {
  const { compared, requests, latest, marks = [] } = part;
  const { isOrdered } = part.position;
  const lastFullRead = compared === 'full' ? begun : held!.lastFullRead;
  if (compared === 'dates') return { compared, lastFullRead, requests: held!.requests, isOrdered, latest };
  const pages = marks.some(([, validator]) => validator !== null) ? marks : undefined;
  return { compared, lastFullRead, requests, isOrdered, latest, pages };
}

/** A collection of the last crawl; undefined if it is due for a full read. */
function findComparable({ held, options }: Crawling, name: string): HeldCollection | undefined {
  const previous = held.get(name);
  const ageMs = Date.parse(options.now) - Date.parse(previous?.lastFullRead ?? '');
  // If the last full read is in the future, the clock was wrong.
  return ageMs >= 0 && ageMs < (options.sweepEveryMs ?? 0) ? previous : undefined;
}

/**
 * The minimum number of requests of this crawl: the root view, the pages, and one count of each collection after them.
 */
async function requestsExpected(crawling: Crawling, collections: readonly Collection[]): Promise<number> {
  let requests = 1 + collections.length;
  for (const collection of collections) {
    const held = crawling.held.get(collection.name);
    const isByDates = findComparable(crawling, collection.name)?.compared === 'dates';
    if (isByDates) requests += DATE_REQUESTS;
    else if (held) requests += held.requests;
    else requests += 1 + Math.ceil((await fetchCount(crawling.walker, collection)) / PAGE_RECORDS_MAX);
  }
  return requests;
}

/** Collects a collection, or the rest of it: by dates or validators if the last crawl has any, otherwise in full. */
async function compare(crawling: Crawling, collection: Collection): Promise<void> {
  const { walker, state, options } = crawling;
  const { name, idField } = collection;
  const part = state.parts.get(name)!;
  // An earlier run compared it with data that no longer exists.
  if (part.compared !== 'full' && !crawling.held.has(name)) state.restart(name);
  if (part.isDone) return;
  const held = findComparable(crawling, name);
  const { latest, pages = [] } = held ?? {};
  const isUsable = latest !== undefined || pages.length > 0;
  const records = held && isUsable ? await HeldRecords.open(held.file, idField) : undefined;
  try {
    if (records && latest !== undefined && part.ids.size === 0) {
      const checkSize = (): void => checkLimits(part.ids.size, name, state.parts, options);
      if (await addChangedSince(walker, collection, { records, latest }, part, checkSize)) {
        part.isDone = true;
        state.save(name);
        return;
      }
      state.restart(name);
    }
    const validator = pages.find(([, value]) => value !== null)?.[1] ?? undefined;
    if (records && validator !== undefined)
      crawling.heedsValidators ??= await usesValidators(walker, collection, validator);
    const isAsked = records !== undefined && validator !== undefined && crawling.heedsValidators === true;
    if (isAsked && part.ids.size === 0) part.position = { ...part.position, isOrdered: held!.isOrdered };
    await readPages(crawling, collection, isAsked ? { marks: pages, records } : undefined);
  } finally {
    records?.close();
  }
}

interface RootView {
  readonly bases: ReadonlySet<string>;
  readonly collections: readonly Collection[];
  readonly unknown: readonly string[];
}

/** The collections in the root view, and the base URLs of the upstream: the requested one and those in its links. */
export async function fetchRootView(upstream: Upstream, base: string): Promise<RootView> {
  const ifMissing = 'name the base URL, behind which /api/v3/ is put, without the path of a page';
  return upstream.get({ what: 'the root view', ifMissing, path: () => '/api/v3/' }, (answer) => {
    const { body } = answer!;
    if (body.length > ROOT_BYTES_MAX) throw new Trouble(`more than ${ROOT_BYTES_MAX} bytes`);
    const root = parseJson(body.toString());
    if (typeof root !== 'object' || root === null || Array.isArray(root)) throw new Trouble('no object of collections');
    const bases = new Set([base]);
    const collections = new Set<Collection>();
    const unknown: string[] = [];
    for (const [name, url] of Object.entries(root)) {
      const collection = collectionsOfPath(name, 'v3')[0];
      if (!collection) {
        unknown.push(printName(name));
        continue;
      }
      const link = typeof url === 'string' ? url : '';
      const linkBase = /^(https?:\/\/[^?#]{1,256}?)\/api\/v[23]\/\w+\/?(?:\?|$)/.exec(link)?.[1];
      if (linkBase === undefined) throw new Trouble(`${printName(name)}: ${JSON.stringify(link)} is no link to a list`);
      bases.add(linkBase);
      collections.add(collection);
    }
    if (collections.size === 0) throw new Trouble('it names no collection');
    return { bases, collections: [...collections], unknown };
  });
}

/** A name from the upstream for messages, without characters that control the terminal. */
function printName(name: string): string {
  return /^[\w.-]{1,64}$/.test(name) ? name : JSON.stringify(name.slice(0, 64)).replace(/[^ -~]/g, '?');
}

/** Reads the remaining pages of a collection. If it changes meanwhile, reads all pages again, then without `held`. */
async function readPages(crawling: Crawling, collection: Collection, held?: HeldPages): Promise<void> {
  const { state } = crawling;
  const { name } = collection;
  const part = state.parts.get(name)!;
  let pages = held;
  for (let looks = 1; !part.isDone; looks++) {
    try {
      await readOnce(crawling, collection, part, pages);
    } catch (error) {
      if (!(error instanceof Drift)) throw error;
      if (looks === LOOKS_MAX)
        throw new OperationError('network', `${error.message}; looked at ${name} ${looks} times`, error);
      state.restart(name);
      if (error instanceof Disorder) part.position = { ...part.position, isOrdered: false };
      pages = undefined;
    }
  }
}

async function readOnce(
  { walker, state, options, onProgress }: Crawling,
  collection: Collection,
  part: CollectionPart,
  held: HeldPages | undefined,
): Promise<void> {
  const { name } = collection;
  const { clock } = options;
  let savedMs = clock();
  let last = { count: 0, where: name };
  for await (const step of walk(walker, collection, part.position, held)) {
    const { records, position, count, where } = step;
    checkLimits(count, where, state.parts, options);
    const repeated = part.add(records);
    part.addPage(step.mark, step.isUnchanged);
    if (repeated) throw new Drift(`${where}: id ${repeated.id} occurs twice`);
    checkLimits(count, where, state.parts, options);
    part.position = position;
    last = { count, where };
    onProgress({ phase: `crawling ${name}`, done: part.ids.size, total: count, unit: 'records' });
    if (clock() - savedMs < SAVE_EVERY_MS) continue;
    state.save(name);
    savedMs = clock();
  }
  if (part.ids.size !== last.count)
    throw new Drift(`${last.where}: ${part.ids.size} records were collected, but the upstream counts ${last.count}`);
  part.isDone = true;
  state.save(name);
}

async function readAgain(crawling: Crawling, collection: Collection): Promise<void> {
  crawling.state.restart(collection.name);
  await readPages(crawling, collection);
}

/** Limits the memory for the counts, records and links of an upstream. Throws OperationError `input`. */
function checkLimits(
  count: number,
  where: string,
  parts: ReadonlyMap<string, CollectionPart>,
  { recordsMax, idsMax }: Pick<CrawlOptions, 'recordsMax' | 'idsMax'>,
): void {
  const refuse = (reason: string, most: number): never => {
    throw new OperationError('input', `${where}: ${reason}, more than ${most}, the most that is taken`);
  };
  if (count > recordsMax) refuse(`${count} records are counted`, recordsMax);
  let all = 0;
  for (const [name, { ids, links }] of parts) {
    all += ids.size;
    for (const [to, { size }] of links) {
      if (size > recordsMax) refuse(`${name} links to ${size} records of ${to}`, recordsMax);
      all += size;
    }
  }
  if (all > idsMax) refuse(`the catalogue has ${all} ids of records and of what their collections link to`, idsMax);
}

/** A collection may have changed after it was read. It is counted again, and read again if the count differs. */
async function checkCountAgain(crawling: Crawling, collection: Collection): Promise<void> {
  const { name } = collection;
  for (let looks = 1; ; looks++) {
    const count = await fetchCount(crawling.walker, collection);
    const { size } = crawling.state.parts.get(name)!.ids;
    if (count === size) return;
    if (looks === LOOKS_MAX)
      throw new OperationError(
        'network',
        `${name}: the upstream counts ${count} records, but ${size} were collected, at every attempt`,
      );
    await readAgain(crawling, collection);
  }
}
