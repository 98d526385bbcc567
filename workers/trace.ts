// How one list was found: where, with what work, and whether others had done it already. Plain data, written
// while rows are found.
import { type Counters, newCounters, type Purpose } from '../engine/engine.ts';

/**
 * `place`: in the serving thread (`inline`), in its `pool`, or nowhere since all rows and counts were kept (`cache`).
 * `isKept`: the rows of the filter were kept from a request before. `isShared`: the same work was under way for another
 * request, whose counters these are. `spentNs`: the work that was paid, in nanoseconds of the table of costs.
 * `ranOutAt`: the part of the list at which the budget of the serving thread ran out.
 */
export interface Trace {
  place: 'inline' | 'pool' | 'cache';
  isKept: boolean;
  isShared: boolean;
  spentNs: number;
  ranOutAt: Purpose | undefined;
  readonly counters: Counters;
}

/** A trace of nothing done yet. */
export function newTrace(): Trace {
  return { place: 'inline', isKept: false, isShared: false, spentNs: 0, ranOutAt: undefined, counters: newCounters() };
}
