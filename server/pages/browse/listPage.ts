// The page of a list: its rows, its filters, and the links to its other pages.
import { countText } from '../../observe/quantities.ts';
import {
  apiPath,
  fromStart,
  isLinkable,
  isRepeatable,
  type Pair,
  queryOf,
  queryTextOf,
  withoutFilters,
  withoutNames,
  withValue,
} from './address.ts';
import { type FindResult, foundList, PAGE_ROWS_MAX, pageRowsMax } from './find.ts';
import { findForm, FOUND_BY } from './findForm.ts';
import { columnChoice, facetPanels, facetNames, filterForm, isConditionOf } from './facets.ts';
import { type Alternative, type ListFacet, type Listing, pagePairs, wordFilter } from './listing.ts';
import { html, type Markup } from './template.ts';
import { type Collection, hintsFor } from '../../../engine/engine.ts';
import { feedLink } from './feed.ts';
import { collectionLabel, collectionSentence } from '../../../engine/described.ts';
import { inStep, missedPage, refusedPage } from './errorPage.ts';
import { type BrowsePage, fieldsOf, type Site, type Tour } from './site.ts';
import { amountOf, framed, requestPanel } from './frame.ts';
import { resultMap } from './resultMap.ts';
import { recordTable } from './table.ts';
import { cut } from './values.ts';

/** Page sizes that are offered in addition to the maximum. */
const SIZES = [10, 25, 50];

function rangeOf({ ask: { page }, hits }: Listing): Markup | false {
  if (hits.count === 0) return false;
  const first = hits.offset + 1;
  const last = Math.min(hits.count, hits.offset + page.limit);
  if (first > hits.count) return html`<p class="range">Behind the last of ${countText(hits.count)} records.</p>`;
  return html`<p class="range">${countText(first)} to ${countText(last)} of ${countText(hits.count)}</p>`;
}

/** Links to the first, previous, next and last page. Below the list, also to other page sizes. */
function pageLinksNav(listing: Listing, place: 'above' | 'below'): Markup | false {
  const { ask, hits, pairs, hasChoices } = listing;
  const { limit } = ask.page;
  if (hits.count === 0 || (place === 'above' && hits.count <= limit && hits.offset === 0)) return false;
  const last = Math.max(0, Math.floor((hits.count - 1) / limit) * limit);
  const { offset } = hits;
  const at = (place: number): string => queryOf(placed(pairs, place));
  const link = (label: string, place: number, isThere: boolean, rel?: string): Markup =>
    isThere
      ? html`<li><a href="${at(place)}" ${rel !== undefined && html` rel="${rel}"`}>${label}</a></li>`
      : html`<li><span aria-disabled="true">${label}</span></li>`;
  return html`<nav class="pages ${place}" aria-label="Pages ${place}">
    <ul>
      ${link('First', 0, offset > 0)}
      ${link('Previous', Math.max(0, Math.min(offset, last + limit) - limit), offset > 0, 'prev')}
      ${link('Next', offset + limit, offset + limit < hits.count, 'next')} ${link('Last', last, offset < last)}
    </ul>
    ${place === 'below' && hasChoices && pageSizes(listing)}
  </nav>`;
}

function pageSizes({ site, ask, pairs }: Listing): Markup {
  const most = pageRowsMax(site);
  const sizes = [...SIZES.filter((size) => size < most), most].map((size) =>
    size === ask.page.limit
      ? html`<li><span aria-current="true">${size}</span></li>`
      : html`<li>
          <a href="${queryOf(withValue(fromStart(pairs), 'limit', String(size)))}" rel="nofollow">${size}</a>
        </li>`,
  );
  return html`<div class="sizes">
    <span id="sizes">A page has</span>
    <ul aria-labelledby="sizes">
      ${sizes}
    </ul>
  </div>`;
}

function placed(pairs: readonly Pair[], offset: number): readonly Pair[] {
  return withValue(fromStart(pairs), 'offset', offset > 0 ? String(offset) : undefined);
}

/**
 * Finds the list and builds its page, or an error page. Cost: that of the list, and up to 100 records within the limits
 * on values.
 */
export async function listPage(site: Site, tour: Tour, declared: Collection): Promise<BrowsePage> {
  const collection = site.collections(declared.name);
  const fields = fieldsOf(collection, site);
  const pairs = pagePairs(tour.query, pageRowsMax(site), site.queryOptions);
  const hasChoices = pairs !== undefined && isRepeatable(pairs);
  const query = pairs ? queryTextOf(pairs) : tour.query;
  const names = facetNames(collection, site);
  const counted = hasChoices ? queryTextOf(withFacets(pairs, names)) : query;
  const first = await foundList(site, tour, collection, counted);
  // The page adds the counts itself. If the server is too busy, a second query without them may still find the rows at
  // once. A query that took too long is not repeated.
  const isUncounted = first.kind === 'missed' && first.why === 'busy' && counted !== query;
  const found: FindResult = isUncounted ? await foundList(site, tour, collection, query) : first;
  if (found.kind === 'refused') return refusedPage(site, tour, declared, { problems: found.ask.problems, pairs });
  if (found.kind === 'missed') return missedPage(site, tour, found.why);
  const { ask } = found.list;
  const { hits } = found;
  const around = { site, tour, collection, pairs: pairs ?? [] };
  const facets = hasChoices ? await listFacets(around, hits.facets) : hits.facets;
  const shown = shownFilters({ ...around, ask });
  const alternatives = hasChoices && hits.count === 0 && collection.rows > 0 ? await alternativesTo(around, shown) : [];
  const isPartial = isUncounted || facets.includes(undefined);
  const listing: Listing = {
    site,
    tour,
    collection,
    fields,
    ask,
    hits,
    pairs: pairs ?? [],
    query: query ?? '',
    hasChoices,
    hasWays: pairs !== undefined && isLinkable(pairs),
    isUncounted: isPartial,
    facets: isPartial ? facets.filter((facet) => facet !== undefined) : (facets as Listing['facets']),
    alternatives,
  };
  return inStep(site, tour, () => ({ status: 200, html: htmlOf(listing), isPassing: isPartial }));
}

function htmlOf(listing: Listing): Buffer {
  const { site, tour, collection } = listing;
  return framed(site, tour, {
    title: titleOf(listing),
    about: {
      path: `browse/${collection.declaration.name}/`,
      description: collectionSentence(collection.declaration),
      head: feedLink(collection.declaration, listing.pairs),
    },
    crumbs: [{ label: collectionLabel(collection.declaration.name) }],
    main: mainOf(listing),
  });
}

/** Adds facets, unless the query already has some. */
function withFacets(pairs: readonly Pair[], names: readonly string[]): readonly Pair[] {
  if (names.length === 0 || pairs.some(([name]) => name === 'facets')) return pairs;
  return [...pairs, ['facets', names.join(',')]];
}

type Around = Pick<Listing, 'site' | 'tour' | 'collection' | 'pairs'>;

/**
 * The facets of a list. Those with conditions that their links change are counted again without these: undefined if
 * that takes too long. Cost: a list for each of these.
 */
async function listFacets(
  { site, tour, collection, pairs }: Around,
  facets: Listing['hits']['facets'],
): Promise<readonly (ListFacet | undefined)[]> {
  const hasCondition = ({ name }: ListFacet): boolean => pairs.some(([key]) => isConditionOf(name, key));
  // The same object, by which facets.ts remembers the panels.
  if (!facets.some(hasCondition)) return facets;
  const all: (ListFacet | undefined)[] = [];
  for (const facet of facets) {
    if (!hasCondition(facet)) {
      all.push(facet);
      continue;
    }
    const others = fromStart(pairs.filter(([key]) => !isConditionOf(facet.name, key)));
    const query = queryTextOf([
      ...withoutNames(others, 'facets', 'limit', 'ordering'),
      ['facets', facet.name],
      ['limit', '1'],
    ]);
    const found = await foundList(site, tour, collection, query);
    all.push(found.kind === 'found' ? found.hits.facets[0] : undefined);
  }
  return all;
}

/** Queries that are tried for a list without records. */
const ALTERNATIVES_MAX = 8;

/** The queries with one condition or one word less that find records, the most first. Cost: a list for each. */
async function alternativesTo(
  { site, tour, collection, pairs }: Around,
  shown: readonly Pair[],
): Promise<readonly Alternative[]> {
  const less = shown.map((without) => ({ without, pairs: pairs.filter((pair) => pair !== without) }));
  const words = shown.filter(([name]) => name === 'search').flatMap((pair) => withoutWords(pairs, pair));
  const alternatives: Alternative[] = [];
  for (const one of [...words, ...less].slice(0, ALTERNATIVES_MAX)) {
    const query = queryTextOf([...withoutNames(fromStart(one.pairs), 'limit', 'facets', 'ordering'), ['limit', '1']]);
    const found = await foundList(site, tour, collection, query);
    if (found.kind === 'found' && found.hits.count > 0) alternatives.push({ ...one, count: found.hits.count });
  }
  return alternatives.sort((a, b) => b.count - a.count);
}

/** Queries with one word less of a search of several words. */
function withoutWords(pairs: readonly Pair[], search: Pair): readonly Pick<Alternative, 'without' | 'pairs'>[] {
  const words = search[1].match(/"[^"]*"?|[^\s"]+/g) ?? [];
  if (words.length < 2) return [];
  return words.map((word, i) => ({
    without: ['search', word],
    pairs: pairs.map((pair) => (pair === search ? ['search', words.toSpliced(i, 1).join(' ')] : pair)),
  }));
}

function titleOf({ collection: { declaration }, hits }: Listing): string {
  const place = hits.offset > 0 ? `, from ${countText(hits.offset + 1)}` : '';
  return `${collectionLabel(declaration.name)}: ${amountOf(hits.count, 'record')}${place}`;
}

function mainOf(listing: Listing): Markup {
  const { site, collection, hits, tour, query, hasWays, hasChoices } = listing;
  const { declaration, rows } = collection;
  const total = hits.count === rows ? countText(rows) : `${countText(hits.count)} of ${countText(rows)}`;
  const records = hits.count === 1 && rows === 1 ? 'record' : 'records';
  const label = collectionLabel(declaration.name);
  return html`<a class="skip" href="#filters">Skip to filters</a><a class="skip" href="#results">Skip to results</a>
    <div class="title">
      <h1>${label}</h1>
      <p class="lead">${collectionSentence(declaration)}</p>
    </div>
    ${hasChoices && findForm(site, collection, listing.pairs)}
    <div class="summary">
      <p class="total" role="status"><strong>${total}</strong> ${records}</p>
      ${hasWays && dataLinks(listing)} ${ignoredNote(listing)}
    </div>
    ${chips(listing)}
    <div class="columns">
      <aside class="filters" id="filters" tabindex="-1" aria-label="Filters">
        <details class="fold">
          <summary>Filters and map</summary>
          <div>${resultMap(listing)} ${drawFilters(listing)}</div>
        </details>
      </aside>
      <div id="results" tabindex="-1">
        ${hasWays && pageLinksNav(listing, 'above')} ${hits.count === 0 ? nothingFound(listing) : recordTable(listing)}
        ${rangeOf(listing)} ${hasWays && pageLinksNav(listing, 'below')} ${requestPanel(tour, query, !hasWays)}
      </div>
    </div>`;
}

/** The reason for an empty list, and the conditions without which it has records. */
function nothingFound(listing: Listing): Markup {
  const { collection, alternatives } = listing;
  if (collection.rows === 0) return html`<p class="nothing">This collection has no records.</p>`;
  if (alternatives.length === 0) return html`<p class="nothing">No record matches. Remove a filter, or change one.</p>`;
  const links = alternatives.map(
    ({ without, pairs, count }) =>
      html`<li>
        <a href="${queryOf(fromStart(pairs))}" rel="nofollow"
          >Without &ldquo;<bdi>${wordFilter(listing, without)?.text}</bdi>&rdquo;</a
        >
        <span class="count">${amountOf(count, 'record')}</span>
      </li>`,
  );
  return html`<div class="nothing">
    <p>No record matches all of this.</p>
    <ul>
      ${links}
    </ul>
  </div>`;
}

/** The forms and facets that lead to other lists. */
function drawFilters(listing: Listing): Markup {
  if (!listing.hasChoices) {
    return html`<p class="note">
        The address of this page is too long for
        choices${!listing.hasWays && ' and for links to other pages and to data'}. Remove a filter to get them.
      </p>
      ${facetPanels(listing)}`;
  }
  const uncounted =
    listing.isUncounted &&
    html`<p class="note">Counts by value are missing, because the server is busy. Try again shortly.</p>`;
  return html`${uncounted} ${facetPanels(listing)} ${filterForm(listing)} ${columnChoice(listing)}`;
}

/** Longer names are cut. */
const NAME_CHARACTERS_MAX = 160;

/** Parameters without a meaning for exports, which reject them in strict mode. */
const NOT_EXPORTED = ['facets', 'pretty'];

function dataLinks({ tour, site, pairs }: Listing): Markup {
  const list = apiPath(tour);
  const as = (format: string): string => `${list}${queryOf(withValue(pairs, 'format', format))}`;
  const whole = withoutNames(fromStart(pairs), 'limit', ...NOT_EXPORTED);
  const all = (format: string): string => `${list}${queryOf(withValue(whole, 'format', format))}`;
  const explain =
    site.queryOptions.mayExplain === true &&
    html`<li>
      <a href="${list}${queryOf(withValue(withValue(pairs, 'format', 'json'), 'explain', '1'))}" rel="nofollow"
        >explain</a
      >
    </li>`;
  return html`<ul class="data" aria-label="This list as data">
    <li><a href="${as('json')}" rel="nofollow">JSON</a></li>
    <li><a href="${all('ndjson')}" rel="nofollow" title="All records, one a line">NDJSON</a></li>
    <li><a href="${all('csv')}" rel="nofollow" title="All records as a table">CSV</a></li>
    <li><a href="${all('parquet')}" rel="nofollow" title="All records as typed columns">Parquet</a></li>
    ${explain}
  </ul>`;
}

/** Lists the parameters without effect, each with the message that strict mode would return. */
function ignoredNote({ ask: { ignored }, collection, query, site, pairs, hasWays }: Listing): Markup | false {
  if (ignored.length === 0) return false;
  const hints = hintsFor(collection, query, site.queryOptions);
  const names = ignored.slice(0, PAGE_ROWS_MAX).map((name) => {
    const text = cut(typeof name === 'string' ? name : name.join('='), NAME_CHARACTERS_MAX);
    const said = typeof name === 'string' ? (hints.get(name)?.at(-1) ?? '') : '';
    return html`<li>
      <code><bdi>${text}</bdi></code
      >: <bdi>${cut(said, NAME_CHARACTERS_MAX)}</bdi>
    </li>`;
  });
  return html`<div class="note">
    <p>Without effect:</p>
    <ul>
      ${names}
    </ul>
    ${hasWays && html`<a href="${queryOf(withValue(pairs, 'strict', '1'))}" rel="nofollow">Correct the address</a>`}
  </div>`;
}

/** The parameters that decide which records a list has, and `after`. */
function shownFilters({ site, pairs, ask }: Pick<Listing, 'site' | 'pairs' | 'ask'>): readonly Pair[] {
  const others = withoutFilters(pairs, site.queryOptions);
  const inactive = new Set<unknown>([...others.map(([name]) => name), ...ask.ignored]);
  const lasts = new Set(['after', ...FOUND_BY].map((name) => pairs.findLast((pair) => pair[0] === name)));
  return pairs.filter((pair) => lasts.has(pair) || !inactive.has(pair[0]));
}

/** The active filters, each with a link to the list without it. */
function chips(listing: Listing): Markup | false {
  const { site, pairs } = listing;
  const shown = shownFilters(listing);
  if (shown.length === 0) return false;
  const chip = (pair: Pair): Markup | readonly [] => {
    const words = wordFilter(listing, pair);
    if (!words) return [];
    const { label, comparison, value, text } = words;
    const rest = pairs.filter((each) => each !== pair);
    const remove = isRepeatable(rest) && queryOf(fromStart(rest));
    return html`<li>
      <span
        ><bdi>${label}</bdi> ${comparison} <strong><bdi>${value}</bdi></strong></span
      >${remove && html`<a href="${remove}" rel="nofollow" aria-label="Remove: ${text}">&times;</a>`}
    </li>`;
  };
  const without = fromStart(withoutNames(withoutFilters(pairs, site.queryOptions), ...FOUND_BY));
  const clear =
    shown.length > 1 &&
    isRepeatable(without) &&
    html`<li class="clear"><a href="${queryOf(without)}" rel="nofollow">Remove all</a></li>`;
  return html`<ul class="chips" aria-label="Filters that hold">
    ${shown.flatMap(chip)}${clear}
  </ul>`;
}
