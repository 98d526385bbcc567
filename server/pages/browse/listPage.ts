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
  REPEATED_PARAMETERS_MAX,
  withoutFilters,
  withoutNames,
  withValue,
} from './address.ts';
import { type FindResult, foundList, PAGE_ROWS_MAX, pageRowsMax } from './find.ts';
import {
  columnChoice,
  dateForms,
  facetPanels,
  FACETS_SHOWN_MAX,
  filterForm,
  FORM_NAMES,
  hiddenInputs,
} from './facets.ts';
import { type Listing, pagePairs } from './listing.ts';
import { html, type Markup } from './template.ts';
import { type Collection, hintsFor } from '../../../engine/engine.ts';
import { feedLink } from './feed.ts';
import { collectionLabel, collectionSentence, describeFilter, type FilterField } from '../../../engine/described.ts';
import { inStep, missedPage, refusedPage } from './errorPage.ts';
import { type BrowsePage, fieldsOf, type Site, type Tour } from './site.ts';
import { amountOf, framed, requestPanel } from './frame.ts';
import { recordTable } from './table.ts';
import { cut, labelOf } from './values.ts';

/** Page sizes that are offered in addition to the maximum. */
const SIZES = [10, 25, 50];

function rangeOf({ ask: { page }, hits }: Listing): Markup | false {
  if (hits.count === 0) return false;
  const first = hits.offset + 1;
  const last = Math.min(hits.count, hits.offset + page.limit);
  if (first > hits.count) return html`<p class="range">Behind the last of ${countText(hits.count)} records.</p>`;
  return html`<p class="range">${countText(first)} to ${countText(last)} of ${countText(hits.count)}</p>`;
}

/** Links to the first, previous, next and last page, and forms that open any other. */
function pageLinksNav(listing: Listing): Markup | false {
  const { ask, hits, pairs, hasChoices } = listing;
  const { limit } = ask.page;
  if (hits.count === 0) return false;
  const last = Math.max(0, Math.floor((hits.count - 1) / limit) * limit);
  const { offset } = hits;
  const at = (place: number): string => queryOf(placed(pairs, place));
  const link = (label: string, place: number, isThere: boolean, rel?: string): Markup =>
    isThere
      ? html`<li><a href="${at(place)}" ${rel !== undefined && html` rel="${rel}"`}>${label}</a></li>`
      : html`<li><span aria-disabled="true">${label}</span></li>`;
  return html`<nav class="pages" aria-label="Pages">
    <ul>
      ${link('First', 0, offset > 0)}
      ${link('Previous', Math.max(0, Math.min(offset, last + limit) - limit), offset > 0, 'prev')}
      ${link('Next', offset + limit, offset + limit < hits.count, 'next')} ${link('Last', last, offset < last)}
    </ul>
    ${hasChoices && otherPages(listing)}
  </nav>`;
}

/** Forms that open any position of the list or any record of the collection, and links to other page sizes. */
function otherPages({ site, collection, ask, hits, pairs }: Listing): Markup {
  const { limit } = ask.page;
  const most = pageRowsMax(site);
  const sizes = [...SIZES.filter((size) => size < most), most].map((size) =>
    size === limit
      ? html`<li><span aria-current="true">${size}</span></li>`
      : html`<li>
          <a href="${queryOf(withValue(fromStart(pairs), 'limit', String(size)))}" rel="nofollow">${size}</a>
        </li>`,
  );
  return html`<form method="get" class="jump">
      ${hiddenInputs(fromStart(pairs))}<label
        >Go to position
        <input
          type="number"
          name="${FORM_NAMES.position}"
          min="1"
          max="${hits.count}"
          value="${hits.offset + 1}"
          required
          aria-describedby="positions" /></label
      ><span id="positions">of ${countText(hits.count)}</span><button>Go</button>
    </form>
    <form method="get" class="jump">
      ${hiddenInputs(pairs)}<label
        >Open by ${collection.declaration.idField}
        <input type="number" name="${FORM_NAMES.id}" min="0" required /></label
      ><button>Open</button>
    </form>
    <div class="sizes">
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
  const fields = fieldsOf(site, declared);
  const pairs = pagePairs(tour.query, pageRowsMax(site), site.queryOptions);
  const hasChoices = pairs !== undefined && isRepeatable(pairs);
  const query = pairs ? queryTextOf(pairs) : tour.query;
  const counted = hasChoices ? queryTextOf(withFacets(pairs, fields)) : query;
  const first = await foundList(site, tour, collection, counted);
  // The page adds the counts itself. If the server is too busy, a second query without them may still find the rows at
  // once. A query that took too long is not repeated.
  const isUncounted = first.kind === 'missed' && first.why === 'busy' && counted !== query;
  const found: FindResult = isUncounted ? await foundList(site, tour, collection, query) : first;
  if (found.kind === 'refused') return refusedPage(site, tour, declared, { problems: found.ask.problems, pairs });
  if (found.kind === 'missed') return missedPage(site, tour, found.why);
  const { ask } = found.list;
  const { hits } = found;
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
    isUncounted,
  };
  const time = `${found.milliseconds.toFixed(found.milliseconds < 10 ? 1 : 0)} ms`;
  return inStep(site, tour, () => ({ status: 200, html: htmlOf(listing), time, isPassing: isUncounted }));
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
    crumbs: [{ label: 'Catalogue', href: `${tour.up}browse/` }, { label: collection.declaration.title }],
    main: mainOf(listing),
  });
}

/** Adds the counts of each field whose values are enumerated, unless the query already has `facets`. */
function withFacets(pairs: readonly Pair[], fields: readonly FilterField[]): readonly Pair[] {
  if (pairs.some(([name]) => name === 'facets')) return pairs;
  const names = fields.filter(({ values }) => values.length > 0).map(({ key }) => key);
  return names.length === 0 ? pairs : [...pairs, ['facets', names.slice(0, FACETS_SHOWN_MAX).join(',')]];
}

function titleOf({ collection: { declaration }, hits }: Listing): string {
  const place = hits.offset > 0 ? `, from ${countText(hits.offset + 1)}` : '';
  return `${collectionLabel(declaration.name)}: ${amountOf(hits.count, 'record')}${place}`;
}

function mainOf(listing: Listing): Markup {
  const { collection, hits, tour, query, hasWays } = listing;
  const { declaration, rows } = collection;
  const total = hits.count === rows ? countText(rows) : `${countText(hits.count)} of ${countText(rows)}`;
  const records = hits.count === 1 && rows === 1 ? 'record' : 'records';
  return html`<div class="title">
      <h1>${declaration.title}</h1>
      <p class="lead">${collectionSentence(declaration)}</p>
    </div>
    <div class="summary">
      <p class="total" role="status"><strong>${total}</strong> ${records} <span class="quiet">in ${TIME}</span></p>
      ${hasWays && dataLinks(listing)} ${ignoredNote(listing)}
    </div>
    ${chips(listing)}
    <div class="columns">
      <div class="found">
        ${hits.count === 0 ? html`<p class="nothing">${nothingSaid(collection)}</p>` : recordTable(listing)}
        ${rangeOf(listing)} ${hasWays && pageLinksNav(listing)} ${requestPanel(tour, query, !hasWays)}
      </div>
      <aside class="filters" aria-label="Filters">${choicesOf(listing)}</aside>
    </div>`;
}

/** The reason for an empty list. Filters cannot be the reason if the collection is empty. */
function nothingSaid({ rows }: Listing['collection']): string {
  return rows === 0 ? 'This collection has no records.' : 'No record matches. Take a filter away, or change one.';
}

/** The forms and facets that lead to other lists. */
function choicesOf(listing: Listing): Markup {
  if (!listing.hasChoices) {
    const { pairs, hasWays } = listing;
    const isMany = pairs.length > REPEATED_PARAMETERS_MAX;
    const what = isMany ? 'has too many parameters' : 'is too long';
    const where = hasWays ? 'choices' : 'choices and in links to other pages and to data';
    const cure = isMany ? 'some parameters' : 'a long filter';
    return html`<p class="note">
        The address of this page ${what} to be repeated in ${where}. Take ${cure} away to have them.
      </p>
      ${facetPanels(listing)}`;
  }
  const uncounted =
    listing.isUncounted &&
    html`<p class="note">Without counts by value: too much is under way for them. Try again shortly.</p>`;
  return html`${filterForm(listing)} ${uncounted} ${facetPanels(listing)} ${dateForms(listing)} ${columnChoice(listing)}`;
}

/** Longer values of filters (such as lists of ids) and longer names are cut. */
const CHIP_CHARACTERS_MAX = 160;

const TIME = html`<!--time-->`;

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
    const text = cut(typeof name === 'string' ? name : name.join('='), CHIP_CHARACTERS_MAX);
    const said = typeof name === 'string' ? (hints.get(name)?.at(-1) ?? '') : '';
    return html`<li>
      <code><bdi>${text}</bdi></code
      >: <bdi>${cut(said, CHIP_CHARACTERS_MAX)}</bdi>
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

/** The active filters, each with a link to the list without it. */
function chips({ site, tour, collection, pairs, ask }: Listing): Markup | false {
  const others = withoutFilters(pairs, site.queryOptions);
  const inactive = new Set<unknown>([...others.map(([name]) => name), ...ask.ignored]);
  const after = pairs.findLast(([name]) => name === 'after');
  const shown = pairs.filter((pair) => pair === after || !inactive.has(pair[0]));
  if (shown.length === 0) return false;
  const chip = (pair: Pair): Markup => {
    const words = describeFilter(collection, pair, (to, row) => labelOf(site, tour, to, row));
    const { label, comparison, value: text } = words ?? { label: pair[0], comparison: '', value: pair[1] };
    const value = cut(text, CHIP_CHARACTERS_MAX);
    const rest = pairs.filter((each) => each !== pair);
    const remove = isRepeatable(rest) && queryOf(fromStart(rest));
    const said = [label, comparison, value].filter(Boolean).join(' ');
    return html`<li>
      <span
        ><bdi>${label}</bdi> ${comparison} <strong><bdi>${value}</bdi></strong></span
      >${remove && html`<a href="${remove}" rel="nofollow" aria-label="Remove: ${said}">&times;</a>`}
    </li>`;
  };
  const without = fromStart(others);
  const clear =
    shown.length > 1 &&
    isRepeatable(without) &&
    html`<li class="clear"><a href="${queryOf(without)}" rel="nofollow">Remove all</a></li>`;
  return html`<ul class="chips" aria-label="Filters that hold">
    ${shown.map(chip)}${clear}
  </ul>`;
}
