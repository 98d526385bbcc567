// The HTTP client of tests. It sends a target byte for byte and returns the raw response: no decoding, no redirects, no
// default headers except Host.
import { Agent, request } from 'node:http';

/** A response. Header names are in lower case; `body` is the UTF-8 text of `bytes`. */
export interface Received {
  readonly bytes: Buffer;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

/** A request. `target` is sent as it is; it must be ASCII without blanks. */
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

/** A redirect repeats the query of its request, whose head may have 64 kB. */
const HEAD_BYTES_MAX = 131_072;

/**
 * A client of a base address such as `http://127.0.0.1:8080`. Connections are reused by default. Set `isKept` to false
 * if pauses between requests may reach the server's idle timeout: the server could close a connection just as the next
 * request arrives.
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
          // Node joins repeated headers with `, `. Only Set-Cookie would be an array, and the server sets no cookies.
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
