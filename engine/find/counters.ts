// The cost of a query: counts of its work, and the meter that every pass pays before it runs. When the budget of a
// meter is spent, or its task is cancelled, `spend` throws OUT_OF_BUDGET. Only `findRows`, `nearPage` and `hitsOf`
// catch it and return undefined.

/** Work that was done, by kind. A set that is ready in the snapshot is no work until something looks at its rows. */
export interface Counters {
  /** Rows that sets were made of or checked one by one, words of bitmaps, and the rows of the page. */
  rowsTouched: number;
  /** Rows that were read from posting lists, and rows whose code was looked at to find those of many codes. */
  postingsVisited: number;
  /** Codes and rows that joins looked at, through links and to-many relations. */
  joinSteps: number;
  /** Bytes of texts or of numbers that a matcher saw. */
  bytesScanned: number;
  /** Rows that were counted or sorted by value for a page of an ordered list, once for each key. */
  rowsOrdered: number;
  /** Rows, or words of bitmaps, that facets were counted from. */
  rowsCounted: number;
}

export function newCounters(): Counters {
  return { rowsTouched: 0, postingsVisited: 0, joinSteps: 0, bytesScanned: 0, rowsOrdered: 0, rowsCounted: 0 };
}

/** A part of a list that work is done for: a condition, a relation, a key of its order or a facet. */
export interface Purpose {
  readonly path: readonly string[];
  readonly lookup?: string;
}

/** One constant, because making an error with its stack trace costs as much as a cheap list. */
const OUT_OF_BUDGET = new Error('the budget of a meter is spent');

/** Undefined when `error` says that the budget of a meter is spent. Throws every other error. */
export function undefinedIfSpent(error: unknown): undefined {
  if (error !== OUT_OF_BUDGET) throw error;
}

/** Nanoseconds of work between two calls of `isCancelled`. */
const POLL_NS = 50_000;

/** Counts work in nanoseconds of the table `COST`, up to a budget. */
export class Meter {
  readonly counters: Counters;
  /** Nanoseconds that were paid. */
  spent = 0;
  /** The part of the list that is worked on. It stays when the budget runs out. */
  purpose: Purpose | undefined;
  /** The budget; with `isCancelled` the work at which it is called next. */
  #limit: number;
  readonly #isCancelled: (() => boolean) | undefined;

  /** With `isCancelled` no budget counts: it is called before the first pass, and then once in POLL_NS. */
  constructor(budgetNs = Infinity, counters = newCounters(), isCancelled?: () => boolean) {
    this.counters = counters;
    this.#limit = isCancelled ? -1 : budgetNs;
    this.#isCancelled = isCancelled;
  }

  /** Pays for a pass that follows. */
  spend(ns: number): void {
    const spent = this.spent + ns;
    if (spent > this.#limit) this.#check(spent);
    this.spent = spent;
  }

  /** Refuses a pass that will cost this much in all and pays slice by slice. */
  foresee(ns: number): void {
    if (!this.#isCancelled && this.spent + ns > this.#limit) throw OUT_OF_BUDGET;
  }

  #check(spent: number): void {
    if (!this.#isCancelled || this.#isCancelled()) throw OUT_OF_BUDGET;
    this.#limit = spent + POLL_NS;
  }
}
