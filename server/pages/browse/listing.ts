// The list that a page shows, as requested and as found. listPage.ts creates it.
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
import { describeFilter, type FilterField } from '../../../engine/described.ts';
import type { Pair } from './address.ts';
import { labelOf } from './names.ts';
import type { Site, Tour } from './site.ts';
import { cut } from './values.ts';

/** A facet, counted without the conditions on it that its links change. */
export type ListFacet = Hits['facets'][number];

export interface Alternative {
  /** The condition, or the word of the search, that is missing. */
  readonly without: Pair;
  readonly pairs: readonly Pair[];
  readonly count: number;
}

/** A list that was found. */
export interface Listing {
  readonly site: Site;
  readonly tour: Tour;
  readonly collection: CollectionIndex;
  readonly fields: readonly FilterField[];
  readonly ask: Ask;
  readonly hits: Hits;
  /** The parameters that apply. Empty if there are more than a query may have. */
  readonly pairs: readonly Pair[];
  /** The pairs as a query. If there are too many, the query as sent. */
  readonly query: string;
  /** Whether the query is short enough for every link and form that leads to another list to repeat it. */
  readonly hasChoices: boolean;
  /** Whether the query is short enough for the few links through the list and to its data. */
  readonly hasWays: boolean;
  /** Whether counts are missing, because the server was too busy. */
  readonly isUncounted: boolean;
  readonly facets: readonly ListFacet[];
  /** Queries with one condition less, with the records that they find, if this one finds none. */
  readonly alternatives: readonly Alternative[];
}

/**
 * The parameters of a query that pages use, with `limit` lowered to `rowsMax`. Pages ignore those that select a format,
 * a generation or the query plan. Undefined, without reading them, if there are more parameters than a query may have.
 * Cost: the query.
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

/** Longer values of filters, such as lists of ids, are cut. */
const VALUE_CHARACTERS_MAX = 160;

/** A filter in words, undefined for other parameters. `text` has all parts. Cost: see describeFilter. */
export function wordFilter(
  { site, tour, collection }: Pick<Listing, 'site' | 'tour' | 'collection'>,
  pair: Pair,
): (NonNullable<ReturnType<typeof describeFilter>> & { readonly text: string }) | undefined {
  const words = describeFilter(collection, pair, (to, row) => labelOf(site, tour, to, row));
  if (!words) return undefined;
  const { label, comparison } = words;
  const value = cut(words.value, VALUE_CHARACTERS_MAX);
  return { label, comparison, value, text: [label, comparison, value].filter(Boolean).join(' ') };
}
