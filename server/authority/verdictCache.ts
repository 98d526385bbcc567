// Verdicts by the digest of what they are about, each as long as it holds: the same chain comes again with every
// request of a user. Bounded; only what was proven is kept, since a refusal may be one of the moment. One per thread
// and configuration.

/**
 * A bounded cache of values that hold for a time. Digests are of the whole input, so that nobody's verdict is
 * another's.
 */
export class VerdictCache<T extends { readonly holdsUntil: number }> {
  readonly #entries = new Map<string, T>();
  readonly #entriesMax: number;

  /** Keeps at most `entriesMax` values; the one unused for longest makes room. */
  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax;
  }

  /** How many values are kept. */
  get size(): number {
    return this.#entries.size;
  }

  /** The value, unless it no longer holds at that time (seconds since 1970, the last second included). */
  get(digest: string, at: number): T | undefined {
    const value = this.#entries.get(digest);
    if (value === undefined) return undefined;
    this.#entries.delete(digest);
    if (at > value.holdsUntil) return undefined;
    this.#entries.set(digest, value);
    return value;
  }

  /** Keeps a value in place of an earlier one. */
  set(digest: string, value: T): void {
    this.#entries.delete(digest);
    this.#entries.set(digest, value);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.#entriesMax && oldest !== undefined) this.#entries.delete(oldest);
  }
}
