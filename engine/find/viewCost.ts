// How much work it is to order a list and to count its facets, and whether a serving thread may do it. Bounds from
// sizes alone; looks at no row.
import { countRows, type RowSet } from '../index/rowset.ts';
import type { CollectionIndex } from '../index/table.ts';
import type { ServedForm } from '../column/served.ts';
import type { Page } from '../query/ask.ts';
import { facetSteps } from './facetCounts.ts';
import { orderingSteps } from './orderedPage.ts';

/** A page, and the form in which texts are compared where it is ordered. */
interface PlannedPage {
  readonly page: Page;
  readonly form: ServedForm;
}

/**
 * Rows and values that ordering and facets may look at in a serving thread: 30 to 60 ns each where they are sorted, 2
 * to 10 where they are counted.
 */
export const INLINE_VIEW_STEPS_MAX = 4096;

/**
 * Whether a list is shown in an order of its own or with facets, which take a look at more than the rows of its page.
 */
export function hasView({ order, facets }: Page): boolean {
  return order.length + facets.length > 0;
}

/**
 * Whether ordering the records that the conditions of a list found, and counting facets over them, belongs in the pool.
 * Cost: O(log size) a key.
 */
export function isViewHeavy(collection: CollectionIndex, { page, form }: PlannedPage, rows: RowSet): boolean {
  return viewStepsOf(collection, page, form, countRows(rows)) > INLINE_VIEW_STEPS_MAX;
}

/**
 * At most how many rows and values ordering and facets look at. `estimate` is at most how many records match; undefined
 * without conditions. Cost: O(log size) a key.
 */
export function viewStepsOf(
  collection: CollectionIndex,
  page: Page,
  form: ServedForm,
  estimate: number | undefined,
): number {
  const ordering = orderingSteps(collection, page, form, estimate);
  return page.facets.reduce((sum, facet) => sum + facetSteps(collection, facet, form, estimate), ordering);
}
