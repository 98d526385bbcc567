// The oracle's parsing of a path: a view, a missing final slash, or nothing. Percent-decoding is per segment, after the
// split (design: Paths).
import { COLLECTIONS, collectionsOfPath } from '../../engine/schema/catalogue.ts';
import type { Collection, Version } from '../../engine/schema/types.ts';
import { suggestedName } from './suggest.ts';

/** The meaning of a path. `ending` is the form that the path itself requests; `id` is exact. */
export type View =
  | { readonly kind: 'index' }
  | { readonly kind: 'root'; readonly version: Version; readonly ending: Ending }
  | { readonly kind: 'list'; readonly version: Version; readonly ending: Ending; readonly collection: Collection }
  | {
      readonly kind: 'record';
      readonly version: Version;
      readonly ending: Ending;
      readonly collections: readonly Collection[];
      readonly id: bigint;
    };

type Ending = 'json' | 'ndjson' | 'csv' | undefined;

/** A view, a redirection to the path with its slash, or nothing. */
export type Route = { readonly kind: 'redirect' } | { readonly kind: 'nothing' } | View;

const NOTHING: Route = { kind: 'nothing' };

/** The meaning of a raw path. */
export function routeOf(path: string): Route {
  if (path === '/') return { kind: 'index' };
  const segments = path.slice(1).split('/').map(decodeSegment);
  const slash = segments.at(-1) === '';
  const view = viewOf(slash ? segments.slice(0, -1) : segments);
  if (view === undefined) return NOTHING;
  return slash || (view.kind !== 'index' && view.ending) ? view : { kind: 'redirect' };
}

function viewOf(segments: readonly string[]): View | undefined {
  const [api, version, name, id] = segments;
  if (api !== 'api' || (version !== 'v2' && version !== 'v3') || segments.length > 4) return undefined;
  if (name === undefined) return { kind: 'root', version, ending: undefined };
  if (id === undefined) return name === '.json' ? { kind: 'root', version, ending: 'json' } : listOf(version, name);
  return recordOf(version, name, id);
}

function listOf(version: Version, segment: string): View | undefined {
  const { name, ending } = withoutEnding(segment, ['json', 'ndjson', 'csv']);
  const collection = collectionsOfPath(name, version)[0];
  return collection && { kind: 'list', version, ending, collection };
}

function recordOf(version: Version, segment: string, idSegment: string): View | undefined {
  const { name, ending } = withoutEnding(idSegment, ['json']);
  const collections = collectionsOfPath(segment, version);
  const digits = /^\+?(\d+)$/.exec(name.trim())?.[1];
  if (digits === undefined || collections.length === 0) return undefined;
  return { kind: 'record', version, ending, collections, id: BigInt(digits) };
}

function withoutEnding(segment: string, endings: readonly NonNullable<Ending>[]): { name: string; ending: Ending } {
  const ending = endings.find((one) => segment.endsWith(`.${one}`));
  return { name: ending ? segment.slice(0, -ending.length - 1) : segment, ending };
}

/**
 * The suggestion for a path that means nothing: the path with single slashes, else the nearest name of a collection, of
 * the requested version first, with the id and the nearest ending; undefined without one.
 */
export function nearestPath(path: string): string | undefined {
  if (path.length > 128) return undefined;
  const single = path.replaceAll(/\/+/g, '/');
  if (single !== path) return ['nothing', 'index'].includes(routeOf(single).kind) ? nearestPath(single) : single;
  const segments = path.split('/').map(decodeSegment);
  if (segments.some((segment) => /[/\ufffd]/.test(segment)) || segments.shift() !== '') return undefined;
  if (segments.at(-1) === '') segments.pop();
  if (path === '/api' || path === '/api/') return '/api/v3/';
  let version = 'v3';
  if (segments[0] === 'api' && segments.length > 1) {
    const isNamed = /^v\d+$/.test(segments[1]!) && segments.length > 2;
    if (isNamed) version = segments[1]!;
    segments.splice(0, isNamed ? 2 : 1);
  }
  const [first = '', last, ...rest] = segments;
  const [id, form, ...more] = last?.split('.') ?? [];
  if (more.length > 0 || form === '') return undefined;
  const [name = '', ...endings] = first.split('.');
  if (name === '' || rest.length > 0 || (id !== undefined && !/^\d+$/.test(id))) return undefined;
  for (const one of version === 'v2' ? (['v2', 'v3'] as const) : (['v3', 'v2'] as const)) {
    const served = COLLECTIONS.filter(({ versions }) => versions.includes(one));
    const names = [...new Set(served.flatMap((collection) => [collection.name, collection.documentedPath]))];
    const near = nearName(name, names);
    if (near === undefined) continue;
    const ending =
      endings.length === 0 ? undefined : nearName(endings.join('.'), id ? ['json'] : ['json', 'ndjson', 'csv']);
    if (form !== undefined) return recordIn(`/api/${one}/${near}/${id}`, form);
    return `/api/${one}/${near}${id === undefined ? '' : `/${id}`}${ending ? `.${ending}` : '/'}`;
  }
  return undefined;
}

function recordIn(path: string, form: string): string | undefined {
  const near = nearName(form, ['json', 'ndjson', 'csv', 'parquet']);
  if (near === undefined) return undefined;
  return near === 'json' ? `${path}.json` : `${path}/?format=${near}`;
}

function nearName(name: string, names: readonly string[]): string | undefined {
  if (names.includes(name)) return name;
  return /"(.*)"/.exec(suggestedName(name, names))?.[1];
}

/** In a path, `+` stays as it is; otherwise the rules of form decoding apply. */
function decodeSegment(segment: string): string {
  const form = segment.replaceAll('+', '%2B').replaceAll('&', '%26');
  return new URLSearchParams(`segment=${form}`).get('segment') ?? '';
}
