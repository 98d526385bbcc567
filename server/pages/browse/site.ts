// The data that pages show, and one visit. server/pages/browseAnswer.ts creates both, so that no page depends on HTTP
// requests or headers.
import {
  type Collection,
  type CollectionIndex,
  parseInstant,
  type QueryOptions,
  type ServedForm,
} from '../../../engine/engine.ts';
import type { Router } from '../../../workers/router.ts';
import type { Slices } from '../../../workers/slices.ts';
import type { Disconnection } from '../../../workers/waiter.ts';
import type { CatalogueSettings } from '../../catalogue/catalogue.ts';
import { type FilterField, filterFields } from '../../../engine/described.ts';

export interface Site {
  readonly generation: string;
  readonly created: string | undefined;
  readonly collections: (name: string) => CollectionIndex;
  /** Prefix of the links in stored records. */
  readonly storedBaseUrl: string;
  readonly router: Router;
  readonly slices: Pick<Slices, 'run'>;
  readonly queryOptions: QueryOptions;
  readonly settings: Pick<CatalogueSettings, 'siteName' | 'siteContact' | 'siteLicence' | 'recordUrl'>;
  readonly trustedHosts: () => TrustedHosts | undefined;
}

/** Keyed by role of this site. Each trusted host is a text `name:uri:remote1, remote2`. */
export type TrustedHosts = ReadonlyMap<string, readonly string[]>;

/** The base URL of the texts of records. */
export type Visit = Pick<ServedForm, 'baseUrl'>;

/** The records of a site. */
export type Source = Pick<Site, 'collections' | 'storedBaseUrl'>;

export interface Tour extends ServedForm {
  /** The path as sent. */
  readonly target: string;
  readonly query: string | undefined;
  /** Relative path from `target` to the root. */
  readonly up: string;
  readonly disconnection: Disconnection;
}

export interface BrowsePage {
  readonly status: number;
  readonly html: Buffer;
  readonly location?: string;
  /** The media type of a page that is not HTML. */
  readonly type?: string;
  /** Whether the page must not be cached. */
  readonly isPassing?: boolean;
}

/**
 * Makes a value once for each object of a generation, such as a collection, and keeps it as long as the object. The
 * other arguments must be the same for every call with an object.
 */
export function memoize<Key extends object, Rest extends readonly unknown[], Value>(
  make: (key: Key, ...rest: Rest) => Value,
): (key: Key, ...rest: Rest) => Value {
  const known = new WeakMap<Key, Value>();
  return (key, ...rest) => {
    let value = known.get(key);
    if (value === undefined) known.set(key, (value = make(key, ...rest)));
    return value;
  };
}

/** The fields of a collection that filters can use. Cost: the first time, all fields with their lookups. */
export const fieldsOf = memoize((collection: CollectionIndex, { queryOptions }: Site): readonly FilterField[] =>
  filterFields(collection, (name) => isFiltered(queryOptions, collection.declaration, name)),
);

/** Returns whether filters can use a top-level field of the data. Cost: none. */
export function isFiltered({ filters }: Site['queryOptions'], declared: Collection, name: string): boolean {
  return filters === 'all' || declared.filters.includes(name);
}

/** The part of an own URL after the stored base URL, undefined for any other text. */
export function ownRest({ storedBaseUrl }: Pick<Site, 'storedBaseUrl'>, text: string): string | undefined {
  if (storedBaseUrl === '' || !text.startsWith(storedBaseUrl)) return undefined;
  const rest = text.slice(storedBaseUrl.length);
  return rest === '' || rest.startsWith('/') ? rest : undefined;
}

/** A stored text as the API returns it for this visit: own URLs get the base URL that the request selects. */
export function servedText(site: Pick<Site, 'storedBaseUrl'>, { baseUrl }: Visit, text: string): string {
  const rest = ownRest(site, text);
  return rest === undefined ? text : baseUrl + rest;
}

/** An instant as XML formats need it: in UTC, with its zone. Undefined for any other text. */
export function rfc3339(text: string): string | undefined {
  const ms = Math.floor(parseInstant(text) / 1000);
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

/** A date with a time as `2020-01-02 10:00:00Z`, without fractions of a second. Undefined for any other text. */
export function instantText(text: string): string | undefined {
  const [, day, time, zone = ''] =
    /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d{1,32})?(Z|[+-]\d\d:?\d\d)?$/.exec(text) ?? [];
  return day === undefined ? undefined : `${day} ${time}${zone}`;
}
