// Threads that have fallen silent: each counts the seconds in which it turns, in a word that it shares, and whoever
// watches looks as often. Measures no time, so that a machine that sleeps or a process that is stopped accuses nobody.

/** A thread that has not turned for so many looks, of a second each, is silent. */
export const SILENT_LOOKS = 10;

/** What is watched of a thread. */
export interface Beating {
  readonly beats: Int32Array;
}

/** Remembers what each thread had counted, and for how many looks it was the same. */
export class SilenceWatch {
  readonly #seen = new WeakMap<Beating, { count: number; looks: number }>();

  /** Looks at all, and answers those that have just fallen silent: each once. */
  look<T extends Beating>(threads: Iterable<T>): readonly T[] {
    return [...threads].filter((thread) => {
      const count = Atomics.load(thread.beats, 0);
      const seen = this.#seen.get(thread);
      if (seen?.count === count) return ++seen.looks === SILENT_LOOKS;
      this.#seen.set(thread, { count, looks: 0 });
      return false;
    });
  }
}
