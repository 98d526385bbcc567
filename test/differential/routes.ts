// The oracle's reading of a path: which view it means, or that it lacks its final slash, or nothing. Percent-decoding
// is per segment, after the split (design: Paths).
import { collectionsOfPath } from '../../engine/schema/catalogue.ts';
import type { Collection, Version } from '../../engine/schema/types.ts';

/** What a path means. `json` says that the path itself asks for JSON; `id` is exact. */
export type View =
  | { readonly kind: 'index' }
  | { readonly kind: 'root'; readonly version: Version; readonly json: boolean }
  | { readonly kind: 'list'; readonly version: Version; readonly json: boolean; readonly collection: Collection }
  | {
      readonly kind: 'record';
      readonly version: Version;
      readonly json: boolean;
      readonly collections: readonly Collection[];
      readonly id: bigint;
    };

/** A view, a redirection to the path with its slash, or nothing. */
export type Route = { readonly kind: 'redirect' } | { readonly kind: 'nothing' } | View;

const NOTHING: Route = { kind: 'nothing' };

/** What a raw path means. */
export function routeOf(path: string): Route {
  if (path === '/') return { kind: 'index' };
  const segments = path.slice(1).split('/').map(decodeSegment);
  const slash = segments.at(-1) === '';
  const view = viewOf(slash ? segments.slice(0, -1) : segments);
  if (view === undefined) return NOTHING;
  return slash || (view.kind !== 'index' && view.json) ? view : { kind: 'redirect' };
}

function viewOf(segments: readonly string[]): View | undefined {
  const [api, version, name, id] = segments;
  if (api !== 'api' || (version !== 'v2' && version !== 'v3') || segments.length > 4) return undefined;
  if (name === undefined) return { kind: 'root', version, json: false };
  if (id === undefined) return name === '.json' ? { kind: 'root', version, json: true } : listOf(version, name);
  return recordOf(version, name, id);
}

function listOf(version: Version, segment: string): View | undefined {
  const { name, json } = withoutJson(segment);
  const collection = collectionsOfPath(name, version)[0];
  return collection && { kind: 'list', version, json, collection };
}

function recordOf(version: Version, segment: string, idSegment: string): View | undefined {
  const { name, json } = withoutJson(idSegment);
  const collections = collectionsOfPath(segment, version);
  const digits = /^\+?(\d+)$/.exec(name.trim())?.[1];
  if (digits === undefined || collections.length === 0) return undefined;
  return { kind: 'record', version, json, collections, id: BigInt(digits) };
}

function withoutJson(segment: string): { name: string; json: boolean } {
  const json = segment.endsWith('.json');
  return { name: json ? segment.slice(0, -'.json'.length) : segment, json };
}

/** In a path a `+` is itself; otherwise the rules of form decoding serve. */
function decodeSegment(segment: string): string {
  const form = segment.replaceAll('+', '%2B').replaceAll('&', '%26');
  return new URLSearchParams(`segment=${form}`).get('segment') ?? '';
}
