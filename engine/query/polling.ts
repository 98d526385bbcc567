// Whether work on many rows goes on: asked once in a slice of them, and what was answered stays. Nothing that looks at
// rows may look at more than one table of them between two questions.

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
