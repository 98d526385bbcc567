// A list as an Atom feed (RFC 4287), newest publication first, for readers and portals that follow a catalogue (A175).
import { type Collection, type CollectionIndex, countSelected, selectedRow } from '../../../engine/engine.ts';
import { collectionLabel } from '../../../engine/described.ts';
import { isLinkable, type Pair, queryTextOf, withoutNames } from './address.ts';
import { inStep, missedPage, refusedPage } from './errorPage.ts';
import { foundList } from './find.ts';
import { pagePairs, wordFilter } from './listing.ts';
import { type Data, RecordReader } from './records.ts';
import { type BrowsePage, rfc3339, type Site, type Tour } from './site.ts';
import { html, type Markup, utf8Of } from './template.ts';
import { cutAtWord } from './values.ts';

/** The value of `format` that asks for a feed. */
const FORMAT = 'atom';
const FEED_TYPE = 'application/atom+xml';
const PUBLISHED = 'dataPublishedTime';
/** Readers poll often enough for the newest ones. */
const ENTRIES_MAX = 50;
const SUMMARY_CHARACTERS_MAX = 500;
/** Filters that the title of a feed names. */
const FILTERS_MAX = 5;
/** Parameters of a page that a feed replaces. */
const REPLACED = ['format', 'ordering', 'limit', 'offset', 'after', 'fields', 'facets'];
/** Characters that no XML 1.0 document may contain, escaped or not. */
// oxlint-disable-next-line no-control-regex -- these are the characters to remove
const NO_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

/** Whether a list has times of publication, and thus a feed. */
export function hasFeed({ fields }: Collection): boolean {
  return fields.some(({ name }) => name === PUBLISHED);
}

/** Whether the query asks for the feed of a list. */
export function isFeedQuery(query: string | undefined): boolean {
  return query !== undefined && query.split('&').includes(`format=${FORMAT}`);
}

/** An element of the head of a list's page that names the feed; false without one. */
export function feedLink(declared: Collection, pairs: readonly Pair[]): Markup | false {
  return (
    hasFeed(declared) &&
    isLinkable(pairs) &&
    html`<link rel="alternate" type="${FEED_TYPE}" title="Newest first" href="${feedHref(pairs)}" />`
  );
}

/** The relative address of the feed of a list with these filters. */
function feedHref(pairs: readonly Pair[]): string {
  return `?${queryTextOf([...withoutNames(pairs, ...REPLACED), ['format', FORMAT]])}`;
}

/** The feed, or an error page. Cost: that of the list, and ENTRIES_MAX records. */
export async function feedPage(site: Site, tour: Tour, declared: Collection): Promise<BrowsePage> {
  const collection = site.collections(declared.name);
  const pairs = pagePairs(tour.query, ENTRIES_MAX, site.queryOptions);
  const found = await foundList(site, tour, collection, pairs ? queryTextOf(newestFirst(pairs)) : tour.query);
  if (found.kind === 'refused') return refusedPage(site, tour, declared, { problems: found.ask.problems, pairs });
  if (found.kind === 'missed') return missedPage(site, tour, found.why);
  const { rows } = found.hits;
  return inStep(site, tour, () => {
    const reader = new RecordReader(site, tour);
    const records = Array.from({ length: countSelected(rows) }, (_, i) => reader.row(collection, selectedRow(rows, i)));
    const path = `${tour.baseUrl}/browse/${declared.name}/`;
    const entries = records.flatMap((record = {}) => drawEntry(reader, path, record) ?? []);
    return {
      status: 200,
      html: utf8Of(drawFeed(site, tour, { collection, pairs: pairs ?? [], entries })),
      type: FEED_TYPE,
    };
  });
}

/** Published records only, unless a filter names their state. */
function newestFirst(pairs: readonly Pair[]): readonly Pair[] {
  const filters = withoutNames(pairs, ...REPLACED);
  const states: readonly Pair[] = filters.some(([name]) => name.startsWith('publicationState'))
    ? []
    : [['publicationState__in', 'published,citable']];
  const order: readonly Pair[] = [
    [`${PUBLISHED}__isnull`, 'false'],
    ['ordering', `-${PUBLISHED}`],
    ['limit', String(ENTRIES_MAX)],
  ];
  return [...filters, ...states, ...order];
}

interface Entry {
  readonly updated: string;
  readonly shown: Markup;
}

/** The entry of a record of the list at `path`; undefined without a time of publication. */
function drawEntry(reader: RecordReader, path: string, record: Data): Entry | undefined {
  const timeOf = (key: string): string | undefined => rfc3339(reader.text(record[key]));
  const published = timeOf(PUBLISHED);
  if (published === undefined) return undefined;
  const doi = timeOf('doiPublishedTime');
  const updated = doi !== undefined && doi > published ? doi : published;
  const address = `${path}${String(record['ob_id'])}/`;
  const shown = html`<entry
    ><title>${xmlText(reader.text(record['title']))}</title><id>${formatUrn(reader.text(record['uuid'])) ?? address}</id
    ><link rel="alternate" type="text/html" href="${address}" /><published>${published}</published
    ><updated>${updated}</updated>
    <summary>${xmlText(cutAtWord(reader.text(record['abstract']), SUMMARY_CHARACTERS_MAX))}</summary></entry
  >`;
  return { updated, shown };
}

/** The same in every replica, unlike an address. */
function formatUrn(uuid: string): string | undefined {
  return /^[0-9a-f]{32}$/i.test(uuid)
    ? `urn:uuid:${uuid.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')}`
    : undefined;
}

function drawFeed(
  site: Site,
  tour: Tour,
  {
    collection,
    pairs,
    entries,
  }: { readonly collection: CollectionIndex; readonly pairs: readonly Pair[]; readonly entries: readonly Entry[] },
): Markup {
  const { siteName, siteLicence } = site.settings;
  const { name } = collection.declaration;
  const list = `${tour.baseUrl}/browse/${name}/`;
  const filters = pairs
    .slice(0, FILTERS_MAX)
    .flatMap((pair) => wordFilter({ site, tour, collection }, pair)?.text ?? []);
  const title = `${siteName}: ${[collectionLabel(name), ...filters].join(', ')}`;
  const times = entries.map(({ updated }) => updated).toSorted();
  const updated = times.at(-1) ?? rfc3339(site.created ?? '') ?? new Date(0).toISOString();
  const self = list + feedHref(pairs);
  return html`<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom"
      ><title>${xmlText(title)}</title><id>${self}</id><updated>${updated}</updated
      ><author><name>${siteName}</name></author
      ><link rel="self" type="${FEED_TYPE}" href="${self}" /><link
        rel="alternate"
        type="text/html"
        href="${list}"
      />${siteLicence !== undefined && html`<link rel="license" href="${siteLicence}" />`}${entries.map(
        ({ shown }) => shown,
      )}</feed
    >`;
}

function xmlText(text: string): string {
  return text.replace(NO_XML, '');
}
