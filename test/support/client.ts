// The tests' HTTP client: sends a target byte for byte, as a rule over a kept connection, and gives back what came.
// No decoding, no following, no default headers but Host.
import { Agent, request } from 'node:http';

/** An answer as received. Header names are in lower case; `body` is the UTF-8 text of `bytes`. */
export interface Received {
  readonly bytes: Buffer;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

/** What to send. `target` goes out as it is; it must be ASCII without blanks. */
export interface Sent {
  readonly method?: string;
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** A client of one server; `close` ends its connections. */
export interface Client {
  send(sent: Sent): Promise<Received>;
  get(target: string, headers?: Readonly<Record<string, string>>): Promise<Received>;
  close(): void;
}

/** A redirect repeats the query that it was asked with, up to a head of 64 kB. */
const HEAD_BYTES_MAX = 131_072;

/**
 * A client for an address such as `http://127.0.0.1:8080`. Connections are kept and reused, unless it is told not to:
 * for who is silent for so long between two requests that the server may close one at the moment of the second.
 */
export function clientOf(url: string, isKept = true): Client {
  const { hostname, port } = new URL(url);
  const agent = new Agent({ keepAlive: isKept, maxSockets: 8 });
  const send = ({ method = 'GET', target, headers = {}, body }: Sent): Promise<Received> =>
    new Promise((resolve, reject) => {
      const options = { agent, hostname, port, method, path: target, headers, maxHeaderSize: HEAD_BYTES_MAX };
      const outgoing = request(options, (incoming) => {
        const pieces: Buffer[] = [];
        incoming.on('data', (piece: Buffer) => pieces.push(piece));
        incoming.once('error', reject);
        incoming.once('end', () => {
          // Repeated headers come joined by `, `; only Set-Cookie comes as an array, and nobody sets cookies here.
          const received = incoming.headers as Record<string, string | undefined>;
          const bytes = Buffer.concat(pieces);
          resolve({ status: incoming.statusCode ?? 0, headers: received, bytes, body: bytes.toString('utf8') });
        });
      });
      outgoing.once('error', reject);
      outgoing.end(body);
    });
  return { send, get: (target, headers = {}) => send({ target, headers }), close: () => agent.destroy() };
}

/** The status of one request on a new connection, or 'none' if it gets no response. */
export async function statusOf(
  url: string,
  path = '/healthz',
  headers: Readonly<Record<string, string>> = {},
): Promise<number | 'none'> {
  const client = clientOf(url);
  try {
    return (await client.get(path, headers)).status;
  } catch {
    return 'none';
  } finally {
    client.close();
  }
}
