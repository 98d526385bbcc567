// The meaning of a path: a view of the catalogue, a redirection to the path with final slash, or nothing. Derived from
// the declaration; independent of requests and records.
import { type Collection, COLLECTIONS, collectionsOfPath, nearestName, type Version } from '../../engine/engine.ts';
import { type Ending, ENDINGS } from './negotiate.ts';

/**
 * The meaning of a target. `ending` is the form named by the path: `.json`, or for lists that of an export. The
 * `collections` of a record are tried in order (A3); its `id` is -1 if the number exceeds every id (A10). `location` is
 * the target with a final slash, percent-encoded as sent and without the query, which the caller keeps byte for byte.
 */
export type Route =
  | { readonly kind: 'index' }
  | { readonly kind: 'root'; readonly version: Version; readonly ending: Ending | undefined }
  | {
      readonly kind: 'list';
      readonly collection: Collection;
      readonly version: Version;
      readonly ending: Ending | undefined;
    }
  | {
      readonly kind: 'record';
      readonly collections: readonly Collection[];
      readonly version: Version;
      readonly id: number;
      readonly ending: Ending | undefined;
    }
  | { readonly kind: 'description'; readonly path: DocumentPath | PagePath | RobotsPath }
  | { readonly kind: 'changes' }
  | { readonly kind: 'resolution'; readonly of: ResolutionName; readonly rest: string }
  /** The sitemap, or one of its parts, counted from 1. */
  | { readonly kind: 'sitemap'; readonly part: number | undefined }
  | { readonly kind: 'citation'; readonly id: number; readonly form: string }
  | { readonly kind: 'browse' }
  | { readonly kind: 'redirect'; readonly location: string }
  | { readonly kind: 'notFound' }
  | { readonly kind: 'badTarget' };

const DOCUMENT_PATHS = ['/openapi.json', '/openapi.yaml'] as const;
/** The page at `/docs/` itself is one of the pages that browse.ts makes. */
const PAGE_PATHS = ['/docs/api/', '/docs/docs.js', '/docs/swagger-ui-bundle.js', '/docs/swagger-ui.css'] as const;
export const DOCS_PATH = '/docs/';
/** Rules for crawlers (RFC 9309). */
const ROBOTS_PATH = '/robots.txt';

export type RobotsPath = typeof ROBOTS_PATH;

export type DocumentPath = (typeof DOCUMENT_PATHS)[number];

export type PagePath = (typeof PAGE_PATHS)[number];

type ResolutionName = (typeof RESOLUTIONS)[number]['of'];

const NOT_FOUND: Route = { kind: 'notFound' };
const BAD_TARGET: Route = { kind: 'badTarget' };
const BROWSE: Route = { kind: 'browse' };
/** The start of paths of pages; browse.ts interprets the rest. */
const BROWSED = /^\/browse(?:\/|$)/;
const VERSIONS: readonly Version[] = ['v2', 'v3'];

/** Every path in its usual spelling, except for records and redirections. */
const VIEWS: ReadonlyMap<string, Route> = viewsByPath();

/** Longer paths are not views. A page repeats the relative path to the root dozens of times. */
export const PATH_CHARACTERS_MAX = 512;

/**
 * The meaning of a target: a path as sent, without query. Segments are percent-decoded after the split (A17); a path
 * that cannot be decoded is not found. Never throws. Cost: one map lookup for lists and records in their usual
 * spelling, a pattern for others.
 */
export function route(target: string): Route {
  const record = plainRecord(target);
  if (record) return record;
  const view = VIEWS.get(target);
  if (view) return view;
  if (target.includes('#')) return BAD_TARGET;
  const resolution = resolutionAt(target) ?? citationAt(target) ?? sitemapAt(target);
  if (resolution) return resolution;
  if (target.length > PATH_CHARACTERS_MAX) return NOT_FOUND;
  if (BROWSED.test(target)) return BROWSE;
  const path = target.includes('%') ? decodedPath(target) : target;
  if (path === undefined) return NOT_FOUND;
  const found = VIEWS.get(path) ?? recordAt(path);
  if (found) return found;
  const isOpen = path !== '' && !path.endsWith('/');
  const isRedirect = isOpen && (VIEWS.has(`${path}/`) || recordAt(`${path}/`) !== undefined);
  return isRedirect ? { kind: 'redirect', location: `${target}/` } : NOT_FOUND;
}

/**
 * Requests by path or id outside the API (A130 to A133). With `hasRest`, the rest of the path is an argument, which may
 * contain slashes.
 */
const RESOLUTIONS = [
  { of: 'path', name: 'Path Lookup', path: '/api/v0/obs/get_info', hasRest: true },
  { of: 'paths', name: 'Path List', path: '/api/v0/obs/all', hasRest: false },
  { of: 'completeness', name: 'Completeness List', path: '/api/v0/complete', hasRest: false },
  { of: 'dataset', name: 'Dataset Lookup', path: '/api/v0/drs_lookup', hasRest: true },
  { of: 'datasets', name: 'Dataset List', path: '/api/v0/drs_listing', hasRest: true },
  { of: 'identifier', name: 'Identifier Lookup', path: '/api/legacy_lookup', hasRest: false },
] as const;

/** A resolution and the rest of its path as sent. A final slash is optional, so there is no redirection. */
function resolutionAt(target: string): Route | undefined {
  if (!target.startsWith('/api/v0/') && !target.startsWith('/api/legacy')) return undefined;
  const found = RESOLUTIONS.find(({ path }) => target.startsWith(path));
  if (!found) return undefined;
  const rest = target.slice(found.path.length);
  const isWhole = rest === '' || rest === '/' || (found.hasRest && /^(?:\/|%2f)/i.test(rest));
  return isWhole ? { kind: 'resolution', of: found.of, rest } : undefined;
}

const CITATION = /^\/cite\/observations\/(\d{1,15})\.([a-z]{1,8})$/;

/** The citation of an observation in a form (A176). */
function citationAt(target: string): Route | undefined {
  const [, id, form] = CITATION.exec(target) ?? [];
  return form === undefined ? undefined : { kind: 'citation', id: Number(id), form };
}

const SITEMAP = /^\/sitemap(?:-(\d{1,9}))?\.xml$/;

function sitemapAt(target: string): Route | undefined {
  const match = SITEMAP.exec(target);
  return match ? { kind: 'sitemap', part: match[1] === undefined ? undefined : Number(match[1]) } : undefined;
}

const SLASH = 0x2f;
const ZERO = 0x30;
/** This many digits are exact in a double. */
const PLAIN_DIGITS_MAX = 15;

/** The paths of lists that contain records, in their usual spelling. */
const LISTS: ReadonlyMap<string, { readonly collections: readonly Collection[]; readonly version: Version }> = new Map(
  VERSIONS.flatMap((version) =>
    segmentsOf(version).map((segment) => {
      return [`/api/${version}/${segment}/`, { collections: collectionsOfPath(segment, version), version }] as const;
    }),
  ),
);

/**
 * A record in its usual spelling, with digits between two slashes. Without this shortcut a record takes 9 % more
 * instructions.
 */
function plainRecord(target: string): Route | undefined {
  const end = target.length - 1;
  if (target.charCodeAt(end) !== SLASH) return undefined;
  let start = end;
  let id = 0;
  for (let scale = 1; start > 0; start--, scale *= 10) {
    const digit = target.charCodeAt(start - 1) - ZERO;
    if (!(digit >= 0 && digit <= 9)) break;
    id += digit * scale;
  }
  if (start === end || end - start > PLAIN_DIGITS_MAX) return undefined;
  const list = LISTS.get(target.slice(0, start));
  return list && { kind: 'record', collections: list.collections, version: list.version, id, ending: undefined };
}

function viewsByPath(): ReadonlyMap<string, Route> {
  const views = new Map<string, Route>([
    ['/', { kind: 'index' }],
    [DOCS_PATH, BROWSE],
    ['/api/v3/changes/', { kind: 'changes' }],
  ]);
  for (const path of [...DOCUMENT_PATHS, ...PAGE_PATHS, ROBOTS_PATH] as const)
    views.set(path, { kind: 'description', path });
  const add = (path: string, endings: readonly Ending[], view: (ending: Ending | undefined) => Route): void => {
    views.set(path.endsWith('/') ? path : `${path}/`, view(undefined));
    for (const ending of endings) {
      views.set(`${path}.${ending}`, view(ending)).set(`${path}.${ending}/`, view(ending));
    }
  };
  for (const version of VERSIONS) {
    add(`/api/${version}/`, ['json'], (ending) => ({ kind: 'root', version, ending }));
    for (const segment of segmentsOf(version)) {
      const collection = collectionsOfPath(segment, version)[0]!;
      add(`/api/${version}/${segment}`, ENDINGS, (ending) => ({ kind: 'list', collection, version, ending }));
    }
  }
  return views;
}

/** Both spellings of every collection of a version (spec 4.1). */
function segmentsOf(version: Version): readonly string[] {
  const served = COLLECTIONS.filter((collection) => collection.versions.includes(version));
  return [...new Set(served.flatMap(({ name, documentedPath }) => [name, documentedPath]))];
}

/** Decodes each segment of a path; undefined if one is ill-formed or contains an encoded slash. */
function decodedPath(target: string): string | undefined {
  const segments = target.split('/');
  for (let i = 0; i < segments.length; i++) {
    const segment = decodedSegment(segments[i]!);
    if (segment === undefined || segment.includes('/')) return undefined;
    segments[i] = segment;
  }
  return segments.join('/');
}

function decodedSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

const RECORD = /^\/api\/(v2|v3)\/([^/]+)\/([^/]+?)(?:(\.json)\/?|\/)$/;
/** An integer as the stock service reads it: with blanks around, a plus, or leading zeros (A15). */
const ID = /^\s*\+?(\d+)\s*$/;

function recordAt(path: string): Route | undefined {
  const match = RECORD.exec(path);
  if (!match) return undefined;
  const version = match[1] === 'v2' ? 'v2' : 'v3';
  const collections = collectionsOfPath(match[2]!, version);
  const digits = ID.exec(match[3]!)?.[1];
  if (collections.length === 0 || digits === undefined) return undefined;
  const id = Number(digits);
  return {
    kind: 'record',
    collections,
    version,
    id: Number.isSafeInteger(id) ? id : -1,
    ending: match[4] === undefined ? undefined : 'json',
  };
}

/** A longer target gets no suggestion, because it is unlikely to be a typing error. */
const NEAR_CHARACTERS_MAX = 128;
const NEAR = /^\/(?:api\/(?:(v\d+)\/)?)?([^/.]+)(\.[^/]*)?(\/\d+)?(\.[^/.]+)?\/?$/;

/**
 * Suggests a list or record for an unknown target, or returns undefined. Corrects doubled slashes, such as after a base
 * URL with a final slash; a misspelt collection; a wrong or missing version; an unknown ending; and a form that records
 * only have by query. Never returns the target itself. Cost: an edit distance to each collection's name.
 */
export function nearestPath(target: string): string | undefined {
  if (target.length > NEAR_CHARACTERS_MAX) return undefined;
  const single = target.replaceAll(/\/{2,}/g, '/');
  if (single !== target) return isCatalogued(route(single)) ? single : nearestPath(single);
  if (target.startsWith('/api/v0/') || target.startsWith('/api/legacy')) return nearestResolution(target);
  if (target === '/api' || target === '/api/') return '/api/v3/';
  const [, asked, segment = '', ending = '', id = '', form = ''] = NEAR.exec(decodedPath(target) ?? '') ?? [];
  const versions = asked === 'v2' ? VERSIONS : VERSIONS.toReversed();
  for (const version of versions) {
    const segments = segmentsOf(version);
    const name = nearestOf(segment, segments);
    if (name === undefined) continue;
    if (form !== '') return recordIn(`/api/${version}/${name}${id}`, form.slice(1));
    const known = id === '' ? ENDINGS : ENDINGS.slice(0, 1);
    const near = ending === '' ? undefined : nearestOf(ending.slice(1), known);
    return `/api/${version}/${name}${id}${near === undefined ? '/' : `.${near}`}`;
  }
  return undefined;
}

function isCatalogued({ kind }: Route): boolean {
  return kind === 'root' || kind === 'list' || kind === 'record' || kind === 'redirect';
}

/** The path of a record in the form that its ending was meant to name; undefined if none is close. */
function recordIn(path: string, form: string): string | undefined {
  const near = nearestOf(form, ENDINGS);
  if (near === undefined) return undefined;
  return near === 'json' ? `${path}.json` : `${path}/?format=${near}`;
}

/** The resolution whose names are close to those of a target. The rest of the path is kept. */
function nearestResolution(target: string): string | undefined {
  const names = target.replace(/\/$/, '').split('/');
  for (const { path, hasRest } of RESOLUTIONS) {
    const { length } = path.split('/');
    const isNear = nearestOf(names.slice(0, length).join('/'), [path]) !== undefined;
    if (isNear && (hasRest || names.length === length)) return [path, ...names.slice(length)].join('/');
  }
  return undefined;
}

function nearestOf(name: string, known: readonly string[]): string | undefined {
  return known.includes(name) ? name : nearestName(name, known);
}

type ViewRoute = Extract<
  Route,
  {
    kind:
      | 'index'
      | 'root'
      | 'list'
      | 'record'
      | 'description'
      | 'changes'
      | 'resolution'
      | 'citation'
      | 'sitemap'
      | 'browse';
  }
>;

/** The name of a view as in the stock service, such as `Observations List` (design: Responses). */
export function viewName(view: ViewRoute): string {
  switch (view.kind) {
    case 'index':
      return 'Index';
    case 'root':
      return 'Api Root';
    case 'list':
      return `${view.collection.title} List`;
    case 'record':
      return `${view.collections[0]!.title} Instance`;
    case 'description':
      return 'Api Description';
    case 'changes':
      return 'Change List';
    case 'resolution':
      return RESOLUTIONS.find(({ of }) => of === view.of)!.name;
    case 'citation':
      return 'Citation';
    case 'sitemap':
      return 'Sitemap';
    case 'browse':
      return 'Browse Page';
  }
}
