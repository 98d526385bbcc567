// Addresses of pages and of the API behind them: relative, so that they hold below the path of a base URL, whether a
// proxy strips it or not. Pure text.
import { namesOnPages, parameterNames, PARAMETERS, percentEncode, type QueryOptions } from '../../../engine/engine.ts';
import type { Tour } from './site.ts';

export type Pair = readonly [name: string, value: string];

/** What names of parameters begin with that are the page's own, not the API's: no field has a full stop in its name. */
export const BROWSE_PREFIX = 'browse.';

/** Longer queries, such as lists of ids, are not repeated in choices, which the page then leaves out. */
const REPEATED_CHARACTERS_MAX = 1024;

/** Longer queries, about 1,000 ids, are not repeated in links either: they are in the page once. */
const LINKED_CHARACTERS_MAX = 8192;

/** Parameters that a page repeats, in whatever it offers: each is an input of every form. */
export const REPEATED_PARAMETERS_MAX = 100;

const PLACES: ReadonlySet<string> = namesOnPages('place', {});

/** The key by which a field is compared without a lookup: a name that is also a parameter's has to name one. */
export function plainKey(field: string): string {
  return PARAMETERS.some(({ name }) => name === field) ? `${field}__exact` : field;
}

/** A query with its question mark, which alone stands for none: a relative address must say something. */
export function queryOf(pairs: readonly Pair[]): string {
  return pairs.length === 0 ? '?' : `?${queryTextOf(pairs)}`;
}

/** The pairs as a query: blank as `%20`. Cost: their length. */
export function queryTextOf(pairs: readonly Pair[]): string {
  return pairs.map(([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`).join('&');
}

/** The pairs with one name set to a value, in place of all it had; without it where the value is undefined. */
export function withValue(pairs: readonly Pair[], name: string, value: string | undefined): readonly Pair[] {
  const others = pairs.filter(([each]) => each !== name);
  return value === undefined ? others : [...others, [name, value]];
}

export function withoutNames(pairs: readonly Pair[], ...names: readonly string[]): readonly Pair[] {
  return pairs.filter(([each]) => !names.includes(each));
}

/** The parameters of lists under the settings; any other may be a field. */
export function withoutFilters(pairs: readonly Pair[], options: QueryOptions): readonly Pair[] {
  const heeded = parameterNames('list', options);
  return pairs.filter(([name]) => heeded.includes(name));
}

/** Whether a page may repeat a query in every choice. Cost: its parameters; its length where that is short. */
export function isRepeatable(pairs: readonly Pair[]): boolean {
  return isShort(pairs, REPEATED_CHARACTERS_MAX);
}

/** Whether a page may repeat a query in the ways through its list and to its data. Cost: as of the other. */
export function isLinkable(pairs: readonly Pair[]): boolean {
  return isShort(pairs, LINKED_CHARACTERS_MAX);
}

/** Judged before it is encoded, which makes no text shorter. */
function isShort(pairs: readonly Pair[], charactersMax: number): boolean {
  if (pairs.length > REPEATED_PARAMETERS_MAX) return false;
  const characters = pairs.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return characters <= charactersMax && queryTextOf(pairs).length <= charactersMax;
}

export function fromStart(pairs: readonly Pair[]): readonly Pair[] {
  return pairs.filter(([name]) => !PLACES.has(name));
}

/** The way from a target to the root that all paths begin at: `../../` from `/browse/times/`. */
export function wayUp(target: string): string {
  const depth = target.split('/').length - 2;
  return depth <= 0 ? './' : '../'.repeat(depth);
}

export function apiPath(tour: Tour): string {
  return tour.up + apiTarget(tour).slice(1);
}

/** The address of the API that answers with what a page shows, as it is sent elsewhere; `query` is encoded. */
export function apiAddress(tour: Tour, query: string): string {
  return tour.baseUrl + apiTarget(tour) + (query === '' ? '' : `?${query}`);
}

/** Without the ending of a form: that of an export has all records. */
function apiTarget({ target, version }: Tour): string {
  return target.replace(/^\/browse\//, `/api/${version}/`).replace(/(?:\.|%2e)[^/]*\/?$/i, '/');
}
