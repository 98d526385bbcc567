// The start page: what the catalogue contains, how old its data is, and where its interfaces are.
import { countText } from '../../observe/quantities.ts';
import { COLLECTIONS } from '../../../engine/engine.ts';
import { collectionLabel, collectionSentence } from '../../../engine/described.ts';
import { BROWSE_PREFIX } from './address.ts';
import { type BrowsePage, isFiltered, type Site, type Tour } from './site.ts';
import { amountOf, framed } from './frame.ts';
import { html, type Markup } from './template.ts';

/** The field that is searched, if a collection has it. */
export const SEARCH_FIELD = 'title';
/** Parameters of the search form. */
export const SEARCH = { text: `${BROWSE_PREFIX}text`, collection: `${BROWSE_PREFIX}in` } as const;

/** Cost: a lookup for each collection. */
export function startPage(site: Site, tour: Tour): BrowsePage {
  const title = 'Catalogue';
  return { status: 200, html: framed(site, tour, { title, crumbs: [], main: mainOf(site, tour) }) };
}

function mainOf(site: Site, tour: Tour): Markup {
  const { up, baseUrl } = tour;
  const counts = COLLECTIONS.map((declared) => ({ declared, rows: site.collections(declared.name).rows }));
  const total = counts.reduce((sum, { rows }) => sum + rows, 0);
  const largest = Math.max(...counts.map(({ rows }) => rows), 1);
  const rows = counts.map(
    ({ declared, rows: count }) =>
      html`<li>
        <a href="${up}browse/${declared.name}/">${collectionLabel(declared.name)}</a
        ><span class="count">${countText(count)}</span>
        <meter min="0" max="${largest}" value="${count}" aria-hidden="true"></meter>
        <p>${collectionSentence(declared)}</p>
      </li>`,
  );
  return html`<div class="title hero">
      <h1>Catalogue</h1>
      <p class="lead">${amountOf(total, 'record')} in ${COLLECTIONS.length} collections${ageOf(site)}.</p>
    </div>
    ${searchForm(site, tour)}
    <section aria-labelledby="collections">
      <h2 id="collections">Collections</h2>
      <ul class="collections">
        ${rows}
      </ul>
    </section>
    <section aria-labelledby="interfaces">
      <h2 id="interfaces">For programs</h2>
      <dl class="interfaces">
        <div>
          <dt><a href="${up}docs/">API documentation</a></dt>
          <dd>Every collection, parameter and field, to read and to try.</dd>
        </div>
        <div>
          <dt>
            API <a href="${up}api/v3/?format=json">version 3</a> and <a href="${up}api/v2/?format=json">version 2</a>
          </dt>
          <dd><code>${baseUrl}/api/v3/</code></dd>
        </div>
        <div>
          <dt>OpenAPI <a href="${up}openapi.json">JSON</a>, <a href="${up}openapi.yaml">YAML</a></dt>
          <dd>The same for machines, with every spelling of a path.</dd>
        </div>
        ${
          site.trustedHosts() !== undefined &&
          html`<div>
            <dt><a href="${up}browse/authority/">Attribute authority</a></dt>
            <dd>Certificates of what people may do, over SOAP.</dd>
          </div>`
        }
        <div>
          <dt>Generation of the data</dt>
          <dd><code class="long">${site.generation}</code></dd>
        </div>
      </dl>
    </section>`;
}

/** For older data, the page shows the date instead of the age. */
const DAYS_MAX = 60;

/** The age of the data in days or hours if there is more than one, otherwise in minutes. */
function ageOf({ created, epochMs }: Site): Markup | false {
  const made = created === undefined ? NaN : Date.parse(created);
  const minutes = Math.floor((epochMs() - made) / 60_000);
  if (!(minutes >= 0)) return false;
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (days > DAYS_MAX)
    return html`, as they were on <time datetime="${created}">${new Date(made).toISOString().slice(0, 10)}</time>`;
  const age = days > 1 ? amountOf(days, 'day') : hours > 1 ? amountOf(hours, 'hour') : amountOf(minutes, 'minute');
  return html`, as they were <time datetime="${created}">${age} ago</time>`;
}

/** The search form for titles. The collection with the most records is preselected. */
function searchForm(site: Site, { up }: Tour): Markup | false {
  const titled = COLLECTIONS.filter(
    (one) => site.collections(one.name).members.has(SEARCH_FIELD) && isFiltered(site.queryOptions, one, SEARCH_FIELD),
  );
  if (titled.length === 0) return false;
  const rowsOf = (name: string): number => site.collections(name).rows;
  const largest = titled.reduce((best, one) => (rowsOf(one.name) > rowsOf(best.name) ? one : best));
  const options = titled.map(
    ({ name }) =>
      html`<option value="${name}" ${name === largest.name && html` selected`}>${collectionLabel(name)}</option>`,
  );
  return html`<form method="get" action="${up}browse/" class="search" role="search">
    <label for="text">Search titles for a word or phrase</label>
    <div>
      <input
        id="text"
        type="search"
        name="${SEARCH.text}"
        required
        autocomplete="off"
        aria-describedby="phrase"
      /><select name="${SEARCH.collection}" aria-label="Collection">
        ${options}</select
      ><button>Search</button>
    </div>
    <p class="hint" id="phrase">Words are found together, in the order in which they are typed, in any case.</p>
  </form>`;
}
