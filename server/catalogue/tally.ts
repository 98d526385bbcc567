import { COLLECTIONS } from '../../engine/shared.ts';
import type { Tally, TalliedMetric } from '../observe/tally.ts';

/** A cell per collection; the last one is for views without one. */
export const IGNORED_PARAMETERS: TalliedMetric = {
  name: 'ignored_parameters_total',
  help: 'Names in queries that had no effect, by collection.',
  cells: [...COLLECTIONS.map(({ name }) => ({ collection: name })), { collection: '' }],
};

const CELLS: ReadonlyMap<string, number> = new Map(
  IGNORED_PARAMETERS.cells.map(({ collection = '' }, i) => [collection, i]),
);

/** Counts the ineffective names in one request to a collection, or to a view without one (A27). */
export function countIgnored(tally: Tally, collection: string, ignored: readonly unknown[]): void {
  if (ignored.length > 0) tally[CELLS.get(collection)!]! += ignored.length;
}
