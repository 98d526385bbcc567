// A semaphore that is fair to connections. Everything that waits in a serving thread waits in one: heavy queries for a
// thread of the pool, and sliced work for its turn.
import type { Disconnection } from './waiter.ts';

/** Requests of one connection that wait at once. Only pipelined requests come to more than one. */
export const CONNECTION_WAITING_MAX = 16;

/** At most `waitingMax` requests wait, each for at most `waitMsMax`. */
export interface WaitingLimits {
  readonly waitingMax: number;
  readonly waitMsMax: number;
}

/** The limits of every server. */
export const WAITING_LIMITS: WaitingLimits = { waitingMax: 256, waitMsMax: 5000 };

/** The number of a permit. `gone`: the client has left. `busy`: too many wait, or this request waited too long. */
export type Permit = number | 'gone' | 'busy';

/** `permits` permits, numbered from 0. Each connection gets one in turn. */
export class Semaphore {
  /** Requests that wait. */
  waiting = 0;
  readonly #permits: number;
  readonly #free: number[];
  readonly #limits: WaitingLimits;
  /** Requests that wait, by connection in the order of their turns. */
  readonly #queues = new Map<object, Set<(permit: Permit) => void>>();
  #onIdle: (() => void) | undefined;

  constructor(permits: number, limits: WaitingLimits = WAITING_LIMITS) {
    this.#permits = permits;
    this.#free = Array.from({ length: permits }, (_, permit) => permit);
    this.#limits = limits;
  }

  /** Permits that are held. */
  get held(): number {
    return this.#permits - this.#free.length;
  }

  /** A permit, which `release` gives back. A client without a connection counts as a connection. */
  async acquire(client: Disconnection): Promise<Permit> {
    if (client.isGone()) return 'gone';
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const { waitingMax, waitMsMax } = this.#limits;
    const connection = client.connection ?? client;
    const queue = this.#queues.get(connection) ?? new Set();
    if (this.waiting >= waitingMax || queue.size >= CONNECTION_WAITING_MAX) return 'busy';
    return new Promise((resolve) => {
      const end = (permit: Permit): void => {
        if (!queue.delete(end)) return;
        this.waiting--;
        if (queue.size === 0) this.#queues.delete(connection);
        clearTimeout(timer);
        resolve(permit);
      };
      const timer = setTimeout(end, waitMsMax, 'busy');
      this.waiting++;
      this.#queues.set(connection, queue.add(end));
      client.onGone(() => end('gone'));
    });
  }

  /** Gives a permit to the first request of the next connection. That connection then waits after all others. */
  release(permit: number): void {
    for (const [connection, queue] of this.#queues) {
      this.#queues.delete(connection);
      if (queue.size > 1) this.#queues.set(connection, queue);
      for (const end of queue) return end(permit);
    }
    this.#free.push(permit);
    if (this.held === 0) this.#onIdle?.();
  }

  /** Ends all waiting with `gone`. Resolves when every permit is back. */
  async close(): Promise<void> {
    for (const queue of this.#queues.values()) for (const end of queue) end('gone');
    if (this.held > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }
}
