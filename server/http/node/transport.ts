// The second transport: node:http, for HTTP/1.0, for clients that uWebSockets.js rejects, and for the main port if that
// library has no binary. Slower, but with the same handlers, limits and responses. Time limits and error responses that
// node:http lacks are added here.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import {
  dateNow,
  HEAD_TOO_LARGE,
  MALFORMED_REQUEST,
  REQUEST_HEAD_BYTES_MAX,
  REQUEST_HEADERS_MAX,
  statusText,
  VERSION_NOT_SUPPORTED,
} from '../framing.ts';
import type { Answer } from '../exchange.ts';
import type { DrainTime, Flight, Listener, ListenOptions } from '../listener.ts';
import { type LiveContext, liveContext } from '../liveExchange.ts';
import { type NodeConnection, NodeExchange, NodeRequest } from './exchange.ts';
import { boundPort, portRefused } from '../ports.ts';

/** Idle connections stay open for this long: longer than the 8 s of proxies, so that the proxies close them. */
const IDLE_MS_MAX = 10_000;
/**
 * A stalled request or response ends after this time, or after twice this time if a write waits: node:net then checks
 * again.
 */
const STALL_MS_MAX = 5_000;
const REQUEST_MS_MAX = 10_000;
/** Interval in which node:http checks for late requests, which adds to their limit. Its default is 30 s. */
const CHECK_MS = 2_000;
/** Requests of one connection that are handled in the turn that reads them. Pipelined ones beyond take turns. */
const PIPELINED_AT_ONCE_MAX = 16;
/** Bytes of waiting requests, per connection and in total. Beyond the total, the connection with the most is closed. */
const WAITING_BYTES_MAX = 4 << 20;
const ALL_WAITING_BYTES_MAX = 32 << 20;
/** Memory of a waiting request in addition to its head. */
const WAITING_BYTES = 4_096;

/** Listens with node:http in the calling thread. Throws OperationError `port` if the port is not available. */
export async function listenNode(options: ListenOptions): Promise<Listener> {
  const listening = new NodeListening(options);
  const port = await listening.listen(options);
  let drained: Promise<number> | undefined;
  return { port, flight: listening.flight, drain: (time) => (drained ??= listening.drain(time)) };
}

interface Connection extends NodeConnection {
  readonly socket: Socket;
  /** A malformed or excess request has ended the connection: later requests are ignored. */
  isRefused: boolean;
  /** Requests received in this turn of the event loop. */
  turnRequests: number;
  /** Requests that wait for their turn. */
  readonly waiting: { readonly bytes: number; readonly answer: () => void }[];
  /** The memory of all waiting requests. */
  waitingBytes: number;
}

class NodeListening {
  readonly #server: Server;
  readonly #context: LiveContext;
  readonly #connections = new WeakMap<Socket, Connection>();
  readonly #waiting = new Set<Connection>();
  #waitingBytes = 0;

  constructor(options: ListenOptions) {
    this.#context = liveContext(options);
    this.#server = createServer({
      maxHeaderSize: REQUEST_HEAD_BYTES_MAX,
      headersTimeout: REQUEST_MS_MAX,
      requestTimeout: REQUEST_MS_MAX,
      keepAliveTimeout: IDLE_MS_MAX,
      connectionsCheckingInterval: CHECK_MS,
      requireHostHeader: false,
    });
    // With a limit, node:http would silently drop header lines. Instead, they are counted here and excess ones refused.
    this.#server.maxHeadersCount = 0;
    this.#server.timeout = STALL_MS_MAX;
    this.#observe();
  }

  async listen({ host, port, exclusive }: ListenOptions): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (cause) => reject(portRefused(host, port, cause)));
      this.#server.listen({ host, port, exclusive: true, reusePort: !exclusive && port > 0 }, resolve);
    });
    return boundPort(this.#server.address());
  }

  get flight(): Flight {
    return this.#context.flight;
  }

  async drain({ graceMs, withinMs }: DrainTime): Promise<number> {
    this.#context.isDraining = true;
    if (graceMs > 0) await delay(graceMs);
    const closed = new Promise((resolve) => this.#server.close(resolve));
    const cutCount = await this.#context.flight.settled(withinMs);
    this.#server.closeAllConnections();
    await closed;
    return cutCount;
  }

  #observe(): void {
    const server = this.#server;
    server.on('connection', lingersWhenDone);
    const { flight } = this.#context;
    server.on('connection', (socket) => {
      flight.connections++;
      socket.once('close', () => flight.connections--);
    });
    server.on('request', (incoming, response) => this.#receive(incoming, response));
    // An unknown expectation is ignored, as over uWebSockets.js (RFC 9110, 10.1.1).
    server.on('checkExpectation', (incoming, response) => this.#receive(incoming, response));
    server.on('clientError', (error, socket) => this.#refuse(error, socket as Socket));
    server.on('connect', (_, socket) => {
      // node:http detaches the socket here; an unhandled error on it would end the process.
      socket.on('error', () => undefined);
      this.#endRefused(socket as Socket, MALFORMED_REQUEST);
    });
    server.on('timeout', (socket) => {
      const isAwaiting = [...(this.#connections.get(socket)?.open ?? [])].some((exchange) => exchange.isAwaiting);
      if (isAwaiting) socket.setTimeout(STALL_MS_MAX);
      else socket.destroy();
    });
  }

  #receive(incoming: IncomingMessage, response: ServerResponse): void {
    const connection = this.#findConnection(incoming.socket);
    if (connection.isRefused) return;
    const exchange = this.#openExchange(connection, incoming, response);
    const request = new NodeRequest(incoming);
    exchange.watch(request);
    const framing = request.framing();
    const refusal = findRefusal(framing === 'malformed', incoming);
    connection.isRefused = refusal !== undefined;
    if (refusal) exchange.send(refusal);
    else if (isAtOnce(connection) && !this.#context.flight.isTurnLong()) exchange.answer(request, framing);
    else this.#wait(connection, headBytes(incoming), () => exchange.answer(request, framing));
  }

  /** Queues a request. The connection then handles one waiting request per step, in turn with sliced work. */
  #wait(connection: Connection, bytes: number, answer: () => void): void {
    const { waiting } = connection;
    waiting.push({ bytes, answer });
    this.#count(connection, bytes);
    if (waiting.length === 1) this.#context.slices.queue(() => this.#answerNext(connection));
    if (connection.waitingBytes > WAITING_BYTES_MAX) this.#end(connection);
    while (this.#waitingBytes > ALL_WAITING_BYTES_MAX) {
      this.#end(
        [...this.#waiting].reduce((most, connection) =>
          connection.waitingBytes > most.waitingBytes ? connection : most,
        ),
      );
    }
  }

  #answerNext(connection: Connection): boolean {
    const next = connection.waiting.shift();
    if (!next) return false;
    this.#count(connection, -next.bytes);
    next.answer();
    return connection.waiting.length > 0;
  }

  #count(connection: Connection, bytes: number): void {
    connection.waitingBytes += bytes;
    this.#waitingBytes += bytes;
    if (connection.waitingBytes > 0) this.#waiting.add(connection);
    else this.#waiting.delete(connection);
  }

  #end(connection: Connection): void {
    connection.isRefused = true;
    this.#forget(connection);
    connection.socket.destroy();
  }

  #forget(connection: Connection): void {
    connection.waiting.length = 0;
    this.#count(connection, -connection.waitingBytes);
  }

  #findConnection(socket: Socket): Connection {
    const earlier = this.#connections.get(socket);
    if (earlier) return earlier;
    const connection: Connection = {
      socket,
      open: new Set(),
      bodies: 0,
      isRefused: false,
      turnRequests: 0,
      waiting: [],
      waitingBytes: 0,
    };
    this.#connections.set(socket, connection);
    // node:http does not notify a queued response when its connection ends.
    socket.once('close', () => {
      this.#forget(connection);
      for (const exchange of connection.open) {
        this.#close(connection, exchange);
        exchange.leave();
      }
    });
    return connection;
  }

  #openExchange(connection: Connection, incoming: IncomingMessage, response: ServerResponse): NodeExchange {
    const exchange = new NodeExchange(incoming, response, this.#context, connection);
    connection.open.add(exchange);
    this.#context.flight.enter(exchange);
    response.once('finish', () => {
      this.#close(connection, exchange);
      const [next] = connection.open;
      next?.takeTurn();
    });
    return exchange;
  }

  #close(connection: Connection, exchange: NodeExchange): void {
    if (connection.open.delete(exchange)) this.#context.flight.leave(exchange);
  }

  #refuse(error: ParseError, socket: Socket): void {
    // Data after the last request of a closing connection: ignored until the response is sent.
    if (error.code === 'HPE_CLOSED_CONNECTION') socket.pause();
    else if (error.code?.startsWith('HPE_')) this.#endRefused(socket, answerTo(error));
    else socket.destroy();
  }

  /**
   * Ends a connection with a response that belongs to no exchange. It may be sent only if no other response is
   * unfinished or queued, except for the request whose body is malformed. If the last response has ended, the
   * connection closes as soon as that is sent.
   */
  #endRefused(socket: Socket, answer: Answer): void {
    const connection = this.#connections.get(socket);
    const open = [...(connection?.open ?? [])];
    const isFree = open.length === 0 || (open.length === 1 && (open[0]!.hasEnded || open[0]!.isReceiving));
    if (!socket.writable || !isFree) socket.destroy();
    else if (connection?.isRefused) socket.destroySoon();
    else endWith(socket, answer);
  }
}

function findRefusal(isMalformed: boolean, incoming: IncomingMessage): Answer | undefined {
  if (incoming.httpVersionMajor !== 1) return VERSION_NOT_SUPPORTED;
  if (isMalformed) return MALFORMED_REQUEST;
  return incoming.rawHeaders.length > 2 * REQUEST_HEADERS_MAX ? HEAD_TOO_LARGE : undefined;
}

/** Counts a request of a connection. Returns whether it is handled in the turn that read it. */
function isAtOnce(connection: Connection): boolean {
  if (connection.turnRequests++ === 0) setImmediate(() => (connection.turnRequests = 0));
  return Math.max(connection.turnRequests, connection.open.size) <= PIPELINED_AT_ONCE_MAX;
}

/** The memory of a waiting request. Cost: a pass over the lines of its head. */
function headBytes({ url = '', rawHeaders }: IncomingMessage): number {
  return rawHeaders.reduce((sum, { length }) => sum + length, WAITING_BYTES + url.length);
}

/** An error of node:http's parser. `reason` distinguishes an unknown HTTP version from other errors. */
interface ParseError extends NodeJS.ErrnoException {
  readonly reason?: string;
}

function answerTo({ code, reason }: ParseError): Answer {
  if (reason === 'Invalid HTTP version') return VERSION_NOT_SUPPORTED;
  return code === 'HPE_HEADER_OVERFLOW' ? HEAD_TOO_LARGE : MALFORMED_REQUEST;
}

/**
 * After its last response, ends a connection like node:http but reads remaining data until the client has also closed
 * its side: a socket that is closed earlier may discard unsent data.
 */
function lingersWhenDone(socket: Socket): void {
  socket.destroySoon = () => {
    socket.end();
    socket.resume();
    const timer = setTimeout(() => socket.destroy(), STALL_MS_MAX).unref();
    socket.once('close', () => clearTimeout(timer));
  };
}

/** Writes a response to a connection without a request and ends it. */
function endWith(socket: Socket, { status, headers, body }: Answer): void {
  const dated: Answer['headers'] = [...headers, ['Date', dateNow()]];
  const lines = dated.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const head = `HTTP/1.1 ${statusText(status)}\r\nConnection: close\r\n${lines}Content-Length: ${body.bytes}\r\n\r\n`;
  socket.end(Buffer.concat([Buffer.from(head), body.pieceAt(0)]), () => socket.destroy());
}
