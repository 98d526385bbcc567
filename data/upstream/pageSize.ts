// How many records to ask for at once: more while answers come quickly, fewer where they are slow or fail.
// Plain arithmetic: no clock, no I/O.

const LEAST = 100;
/** The most records that a page is asked for. */
export const PAGE_RECORDS_MAX = 1000;

/** Answers that take less are worth more records, those that take longer fewer: nobody is kept waiting for long. */
const QUICK_MS = 1000;
const SLOW_MS = 5000;

/** The page size of one upstream, 100 to 1,000, or fewer where the upstream gives no more. */
export class PageSize {
  #size = LEAST;
  #most = PAGE_RECORDS_MAX;

  /** The size to ask for now. */
  get size(): number {
    return Math.min(this.#size, this.#most);
  }

  /** An answer of this size took so long. */
  answered(ms: number): void {
    if (ms < QUICK_MS) this.#size = Math.min(PAGE_RECORDS_MAX, this.#size * 2);
    else if (ms > SLOW_MS) this.failed();
  }

  /** An answer was none. */
  failed(): void {
    this.#size = Math.max(LEAST, this.#size >> 1);
  }

  /** The upstream gives no larger pages. */
  limitTo(most: number): void {
    this.#most = Math.min(this.#most, most);
  }
}
