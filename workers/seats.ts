// Seats of which there are few, and who waits for one: each connection gets one in turn, and nobody waits for long.
// Knows nothing of what is done in a seat.
import type { Disconnection } from './waiter.ts';

/** Requests of one connection that wait at once; one more is told so. Only pipelined ones come to more than one. */
export const CONNECTION_WAITING_MAX = 16;

/** The number of a seat, or why there is none: nobody wants it any more, or too much waits. */
export type Seat = number | 'gone' | 'busy';

/**
 * So many seats, from 0. Who waits for one longer than `waitMsMax` is told `busy`. How many may wait in all is up to
 * who asks.
 */
export class Seats {
  readonly #free: number[];
  readonly #waitMsMax: number;
  /** Who waits, by connection in the order of their turns. */
  readonly #waiting = new Map<object, Set<(seat: Seat) => void>>();

  constructor(seats: number, waitMsMax: number) {
    this.#free = Array.from({ length: seats }, (_, seat) => seat);
    this.#waitMsMax = waitMsMax;
  }

  /** A seat, which `leave` gives back. A waiter without a connection has one of its own. Cost: a timer to wait. */
  async enter(waiter: Disconnection): Promise<Seat> {
    if (waiter.isGone()) return 'gone';
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const connection = waiter.connection ?? waiter;
    const waiting = this.#waiting.get(connection) ?? new Set();
    if (waiting.size >= CONNECTION_WAITING_MAX) return 'busy';
    return new Promise((resolve) => {
      const end = (seat: Seat): void => {
        if (!waiting.delete(end)) return;
        if (waiting.size === 0) this.#waiting.delete(connection);
        clearTimeout(timer);
        resolve(seat);
      };
      const timer = setTimeout(end, this.#waitMsMax, 'busy');
      this.#waiting.set(connection, waiting.add(end));
      waiter.onGone(() => end('gone'));
    });
  }

  /** Gives a seat to the first of the connection whose turn it is; its next one waits behind all others. */
  leave(seat: number): void {
    for (const [connection, waiting] of this.#waiting) {
      this.#waiting.delete(connection);
      if (waiting.size > 1) this.#waiting.set(connection, waiting);
      for (const end of waiting) return end(seat);
    }
    this.#free.push(seat);
  }

  /** Whoever waits is told `gone`. */
  close(): void {
    for (const waiting of this.#waiting.values()) for (const end of waiting) end('gone');
  }
}
