// The sitemap (sitemaps.org, version 0.9), by which search engines find the pages: the start page, every list, and the
// published records of the first collections of the start page. A sitemap has at most 50,000 addresses; more are in
// numbered sitemaps, which the one at /sitemap.xml lists. Loaded on the first request for one (A174).
import { COLLECTIONS, wholeBody } from '../../engine/engine.ts';
import { COLLECTION_GROUPS, isPublished } from '../../engine/described.ts';
import type { Answer } from '../http/exchange.ts';
import { type CatalogueService, type RouteOf, tagIn, type Visit } from '../catalogue/catalogue.ts';
import { rfc3339 } from './browse/site.ts';
import { html, type Markup, utf8Of } from './browse/template.ts';

/** The limit of the protocol. */
const ADDRESSES_MAX = 50_000;
/** Addresses of one step: 2 ms. */
const STEP_ADDRESSES = 2000;
const TYPE = 'application/xml; charset=utf-8';
const NAMESPACE = 'http://www.sitemaps.org/schemas/sitemap/0.9';

/** The path of a page below the root, undefined for a record that is not published. */
type PathAt = (index: number) => string | undefined;

/** All pages in order: `count` indexes, each with a path or without one. */
interface Pages {
  readonly count: number;
  readonly pathAt: PathAt;
}

/** 200, 304, 404, or 503 if too many sitemaps are being made. Cost: its addresses, in steps. */
export async function sitemapAnswer(
  { answers, collections, conditional, created, live, slices }: CatalogueService,
  { part }: RouteOf<'sitemap'>,
  { choice, coding, condition, disconnection, request: { target } }: Visit,
): Promise<Answer> {
  const { baseUrl, varies } = choice;
  const pages = listPages(collections);
  const parts = Math.ceil(pages.count / ADDRESSES_MAX);
  if (part !== undefined && (part < 1 || part > parts)) return answers.notFound;
  const tag = conditional.tagOf({ baseUrl, path: target, parameters: [] });
  const unchanged = condition && conditional.unchangedIfKnown(condition, varies, coding, tag);
  if (unchanged) return unchanged;
  const isIndex = part === undefined && parts > 1;
  const bytes = isIndex
    ? utf8Of(writeIndex(baseUrl, parts, created))
    : await slices.run('pages', addressWriter(pages, baseUrl, part ?? 1), disconnection);
  if (typeof bytes === 'string') return answers.busy;
  const body = wholeBody(bytes);
  const compressed = coding === 'identity' ? undefined : await live.compressed(body, disconnection);
  const answer = compressed
    ? answers.found(wholeBody(compressed), { varies, ignored: [], tag }, TYPE, 'live')
    : answers.found(body, { varies, ignored: [], tag }, TYPE);
  // Whether the body is compressed is part of its tag.
  return (condition && conditional.unchanged(condition, varies, tagIn(answer)!)) ?? answer;
}

function listPages(collections: CatalogueService['collections']): Pages {
  const lists = ['browse/', ...COLLECTIONS.map(({ name }) => `browse/${name}/`)];
  return (COLLECTION_GROUPS[0]?.names ?? []).reduce<Pages>(
    ({ count, pathAt }, name) => {
      const collection = collections(name);
      const recordAt: PathAt = (row) =>
        isPublished(collection, row) ? `browse/${name}/${collection.ids.dictionary.numbers![row]!}/` : undefined;
      return {
        count: count + collection.rows,
        pathAt: (index) => (index < count ? pathAt(index) : recordAt(index - count)),
      };
    },
    { count: lists.length, pathAt: (index) => lists[index] },
  );
}

/**
 * Writes a part step by step; returns its bytes at the end. A sitemap needs an address, so an empty part has the first.
 */
function addressWriter({ count, pathAt }: Pages, baseUrl: string, part: number): () => Buffer | undefined {
  const end = Math.min(count, part * ADDRESSES_MAX);
  let index = (part - 1) * ADDRESSES_MAX;
  const addresses: Markup[] = [];
  const add = (path: string | undefined): void => {
    if (path !== undefined) addresses.push(html`<url><loc>${`${baseUrl}/${path}`}</loc></url>`);
  };
  return () => {
    const stepEnd = Math.min(end, index + STEP_ADDRESSES);
    for (; index < stepEnd; index++) add(pathAt(index));
    if (index < end) return undefined;
    if (addresses.length === 0) add(pathAt(0));
    return utf8Of(html`<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="${NAMESPACE}">${addresses}</urlset>`);
  };
}

function writeIndex(baseUrl: string, parts: number, created: string | undefined): Markup {
  const time = created === undefined ? undefined : rfc3339(created);
  const changed = time !== undefined && html`<lastmod>${time}</lastmod>`;
  const entries = Array.from(
    { length: parts },
    (_, i) => html`<sitemap><loc>${`${baseUrl}/sitemap-${i + 1}.xml`}</loc>${changed}</sitemap>`,
  );
  return html`<?xml version="1.0" encoding="UTF-8"?><sitemapindex xmlns="${NAMESPACE}">${entries}</sitemapindex>`;
}
