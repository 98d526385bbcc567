// Single requests to an HTTP server with objects. No redirect is followed, nothing is retried or decompressed, and
// every wait is bounded. Knows neither pointers nor the content of objects.
import type { Readable } from 'node:stream';
import { readBytesWithin } from '../boundedBytes.ts';
import { connectionsTo } from '../connections.ts';
import { OperationError, reasonOf } from '../operationError.ts';
import { tlsFailureText } from '../tls.ts';
import type { ObjectBytes } from './target.ts';

/** Default number of connections: one to poll the pointer while an object is fetched. */
const CONNECTIONS = 2;
/** An unwanted body is read up to this many bytes, so that its connection can be reused. */
const LEFT_BYTES_MAX = 1 << 16;

/**
 * A request below the origin of the host. `signal` aborts it, also while the body is read. A `body` in pieces needs the
 * header Content-Length. `headersTimeout` is how long after the request the response may begin, in milliseconds.
 */
export interface ObjectRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Readable;
  readonly headersTimeout?: number;
  readonly signal: AbortSignal;
}

/** A response. Call exactly one of `pieces`, `text` and `discard`, once. */
export interface ObjectAnswer {
  readonly status: number;
  /** A header, with repeated lines joined by commas; '' if it is missing. */
  header(name: string): string;
  pieces(): AsyncIterable<Uint8Array>;
  /** Throws OperationError `network` if the body has more than `bytesMax` bytes, and stops reading. */
  text(bytesMax: number): Promise<string>;
  discard(): Promise<void>;
}

/** A host of objects. `send` throws OperationError `network` with the URL and the reason. */
export interface ObjectHost {
  send(request: ObjectRequest): Promise<ObjectAnswer>;
  close(): Promise<void>;
}

/**
 * The host of an origin. `timeoutMs` limits the time to connect, the time until a response begins, and the time between
 * two pieces of a body.
 */
export function objectHost(origin: string, timeoutMs: number, connections = CONNECTIONS): ObjectHost {
  const pool = connectionsTo(origin, timeoutMs, connections);
  return {
    close: () => pool.destroy(),
    async send({ path, ...request }) {
      const fail = networkFailure(`${origin}${path}`, request.signal);
      const { statusCode, headers, body } = await pool
        .request({ ...request, path, headers: { ...request.headers, 'accept-encoding': 'identity' } })
        .catch(fail);
      async function* pieces(): AsyncGenerator<Uint8Array> {
        try {
          for await (const piece of body) yield piece as Uint8Array;
        } catch (error) {
          fail(error);
        }
      }
      return {
        status: statusCode,
        header: (name) => [headers[name] ?? []].flat().join(', '),
        pieces,
        async text(bytesMax) {
          const bytes = await readBytesWithin(pieces(), bytesMax);
          if (!bytes) throw targetError(`${origin}${path}`, `a body of more than ${bytesMax} bytes`);
          return bytes.toString();
        },
        discard: () => body.dump({ limit: LEFT_BYTES_MAX }).catch(() => undefined),
      };
    },
  };
}

/**
 * The bytes of an object that was requested from `offset` on. They start there, or at 0 if the server ignored the
 * range. Returns undefined for any other response, without reading its body.
 */
export function readPart(answer: ObjectAnswer, offset: number): ObjectBytes | undefined {
  if (answer.status === 200) return { offset: 0, pieces: answer.pieces() };
  const start = /^bytes (\d{1,15})-/.exec(answer.header('content-range'))?.[1];
  return answer.status === 206 && Number(start) === offset ? { offset, pieces: answer.pieces() } : undefined;
}

export function rangeHeader(offset: number): Readonly<Record<string, string>> {
  return offset === 0 ? {} : { range: `bytes=${offset}-` };
}

function networkFailure(url: string, signal: AbortSignal): (error: unknown) => never {
  return (error) => {
    if (error instanceof OperationError) throw error;
    const reason: unknown = signal.aborted ? signal.reason : error;
    if (reason instanceof OperationError) throw reason;
    throw targetError(url, tlsFailureText(reason) ?? `${reasonOf(reason)}: ${(reason as Error).message}`, error);
  };
}

export function targetError(url: string, reason: string, cause?: unknown): OperationError {
  return new OperationError('network', `${url}: ${reason}`, cause);
}
