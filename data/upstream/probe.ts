// Probes a catalogue before a crawl: which collections it has, which parameters it honours, which fraction of its links
// resolves, and what a crawl costs. Writes nothing and has a time limit. A check without a response is reported as
// unchecked, never as passed.
import { setTimeout as wait } from 'node:timers/promises';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import type { Collection } from '../../engine/schema/types.ts';
import { decodeLines, makeDecoder } from '../import/decode.ts';
import { OperationError } from '../operationError.ts';
import type { OnProgress } from '../progress.ts';
import { largestLinksMin } from './acceptance.ts';
import { DATE_REQUESTS, filtersByDate } from './changedSince.ts';
import { failedStatus, forEachParallel, Upstream, type UpstreamAnswer, type UpstreamOptions } from './client.ts';
import { fetchRootView } from './crawl.ts';
import { PAGE_RECORDS_MAX, PageSize, parsePage, type SentPage, SLOW_MS, withOwnUrls } from './page.ts';
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

/** An estimate of the work of a crawl or a refresh. */
interface Cost {
  readonly requests: number;
  readonly seconds: number;
}

/** The result of a probe. Field names of embedded records are joined by `__`, as in filters. */
export interface ProbeReport {
  readonly url: string;
  /** Number of records by collection. */
  readonly counts: Readonly<Record<string, number>>;
  /** Documented collections that the root view does not name. */
  readonly missing: readonly string[];
  /** Undocumented collections of the root view. A crawl skips them. */
  readonly unknown: readonly string[];
  /** Collections whose first page cannot be used, with the reason. */
  readonly unreadable: Readonly<Record<string, string>>;
  readonly ordering: Verdict;
  /** Documented filters of text fields, as `collection.field`. */
  readonly filters: Verdict;
  readonly validators: Verdict;
  /** The filter by modification date. */
  readonly dates: Verdict;
  /**
   * `checked` links, of which `resolved` lead to a record. With `isExact` these are all links of the catalogue,
   * otherwise a sample. `share` is `resolved` in percent of `checked`. `linksMin` is the recommended --links-min of a
   * crawl: the lower bound of the share at a confidence of 95 %. `margin` is the distance from the share to that bound,
   * in percentage points.
   */
  readonly links: {
    readonly checked: number;
    readonly resolved: number;
    readonly unchecked: number;
    readonly isExact: boolean;
    readonly share: number;
    readonly margin: number;
    readonly linksMin: number;
  };
  /** Fields that are null in sampled records, although the API documents values. */
  readonly nulls: readonly string[];
  /** Other fields with values that an import rejects. */
  readonly faults: readonly string[];
  /** A page of the size that a crawl requests: its number of records and its response time. */
  readonly page: { readonly records: number; readonly ms: number };
  readonly crawl: Cost;
  readonly refresh: Cost;
  /** Estimated bytes of the NDJSON, of the peak memory of a server that follows this catalogue, and of its folder. */
  readonly bytes: { readonly data: number; readonly memory: number; readonly disk: number };
  readonly requests: number;
  /** Whether the time limit ended the probe before all checks were done. */
  readonly isCut: boolean;
}

/**
 * The records of a collection that have been read. `first` is its first page without record texts, `bytes` the length
 * of their NDJSON.
 */
interface Sample {
  readonly collection: Collection;
  readonly first: Page;
  readonly ids: Set<number>;
  readonly links: Link[];
  bytes: number;
}

interface Link {
  readonly to: string;
  readonly id: number;
}

interface Page extends SentPage, Pick<UpstreamAnswer, 'ms' | 'validator'> {}

interface Probing {
  readonly walker: Walker;
  readonly bases: ReadonlySet<string>;
  readonly samples: Map<string, Sample>;
  readonly nulls: Set<string>;
  readonly faults: Set<string>;
  readonly unreadable: Record<string, string>;
  /** Resolves when the time is over. */
  readonly timeout: Promise<undefined>;
  isTimedOut: boolean;
  requests: number;
}

/**
 * Probes a catalogue within `durationMs`. Throws OperationError `network` if there is no usable root view. Memory: the
 * links and ids of at most three pages per collection, and the pages in progress.
 */
export async function probe(options: ProbeOptions, onProgress: OnProgress): Promise<ProbeReport> {
  const upstream = new Upstream(options);
  const end = new AbortController();
  const timeout = wait(options.durationMs, undefined, { signal: end.signal }).catch(() => undefined);
  try {
    const root = await Promise.race([fetchRootView(upstream, options.base), timeout]);
    if (!root) throw new OperationError('network', `${options.base}: no root view within ${options.durationMs} ms`);
    const { bases, collections, unknown } = root;
    const walker = { upstream, size: new PageSize(), concurrency: options.concurrency };
    const findings = { samples: new Map<string, Sample>(), nulls: new Set<string>(), faults: new Set<string>() };
    const probing: Probing = { walker, bases, ...findings, unreadable: {}, timeout, isTimedOut: false, requests: 1 };
    void timeout.then(() => (probing.isTimedOut = true));
    await forEachParallel(
      collections,
      probing.walker.concurrency,
      (item) => readFirst(probing, item),
      onProgress,
      'reading collections',
    );
    const samples = collections.flatMap(({ name }) => probing.samples.get(name) ?? []);
    await forEachParallel(
      samples,
      probing.walker.concurrency,
      (item) => readMore(probing, item),
      onProgress,
      'reading more pages',
    );
    const large = await largePage(probing, samples);
    const verdicts = await checkAll(probing, samples, onProgress);
    const links = await checkLinks(probing, collections, samples, onProgress);
    const counts = Object.fromEntries(samples.map(({ collection, first }) => [collection.name, first.count]));
    const names = new Set(collections.map(({ name }) => name));
    return {
      url: options.base,
      counts,
      missing: COLLECTIONS.map(({ name }) => name).filter((name) => !names.has(name)),
      unknown,
      unreadable: probing.unreadable,
      ...verdicts,
      links,
      nulls: [...probing.nulls],
      faults: [...probing.faults].filter((field) => !probing.nulls.has(field)),
      ...costs(samples, large, verdicts.dates.honoured, options),
      bytes: sizes(samples),
      requests: probing.requests,
      isCut: probing.isTimedOut,
    };
  } finally {
    end.abort();
    await upstream.close();
  }
}

/** The result of a request, or the reason for its failure. `status` is that of an error response. */
type Outcome<T> = { readonly value: T } | { readonly reason: string; readonly status?: number | undefined };

async function attempt<T>(probing: Probing, request: () => Promise<T>): Promise<Outcome<T>> {
  const noResponse = { reason: 'no response in time' };
  if (probing.isTimedOut) return noResponse;
  probing.requests++;
  const outcome = request().then(
    (value): Outcome<T> => ({ value }),
    (error: unknown) => {
      if (!(error instanceof OperationError)) throw error;
      return { reason: error.message, status: failedStatus(error) };
    },
  );
  return (await Promise.race([outcome, probing.timeout])) ?? noResponse;
}

/** Fetches a page of a collection. `query` is appended after limit and offset. */
function page(
  probing: Probing,
  { name, idField }: Collection,
  { limit = PAGE, offset = 0, query = '' },
): Promise<Outcome<Page>> {
  const subject = `${name}, page at offset ${offset}`;
  const path = (): string => `/api/v3/${name}/?limit=${limit}&offset=${offset}${query}`;
  return attempt(probing, () =>
    probing.walker.upstream.get({ what: subject, path }, (response) => {
      const { body, ms, validator } = response!;
      return { ...parsePage(body, idField), ms, validator };
    }),
  );
}

function ascending({ idField }: Collection): string {
  return `&ordering=${idField}`;
}

async function readFirst(probing: Probing, collection: Collection): Promise<void> {
  const outcome = await page(probing, collection, { query: ascending(collection) });
  if ('reason' in outcome) return void (probing.unreadable[collection.name] = outcome.reason);
  // Without the texts, because those of all first pages together may be large.
  const records = outcome.value.records.map((record) => ({ ...record, text: '' }));
  const sample: Sample = { collection, first: { ...outcome.value, records }, ids: new Set(), links: [], bytes: 0 };
  addRecords(probing, sample, outcome.value);
  probing.samples.set(collection.name, sample);
}

/** Reads the middle and the last page of a collection that has more than one. */
async function readMore(probing: Probing, sample: Sample): Promise<void> {
  const { collection, first } = sample;
  const limit = first.records.length;
  if (isWhole(sample) || limit === 0) return;
  const last = first.count - limit;
  for (const offset of new Set([Math.max(limit, last >> 1), last])) {
    const outcome = await page(probing, collection, { limit, offset, query: ascending(collection) });
    if ('value' in outcome) addRecords(probing, sample, outcome.value);
  }
}

/** Adds the ids, links, nulls and faults of the new records of a page. */
function addRecords({ bases, nulls, faults }: Probing, sample: Sample, { records }: SentPage): void {
  const { ids, links, collection } = sample;
  const linksMax = links.length + LINKS_OF_PAGE_MAX;
  const newRecords = records.filter(({ id }) => !ids.has(id));
  const lines = newRecords.map(({ id, text }) => {
    ids.add(id);
    return `${withOwnUrls(text, bases, (to, target) => {
      if (links.length < linksMax) links.push({ to, id: target });
    })}\n`;
  });
  const bytes = Buffer.from(lines.join(''));
  sample.bytes += bytes.length;
  const order = { bytes, firstLine: 1, fileBytesRead: 0 };
  const fieldName = (pointer: string): string =>
    [
      collection.name,
      pointer
        .replaceAll(/\/\d+(?=\/|$)/g, '')
        .slice(1)
        .replaceAll('/', '__')
        .slice(0, 64),
    ].join('.');
  for (const { pointer, isNull } of decodeLines(makeDecoder(collection.name), order).faults)
    if (isNull === true) nulls.add(fieldName(pointer));
  for (const { pointer } of decodeLines(makeDecoder(collection.name, { takesNulls: true }), order).faults)
    faults.add(fieldName(pointer).replaceAll(/[^\w.]/g, '?'));
}

function isWhole({ ids, first }: Sample): boolean {
  return ids.size >= first.count;
}

/**
 * A page of the largest collection, of the size that a crawl requests. If that fails or the collection has been read
 * completely, its first page.
 */
async function largePage(probing: Probing, samples: readonly Sample[]): Promise<Page | undefined> {
  const [largest] = samples.toSorted((a, b) => b.first.count - a.first.count);
  if (!largest || isWhole(largest)) return largest?.first;
  const { collection, first } = largest;
  const outcome = await page(probing, collection, { limit: PAGE_RECORDS_MAX, query: ascending(collection) });
  return 'value' in outcome ? outcome.value : first;
}

type Verdicts = Pick<ProbeReport, 'ordering' | 'filters' | 'validators' | 'dates'>;

async function checkAll(probing: Probing, samples: readonly Sample[], onProgress: OnProgress): Promise<Verdicts> {
  const verdict = (): Verdict => ({ honoured: [], ignored: [], unchecked: [] });
  const verdicts = { ordering: verdict(), filters: verdict(), validators: verdict(), dates: verdict() };
  const note = ({ honoured, ignored, unchecked }: Verdict, name: string, outcome: Outcome<boolean>): void =>
    void ('reason' in outcome ? unchecked : outcome.value ? honoured : ignored).push(name);
  const hasFalse304 = await confirmsUnknownValidator(probing, samples);
  const check = async ({ collection, first }: Sample): Promise<void> => {
    const { name } = collection;
    if (first.count > 1) note(verdicts.ordering, name, await checkOrdering(probing, collection, first));
    for (const field of collection.fields) {
      const isFilter = field.kind === 'scalar' && field.type === 'text' && collection.filters.includes(field.name);
      if (isFilter && first.count > 0)
        note(
          verdicts.filters,
          `${name}.${field.name}`,
          await checkFilter(probing, collection, field.name, first.count),
        );
    }
    const { validator, records } = first;
    const hasValidator = validator !== undefined && !hasFalse304;
    note(
      verdicts.validators,
      name,
      hasValidator ? await checkValidator(probing, collection, validator) : { value: false },
    );
    const { stamp } = records.find((record) => record.stamp !== undefined) ?? {};
    const checkDates = (): Promise<boolean> => filtersByDate(probing.walker, collection, stamp!);
    if (first.count > 0)
      note(verdicts.dates, name, stamp === undefined ? { value: false } : await attempt(probing, checkDates));
  };
  await forEachParallel(samples, probing.walker.concurrency, check, onProgress, 'checking collections');
  for (const names of Object.values(verdicts).flatMap((result) => Object.values(result))) names.sort();
  return verdicts;
}

/** Whether the upstream responds 304 to a validator that it never sent. Then its 304 responses mean nothing. */
async function confirmsUnknownValidator(probing: Probing, samples: readonly Sample[]): Promise<boolean> {
  const sample = samples.find(({ first }) => first.validator !== undefined);
  if (!sample) return false;
  const { collection, first } = sample;
  const outcome = await attempt(probing, () => usesValidators(probing.walker, collection, first.validator!));
  return 'value' in outcome && !outcome.value;
}

/** Whether ordering by id has an effect, ascending and descending. */
async function checkOrdering(probing: Probing, collection: Collection, first: Page): Promise<Outcome<boolean>> {
  const ids = first.records.map(({ id }) => id);
  if (ids.some((id, i) => id <= (ids[i - 1] ?? -1))) return { value: false };
  const outcome = await page(probing, collection, { limit: 1, query: `&ordering=-${collection.idField}` });
  return 'reason' in outcome ? outcome : { value: (outcome.value.records[0]?.id ?? 0) > ids[0]! };
}

/** Whether a filter has an effect: a value that no record has is refused, or reduces the count. */
async function checkFilter(
  probing: Probing,
  collection: Collection,
  field: string,
  count: number,
): Promise<Outcome<boolean>> {
  const outcome = await page(probing, collection, { limit: 1, query: `&${field}=no-record-has-this-value` });
  if ('reason' in outcome) return outcome.status === 400 ? { value: true } : outcome;
  return { value: outcome.value.count < count };
}

/** Whether the first page is 304 for its current validator. */
async function checkValidator(probing: Probing, collection: Collection, validator: string): Promise<Outcome<boolean>> {
  const { name } = collection;
  const path = (): string => `/api/v3/${name}/?limit=${PAGE}&offset=0${ascending(collection)}`;
  const request = { what: `${name}, first page`, path, validator: () => validator };
  return attempt(probing, () => probing.walker.upstream.get(request, (response) => response === undefined));
}

/**
 * Checks links of all samples. The sample of a large collection stands for more links, so that each collection weighs
 * as much as all of its links.
 */
async function checkLinks(
  probing: Probing,
  collections: readonly Collection[],
  samples: readonly Sample[],
  onProgress: OnProgress,
): Promise<ProbeReport['links']> {
  const isExact = samples.length === collections.length && samples.every(isWhole);
  const draws = isExact ? samples.flatMap(({ links }) => links) : draw(samples, LINKS);
  const names = new Set(collections.map(({ name }) => name));
  const outcomes = new Map<string, Outcome<boolean>>();
  const linkKey = ({ to, id }: Link): string => `${to}/${id}`;
  const check = async (link: Link): Promise<void> => {
    const target = probing.samples.get(link.to);
    const isKnown = target?.ids.has(link.id) === true || !names.has(link.to) || (target && isWhole(target));
    if (isKnown) outcomes.set(linkKey(link), { value: target?.ids.has(link.id) === true });
    else outcomes.set(linkKey(link), await resolves(probing, link));
  };
  const distinct = [...new Map(draws.map((link) => [linkKey(link), link])).values()];
  await forEachParallel(distinct, probing.walker.concurrency, check, onProgress, 'checking links');
  const values = draws.flatMap((link) => {
    const outcome = outcomes.get(linkKey(link))!;
    return 'value' in outcome ? [outcome.value] : [];
  });
  const [checked, resolved] = [values.length, values.filter(Boolean).length];
  const unchecked = draws.length - checked;
  const share = checked === 0 ? 0 : (resolved * 100) / checked;
  const counts = { links: checked, dangling: checked - resolved };
  const linksMin = isExact ? largestLinksMin(counts) : Math.floor(lowerBound(resolved, checked) * 10) / 10;
  const margin = isExact ? 0 : share - lowerBound(resolved, checked);
  return { checked, resolved, unchecked, isExact, share, margin, linksMin };
}

function draw(samples: readonly Sample[], length: number): readonly Link[] {
  const weights = samples.map(({ links, ids, first }) =>
    ids.size === 0 ? 0 : (links.length * first.count) / ids.size,
  );
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (total === 0) return [];
  const draws: Link[] = [];
  let [at, start] = [0, 0];
  for (let i = 0; i < length; i++) {
    const place = ((i + 0.5) * total) / length;
    while (at < weights.length - 1 && place >= start + weights[at]!) start += weights[at++]!;
    const { links } = samples[at]!;
    const link = links[Math.floor(((place - start) / weights[at]!) * links.length)];
    if (link) draws.push(link);
  }
  return draws;
}

/** Whether a record exists: 404 and 410 mean that it does not. Other errors are outcomes without a value. */
async function resolves(probing: Probing, { to, id }: Link): Promise<Outcome<boolean>> {
  const request = { what: `${to}/${id}`, path: () => `/api/v3/${to}/${id}/` };
  const outcome = await attempt(probing, () => probing.walker.upstream.get(request, () => true));
  return 'reason' in outcome && (outcome.status === 404 || outcome.status === 410) ? { value: false } : outcome;
}

/** The lower bound of count / length, in percent, at a confidence of 95 %. Source: Wilson's score interval. */
function lowerBound(count: number, length: number): number {
  if (length === 0) return 0;
  const share = count / length;
  const spread = Z * Math.sqrt((share * (1 - share)) / length + (Z * Z) / (4 * length * length));
  return (100 * (share + (Z * Z) / (2 * length) - spread)) / (1 + (Z * Z) / length);
}

function costs(
  samples: readonly Sample[],
  large: Page | undefined,
  byDates: readonly string[],
  { rate, concurrency }: ProbeOptions,
): Pick<ProbeReport, 'page' | 'crawl' | 'refresh'> {
  const page = { records: large?.records.length ?? 0, ms: large?.ms ?? 0 };
  // A crawl requests fewer records per page if a page takes long.
  const size = Math.max(1, Math.floor(page.records * Math.min(1, SLOW_MS / page.ms)));
  const cost = (isByDates: (name: string) => boolean): Cost => {
    let [requests, ms] = [1, 0];
    for (const { collection, first } of samples) {
      const isSmall = first.count <= first.records.length;
      const pages = isByDates(collection.name) ? DATE_REQUESTS : isSmall ? 1 : Math.ceil(first.count / size);
      // A crawl counts the records of each collection at its end.
      requests += pages + 1;
      ms +=
        isSmall || isByDates(collection.name) ? pages * first.ms : (first.count / Math.max(1, page.records)) * page.ms;
    }
    return { requests, seconds: Math.max(requests / rate, ms / 1000 / concurrency) };
  };
  return { page, crawl: cost(() => false), refresh: cost((name) => byDates.includes(name)) };
}

function sizes(samples: readonly Sample[]): ProbeReport['bytes'] {
  const estimate = ({ bytes, ids, first }: Sample): number => (ids.size === 0 ? 0 : (bytes * first.count) / ids.size);
  const data = Math.round(samples.reduce((sum, sample) => sum + estimate(sample), 0));
  // During a swap, both generations are in memory and on the disk. During a crawl, so are two data sets on the disk.
  const [memory, disk] = [PROCESS_BYTES + 2 * SERVED * data, (2 + 2 * SNAPSHOT) * data];
  return { data, memory: Math.round(memory), disk: Math.round(disk) };
}
