// The parts that surround every page: head, top bar, breadcrumbs, the API request as a command, and footer.
import { apiAddress } from './address.ts';
import { instantText, type Site, type Tour } from './site.ts';
import { type Child, html, type Markup, utf8Of } from './template.ts';
import { countText } from '../../observe/quantities.ts';
import { scriptPath, stylePath } from './assets.ts';

/**
 * The API request of a page as an address, a curl command and a Python program. If the query is long, only the address.
 * `query` is encoded. browse.js adds buttons that copy them.
 */
export function requestPanel(tour: Tour, query: string, isLong = false): Markup {
  const address = apiAddress(tour, query);
  return html`<details class="request">
    <summary>API request</summary>
    ${snippet('Address', address)} ${!isLong && programs(address)}
  </details>`;
}

function programs(address: string): Markup {
  const python = `import requests\n\nanswer = requests.get(${JSON.stringify(address)})\nanswer.raise_for_status()\nprint(answer.json())`;
  return html`${snippet('curl', `curl '${address.replaceAll("'", '%27')}'`)} ${snippet('Python', python)}`;
}

function snippet(name: string, text: string): Markup {
  return html`<div class="snippet">
    <h2>${name}</h2>
    <pre data-copy="${name}" tabindex="0"><code>${text}</code></pre>
  </div>`;
}

/** A breadcrumb. The last one of a page has no address. */
interface Crumb {
  readonly label: Child;
  readonly href?: string;
}

/** The parts in which pages differ. */
interface PageContent {
  readonly title: string;
  readonly crumbs: readonly Crumb[];
  readonly main: Markup;
}

/** Digits of the generation in the footer, as many as `serve` prints. */
const GENERATION_DIGITS = 12;

export function framed(
  site: Site,
  { up, query }: Pick<Tour, 'up' | 'query'>,
  { title, crumbs, main }: PageContent,
): Buffer {
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        ${query !== undefined && html`<meta name="robots" content="noindex, follow" />`}
        <title>${title}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="${up}${stylePath()}" />
        <script src="${up}${scriptPath()}" type="module"></script>
      </head>
      <body>
        <a class="skip" href="#main">Skip to content</a>
        <header class="bar">
          <a class="brand" href="${up}browse/">Catalogue</a>
          <nav aria-label="Site">
            <a href="${up}docs/">API documentation</a>${
              site.trustedHosts() !== undefined && html`<a href="${up}browse/authority/">Attribute authority</a>`
            }
          </nav>
        </header>
        ${crumbs.length > 0 && trail(crumbs)}
        <main id="main" tabindex="-1">${main}</main>
        <footer class="foot">
          <p>
            Generation <code>${site.generation.slice(0, GENERATION_DIGITS)}</code>${
              site.created !== undefined &&
              html` of <time datetime="${site.created}">${instantText(site.created) ?? site.created}</time>`
            }.
            Read only; every page has the same path as the API behind it.
          </p>
        </footer>
      </body>
    </html> `;
  return utf8Of(page);
}

function trail(crumbs: readonly Crumb[]): Markup {
  const steps = crumbs.map(({ label, href }) =>
    href === undefined
      ? html`<li aria-current="page"><bdi>${label}</bdi></li>`
      : html`<li>
          <a href="${href}"><bdi>${label}</bdi></a>
        </li>`,
  );
  return html`<nav class="crumbs" aria-label="Breadcrumb">
    <ol>
      ${steps}
    </ol>
  </nav>`;
}

/** A count with its noun: `1 record`, `12 records`. */
export function amountOf(count: number, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`;
}
