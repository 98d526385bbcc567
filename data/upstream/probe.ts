// Probes a catalogue before a crawl: which collections it has, which parameters it honours, which fraction of its links
// resolves, and what a crawl costs. Writes nothing and has a time limit. A check without a response is reported as
// unchecked, never as passed.
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import type { Collection } from '../../engine/schema/types.ts';
import { decodeLines, makeDecoder } from '../import/decode.ts';
import { OperationError } from '../operationError.ts';
import type { OnProgress } from '../progress.ts';
import { DATE_REQUESTS, filtersByDate } from './changedSince.ts';
import { failedStatus, forEachParallel, Upstream, type UpstreamAnswer, type UpstreamOptions } from './client.ts';
import { fetchRootView } from './crawl.ts';
import { PAGE_RECORDS_MAX, PageSize, parsePage, type SentPage, withOwnUrls } from './page.ts';
import { usesValidators, type Walker } from './walk.ts';

/** Links to check. If all of them resolve, at least 99.2 % of all links do, with a confidence of 95 %. */
const LINKS = 500;
/**
 * Maximum number of links collected from one page: more than any known page has. Limits the memory that an upstream can
 * make this use.
 */
const LINKS_OF_PAGE_MAX = 5000;
const PAGE = 100;
/** The quantile of the normal distribution for a confidence of 95 %. */
const Z = 1.96;
/**
 * Bytes per byte of NDJSON: in the memory of a server, and of a snapshot with its compressed records. Measured with
 * 100,000 observations: `deploy/README.md` (Sizing), bench/FIGURES.md.
 */
const SERVED = 3;
const SNAPSHOT = 1.7 + 0.75;
const PROCESS_BYTES = 200_000_000;

/** `durationMs` is the time limit of the whole probe. After it, no request is sent, and pending ones are abandoned. */
export interface ProbeOptions extends UpstreamOptions {
  readonly durationMs: number;
}

/** Names of collections or filters, by the result of a check; `unchecked` ones had no response. */
export interface Verdict {
  readonly honoured: string[];
  readonly ignored: string[];
  readonly unchecked: string[];
}

/** The result of a probe. */
export type ProbeReport = Awaited<ReturnType<typeof probe>>;

/**
 * The records of a collection that have been read: its first page without their texts, the ids and links as
 * `collection/id`, and the bytes of their NDJSON.
 */
interface Sample {
  readonly collection: Collection;
  readonly first: Page;
  readonly ids: Set<string>;
  readonly links: string[];
  bytes: number;
}

interface Page extends SentPage, Pick<UpstreamAnswer, 'ms' | 'validator'> {}

interface Probing {
  readonly walker: Walker;
  readonly bases: ReadonlySet<string>;
  readonly samples: Sample[];
  readonly nulls: Set<string>;
  readonly faults: Set<string>;
  readonly unreadable: Record<string, string>;
}

/**
 * Probes a catalogue within `durationMs`. Throws OperationError `network` if there is no usable root view. Memory: the
 * links and ids of at most three pages per collection, and the pages in progress.
 */
export async function probe(options: ProbeOptions, onProgress: OnProgress) {
  const { base, concurrency } = options;
  const upstream = new Upstream(options);
  const timer = setTimeout(() => void upstream.close(), options.durationMs);
  try {
    const { bases, collections, unknown } = await fetchRootView(upstream, base);
    const walker = { upstream, size: new PageSize(), concurrency };
    const samples: Sample[] = [];
    const findings = { nulls: new Set<string>(), faults: new Set<string>(), unreadable: {} };
    const probing: Probing = { walker, bases, samples, ...findings };
    const read = (collection: Collection): Promise<void> => readCollection(probing, collection);
    await forEachParallel(collections, concurrency, read, onProgress, 'reading collections');
    const large = await fetchLargePage(probing);
    const verdicts = await checkAll(probing, onProgress);
    return {
      url: base,
      /** Number of records by collection. */
      counts: Object.fromEntries(samples.map(({ collection, first }) => [collection.name, first.count])),
      missing: COLLECTIONS.filter((one) => !collections.includes(one)).map(({ name }) => name),
      /** Undocumented collections of the root view. A crawl skips them. */
      unknown,
      /** Collections whose first page cannot be used, with the reason. */
      unreadable: probing.unreadable,
      ...verdicts,
      links: await checkLinks(probing, collections, onProgress),
      /**
       * Fields that are null, although the API documents values, and fields with other values that an import rejects.
       */
      nulls: [...probing.nulls],
      faults: [...probing.faults],
      ...estimateCosts(samples, large, verdicts.dates.honoured, options),
      bytes: sizes(samples),
    };
  } finally {
    clearTimeout(timer);
    await upstream.close();
  }
}

/** Resolves to undefined if a request fails. */
async function resultOf<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof OperationError) return undefined;
    throw error;
  }
}

/** Fetches a page of a collection. `query` is appended after limit and offset. */
function fetchPage(
  { walker }: Probing,
  { name, idField }: Collection,
  { limit = PAGE, offset = 0, query = `&ordering=${idField}` },
): Promise<Page> {
  const request = {
    what: `${name}, page at offset ${offset}`,
    path: () => `/api/v3/${name}/?limit=${limit}&offset=${offset}${query}`,
  };
  return walker.upstream.get(request, (response) => {
    const { body, ms, validator } = response!;
    return { ...parsePage(body, idField), ms, validator };
  });
}

/** Reads the first, the middle and the last page of a collection. */
async function readCollection(probing: Probing, collection: Collection): Promise<void> {
  const { name } = collection;
  const page = await fetchPage(probing, collection, {}).catch((error: unknown) => {
    if (!(error instanceof OperationError)) throw error;
    probing.unreadable[name] = error.message;
  });
  if (!page) return;
  // Without the texts, because those of all first pages together may be large.
  const first = { ...page, records: page.records.map((record) => ({ ...record, text: '' })) };
  const sample: Sample = { collection, first, ids: new Set(), links: [], bytes: 0 };
  addRecords(probing, sample, page);
  probing.samples.push(sample);
  const limit = page.records.length;
  const last = page.count - limit;
  if (isWhole(sample) || limit === 0) return;
  for (const offset of new Set([Math.max(limit, last >> 1), last])) {
    const more = await resultOf(fetchPage(probing, collection, { limit, offset }));
    if (more) addRecords(probing, sample, more);
  }
}

/** Adds the ids, links, nulls and faults of the new records of a page. */
function addRecords({ bases, nulls, faults }: Probing, sample: Sample, { records }: SentPage): void {
  const { ids, links } = sample;
  const { name } = sample.collection;
  const linksMax = links.length + LINKS_OF_PAGE_MAX;
  const newRecords = records.filter(({ id }) => !ids.has(`${name}/${id}`));
  const lines = newRecords.map(({ id, text }) => {
    ids.add(`${name}/${id}`);
    return `${withOwnUrls(text, bases, (to, target) => {
      if (links.length < linksMax) links.push(`${to}/${target}`);
    })}\n`;
  });
  const bytes = Buffer.from(lines.join(''));
  sample.bytes += bytes.length;
  const decoded = decodeLines(makeDecoder(name), { bytes, firstLine: 1, fileBytesRead: 0 });
  for (const { pointer, isNull } of decoded.faults) {
    // As in filters, without positions in arrays and without characters that control the terminal.
    const path = pointer.replaceAll(/\/\d+(?=\/|$)/g, '').slice(1, 64);
    (isNull === true ? nulls : faults).add(`${name}.${path.replaceAll('/', '__').replaceAll(/\W/g, '?')}`);
  }
}

function isWhole({ ids, first }: Sample): boolean {
  return ids.size >= first.count;
}

/**
 * A page of the largest collection, of the size that a crawl requests. If that fails or the collection has been read
 * completely, its first page.
 */
async function fetchLargePage(probing: Probing): Promise<Page | undefined> {
  const [largest] = probing.samples.toSorted((a, b) => b.first.count - a.first.count);
  if (!largest || isWhole(largest)) return largest?.first;
  return (await resultOf(fetchPage(probing, largest.collection, { limit: PAGE_RECORDS_MAX }))) ?? largest.first;
}

async function checkAll(probing: Probing, onProgress: OnProgress) {
  const { walker, samples } = probing;
  const verdict = (): Verdict => ({ honoured: [], ignored: [], unchecked: [] });
  const verdicts = { ordering: verdict(), filters: verdict(), validators: verdict(), dates: verdict() };
  const note = async (kind: keyof typeof verdicts, name: string, check: Promise<boolean>): Promise<void> => {
    const result = await resultOf(check);
    const { honoured, ignored, unchecked } = verdicts[kind];
    (result === undefined ? unchecked : result ? honoured : ignored).push(name);
  };
  const check = async ({ collection, first }: Sample): Promise<void> => {
    const { name } = collection;
    await note('validators', name, checkValidator(probing, collection, first));
    if (first.count === 0) return;
    if (first.count > 1) await note('ordering', name, checkOrdering(probing, collection, first));
    for (const field of collection.fields) {
      if (field.kind === 'scalar' && field.type === 'text' && collection.filters.includes(field.name))
        await note('filters', `${name}.${field.name}`, checkFilter(probing, collection, field.name, first.count));
    }
    const stamp = first.records.find((record) => record.stamp !== undefined)?.stamp;
    await note('dates', name, stamp === undefined ? Promise.resolve(false) : filtersByDate(walker, collection, stamp));
  };
  await forEachParallel(samples, walker.concurrency, check, onProgress, 'checking collections');
  for (const names of Object.values(verdicts).flatMap((result) => Object.values(result))) names.sort();
  return verdicts;
}

/** Whether ordering by id has an effect, ascending and descending. */
async function checkOrdering(probing: Probing, collection: Collection, first: Page): Promise<boolean> {
  const ids = first.records.map(({ id }) => id);
  if (ids.some((id, i) => id <= (ids[i - 1] ?? -1))) return false;
  const { records } = await fetchPage(probing, collection, { limit: 1, query: `&ordering=-${collection.idField}` });
  return (records[0]?.id ?? 0) > ids[0]!;
}

/** Whether a filter has an effect: a value that no record has is refused, or reduces the count. */
async function checkFilter(probing: Probing, collection: Collection, field: string, count: number): Promise<boolean> {
  try {
    const page = await fetchPage(probing, collection, { limit: 1, query: `&${field}=no-record-has-this-value` });
    return page.count < count;
  } catch (error) {
    if (failedStatus(error) === 400) return true;
    throw error;
  }
}

/** Whether the first page is 304 for its current validator, and not for one that it never had. */
async function checkValidator({ walker }: Probing, collection: Collection, { validator }: Page): Promise<boolean> {
  if (validator === undefined) return false;
  const { name, idField } = collection;
  const path = (): string => `/api/v3/${name}/?limit=${PAGE}&offset=0&ordering=${idField}`;
  const request = { what: `${name}, first page`, path, validator: () => validator };
  const isUnchanged = await walker.upstream.get(request, (response) => response === undefined);
  return isUnchanged && usesValidators(walker, collection, validator);
}

/**
 * Checks links of all samples. `linksMin` is the recommended --links-min of a crawl: the lower bound of the `share` of
 * links that lead to a record, in percent. `margin` is the distance to that bound, in percentage points.
 */
async function checkLinks(probing: Probing, collections: readonly Collection[], onProgress: OnProgress) {
  const { samples, walker } = probing;
  const draws = drawLinks(samples);
  const results = new Map<string, boolean | undefined>();
  const check = async (link: string): Promise<void> => {
    const isKnown = samples.some(({ ids }) => ids.has(link));
    const canResolve = collections.some(({ name }) => link.startsWith(`${name}/`));
    results.set(link, isKnown || (canResolve && (await resultOf(resolves(probing, link)))));
  };
  await forEachParallel([...new Set(draws)], walker.concurrency, check, onProgress, 'checking links');
  const outcomes = draws.map((link) => results.get(link)).filter((result) => result !== undefined);
  const [checked, resolved] = [outcomes.length, outcomes.filter(Boolean).length];
  const share = checked === 0 ? 0 : (resolved * 100) / checked;
  const least = lowerBound(resolved, checked);
  const unchecked = draws.length - checked;
  return { checked, resolved, unchecked, share, margin: share - least, linksMin: Math.floor(least * 10) / 10 };
}

/**
 * Draws links evenly from each sample. The sample of a large collection stands for more links, so that each collection
 * weighs as much as all of its links.
 */
function drawLinks(samples: readonly Sample[]): readonly string[] {
  const weight = ({ links, ids, first }: Sample): number => (links.length * first.count) / Math.max(1, ids.size);
  const total = samples.reduce((sum, sample) => sum + weight(sample), 0);
  let end = 0;
  return samples.flatMap((sample) => {
    const { links } = sample;
    const start = Math.round(end);
    end += (Math.min(LINKS, total) * weight(sample)) / total;
    const length = Math.round(end) - start;
    return Array.from({ length }, (_, i) => links[Math.floor(((i + 0.5) * links.length) / length)]!);
  });
}

/** Whether a record exists: 404 and 410 mean that it does not. */
async function resolves({ walker }: Probing, link: string): Promise<boolean> {
  const request = { what: link, path: () => `/api/v3/${link}/` };
  try {
    return await walker.upstream.get(request, () => true);
  } catch (error) {
    if ([404, 410].includes(failedStatus(error) ?? 0)) return false;
    throw error;
  }
}

/** The lower bound of count / length, in percent, at a confidence of 95 %. Source: Wilson's score interval. */
function lowerBound(count: number, length: number): number {
  if (length === 0) return 0;
  const share = count / length;
  const spread = Z * Math.sqrt((share * (1 - share)) / length + (Z * Z) / (4 * length * length));
  return (100 * (share + (Z * Z) / (2 * length) - spread)) / (1 + (Z * Z) / length);
}

/** The requests and seconds of a crawl and of a refresh, and the page from which they are estimated. */
function estimateCosts(
  samples: readonly Sample[],
  large: Page | undefined,
  byDates: readonly string[],
  { rate, concurrency }: ProbeOptions,
) {
  const page = { records: large?.records.length ?? 0, ms: large?.ms ?? 0 };
  const cost = (isByDates: (name: string) => boolean) => {
    let [requests, ms] = [1, 0];
    for (const { collection, first } of samples) {
      const isLarge = first.count > first.records.length && !isByDates(collection.name);
      const largePages = Math.ceil(first.count / Math.max(1, page.records));
      const pages = isLarge ? largePages : isByDates(collection.name) ? DATE_REQUESTS : 1;
      // A crawl counts the records of each collection at its end.
      requests += pages + 1;
      ms += pages * (isLarge ? page.ms : first.ms);
    }
    return { requests, seconds: Math.max(requests / rate, ms / 1000 / concurrency) };
  };
  return { page, crawl: cost(() => false), refresh: cost((name) => byDates.includes(name)) };
}

/** Estimates the bytes of the NDJSON, the peak memory of a server that follows this catalogue, and its folder. */
function sizes(samples: readonly Sample[]) {
  const estimate = ({ bytes, ids, first }: Sample): number => (ids.size === 0 ? 0 : (bytes * first.count) / ids.size);
  const data = Math.round(samples.reduce((sum, sample) => sum + estimate(sample), 0));
  // During a swap, both generations are in memory and on the disk. During a crawl, so are two data sets on the disk.
  const [memory, disk] = [PROCESS_BYTES + 2 * SERVED * data, (2 + 2 * SNAPSHOT) * data];
  return { data, memory: Math.round(memory), disk: Math.round(disk) };
}
