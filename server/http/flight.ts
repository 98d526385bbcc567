// How many answers are under way on one listener, so that a drain knows when it may close. Knows no transport and does
// not say which answers they are.

import type { ListenerLoad } from './listener.ts';

/** Counts the answers that have been asked for and not yet handed to the network. Cost: an addition each way. */
export class Flight {
  /** Open connections, where somebody counts them. */
  connections = 0;
  #count = 0;
  readonly #waiting: (() => void)[] = [];

  /** What there is now. */
  load(): ListenerLoad {
    return { connections: this.connections, answers: this.#count };
  }

  /** One more answer is under way. */
  enter(): void {
    this.#count++;
  }

  /** One answer is done, sent whole or given up because the client left. */
  leave(): void {
    this.#count--;
    if (this.#count > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /**
   * Resolves once nothing is under way, or after `withinMs` milliseconds whatever is, with how many answers that are.
   */
  async settled(withinMs: number): Promise<number> {
    if (this.#count === 0) return 0;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, withinMs);
      this.#waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
    return this.#count;
  }
}
