import { type IncomingMessage, type OutgoingHttpHeaders, request as requestHttp, type RequestOptions } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { SecureContextOptions } from 'node:tls';
import { readBytesWithin } from '../../data/boundedBytes.ts';
import { readFileSync } from 'node:fs';
import { OperationError, reasonOf } from '../../data/operationError.ts';

/** `ca`, `cert` and `key` are PEM; `ca` replaces the system's CAs. `timeout` is the longest time without data in ms. */
export interface Question
  extends Pick<RequestOptions, 'signal' | 'timeout'>, Pick<SecureContextOptions, 'ca' | 'cert' | 'key'> {
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: Uint8Array | undefined;
  readonly bytesMax: number;
}

/** GET, or POST with a body. The response has no body if it exceeds `bytesMax`. Rejects with the system's errors. */
export async function askServer(url: URL, { body, bytesMax, headers, ...limits }: Question) {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  const length = body ? { 'Content-Length': body.length } : {};
  const options = { ...limits, agent: false, method: body ? 'POST' : 'GET', headers: { ...headers, ...length } };
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = request(url, options, resolve);
    outgoing.once('timeout', () => outgoing.destroy(new Error(`no answer within ${limits.timeout! / 1000} s`)));
    outgoing.on('error', reject);
    outgoing.end(body);
  });
  const received = await readBytesWithin(incoming, bytesMax);
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, body: received };
}

/** The bytes of a file. Throws OperationError `file`, such as `chain.pem cannot be read (ENOENT)`. */
export function bytesOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new OperationError('file', `${file} cannot be read (${reasonOf(cause)})`, cause);
  }
}
