// Both transports as values, and handlers for them: what the contract suite of transports runs on.
import { type Body, wholeBody } from '../../engine/page/envelope.ts';
import type { Answer, Handler } from '../../server/http/exchange.ts';
import type { Listener, ListenOptions } from '../../server/http/listener.ts';
import { listenNode } from '../../server/http/node/transport.ts';
import { listenUws } from '../../server/http/uws/transport.ts';
import { steadyMs } from '../../server/observe/clock.ts';
import { Slices } from '../../workers/slices.ts';

/** A transport by name. */
export interface Transport {
  readonly name: 'uws' | 'node';
  listen(options: ListenOptions): Promise<Listener>;
}

/** Every transport there is. */
export const TRANSPORTS: readonly Transport[] = [
  { name: 'uws', listen: listenUws },
  { name: 'node', listen: listenNode },
];

/** A 200 of the given text. */
export function textAnswer(text: string, headers: Answer['headers'] = []): Answer {
  return { status: 200, headers, body: wholeBody(new TextEncoder().encode(text)) };
}

/**
 * A body of `bytes` bytes in pieces of at most `pieceBytes`, all views of one small buffer; counts the pieces asked
 * for.
 */
export class CountedBody implements Body {
  readonly bytes: number;
  readonly #pieceBytes: number;
  readonly #letters: Uint8Array;
  pieces = 0;

  constructor(bytes: number, pieceBytes: number) {
    this.bytes = bytes;
    this.#pieceBytes = pieceBytes;
    this.#letters = new Uint8Array(pieceBytes + 26).map((_, i) => 97 + (i % 26));
  }

  pieceAt(offset: number): Uint8Array {
    this.pieces++;
    const end = offset + Math.min(this.#pieceBytes - (offset % this.#pieceBytes), this.bytes - offset);
    return this.#letters.subarray(offset % 26, (offset % 26) + end - offset);
  }
}

/** The text of a CountedBody of so many bytes. */
export function countedText(bytes: number): string {
  return 'abcdefghijklmnopqrstuvwxyz'.repeat(Math.ceil(bytes / 26)).slice(0, bytes);
}

/** Slices as a serving thread has them. */
export function newSlices(): Slices {
  return new Slices(steadyMs);
}

/** A listener on a free port of 127.0.0.1 with the bugs it reported. */
export interface Running {
  readonly port: number;
  readonly errors: unknown[];
  stop(): Promise<void>;
  readonly listener: Listener;
}

/** Listens with the handler on a free port, or the given one. `stop` drains without waiting. */
export async function running(
  transport: Transport,
  handler: Handler,
  port = 0,
  slices = newSlices(),
): Promise<Running> {
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  const listener = await transport.listen({ host: '127.0.0.1', port, handler, exclusive: true, slices, onError });
  return {
    port: listener.port,
    errors,
    listener,
    stop: async () => void (await listener.drain({ graceMs: 0, withinMs: 0 })),
  };
}

/** A way to start servers in a test, and to stop all of them behind it. */
export function servers(transport: Transport): {
  serve(handler: Handler, slices?: Slices): Promise<Running>;
  stopAll(): Promise<void>;
} {
  const open: Running[] = [];
  return {
    async serve(handler, slices) {
      const server = await running(transport, handler, 0, slices);
      open.push(server);
      return server;
    },
    async stopAll() {
      for (const server of open.splice(0)) await server.stop();
    },
  };
}
