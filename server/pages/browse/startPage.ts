// The start page: what the catalogue contains, how old its data is, and where its interfaces are.
import { countText } from '../../observe/quantities.ts';
import { COLLECTIONS } from '../../../engine/engine.ts';
import { COLLECTION_GROUPS, collectionLabel, collectionSentence } from '../../../engine/described.ts';
import type { BrowsePage, Site, Tour } from './site.ts';
import { amountOf, drawTime, framed, searchForm } from './frame.ts';
import { html, type Markup } from './template.ts';

/** Cost: a lookup for each collection. */
export function startPage(site: Site, tour: Tour): BrowsePage {
  const total = COLLECTIONS.reduce((sum, { name }) => sum + site.collections(name).rows, 0);
  const amount = `${amountOf(total, 'record')} in ${COLLECTIONS.length} collections`;
  const about = { path: 'browse/', description: `${amount}: ${FIRST.map(collectionLabel).join(', ')} and more.` };
  return { status: 200, html: framed(site, tour, { crumbs: [], about, main: mainOf(site, tour, amount) }) };
}

const [{ names: FIRST } = { names: [] }, ...OTHERS] = COLLECTION_GROUPS;

function mainOf(site: Site, tour: Tour, amount: string): Markup {
  const { up, baseUrl } = tour;
  const groups = OTHERS.map(
    ({ heading, names }) =>
      html`<section class="group">
        <h3>${heading}</h3>
        <ul class="collections">
          ${names.map((name) => drawEntry(site, tour, name))}
        </ul>
      </section>`,
  );
  return html`<div class="title hero">
      <h1>${site.settings.siteName}</h1>
      <p class="lead">${amount}${site.created !== undefined && html`, as of ${drawTime(site.created)}`}.</p>
    </div>
    <div class="cards">${FIRST.map((name) => drawCard(site, tour, name))}</div>
    <section aria-labelledby="collections">
      <h2 id="collections">More collections</h2>
      <div class="groups">${groups}</div>
    </section>
    <p class="quiet">
      Programs read the same records at <code>${baseUrl}/api/v3/</code>: <a href="${up}docs/">API documentation</a>
    </p>`;
}

/** A collection with its search. */
function drawCard(site: Site, { up }: Tour, name: string): Markup {
  const label = collectionLabel(name);
  return html`<section class="card">
    <h2><a href="${up}browse/${name}/">${label}</a></h2>
    <p class="total"><strong>${countText(site.collections(name).rows)}</strong></p>
    <p>${collectionSentence({ name })}</p>
    ${searchForm(up, name)}
  </section>`;
}

function drawEntry(site: Site, { up }: Tour, name: string): Markup {
  return html`<li>
    <a href="${up}browse/${name}/">${collectionLabel(name)}</a
    ><span class="count">${countText(site.collections(name).rows)}</span>
    <p>${collectionSentence({ name })} <code>${name}</code></p>
  </li>`;
}
