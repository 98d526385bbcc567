// How fresh the data of a target is: how long ago the target confirmed it, and how long ago its publisher found it
// current. The steady clock counts both, so that jumps of the clock do not matter.
import { type Pointer, refreshedAgoMs } from '../../data/distribution/pointer.ts';
import { epochMs, steadyMs } from '../observe/clock.ts';

/** The freshness of one target's data. */
export class Freshness {
  /** When the target last confirmed the data, on the steady clock. */
  #confirmedMs: number | undefined;
  /** The time of the publisher's last refresh as the pointer has it, and on the steady clock. */
  #refreshed: { readonly text: string; readonly ms: number } | undefined;

  /** `confirmedMs` is when the data was last confirmed before this run, since 1970. */
  constructor(confirmedMs: number | undefined) {
    // A clock that was wrong makes old data no fresher.
    if (confirmedMs !== undefined) this.#confirmedMs = steadyMs() - Math.abs(epochMs() - confirmedMs);
  }

  confirm(): void {
    this.#confirmedMs = steadyMs();
  }

  /** Notes the refresh that a pointer names: as of now if `isSeen`, else as of the time that it has. */
  note({ refreshed }: Pointer, isSeen: boolean): void {
    if (refreshed === this.#refreshed?.text) return;
    const agoMs = (text: string): number => (isSeen ? 0 : refreshedAgoMs(text, epochMs()));
    this.#refreshed = refreshed === undefined ? undefined : { text: refreshed, ms: steadyMs() - agoMs(refreshed) };
  }

  /** Time since the data was last confirmed; 0 before the first time. */
  get staleMs(): number {
    return this.#confirmedMs === undefined ? 0 : steadyMs() - this.#confirmedMs;
  }

  /** Time since the publisher last refreshed the data; undefined if it does not say. */
  get ageMs(): number | undefined {
    return this.#refreshed && steadyMs() - this.#refreshed.ms;
  }
}
