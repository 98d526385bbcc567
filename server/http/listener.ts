// A listener as both transports implement it, and its counts: responses in progress, so that a drain knows when it may
// close, and requests in one turn of the event loop, because a client may pipeline thousands.
import type { Slices } from '../../workers/slices.ts';
import type { Answer, Handler, Request } from './exchange.ts';

/** One of its functions is called once. With an `id`, the response has X-Request-Id. */
export interface WatchedRequest {
  readonly id?: string;
  answered(answer: Answer, route: number): void;
  abandoned(route: number): void;
}

/** Called with every request that has a head, even a malformed one. It must be quick and must not throw. */
export type Watch = (request: Request) => WatchedRequest;

/**
 * Where a transport listens and what it calls. `port` 0 takes a free one. `exclusive: false` shares a port with other
 * listeners of this program (SO_REUSEPORT; one per serving thread), which works for a port above 0 only: take one with
 * `claimPort` first. So does a restart on the same port: uWebSockets.js leaves out SO_REUSEADDR for port 0. `onError`
 * gets every bug that a transport turned into a 500 or a closed connection, in a turn of the event loop of its own.
 * `slices` are those of the thread, in which long bodies are written.
 * `watch`, where there is one, is told of all requests and answers.
 */
export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly handler: Handler;
  readonly exclusive: boolean;
  readonly slices: Slices;
  readonly watch?: Watch | undefined;
  onError(error: unknown): void;
}

/** During `graceMs` all continues with `Connection: close`; then responses in flight have `withinMs`. */
export interface DrainTime {
  readonly graceMs: number;
  readonly withinMs: number;
}

/**
 * A transport that listens. `drain` answers with `Connection: close`, behind the grace takes no more connections
 * (node:http ends idle ones then), waits for answers in flight, and closes every connection. It resolves when nothing
 * is left, in the thread that listens, with the number of answers that were cut; a second call gives the first one's
 * promise.
 */
export interface Listener {
  readonly port: number;
  readonly flight: Pick<Flight, 'load' | 'swapped' | 'cutReaders'>;
  drain(time: DrainTime): Promise<number>;
}

/** `answers` took more than the turn of their request; `replacedReaders` of them read replaced data. */
export interface ListenerLoad {
  readonly connections: number;
  readonly answers: number;
  readonly replacedReaders: number;
}

/** Sends one answer; `cut` ends its connection at once. */
interface Sender {
  cut(): void;
}

/** Milliseconds of a turn after which requests that are too many for it have to wait. */
export const TURN_MS_MAX = 10;

/** Requests of a turn that are never too many: this many of each of COUNTED_CONNECTIONS, and SPARE_REQUESTS. */
export const CONNECTION_REQUESTS = 40;

export const COUNTED_CONNECTIONS = 100;

export const SPARE_REQUESTS = 64;

/** A query this long counts as a request for each QUERY_BYTES: sixty of 60 kB at once would take a turn of 25 ms. */
export const LONG_QUERY_BYTES = 4096;
const QUERY_BYTES = 256;

/** The clock of a turn runs from this request on: a callback for every sixteenth, 0.02 us for each. */
export const CLOCKED_REQUESTS = 16;

/** Counts responses in flight, and the requests of a turn. `now` is in milliseconds. Cost: an addition each way. */
export class Flight {
  connections = 0;
  /** The answers under way, each with the number of the last swap of the data before it. */
  readonly #answers = new Map<Sender, number>();
  #swap = 0;
  readonly #waiting: (() => void)[] = [];
  readonly #now: () => number;
  readonly #nextTurn: (turn: () => void) => void;
  #turnRequests = 0;
  /** What its long queries count as beyond the requests that they are. */
  #turnLongQueries = 0;
  #turnSinceMs = 0;
  #turnConnections = 0;
  #isTurnCounted = false;

  constructor(now: () => number, nextTurn: (turn: () => void) => void = setImmediate) {
    this.#now = now;
    this.#nextTurn = nextTurn;
  }

  /** Whether a request has to wait for a later turn. Cost: an addition for nearly all. */
  isTurnOver(queryBytes: number): boolean {
    const isLong = queryBytes >= LONG_QUERY_BYTES;
    if (isLong) this.#turnLongQueries += Math.floor(queryBytes / QUERY_BYTES) - 1;
    if (!this.#isClocked(isLong)) return false;
    const connections = Math.min(Math.max(this.#turnConnections, this.connections), COUNTED_CONNECTIONS);
    const requests = this.#turnRequests + (isLong ? this.#turnLongQueries : 0);
    if (requests <= SPARE_REQUESTS + CONNECTION_REQUESTS * connections) return false;
    return this.#now() - this.#turnSinceMs >= TURN_MS_MAX;
  }

  /** Counts a request; whether this turn has taken TURN_MS_MAX, where it costs a client nothing to wait. */
  isTurnLong(): boolean {
    return this.#isClocked(false) && this.#now() - this.#turnSinceMs >= TURN_MS_MAX;
  }

  /** Counts a request; whether it is one of those behind which the turn is clocked, as long queries are. */
  #isClocked(isLong: boolean): boolean {
    if (++this.#turnRequests < CLOCKED_REQUESTS && !isLong) return false;
    if (!this.#isTurnCounted) this.#countTurn();
    return true;
  }

  #countTurn(): void {
    this.#isTurnCounted = true;
    this.#turnSinceMs = this.#now();
    // Those that end meanwhile have had their requests.
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

  /** One answer is done, sent whole or given up because the client left. */
  leave(sender: Sender): void {
    this.#answers.delete(sender);
    if (this.#answers.size > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** The data was swapped; `swap` counts up. The answers under way read the data from before. */
  swapped(swap: number): void {
    this.#swap = swap;
  }

  /** Ends the connections of answers that read the data from before a swap. */
  cutReaders(swap: number): void {
    // A thread that started after that swap has seen no or fewer swaps: its answers read current data.
    const end = Math.min(swap, this.#swap);
    for (const [sender, before] of this.#answers) if (before < end) sender.cut();
  }

  /** Resolves once nothing is under way, or after `withinMs`, with the number of responses under way. */
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
