// HTTP responses for the HTML pages: turns a request into a tour (browse/site.ts) and adds headers, entity tag and
// content coding to the page. Loaded on the first request for a page, so that neither startup nor other requests pay
// for it.
import { hash } from 'node:crypto';
import { COLLECTIONS, wholeBody } from '../../engine/engine.ts';
import { wayUp } from './browse/address.ts';
import { assetNamed } from './browse/assets.ts';
import { browsed, type Sight } from './browse/browse.ts';
import { missedPage } from './browse/errorPage.ts';
import { type BrowsePage, memoize, type Site, type Tour, type TrustedHosts } from './browse/site.ts';
import type { Answer } from '../http/exchange.ts';
import { GZIP_CODING, NO_RANGES, NOT_STORED, RETRY_AFTER, varyOf } from '../catalogue/answers.ts';
import { type CatalogueService, formOf, type VisitRest } from '../catalogue/catalogue.ts';
import { isNamedIn } from '../catalogue/conditional.ts';
import { descriptionLink } from '../catalogue/views.ts';
import { DOCS_PATH, nearestPath, type Route, route } from '../catalogue/routes.ts';

/**
 * A page may load scripts, styles and images only from this server. Inline scripts and styles are blocked; `data:`
 * images are allowed.
 */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'self'; " +
  "base-uri 'none'; frame-ancestors 'none'";
const GUARDS: Answer['headers'] = [
  ['Content-Security-Policy', POLICY],
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'same-origin'],
  NO_RANGES,
];
const HTML = ['Content-Type', 'text/html; charset=utf-8'] as const;
/** The name of an asset contains a digest of its bytes, so that clients can cache it forever. */
const KEPT_FOR_GOOD = ['Cache-Control', 'public, max-age=31536000, immutable'] as const;

const ROOM = '/browse/';
const ASSETS = '/browse/assets/';
const AUTHORITY = /^\/browse\/authority\/?$/;
/** Hexadecimal digits of an entity tag: 96 bits. */
const TAG_DIGITS = 24;

const EMPTY = wholeBody(new Uint8Array(0));

/** Responds to a request for a page or an asset. Cost: see server/pages/browse/. */
export async function browseAnswer(
  catalogue: CatalogueService,
  visited: VisitRest,
  trustedHosts: () => TrustedHosts | undefined,
): Promise<Answer> {
  const { target, sent, query, choice, disconnection, missed } = visited;
  if (target.startsWith(ASSETS)) {
    const asset = assetAnswer(catalogue, visited);
    if (asset) return asset;
  }
  const site = siteOf(catalogue, trustedHosts);
  const hosts = AUTHORITY.test(target) ? site.trustedHosts() : undefined;
  const view = sent === choice.path ? withSlash(sent) : viewOf(target, hosts !== undefined);
  if (view.kind === 'redirect') {
    return redirect(301, query === undefined ? view.location : `${view.location}?${query}`);
  }
  const version = 'version' in view ? view.version : 'v3';
  // The API requests that a page shows omit the format that its own path or query names.
  const form = formOf(catalogue, { version, ending: undefined }, undefined, choice);
  const tour: Tour = { ...form, target, query, up: wayUp(target), disconnection };
  if (missed !== undefined) return pageAnswer(catalogue, visited, missedPage(site, tour, missed));
  const page = await browsed(site, tour, hosts ? { kind: 'authority', hosts } : sightOf(view, target));
  return page.location === undefined ? pageAnswer(catalogue, visited, page) : redirect(303, page.location);
}

const siteOf = memoize((catalogue: CatalogueService, trustedHosts: Site['trustedHosts']): Site => {
  const storedBaseUrl = catalogue.collections(COLLECTIONS[0]!.name).records.baseUrl;
  return { ...catalogue, storedBaseUrl, trustedHosts };
});

function viewOf(target: string, isAuthority: boolean): Route {
  if (target === '/browse') return { kind: 'redirect', location: 'browse/' };
  if (isAuthority) return target.endsWith('/') ? { kind: 'browse' } : { kind: 'redirect', location: 'authority/' };
  const behind = target.startsWith(ROOM) ? `/api/v3/${target.slice(ROOM.length)}` : target;
  const view = route(behind);
  if (view.kind !== 'redirect') return view;
  return withSlash(target);
}

function withSlash(path: string): Route {
  return { kind: 'redirect', location: `${path.slice(path.lastIndexOf('/') + 1)}/` };
}

function sightOf(view: Route, target: string): Sight {
  if (target === '/api/') return { kind: 'start' };
  if (target === DOCS_PATH) return { kind: 'docs' };
  switch (view.kind) {
    case 'index':
    case 'root':
      return { kind: 'start' };
    case 'list':
    case 'record':
      return view;
    default: {
      const near = nearestPath(target.startsWith(ROOM) ? `/api/v3/${target.slice(ROOM.length)}` : target);
      return {
        kind: 'nothing',
        near: near
          ?.replace(/^\/(?:api\/v\d\/)?/, (start) => (start === '/' ? '' : 'browse/'))
          .replace(/\.\w+$/, '/')
          .replace(/\?.*$/, ''),
      };
    }
  }
}

/** Responds with a page. The entity tag is a digest of the page, so that a changed template changes it too. */
async function pageAnswer(
  { settings, live }: CatalogueService,
  { target, choice, coding, condition, disconnection }: VisitRest,
  page: BrowsePage,
): Promise<Answer> {
  const isKept = page.status === 200 && page.isPassing !== true;
  const cache = isKept ? (['Cache-Control', settings.cacheControl] as const) : NOT_STORED;
  const headers: Answer['headers'] = [
    varyOf(settings.gzip, choice.varies),
    cache,
    descriptionLink(wayUp(target)),
    ...GUARDS,
  ];
  const retry = page.status === 503 ? [RETRY_AFTER] : [];
  const tag = isKept ? tagOf(page.html) : undefined;
  if (tag !== undefined && condition && condition !== 'sinceThen' && isNamedIn(condition.tags, tag)) {
    return { status: 304, headers, etag: `W/"${tag}"`, body: EMPTY };
  }
  const plain = wholeBody(page.html);
  const tagged = tag === undefined ? {} : { etag: `W/"${tag}"` };
  const compressed = coding === 'identity' ? undefined : await live.compressed(plain, disconnection);
  const type = page.type === undefined ? HTML : (['Content-Type', page.type] as const);
  const coded = compressed ? [type, GZIP_CODING] : [type];
  const body = compressed ? wholeBody(compressed) : plain;
  return { status: page.status, headers: [...coded, ...headers, ...retry], ...tagged, body };
}

/** Used as a weak tag, because both codings of a page have it. */
function tagOf(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex').slice(0, TAG_DIGITS);
}

function assetAnswer({ settings }: CatalogueService, { target, coding, condition }: VisitRest): Answer | undefined {
  const asset = assetNamed(target.slice(ASSETS.length));
  if (!asset) return undefined;
  const etag = `W/"${asset.digest}"`;
  const vary = settings.gzip === 'off' ? [] : [['Vary', 'Accept-Encoding'] as const];
  const headers: Answer['headers'] = [KEPT_FOR_GOOD, ['X-Content-Type-Options', 'nosniff'], ...vary];
  if (condition && condition !== 'sinceThen' && isNamedIn(condition.tags, asset.digest)) {
    return { status: 304, headers, etag, body: EMPTY };
  }
  const type = ['Content-Type', asset.type] as const;
  return coding === 'identity'
    ? { status: 200, headers: [type, ...headers], etag, body: wholeBody(asset.bytes) }
    : { status: 200, headers: [type, GZIP_CODING, ...headers], etag, body: wholeBody(asset.gzipped) };
}

/** `location` is relative, so that it works below any base path. */
function redirect(status: 301 | 303, location: string): Answer {
  return { status, headers: [['Location', location], NOT_STORED], body: EMPTY };
}
