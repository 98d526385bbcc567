// What a query carries along while it runs: what it has cost, so that tests can assert work without a clock, and the
// question whether it goes on. What looks at rows looks at no more than one table of them between two questions.

/**
 * `rowsTouched`: rows that sets were made of or checked one by one, page included. `postingsVisited`: rows read from
 * posting lists. `joinSteps`: codes and rows that joins looked at, through links and to-many relations. `bytesScanned`:
 * bytes of text, or of numbers, that a matcher saw. `rowsOrdered`: rows that were counted or sorted by value to find a
 * page of an ordered list, once for each key that looked at them. `rowsCounted`: rows that facets were counted from.
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

/** Rows between two questions. */
export const SLICE_ROWS = 1024;

/** Counts the rows that were looked at, and asks `isCancelled` about once in a slice. */
export class Polling {
  readonly #isCancelled: () => boolean;
  #rows = 0;
  #isStopped = false;

  constructor(isCancelled: () => boolean) {
    this.#isCancelled = isCancelled;
  }

  /** Whether the work is over, before its time: from then on for good. Cost: a look. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** The same, after so many more rows. Cost: one call of `isCancelled` a slice. */
  isStoppedAfter(rows: number): boolean {
    this.#rows += rows;
    if (this.#rows < SLICE_ROWS || this.#isStopped) return this.#isStopped;
    this.#rows = 0;
    this.#isStopped = this.#isCancelled();
    return this.#isStopped;
  }
}
