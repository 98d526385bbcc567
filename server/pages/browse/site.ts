// What the pages are made of and for: the data behind them, and one visit. Types;
// server/pages/browseAnswer.ts fills them in, so that no page knows a request or a header.
import type { CollectionIndex, QueryOptions, ServedForm } from '../../../engine/engine.ts';
import type { Router } from '../../../workers/router.ts';
import type { Slices } from '../../../workers/slices.ts';
import type { Disconnection } from '../../../workers/waiter.ts';
import type { Clock } from '../../observe/clock.ts';

/**
 * What is browsed: one generation of the data under one configuration. `trustedHosts` are those of the attribute
 * authority beside it, undefined while there is none. `storedBaseUrl` is what links in stored records begin with.
 */
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

/**
 * Who looks at what, in the form in which the API behind the page writes records and links. `target` is the path as
 * asked, `up` the relative way from there to the root of all paths.
 */
export interface Tour extends ServedForm {
  readonly target: string;
  readonly query: string | undefined;
  readonly up: string;
  readonly disconnection: Disconnection;
}

/** Where the time of finding is put in: it says nothing of what is shown. No text of a page has its bracket. */
export const TIME_PLACE = '<!--time-->';

/**
 * A page: `html` is all of it but for `time`, which belongs at TIME_PLACE; `location` is where to go instead. One that
 * `isPassing` says what holds at the moment alone, and is not to be kept.
 */
export interface BrowsePage {
  readonly status: number;
  readonly html: Buffer;
  readonly location?: string;
  readonly time?: string;
  readonly isPassing?: boolean;
}
