// What both transports take and give: where to listen, whom to ask, who watches, and how to stop.
// Knows no transport.
import type { Slices } from '../../workers/slices.ts';
import type { Answer, Handler, Request } from './exchange.ts';
import type { Flight } from './flight.ts';

/**
 * What is told of a request that is watched: that its answer goes out, or that nobody is left to get it; and its route,
 * see ROUTE. Where it has an `id`, the answer says so in X-Request-Id.
 */
export interface WatchedRequest {
  readonly id?: string;
  answered(answer: Answer, route: number): void;
  abandoned(route: number): void;
}

/**
 * Called with every request that has a head, malformed ones too, before it is judged; the request lives until it
 * returns. What it gives is told one thing, once. It must be quick and must not throw.
 */
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

/**
 * How long a drain may take: for `graceMs` all goes on, but every answer says `Connection: close`, so that clients
 * leave by themselves; behind it answers in flight have `withinMs` to finish.
 */
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
  /** Its connections and the answers under way. */
  readonly flight: Pick<Flight, 'load' | 'swapped' | 'cutReaders'>;
  drain(time: DrainTime): Promise<number>;
}
