// The parts that surround every page: head, top bar, breadcrumbs, the API request as a command, and footer.
import { collectionLabel, inSentence } from '../../../engine/described.ts';
import { apiAddress } from './address.ts';
import { instantText, type Site, type Tour } from './site.ts';
import { type Child, html, type Markup, utf8Of } from './template.ts';
import { countText } from '../../observe/quantities.ts';
import { assetPath } from './assets.ts';
import { cutAtWord } from './values.ts';

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

/** A breadcrumb after that of the start page. The last one of a page has no address. */
interface Crumb {
  readonly label: Child;
  readonly href?: string;
}

/** The parts in which pages differ. */
interface PageContent {
  /** Without the name of the site. The start page has none. */
  readonly title?: string;
  readonly crumbs: readonly Crumb[];
  readonly main: Markup;
  /** Absent on pages that no search engine should keep, such as those of errors. */
  readonly about?: PageAbout;
}

/** A page as search engines and previews of links show it. */
export interface PageAbout {
  /** The path of the page below the root. */
  readonly path: string;
  readonly description: string;
  /** More elements of the head: feeds and structured data. */
  readonly head?: Child;
}

/** Digits of the generation in the footer, as many as `serve` prints. */
const GENERATION_DIGITS = 12;
/** Search engines show about this much. */
const DESCRIPTION_CHARACTERS_MAX = 300;
/** A longer query is not searched for its words. */
const SEARCHED_CHARACTERS_MAX = 1024;

export function framed(site: Site, tour: Tour, { title, crumbs, main, about }: PageContent): Buffer {
  const { up, query } = tour;
  const { siteName } = site.settings;
  const whole = title === undefined ? siteName : `${title} – ${siteName}`;
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        ${query !== undefined && html`<meta name="robots" content="noindex, follow" />`}
        <title>${whole}</title>
        <meta name="application-name" content="${siteName}" />
        ${about && aboutOf(site, tour, title ?? siteName, about)}
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="${up}${assetPath('style')}" />
        <script src="${up}${assetPath('script')}" type="module"></script>
      </head>
      <body>
        <a class="skip" href="#main">Skip to content</a>
        <header class="bar">
          <a class="brand" href="${up}browse/">${siteName}</a>
          ${searchForm(up, SEARCHED, wordsIn(tour))}
          <nav aria-label="Site">
            <a href="${up}docs/">API documentation</a>${
              site.trustedHosts() !== undefined && html`<a href="${up}browse/authority/">Attribute authority</a>`
            }
          </nav>
        </header>
        ${crumbs.length > 0 && trail([{ label: 'Catalogue', href: `${up}browse/` }, ...crumbs])}
        <main id="main" tabindex="-1">${main}</main>
        <footer class="foot">
          <p>
            Generation <code>${site.generation.slice(0, GENERATION_DIGITS)}</code>${
              site.created !== undefined && html` of ${drawTime(site.created)}`
            }.
            Read only; every page has the same path as the API behind it. ${identityOf(site)}
          </p>
        </footer>
      </body>
    </html> `;
  return utf8Of(page);
}

function aboutOf(site: Site, { baseUrl, query }: Tour, title: string, { path, description, head }: PageAbout): Markup {
  const { siteName, siteLicence } = site.settings;
  const address = `${baseUrl}/${path}`;
  const shown = cutAtWord(description.replace(/\s+/g, ' ').trim(), DESCRIPTION_CHARACTERS_MAX);
  return html`<meta name="description" content="${shown}" />
    ${query === undefined && html`<link rel="canonical" href="${address}" />`}
    <meta property="og:title" content="${title}" />
    <meta property="og:description" content="${shown}" />
    <meta property="og:url" content="${address}" />
    <meta property="og:type" content="website" />
    <meta property="og:site_name" content="${siteName}" />
    ${siteLicence !== undefined && html`<link rel="license" href="${siteLicence}" />`}${head}`;
}

export function drawTime(time: string): Markup {
  return html`<time datetime="${time}">${instantText(time) ?? time}</time>`;
}

/** Contact and licence of the site, as far as settings name them. */
function identityOf({ settings: { siteContact, siteLicence } }: Site): Markup {
  const href = siteContact?.includes('://') === true ? siteContact : `mailto:${siteContact}`;
  return html`${siteContact !== undefined && html`Contact: <a href="${href}">${siteContact}</a>.`}
  ${
    siteLicence !== undefined &&
    html`Licence of the records: <a href="${siteLicence}" rel="license">${licenceName(siteLicence)}</a>.`
  }`;
}

/** `CC BY 4.0` for a licence of Creative Commons, otherwise its address without the scheme. */
function licenceName(url: string): string {
  const [, kind, version] = /creativecommons\.org\/(?:licenses|publicdomain)\/([a-z-]+)\/(\d\.\d)/.exec(url) ?? [];
  if (kind === undefined) return url.replace(/^https?:\/\/|\/$/gi, '');
  return `${kind === 'zero' ? 'CC0' : `CC ${kind.toUpperCase()}`} ${version}`;
}

/** The collection of the search box in the bar. */
const SEARCHED = 'observations';

/** A form that searches the records of a collection. That of the bar is a landmark, and filled with `words`. */
export function searchForm(up: string, name: string, words?: string): Markup {
  const label = `Search ${inSentence(collectionLabel(name))}`;
  return html`<form
    method="get"
    action="${up}browse/${name}/"
    class="search-box"
    ${words !== undefined && html` role="search"`}
  >
    <input
      type="search"
      name="search"
      value="${words ?? ''}"
      placeholder="${label}"
      aria-label="${label}"
      autocomplete="off"
    /><button>Search</button>
  </form>`;
}

/** The words that the page searched for. */
function wordsIn({ target, query = '' }: Tour): string {
  if (!target.includes(`/${SEARCHED}/`) || query.length > SEARCHED_CHARACTERS_MAX) return '';
  return new URLSearchParams(query).get('search') ?? '';
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
