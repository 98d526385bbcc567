// What the parts of the page of a list are made of: the list as it was asked for and found. Types only; listPage.ts
// fills it in.
import {
  type Ask,
  type CollectionIndex,
  countParts,
  decodeForm,
  type Hits,
  namesOnPages,
  PARAMETERS_MAX,
  type QueryOptions,
} from '../../../engine/engine.ts';
import type { FilterField } from '../../../engine/described.ts';
import type { Pair } from './address.ts';
import type { Site, Tour } from './site.ts';

/**
 * A list that was found; `pairs` are the parameters that hold, `query` is their text. `hasChoices` while these are
 * short enough to be repeated in every link and form that leads elsewhere, `hasWays` while they are for the few that
 * lead through the list and to its data; `isUncounted` where there was no time for counts that nobody asked for.
 */
export interface Listing {
  readonly site: Site;
  readonly tour: Tour;
  readonly collection: CollectionIndex;
  readonly fields: readonly FilterField[];
  readonly ask: Ask;
  readonly hits: Hits;
  readonly pairs: readonly Pair[];
  readonly query: string;
  readonly hasChoices: boolean;
  readonly hasWays: boolean;
  readonly isUncounted: boolean;
}

/**
 * The parameters of a page of at most `rowsMax` records, without those that pages do not use: a page has one form, of
 * the current data, and shows its rows instead of their plan. Undefined for more parameters than a query may have,
 * which are not read. Cost: the query.
 */
export function pagePairs(
  query: string | undefined,
  rowsMax: number,
  options: QueryOptions,
): readonly Pair[] | undefined {
  if (query !== undefined && countParts(query, '&') > PARAMETERS_MAX) return undefined;
  const unheeded = namesOnPages('unheeded', options);
  const sent = decodeForm(query).filter(([name]) => !unheeded.has(name));
  return sent.map((pair) => (pair[0] === 'limit' ? ['limit', atMost(pair[1], rowsMax)] : pair));
}

function atMost(limit: string, rowsMax: number): string {
  return /^\s*\+?\d+\s*$/.test(limit) && Number(limit) > rowsMax ? String(rowsMax) : limit;
}
