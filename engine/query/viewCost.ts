// How much work it is to order a list and to count its facets, and whether a serving thread may do it. Bounds from
// sizes alone; looks at no row.
import { countRows, type RowSet } from '../index/rowset.ts';
import type { CollectionIndex } from '../index/table.ts';
import { facetSteps } from './facetCounts.ts';
import type { Facet } from './listControls.ts';
import { orderingSteps, type OrderedPage } from './orderedPage.ts';

/** How a list is shown. */
export interface View extends OrderedPage {
  readonly facets: readonly Facet[];
}

/**
 * Rows and values that ordering and facets may look at in a serving thread: 30 to 60 ns each where they are sorted, 2
 * to 10 where they are counted.
 */
export const INLINE_VIEW_STEPS_MAX = 4096;

/**
 * Whether a list is shown in an order of its own or with facets, which take a look at more than the rows of its page.
 */
export function hasView({ order, facets }: Pick<View, 'order' | 'facets'>): boolean {
  return order.length + facets.length > 0;
}

/**
 * Whether ordering the records that the conditions of a list found, and counting facets over them, belongs in the pool.
 * Cost: O(log size) a key.
 */
export function isViewHeavy(collection: CollectionIndex, view: View, found: RowSet): boolean {
  return viewStepsOf(collection, view, countRows(found)) > INLINE_VIEW_STEPS_MAX;
}

/**
 * At most how many rows and values ordering and facets look at. `estimate` is at most how many records match; undefined
 * without conditions. Cost: O(log size) a key.
 */
export function viewStepsOf(collection: CollectionIndex, view: View, estimate: number | undefined): number {
  const ordering = orderingSteps(collection, view, estimate);
  return view.facets.reduce((sum, facet) => sum + facetSteps(collection, facet, estimate), ordering);
}
