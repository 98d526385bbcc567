// What the pages are made of and for: the data behind them, and one visit. Types;
// server/pages/browseAnswer.ts fills them in, so that no page knows a request or a header.
import type { Collection, CollectionIndex, QueryOptions, ServedForm } from '../../../engine/engine.ts';
import type { Router } from '../../../workers/router.ts';
import type { Slices } from '../../../workers/slices.ts';
import type { Disconnection } from '../../../workers/waiter.ts';
import type { Clock } from '../../observe/clock.ts';
import { type FilterField, filterFields } from '../../../engine/described.ts';

/** `storedBaseUrl` is what links in stored records begin with. */
export interface Site {
  readonly generation: string;
  readonly created: string | undefined;
  readonly collections: (name: string) => CollectionIndex;
  readonly storedBaseUrl: string;
  readonly router: Router;
  readonly slices: Pick<Slices, 'run'>;
  readonly queryOptions: QueryOptions;
  readonly trustedHosts: () => TrustedHosts | undefined;
  readonly steadyMs: Clock;
  readonly epochMs: Clock;
}

/** By role of this site, each trusted host as `name:uri:remote1, remote2`. */
export type TrustedHosts = ReadonlyMap<string, readonly string[]>;

/** `target` is the path as sent, `up` the relative way from there to the root. */
export interface Tour extends ServedForm {
  readonly target: string;
  readonly query: string | undefined;
  readonly up: string;
  readonly disconnection: Disconnection;
}

/** Where the time of finding is put in: it says nothing of what is shown. No text of a page has its bracket. */
export const TIME_PLACE = '<!--time-->';

/** `html` lacks `time`, which belongs at TIME_PLACE. A page that `isPassing` must not be cached. */
export interface BrowsePage {
  readonly status: number;
  readonly html: Buffer;
  readonly location?: string;
  readonly time?: string;
  readonly isPassing?: boolean;
}

/** By collection: they do not change with a visit. */
const known = new WeakMap<CollectionIndex, readonly FilterField[]>();

/** The fields. Cost: all of the collection with their lookups, the first time. */
export function fieldsOf({ collections, queryOptions }: Site, declared: Collection): readonly FilterField[] {
  const collection = collections(declared.name);
  const isKnown = (name: string): boolean => isFiltered(queryOptions, declared, name);
  const fields = known.get(collection) ?? filterFields(collection, isKnown);
  known.set(collection, fields);
  return fields;
}

/** Whether a top-level field that the data has can be filtered by. Cost: none. */
export function isFiltered({ filters }: Site['queryOptions'], declared: Collection, name: string): boolean {
  return filters === 'all' || declared.filters.includes(name);
}

/** A date with a time as `2020-01-02 10:00:00Z`, its fraction left out; undefined for all other texts. */
export function instantText(text: string): string | undefined {
  const [, day, time, zone = ''] =
    /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d{1,32})?(Z|[+-]\d\d:?\d\d)?$/.exec(text) ?? [];
  return day === undefined ? undefined : `${day} ${time}${zone}`;
}
