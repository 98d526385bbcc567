// What one query cost, counted while it runs: so that tests can assert work without a clock.
// What does work adds to them; they are never read on the way.

/**
 * `rowsTouched`: rows that sets were made of or checked one by one, page included. `postingsVisited`: rows read from
 * posting lists. `joinSteps`: codes and rows that joins through links looked at. `bytesScanned`: bytes of text, or of
 * numbers, that a matcher saw. `rowsOrdered`: rows that were counted or sorted by value to find a page of an ordered
 * list, once for each key that looked at them. `rowsCounted`: rows that facets were counted from.
 */
export interface Counters {
  rowsTouched: number;
  postingsVisited: number;
  joinSteps: number;
  bytesScanned: number;
  rowsOrdered: number;
  rowsCounted: number;
}

/** Counters that start at 0. */
export function newCounters(): Counters {
  return { rowsTouched: 0, postingsVisited: 0, joinSteps: 0, bytesScanned: 0, rowsOrdered: 0, rowsCounted: 0 };
}
