// The page at /docs/: collections, parameters, lookups, formats, problems and guides, from their declarations. Swagger
// UI (/docs/api/) loads 1.5 MB of scripts, so it is only a link here.
import { COLLECTIONS, EXPORT_FORMATS, EXPORT_TYPES, LOOKUPS } from '../../../engine/engine.ts';
import { collectionSentence } from '../../../engine/described.ts';
import { countText } from '../../observe/quantities.ts';
import { failures, offeredParameters, RESPONSES } from '../openapi/responses.ts';
import { framed } from './frame.ts';
import type { BrowsePage, Site, Tour } from './site.ts';
import { smallTable } from './table.ts';
import { type Child, html, type Markup } from './template.ts';

/** The documents of the package for people who use the API. */
const GUIDES = [
  ['server/catalogue/README.md', 'Pages, filters, parameters, exports and caching, in curl, Python, R and JavaScript'],
  ['server/catalogue/EXPORTS.md', 'Whole lists as NDJSON, CSV and Parquet, and the programs that read them'],
  ['server/catalogue/DJANGO.md', 'Differences from Django REST Framework'],
  ['engine/query/FILTERS.md', 'Every field of every collection with its type and lookups'],
  ['engine/schema/ASSUMPTIONS.md', 'Decisions that the specification leaves open'],
] as const;

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
    ${section('Formats', ['Format', 'Media type'], FORMATS, 'By parameter (format=csv), ending (.csv) or Accept.')}
    ${section('Problems', ['Status', 'Reason', 'Response'], problemRows(queryOptions.pinsWalks === true), PROBLEMS)}
    ${section('Guides', ['File in the package', 'Contents'], GUIDES)}`;
  return { status: 200, html: framed(site, tour, { title, crumbs: [{ label: title }], main }) };
}

const FILTERS = html`A filter is <code>field=value</code> or <code>field__lookup=value</code>, with <code>!</code> after
  either to negate. A link is a step to the fields of other records: <code>projects__title__contains=ice</code>.`;
const PROBLEMS = 'Lists respond with these statuses besides 200. A 400 names each wrong parameter with its reasons.';

/** The responses of lists other than 200, as the OpenAPI document describes them. */
function problemRows(pinsWalks: boolean): readonly (readonly Child[])[] {
  return Object.entries(failures('list', pinsWalks)).flatMap(([status, reference]) => {
    const { $ref } = reference as { readonly $ref: string };
    const { description, content } = RESPONSES[$ref.split('/').at(-1)!] as DescribedResponse;
    const example = content?.['application/json']?.example;
    const body = example === undefined ? '' : html`<code>${JSON.stringify(example)}</code>`;
    return [[status === 'default' ? 'other' : status, withCode(description ?? ''), body]];
  });
}

interface DescribedResponse {
  readonly description?: string;
  readonly content?: Readonly<Record<string, { readonly example?: unknown }>>;
}

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
