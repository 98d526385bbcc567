// What the catalogue counts of requests: names without effect, a cell for each collection, and the metric that they
// make. Data and a count only.
import { COLLECTIONS } from '../../engine/shared.ts';
import type { Tally, TalliedMetric } from '../observe/tally.ts';

/** A cell for each collection, the last one for views of none. */
export const IGNORED_PARAMETERS: TalliedMetric = {
  name: 'ignored_parameters_total',
  help: 'Names in queries that had no effect, by collection.',
  cells: [...COLLECTIONS.map(({ name }) => ({ collection: name })), { collection: '' }],
};

const CELLS: ReadonlyMap<string, number> = new Map(
  IGNORED_PARAMETERS.cells.map(({ collection = '' }, i) => [collection, i]),
);

/** Counts the names that one request to a collection, or to a view without one, had in vain (A27). */
export function countIgnored(tally: Tally, collection: string, ignored: readonly unknown[]): void {
  if (ignored.length > 0) tally[CELLS.get(collection)!]! += ignored.length;
}
