// The page at /docs/: collections, parameters, lookups and formats, from their declarations. Swagger UI (/docs/api/)
// loads 1.5 MB of scripts, so it is only a link here.
import { COLLECTIONS, EXPORT_FORMATS, EXPORT_TYPES, LOOKUPS } from '../../../engine/engine.ts';
import { collectionSentence } from '../../../engine/described.ts';
import { countText } from '../../observe/quantities.ts';
import { offeredParameters } from '../openapi/responses.ts';
import { framed } from './frame.ts';
import type { BrowsePage, Site, Tour } from './site.ts';
import { smallTable } from './table.ts';
import { type Child, html, type Markup } from './template.ts';

const FORMATS = [['api, json', 'application/json'], ...EXPORT_FORMATS.map((name) => [name, EXPORT_TYPES[name]])];

/** Cost: a lookup for each collection. */
export function docsPage(site: Site, tour: Tour): BrowsePage {
  const { up, baseUrl } = tour;
  const { queryOptions } = site;
  const title = 'API documentation';
  const collections = COLLECTIONS.map((declared) => {
    const { name, title } = declared;
    return [
      html`<a href="${up}browse/${name}/">${title}</a>`,
      html`<code>/api/v3/${name}/</code>`,
      countText(site.collections(name).rows),
      collectionSentence(declared),
      html`<a href="api/#/${encodeURIComponent(title)}" aria-label="Try ${title}">Try</a>`,
    ];
  });
  const parameters = offeredParameters(queryOptions).map(({ name, views, value, meaning }) => [
    html`<code>${name}</code>`,
    views.join(', '),
    withCode(value),
    withCode(meaning),
  ]);
  const lookups = LOOKUPS.map(({ name, group, meaning }) => [
    html`<code>${name}</code>`,
    group,
    `The field ${meaning}.`,
  ]);
  const main = html`<div class="title">
      <h1>${title}</h1>
      <p class="lead">
        Every list is at <code>${baseUrl}/api/v3/</code> and the path of its collection. It is read only.
      </p>
    </div>
    <div class="summary">
      <ul class="data" aria-label="Descriptions of the API">
        <li><a href="api/">Try requests in Swagger UI</a></li>
        <li><a href="${up}openapi.json">OpenAPI as JSON</a></li>
        <li><a href="${up}openapi.yaml">OpenAPI as YAML</a></li>
      </ul>
    </div>
    ${section('Collections', ['Collection', 'Path', 'Records', 'Contents', 'Requests'], collections)}
    ${section('Parameters', ['Parameter', 'Views', 'Value', 'Meaning'], parameters)}
    ${section('Filters', ['Lookup', 'Fields', 'Finds records in which'], lookups, FILTERS)}
    ${section('Formats', ['Format', 'Media type'], FORMATS, 'By parameter (format=csv), ending (.csv) or Accept.')}`;
  return { status: 200, html: framed(site, tour, { title, crumbs: [{ label: title }], main }) };
}

const FILTERS = html`A filter is <code>field=value</code> or <code>field__lookup=value</code>, with <code>!</code> after
  either to negate. A link is a step to the fields of other records: <code>projects__title__contains=ice</code>.`;

function section(
  title: string,
  heads: readonly string[],
  rows: readonly (readonly Child[])[],
  lead: Child = false,
): Markup {
  const id = title.toLowerCase();
  return html`<section class="docs" aria-labelledby="${id}">
    <h2 id="${id}">${title}</h2>
    ${lead !== false && html`<p>${lead}</p>`} ${smallTable(`Table of ${id}`, heads, rows)}
  </section>`;
}

/** A text of a declaration, with what is between backticks as code. */
function withCode(text: string): Child {
  return text.split('`').map((part, i) => (i % 2 === 0 ? part : html`<code>${part}</code>`));
}
