// Threads that have fallen silent: each counts the seconds in which it turns, in a word that it shares, and whoever
// watches looks now and then. Measures no time, so that a machine that sleeps or a process that is stopped accuses
// nobody.

/** A thread that has not turned for so many looks is silent. */
export const SILENT_LOOKS = 2;

/**
 * The time between two looks, in which a thread turns more than once. A look costs 0.5 kB of a heap for young objects
 * that is touched for the first time for hours: once a second it was more than all that memory grew by under load.
 */
export const LOOK_MS = 5000;

/** What is watched of a thread. */
export interface Beating {
  readonly beats: Int32Array;
}

/** Remembers what each thread had counted, and for how many looks it was the same. */
export class SilenceWatch {
  readonly #seen = new WeakMap<Beating, { count: number; looks: number }>();

  /** Looks at a thread; whether it has just fallen silent, which it does once. Cost: no object. */
  isFallenSilent(thread: Beating): boolean {
    const count = Atomics.load(thread.beats, 0);
    const seen = this.#seen.get(thread);
    if (seen?.count === count) return ++seen.looks === SILENT_LOOKS;
    if (seen) {
      seen.count = count;
      seen.looks = 0;
    } else this.#seen.set(thread, { count, looks: 0 });
    return false;
  }
}
