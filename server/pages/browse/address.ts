// Addresses of pages and of the equivalent API requests. All except `apiAddress` are relative, so that they work below
// the path of a base URL whether or not a proxy strips it. Pure functions on text.
import { namesOnPages, parameterNames, PARAMETERS, percentEncode, type QueryOptions } from '../../../engine/engine.ts';
import type { Tour } from './site.ts';

export type Pair = readonly [name: string, value: string];

/**
 * Prefix of the parameters that belong to the page, not to the API. No field collides with them, because no name of a
 * field contains a full stop.
 */
export const BROWSE_PREFIX = 'browse.';

/**
 * If a query is longer (such as a list of ids), the page omits its choices, because each of them would repeat the
 * query.
 */
const REPEATED_CHARACTERS_MAX = 1024;

/** If a query is longer (about 1,000 ids), links do not repeat it either: the page contains it once. */
const LINKED_CHARACTERS_MAX = 8192;

/**
 * If a query has more parameters, neither choices nor links repeat it: every form would have an input for each
 * parameter.
 */
const REPEATED_PARAMETERS_MAX = 100;

const PLACES: ReadonlySet<string> = namesOnPages('place', {});

/**
 * The key that compares a field for equality. A field that shares its name with a parameter needs an explicit lookup.
 */
export function plainKey(field: string): string {
  return PARAMETERS.some(({ name }) => name === field) ? `${field}__exact` : field;
}

/**
 * A query with its question mark. Without pairs it is `?` alone: an empty relative address would keep the query of the
 * current page.
 */
export function queryOf(pairs: readonly Pair[]): string {
  return pairs.length === 0 ? '?' : `?${queryTextOf(pairs)}`;
}

/** Encodes pairs as a query, with spaces as `%20`. Cost: their length. */
export function queryTextOf(pairs: readonly Pair[]): string {
  return pairs.map(([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`).join('&');
}

/** Replaces all values of a name by one value, or removes the name if the value is undefined. */
export function withValue(pairs: readonly Pair[], name: string, value: string | undefined): readonly Pair[] {
  const others = pairs.filter(([each]) => each !== name);
  return value === undefined ? others : [...others, [name, value]];
}

export function withoutNames(pairs: readonly Pair[], ...names: readonly string[]): readonly Pair[] {
  return pairs.filter(([each]) => !names.includes(each));
}

/** Keeps only the parameters that lists have under these settings. Any other name may be a field. */
export function withoutFilters(pairs: readonly Pair[], options: QueryOptions): readonly Pair[] {
  const heeded = parameterNames('list', options);
  return pairs.filter(([name]) => heeded.includes(name));
}

/**
 * Returns whether a query is short enough for every choice of a page to repeat it. Cost: the number of parameters, and
 * the encoding of a query that may be short enough.
 */
export function isRepeatable(pairs: readonly Pair[]): boolean {
  return isShort(pairs, REPEATED_CHARACTERS_MAX);
}

/**
 * Returns whether a query is short enough for the links to other pages of its list and to its data. Cost: as
 * `isRepeatable`.
 */
export function isLinkable(pairs: readonly Pair[]): boolean {
  return isShort(pairs, LINKED_CHARACTERS_MAX);
}

/** Checks the length before encoding first, because encoding makes no text shorter. */
function isShort(pairs: readonly Pair[], charactersMax: number): boolean {
  if (pairs.length > REPEATED_PARAMETERS_MAX) return false;
  const characters = pairs.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return characters <= charactersMax && queryTextOf(pairs).length <= charactersMax;
}

export function fromStart(pairs: readonly Pair[]): readonly Pair[] {
  return pairs.filter(([name]) => !PLACES.has(name));
}

/** The relative path from a target to the root: `../../` from `/browse/times/`. */
export function wayUp(target: string): string {
  const depth = target.split('/').length - 2;
  return depth <= 0 ? './' : '../'.repeat(depth);
}

export function apiPath(tour: Tour): string {
  return tour.up + apiTarget(tour).slice(1);
}

/** The absolute address of the API request that returns what a page shows. `query` is already encoded. */
export function apiAddress(tour: Tour, query: string): string {
  return tour.baseUrl + apiTarget(tour) + (query === '' ? '' : `?${query}`);
}

/** Removes the suffix of a format: with the suffix of an export, the request would return all records. */
function apiTarget({ target, version }: Tour): string {
  return target.replace(/^\/browse\//, `/api/${version}/`).replace(/(?:\.|%2e)[^/]*\/?$/i, '/');
}
