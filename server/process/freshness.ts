// How fresh the data of a target is: how long ago the target confirmed what is served, and how long ago its publisher
// found that this is what the catalogue has. The steady clock counts both, so that one that jumps does not matter.
import { type Pointer, refreshedAgoMs } from '../../data/distribution/pointer.ts';
import { epochMs, steadyMs } from '../observe/clock.ts';

/** The freshness of one target's data. */
export class Freshness {
  /** When, by the steady clock, the target last confirmed what is served. */
  #confirmedMs: number | undefined;
  /** What the pointer has of its publisher's last refresh, and since when that is so by the steady clock. */
  #refreshed: { readonly text: string; readonly ms: number } | undefined;

  /** `confirmedMs` is when it was last confirmed before this run, since 1970. */
  constructor(confirmedMs: number | undefined) {
    // A clock that was wrong makes old data no fresher.
    if (confirmedMs !== undefined) this.#confirmedMs = steadyMs() - Math.abs(epochMs() - confirmedMs);
  }

  /** The target confirmed what is served, now. */
  confirm(): void {
    this.#confirmedMs = steadyMs();
  }

  /**
   * This is what the target has. What changes while it `isWatched` is of now, whatever the clocks of two machines say;
   * else the time that the pointer has tells.
   */
  note({ refreshed }: Pointer, isWatched: boolean): void {
    if (refreshed === this.#refreshed?.text) return;
    const agoMs = (text: string): number => (isWatched ? 0 : refreshedAgoMs(text, epochMs()));
    this.#refreshed = refreshed === undefined ? undefined : { text: refreshed, ms: steadyMs() - agoMs(refreshed) };
  }

  /** For how many seconds it has not been confirmed. */
  get staleSeconds(): number {
    return this.#confirmedMs === undefined ? 0 : (steadyMs() - this.#confirmedMs) / 1000;
  }

  /** How long ago the publisher last refreshed it, in milliseconds; undefined where it does not say. */
  get ageMs(): number | undefined {
    return this.#refreshed && steadyMs() - this.#refreshed.ms;
  }

  /** Why it is too old, as people read it; undefined where it is not. `from` is the target, `why` what it last said. */
  staleReason(maxStaleMs: number | undefined, from: string, why: string): string | undefined {
    if (maxStaleMs === undefined) return undefined;
    const forSeconds = (seconds: number): string => `the data is stale: for ${Math.round(seconds)} s`;
    const { staleSeconds, ageMs = 0 } = this;
    if (staleSeconds * 1000 > maxStaleMs) return `${forSeconds(staleSeconds)} it was not confirmed by ${from}${why}`;
    if (ageMs <= maxStaleMs) return undefined;
    return `${forSeconds(ageMs / 1000)} whoever publishes to ${from} did not refresh it; does that run?`;
  }
}
