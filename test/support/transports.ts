// Servers in this process: `running` and `servers` start a handler on a transport, `startSoapServer` the SOAP service
// on both transports for an authority in memory.
import { type Body, wholeBody } from '../../engine/page/envelope.ts';
import { afterEach } from 'vitest';
import type { Authority } from '../../server/authority/authority.ts';
import { toOutcome } from '../../server/authority/soap/answers.ts';
import { replyTo } from '../../server/authority/soap/reply.ts';
import { soapHandler, type SoapOptions } from '../../server/authority/soap/service.ts';
import { SOAP_ANSWERS } from '../../server/authority/soap/tally.ts';
import type { Answer, Handler } from '../../server/http/exchange.ts';
import type { Listener, ListenOptions } from '../../server/http/listener.ts';
import { listenNode } from '../../server/http/node/transport.ts';
import { listenUws } from '../../server/http/uws/transport.ts';
import { claimPort } from '../../server/http/ports.ts';
import { steadyMs } from '../../server/observe/clock.ts';
import { newTally } from '../../server/observe/tally.ts';
import { Slices } from '../../workers/slices.ts';
import { memoryAuthority } from './authorities.ts';

export interface Transport {
  readonly name: 'uws' | 'node';
  listen(options: ListenOptions): Promise<Listener>;
}

export const TRANSPORTS: readonly Transport[] = [
  { name: 'uws', listen: listenUws },
  { name: 'node', listen: listenNode },
];

/** A 200 response with the given text. */
export function textAnswer(text: string, headers: Answer['headers'] = []): Answer {
  return { status: 200, headers, body: wholeBody(new TextEncoder().encode(text)) };
}

/**
 * A body of `bytes` bytes in pieces of at most `pieceBytes`, all views of one small buffer; counts the requested
 * pieces.
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

/** The text of a CountedBody of this many bytes. */
export function countedText(bytes: number): string {
  return 'abcdefghijklmnopqrstuvwxyz'.repeat(Math.ceil(bytes / 26)).slice(0, bytes);
}

/** Slices as a serving thread has them. */
export function newSlices(): Slices {
  return new Slices(steadyMs);
}

/** A listener on a free port of 127.0.0.1, with the internal errors that it reported. */
export interface Running {
  readonly port: number;
  readonly errors: unknown[];
  stop(): Promise<unknown>;
  readonly listener: Listener;
}

/** Listens with the handler on a free port, or the given one. `stop` drains without waiting. */
export async function running(
  { listen }: Transport,
  handler: Handler,
  port = 0,
  slices = newSlices(),
): Promise<Running> {
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  const listener = await listen({ host: '127.0.0.1', port, handler, exclusive: true, slices, onError });
  const stop = (): Promise<unknown> => listener.drain({ graceMs: 0, withinMs: 0 });
  return { port: listener.port, errors, listener, stop };
}

/** Starts servers in the tests of a file, and stops them after each test. */
export function servers(transport: Transport): (handler: Handler, slices?: Slices) => Promise<Running> {
  const open: Running[] = [];
  afterEach(async () => {
    for (const server of open.splice(0)) await server.stop();
  });
  return async (handler, slices) => {
    const server = await running(transport, handler, 0, slices);
    open.push(server);
    return server;
  };
}

/** The SOAP service: `url` on uWebSockets.js, `http10Url` on node:http; each WSDL points to its own. */
export interface SoapServer {
  readonly url: string;
  readonly http10Url: string;
  readonly servers: readonly Running[];
  stop(): Promise<void>;
}

/** The body limit of services under test, small enough to be exceeded often. */
export const SOAP_BODY_BYTES_MAX = 1_048_576;

/**
 * Starts the service on both transports for an authority in this thread, which `authorityOf` returns for each request.
 * `onBug` gets the errors that the authority throws. Other paths get 404.
 */
export async function startSoapServer(
  authorityOf = (): Authority => DEFAULT_AUTHORITY,
  {
    soapBodyBytesMax = SOAP_BODY_BYTES_MAX,
    onBug = () => undefined,
  }: { soapBodyBytesMax?: number; onBug?: (error: unknown) => void } = {},
): Promise<SoapServer> {
  const authority: SoapOptions['authority'] = {
    find: () => undefined,
    ask: async (message) => {
      await Promise.resolve();
      return toOutcome(replyTo(authorityOf(), message, onBug));
    },
  };
  const both: Running[] = [];
  for (const transport of TRANSPORTS) {
    const { port, release } = await claimPort('127.0.0.1', 0);
    await release();
    const settings = { baseUrl: `http://127.0.0.1:${port}`, allowBaseUrls: [], soapBodyBytesMax };
    const otherwise = (): Answer => ({ ...textAnswer('other'), status: 404 });
    const handler = soapHandler({ authority, tally: newTally(SOAP_ANSWERS), settings, fallback: otherwise });
    both.push(await running(transport, handler, port));
  }
  const [url, http10Url] = both.map(({ port }) => `http://127.0.0.1:${port}`) as [string, string];
  return { url, http10Url, servers: both, stop: async () => void (await Promise.all(both.map((one) => one.stop()))) };
}

const DEFAULT_AUTHORITY = memoryAuthority();
