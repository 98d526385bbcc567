// The listener that both transports implement, and its counts: responses in progress, so that a drain knows when it may
// close, and requests per turn of the event loop, because a client may pipeline thousands.
import type { Slices } from '../../workers/slices.ts';
import type { Answer, Handler, Request } from './exchange.ts';

/** Either `answered` or `abandoned` is called, once. With an `id`, the response has X-Request-Id. */
export interface WatchedRequest {
  readonly id?: string;
  answered(answer: Answer, route: number): void;
  abandoned(route: number): void;
}

/** Called with every request that has a head, even a malformed one. It must be fast and must not throw. */
export type Watch = (request: Request) => WatchedRequest;

/** Where a transport listens, and what it calls. */
export interface ListenOptions {
  readonly host: string;
  /** 0 uses a free port. */
  readonly port: number;
  readonly handler: Handler;
  /**
   * False shares the port with the other serving threads (SO_REUSEPORT). This requires a port above 0: get a free one
   * from `claimPort` first. So does restarting on the same port, because uWebSockets.js omits SO_REUSEADDR for port 0.
   */
  readonly exclusive: boolean;
  /** The thread's slices, in which long bodies are written. */
  readonly slices: Slices;
  /** Observes all requests and responses. */
  readonly watch?: Watch | undefined;
  /** Called, in a separate turn of the event loop, with every bug that became a 500 or a closed connection. */
  onError(error: unknown): void;
}

/** For `graceMs` everything continues, with `Connection: close`. Then responses in progress have `withinMs`. */
export interface DrainTime {
  readonly graceMs: number;
  readonly withinMs: number;
}

/** A listening transport. */
export interface Listener {
  readonly port: number;
  readonly flight: Pick<Flight, 'load' | 'swapped' | 'cutReaders'>;
  /**
   * Sends `Connection: close`; after the grace period accepts no more connections (node:http then ends idle ones),
   * waits for responses in progress and closes every connection. Resolves in the listening thread, when nothing is
   * left, to the number of cut responses. Further calls return the same promise.
   */
  drain(time: DrainTime): Promise<number>;
}

export interface ListenerLoad {
  readonly connections: number;
  /** Responses that take longer than the turn of their request. */
  readonly answers: number;
  /** The number of these responses that still read replaced data. */
  readonly replacedReaders: number;
}

/** Sends one response; `cut` ends its connection at once. */
interface Sender {
  cut(): void;
}

/** Milliseconds of a turn after which excess requests must wait. */
export const TURN_MS_MAX = 10;

/** Requests of a turn that are never excess: this many for each of COUNTED_CONNECTIONS, plus SPARE_REQUESTS. */
export const CONNECTION_REQUESTS = 40;

export const COUNTED_CONNECTIONS = 100;

export const SPARE_REQUESTS = 64;

/** A query of this length counts as one request per QUERY_BYTES: sixty of 60 kB at once would take a turn of 25 ms. */
export const LONG_QUERY_BYTES = 4096;
const QUERY_BYTES = 256;

/** The clock of a turn starts with this request. Costs one callback per sixteen requests, 0.02 us each. */
export const CLOCKED_REQUESTS = 16;

/**
 * Counts responses in progress and the requests of a turn. `now` is in milliseconds. Cost: an addition per request and
 * per response.
 */
export class Flight {
  connections = 0;
  /** The responses in progress, each with the number of the last swap before it. */
  readonly #answers = new Map<Sender, number>();
  #swap = 0;
  readonly #waiting: (() => void)[] = [];
  readonly #now: () => number;
  readonly #nextTurn: (turn: () => void) => void;
  #turnRequests = 0;
  /** The weight of long queries in addition to their number. */
  #turnLongQueries = 0;
  #turnSinceMs = 0;
  #turnConnections = 0;
  #isTurnCounted = false;

  constructor(now: () => number, nextTurn: (turn: () => void) => void = setImmediate) {
    this.#now = now;
    this.#nextTurn = nextTurn;
  }

  /** Whether a request must wait for a later turn. Cost: an addition for almost all requests. */
  isTurnOver(queryBytes: number): boolean {
    const isLong = queryBytes >= LONG_QUERY_BYTES;
    if (isLong) this.#turnLongQueries += Math.floor(queryBytes / QUERY_BYTES) - 1;
    if (!this.#isClocked(isLong)) return false;
    const connections = Math.min(Math.max(this.#turnConnections, this.connections), COUNTED_CONNECTIONS);
    const requests = this.#turnRequests + (isLong ? this.#turnLongQueries : 0);
    if (requests <= SPARE_REQUESTS + CONNECTION_REQUESTS * connections) return false;
    return this.#now() - this.#turnSinceMs >= TURN_MS_MAX;
  }

  /** Counts a request. Returns whether this turn has taken TURN_MS_MAX, for clients that lose nothing by waiting. */
  isTurnLong(): boolean {
    return this.#isClocked(false) && this.#now() - this.#turnSinceMs >= TURN_MS_MAX;
  }

  /**
   * Counts a request. Returns whether the turn is clocked for it, as it is for long queries and after the first
   * requests.
   */
  #isClocked(isLong: boolean): boolean {
    if (++this.#turnRequests < CLOCKED_REQUESTS && !isLong) return false;
    if (!this.#isTurnCounted) this.#countTurn();
    return true;
  }

  #countTurn(): void {
    this.#isTurnCounted = true;
    this.#turnSinceMs = this.#now();
    // A copy of the number: a connection that closes during the turn still counts, because it has already sent
    // requests.
    this.#turnConnections = this.connections;
    this.#nextTurn(() => {
      this.#isTurnCounted = false;
      this.#turnRequests = 0;
      this.#turnLongQueries = 0;
    });
  }

  load(): ListenerLoad {
    const replacedReaders = [...this.#answers.values()].filter((swap) => swap < this.#swap).length;
    return { connections: this.connections, answers: this.#answers.size, replacedReaders };
  }

  enter(sender: Sender): void {
    this.#answers.set(sender, this.#swap);
  }

  /** A response is complete or was given up because the client disconnected. */
  leave(sender: Sender): void {
    this.#answers.delete(sender);
    if (this.#answers.size > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** The data was swapped; `swap` counts up. The responses in progress read the previous data. */
  swapped(swap: number): void {
    this.#swap = swap;
  }

  /** Ends the connections of responses that read data from before this swap. */
  cutReaders(swap: number): void {
    // A thread that started after that swap has counted fewer swaps: its responses read current data.
    const end = Math.min(swap, this.#swap);
    for (const [sender, before] of this.#answers) if (before < end) sender.cut();
  }

  /** Resolves once nothing is in progress, or after `withinMs`, to the number of responses in progress. */
  async settled(withinMs: number): Promise<number> {
    if (this.#answers.size === 0) return 0;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, withinMs);
      this.#waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
    return this.#answers.size;
  }
}
