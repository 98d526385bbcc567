// Fetches a catalogue into a data set directory: root view, every collection, a second look at what changed meanwhile,
// judgement, publication. The steps stand here in their order; each is resumed where an earlier run was killed.
import { collectionsOfPath } from '../../engine/schema/catalogue.ts';
import type { Collection } from '../../engine/schema/types.ts';
import { MANIFEST_FILE } from '../import/manifest.ts';
import { OperationError } from '../operationError.ts';
import type { OnProgress } from '../progress.ts';
import { Trouble, Upstream, type UpstreamOptions } from '../upstream.ts';
import { type Acceptance, inDoubt, judgeLinks, judgeLosses, surveyLinks, worstLinks } from './acceptance.ts';
import { parsed } from './page.ts';
import { PageSize } from './pageSize.ts';
import type { CollectionPart } from './part.ts';
import { countsIn, judgeOutput, judgeSource, publish, publishManifest } from './publish.ts';
import { createdIn, heldIn, laterThan, pagesOf, sameIn } from './held.ts';
import { type HeldCollection, type Manner, renew } from './renew.ts';
import { CrawlState } from './state.ts';
import { countOf, Disorder, Drift, walk, type Walker } from './walk.ts';

/** A collection that changes while it is walked is walked this often. */
const LOOKS_MAX = 4;

/** What was collected is put on the disk this often, so that a run that is killed loses no more than that. */
const SAVE_EVERY_MS = 1000;

const ROOT_BYTES_MAX = 1 << 16;

/**
 * What is crawled to where. `state` holds what is not finished; `now` is the time of day, that of the data. A crawl is
 * accepted as `Acceptance` says, whatever its collections have lost of the records in `output` where it `isForced`. One
 * that is `new` asks for all and replaces the output, that of another catalogue only where it `isForced`; a `sweep`
 * leaves it where it is the same; a `renewal` does too, and asks only for what changed since. A collection may have
 * `recordsMax` records, and its records may link to as many of another; all these ids may be `idsMax`.
 */
export interface CrawlOptions extends UpstreamOptions, Acceptance {
  readonly output: string;
  readonly isForced: boolean;
  readonly recordsMax: number;
  readonly idsMax: number;
  readonly now: string;
  /** Told before anything is asked, with when the run began that this one goes on with, where there was one. */
  readonly onBegun?: (resumed: string | undefined) => void;
  /** Told why what came is compared with nothing: what is wrong with the data set that was there. */
  readonly onDamaged?: (reason: string) => void;
}

/**
 * What a crawl brought: records by collection and how each was had, their bytes, links and those that lead nowhere,
 * what it left out, and whether the output had all of it. `begun` is the time of the run that began it.
 */
export interface CrawlReport {
  readonly begun: string;
  readonly isUnchanged: boolean;
  readonly isRenewal: boolean;
  readonly manners: ReadonlyMap<string, Manner>;
  readonly counts: Readonly<Record<string, number>>;
  readonly bytes: number;
  readonly links: number;
  readonly dangling: number;
  /** Which of those there are most of, see worstLinks. */
  readonly worst: string | undefined;
  /** Collections of the upstream that the declaration does not have. */
  readonly unknown: readonly string[];
}

/**
 * Crawls a catalogue; the data set in `output` is replaced as a whole or stays. Throws OperationError: `network` where
 * the upstream gives no answer that can be used, `input` where what it gives is not accepted, `usage` and `file`. Cost:
 * bounded by the upstream and `idsMax`; memory holds the ids, the targets of links and a page for each of
 * `concurrency`.
 */
export async function crawl(options: CrawlOptions, onProgress: OnProgress): Promise<CrawlReport | undefined> {
  judgeOutput(options.output, options.state);
  const isRenewal = options.kind === 'renewal';
  const state = CrawlState.open(options.state, options.base, { now: options.now, isRenewal });
  try {
    if (state.isAccepted) {
      publish(state, options.output);
      return undefined;
    }
    if (options.kind === 'new' && !options.isForced) await judgeSource(options.output, options.base, false);
    options.onBegun?.(state.isResumed ? state.begun : undefined);
    const upstream = new Upstream(options);
    try {
      return await collect(
        { upstream, size: new PageSize(), concurrency: options.concurrency },
        options,
        state,
        onProgress,
      );
    } finally {
      await upstream.close();
    }
  } finally {
    state.close();
  }
}

async function collect(
  walker: Walker,
  options: CrawlOptions,
  state: CrawlState,
  onProgress: OnProgress,
): Promise<CrawlReport> {
  const { bases, collections, unknown } = await rootView(walker.upstream, options.base);
  await state.openParts(collections, bases);
  const look = (collection: Collection): Promise<void> => lookAt({ walker, state, options, onProgress }, collection);
  const held = state.isRenewal
    ? await heldIn(options.output, options.base, state.begun)
    : new Map<string, HeldCollection>();
  const manners = new Map<string, Manner>();
  for (const collection of collections) {
    // Of a renewal that was ended nobody knows how: what was walked may be walked once more where links are in doubt.
    const isResumed = state.isRenewal && state.parts.get(collection.name)!.isDone;
    const manner = isResumed
      ? 'patched'
      : await renewed(walker, state, held.get(collection.name), { collection, options });
    if (!manner) await look(collection);
    manners.set(collection.name, manner ?? 'walked');
  }
  for (const collection of collections) await lookAgain(walker, state, collection, look);
  let survey = surveyLinks(state.parts);
  const doubtful = inDoubt(survey, manners, options);
  for (const collection of collections.filter(({ name }) => doubtful.has(name))) {
    state.restart(collection.name);
    await look(collection);
    manners.set(collection.name, 'walked');
  }
  if (doubtful.size > 0) survey = surveyLinks(state.parts);
  judgeLinks(survey, options);
  const counts = Object.fromEntries([...state.parts].map(([name, { ids }]) => [name, ids.size]));
  if (!options.isForced) judgeLosses(await countsIn(options.output, options.onDamaged), counts, options);
  const bytes = [...state.parts.values()].reduce((sum, part) => sum + part.bytes, 0);
  const sha256 = Object.fromEntries([...state.parts].map(([name, part]) => [`${name}.ndjson`, part.sum()]));
  const pages = pagesOf(state.parts);
  const { links, dangling } = survey;
  const { isRenewal, begun } = state;
  const same = options.kind === 'new' ? undefined : await sameIn(options.output, sha256);
  const created = same?.created ?? laterThan(await createdIn(options.output), begun);
  const manifest = { created, source: options.base, counts, sha256, ...(pages.length > 0 && { pages }) };
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  if (same) publishManifest(state, options.output, text);
  else {
    state.accept(text, MANIFEST_FILE);
    publish(state, options.output);
  }
  const isUnchanged = same !== undefined;
  const worst = worstLinks(survey);
  return { begun, isUnchanged, isRenewal, manners, counts, bytes, links, dangling, worst, unknown };
}

/** Fills a part that is empty out of what is held, where that can be; answers how. */
async function renewed(
  walker: Walker,
  state: CrawlState,
  held: HeldCollection | undefined,
  { collection, options }: { readonly collection: Collection; readonly options: CrawlOptions },
): Promise<Manner | undefined> {
  const part = state.parts.get(collection.name)!;
  if (!held || part.isDone || part.ids.size > 0) return undefined;
  const judge = (): void => judgeSize(part.ids.size, collection.name, state.parts, options);
  const manner = await renew(walker, collection, held, part, judge);
  if (!manner) {
    state.restart(collection.name);
    return undefined;
  }
  part.isDone = true;
  state.save(collection.name);
  return manner;
}

interface RootView {
  readonly bases: ReadonlySet<string>;
  readonly collections: readonly Collection[];
  readonly unknown: readonly string[];
}

/** The collections that the root view names, and the base URLs under which the upstream knows itself: ours, and its. */
async function rootView(upstream: Upstream, base: string): Promise<RootView> {
  const ifMissing = 'name the base URL, behind which /api/v3/ is put, without the path of a page';
  return upstream.get({ what: 'the root view', ifMissing, path: () => '/api/v3/' }, ({ body }) => {
    if (body.length > ROOT_BYTES_MAX) throw new Trouble(`more than ${ROOT_BYTES_MAX} bytes`);
    const root = parsed(body.toString());
    if (typeof root !== 'object' || root === null || Array.isArray(root)) throw new Trouble('no object of collections');
    const bases = new Set([base]);
    const collections = new Set<Collection>();
    const unknown: string[] = [];
    for (const [name, url] of Object.entries(root)) {
      const collection = collectionsOfPath(name, 'v3')[0];
      if (!collection) {
        unknown.push(shownName(name));
        continue;
      }
      const link = typeof url === 'string' ? url : '';
      const own = /^(https?:\/\/[^?#]{1,256}?)\/api\/v[23]\/\w+\/?(?:\?|$)/.exec(link)?.[1];
      if (own === undefined) throw new Trouble(`${shownName(name)}: ${JSON.stringify(link)} is no link to a list`);
      bases.add(own);
      collections.add(collection);
    }
    if (collections.size === 0) throw new Trouble('it names no collection');
    return { bases, collections: [...collections], unknown };
  });
}

/** A name of the upstream's, for people: without what would move their cursor. */
function shownName(name: string): string {
  return /^[\w.-]{1,64}$/.test(name) ? name : JSON.stringify(name.slice(0, 64)).replace(/[^ -~]/g, '?');
}

interface Looking {
  readonly walker: Walker;
  readonly state: CrawlState;
  readonly options: CrawlOptions;
  readonly onProgress: OnProgress;
}

/** Collects what is left of a collection, all of it anew where it changes meanwhile. */
async function lookAt(looking: Looking, collection: Collection): Promise<void> {
  const { state } = looking;
  const { name } = collection;
  const part = state.parts.get(name)!;
  for (let looks = 1; !part.isDone; looks++) {
    try {
      await walkOnce(looking, collection, part);
    } catch (error) {
      if (!(error instanceof Drift)) throw error;
      if (looks === LOOKS_MAX)
        throw new OperationError('network', `${error.message}; looked at ${name} ${looks} times`, error);
      state.restart(name);
      if (error instanceof Disorder) part.position = { ...part.position, isOrdered: false };
    }
  }
}

async function walkOnce(
  { walker, state, options, onProgress }: Looking,
  collection: Collection,
  part: CollectionPart,
): Promise<void> {
  const { name } = collection;
  const { clock } = options;
  let savedMs = clock();
  let last = { count: 0, where: name };
  for await (const { records, position, count, where, page } of walk(walker, collection, part.position)) {
    judgeSize(count, where, state.parts, options);
    const repeated = part.add(records);
    part.addPage(page);
    if (repeated) throw new Drift(`${where}: id ${repeated.id} came twice`);
    judgeSize(count, where, state.parts, options);
    part.position = position;
    last = { count, where };
    onProgress({ phase: `crawling ${name}`, done: part.ids.size, total: count, unit: 'records' });
    if (clock() - savedMs < SAVE_EVERY_MS) continue;
    state.save(name);
    savedMs = clock();
  }
  if (part.ids.size !== last.count)
    throw new Drift(`${last.where}: ${part.ids.size} records were collected, ${last.count} are counted`);
  part.isDone = true;
  state.save(name);
}

/** What an upstream counts, and what was collected of it, can be held in memory: however much it makes up. */
function judgeSize(
  count: number,
  where: string,
  parts: ReadonlyMap<string, CollectionPart>,
  { recordsMax, idsMax }: Pick<CrawlOptions, 'recordsMax' | 'idsMax'>,
): void {
  const refuse = (what: string, most: number): never => {
    throw new OperationError('input', `${where}: ${what}, more than ${most}, the most that is taken`);
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

/** What was collected first may have changed since: it is counted again, and collected again where it did. */
async function lookAgain(
  walker: Walker,
  state: CrawlState,
  collection: Collection,
  look: (collection: Collection) => Promise<void>,
): Promise<void> {
  const { name } = collection;
  for (let looks = 1; ; looks++) {
    const count = await countOf(walker, collection);
    const { size } = state.parts.get(name)!.ids;
    if (count === size) return;
    if (looks === LOOKS_MAX)
      throw new OperationError(
        'network',
        `${name}: ${count} records are counted, ${size} were collected, at each look`,
      );
    state.restart(name);
    await look(collection);
  }
}
