// A client that leaves when the test says so.
import type { Disconnection } from '../../workers/waiter.ts';

/** A client that waits until `leave`. */
export class LeavingClient implements Disconnection {
  #isGone = false;
  readonly #listeners: (() => void)[] = [];

  isGone(): boolean {
    return this.#isGone;
  }

  isComingBack(): boolean {
    return false;
  }

  onGone(listener: () => void): void {
    if (this.#isGone) listener();
    else this.#listeners.push(listener);
  }

  leave(): void {
    this.#isGone = true;
    for (const listener of this.#listeners) listener();
  }
}
