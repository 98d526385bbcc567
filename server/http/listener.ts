// What both transports take and give: where to listen,
// whom to ask, and how to stop. Knows no transport.
import type { Slices } from '../../workers/slices.ts';
import type { Handler } from './exchange.ts';

/**
 * Where a transport listens and what it calls. `port` 0 takes a free one. `exclusive: false` shares a port with other
 * listeners of this program (SO_REUSEPORT; one per serving thread), which works for a port above 0 only: take one with
 * `claimPort` first. So does a restart on the same port: uWebSockets.js leaves out SO_REUSEADDR for port 0. `onError`
 * gets every bug that a transport turned into a 500 or a closed connection, in a turn of the event loop of its own.
 * `slices` are those of the thread, in which long bodies are written.
 */
export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly handler: Handler;
  readonly exclusive: boolean;
  readonly slices: Slices;
  onError(error: unknown): void;
}

/**
 * A transport that listens. `drain` stops taking connections, answers what still comes on open ones with `Connection:
 * close` (node:http ends idle ones at once), waits for answers in flight, at most `withinMs`, and then closes every
 * connection. It resolves when nothing is left, in the thread that listens; a second call gives the first one's
 * promise.
 */
export interface Listener {
  readonly port: number;
  drain(withinMs: number): Promise<void>;
}
