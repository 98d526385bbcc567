// The cost of a query: counts of its work, and the meter that every pass pays before it runs. When the meter's budget
// is spent or its task is cancelled, `spend` and `foresee` throw OUT_OF_BUDGET. Only `findRows`, `nearPage` and
// `hitsOf` catch it and return undefined.

/** Work done, by kind. A set that is ready in the snapshot counts only when something reads its rows. */
export interface Counters {
  /** Rows that were put into sets or checked one by one, words of bitmaps, and the rows of the page. */
  rowsTouched: number;
  /** Rows read from posting lists, and rows whose code was read to find those with one of many codes. */
  postingsVisited: number;
  /** Codes and rows that joins read, through links and to-many relations. */
  joinSteps: number;
  /** Bytes of texts or numbers that a matcher read. */
  bytesScanned: number;
  /** Rows counted or sorted by value for a page of an ordered list, once for each key. */
  rowsOrdered: number;
  rowsCounted: number;
}

export function newCounters(): Counters {
  return { rowsTouched: 0, postingsVisited: 0, joinSteps: 0, bytesScanned: 0, rowsOrdered: 0, rowsCounted: 0 };
}

/** The part of a list that causes work: a condition, a relation, a sort key or a facet. */
export interface Purpose {
  readonly path: readonly string[];
  readonly lookup?: string;
}

/** One shared error, because creating an error with its stack trace costs as much as a cheap list. */
const OUT_OF_BUDGET = new Error('the budget of a meter is spent');

/**
 * Returns undefined if `error` means that the budget of a meter is spent or its task cancelled. Throws every other
 * error.
 */
export function ignoreSpentBudget(error: unknown): undefined {
  if (error !== OUT_OF_BUDGET) throw error;
}

/** Nanoseconds of work between two calls of `isCancelled`. */
const POLL_NS = 50_000;

/** Counts work in nanoseconds by the table `COST`, up to a budget. */
export class Meter {
  readonly counters: Counters;
  /** Nanoseconds paid so far. */
  spent = 0;
  /** The part of the list that currently causes work. It stays set when the budget runs out. */
  purpose: Purpose | undefined;
  /** The budget in ns. With `isCancelled`, the work at which `isCancelled` is called next. */
  #limit: number;
  readonly #isCancelled: (() => boolean) | undefined;

  /** With `isCancelled` there is no budget. It is called before the first pass and then once every POLL_NS of work. */
  constructor(budgetNs = Infinity, counters = newCounters(), isCancelled?: () => boolean) {
    this.counters = counters;
    this.#limit = isCancelled ? -1 : budgetNs;
    this.#isCancelled = isCancelled;
  }

  /** Pays for the next pass. Throws OUT_OF_BUDGET if the budget does not cover it. */
  spend(ns: number): void {
    const spent = this.spent + ns;
    if (spent > this.#limit) this.#check(spent);
    this.spent = spent;
  }

  /** Throws OUT_OF_BUDGET if a pass that pays slice by slice would exceed the budget in all. */
  foresee(ns: number): void {
    if (!this.#isCancelled && this.spent + ns > this.#limit) throw OUT_OF_BUDGET;
  }

  #check(spent: number): void {
    if (!this.#isCancelled || this.#isCancelled()) throw OUT_OF_BUDGET;
    this.#limit = spent + POLL_NS;
  }
}
