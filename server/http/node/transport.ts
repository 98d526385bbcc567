// The second transport: node:http, for HTTP/1.0 and for clients that uWebSockets.js turns away, and on the main port
// where that library has no binary. Slower. Same handlers, same limits, same answers; what node:http leaves open (time
// limits, error answers) is closed here.
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

/** An idle connection is kept this long: above the 8 s for which proxies keep theirs, so that they end them. */
const IDLE_MS_MAX = 10_000;
/** A stalled request or answer ends after this, or twice this where a write waits: node:net gives it a second look. */
const STALL_MS_MAX = 5_000;
const REQUEST_MS_MAX = 10_000;
/** node:http looks for requests that are late only this often (30 s unless told), which adds to their limit. */
const CHECK_MS = 2_000;
/** Requests of one connection that are answered in the turn that read them; those pipelined behind take their turns. */
const PIPELINED_AT_ONCE_MAX = 16;
/** Bytes of requests that wait for theirs, of one connection and of all; beyond, the connection with most is ended. */
const WAITING_BYTES_MAX = 4 << 20;
const ALL_WAITING_BYTES_MAX = 32 << 20;
/** What one takes beside its head. */
const WAITING_BYTES = 4_096;

/** Listens with node:http in the calling thread. Throws OperationError `port` when the port cannot be taken. */
export async function listenNode(options: ListenOptions): Promise<Listener> {
  const listening = new NodeListening(options);
  const port = await listening.listen(options);
  let drained: Promise<number> | undefined;
  return { port, flight: listening.flight, drain: (time) => (drained ??= listening.drain(time)) };
}

/**
 * A connection; `isRefused` once a malformed request, or one too many, ended it: what follows is not looked at.
 * `turnRequests` came in this turn of the event loop; `waiting` are those that take their turns, with what to do then,
 * and how much memory they take together.
 */
interface Connection extends NodeConnection {
  readonly socket: Socket;
  isRefused: boolean;
  turnRequests: number;
  readonly waiting: { readonly bytes: number; readonly answer: () => void }[];
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
    // node:http drops lines beyond its limit without a word; without one they are counted here and refused.
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
    const cut = await this.#context.flight.settled(withinMs);
    this.#server.closeAllConnections();
    await closed;
    return cut;
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
    // As over uWebSockets.js, an expectation that nobody knows is none (RFC 9110, 10.1.1).
    server.on('checkExpectation', (incoming, response) => this.#receive(incoming, response));
    server.on('clientError', (error, socket) => this.#refuse(error, socket as Socket));
    server.on('connect', (_, socket) => {
      // node:http lets go of the socket, and an error that nobody hears of would end the process.
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
    const connection = this.#connectionOf(incoming.socket);
    if (connection.isRefused) return;
    const exchange = this.#opened(connection, incoming, response);
    const request = new NodeRequest(incoming);
    exchange.watch(request);
    const framing = request.framing();
    const refused = refusalOf(framing === 'malformed', incoming);
    connection.isRefused = refused !== undefined;
    if (refused) exchange.send(refused);
    else if (isAtOnce(connection) && !this.#context.flight.isTurnLong()) exchange.answer(request, framing);
    else this.#wait(connection, headBytes(incoming), () => exchange.answer(request, framing));
  }

  /** Has the connection take a step in turn with sliced work for each of its requests that wait. */
  #wait(connection: Connection, bytes: number, answer: () => void): void {
    const { waiting } = connection;
    waiting.push({ bytes, answer });
    this.#count(connection, bytes);
    if (waiting.length === 1) this.#context.slices.queue(() => this.#answerNext(connection));
    if (connection.waitingBytes > WAITING_BYTES_MAX) this.#end(connection);
    while (this.#waitingBytes > ALL_WAITING_BYTES_MAX) {
      this.#end([...this.#waiting].reduce((most, one) => (one.waitingBytes > most.waitingBytes ? one : most)));
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

  #connectionOf(socket: Socket): Connection {
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
    // An answer queued behind another one never hears of the connection's end from node:http.
    socket.once('close', () => {
      this.#forget(connection);
      for (const exchange of connection.open) {
        this.#close(connection, exchange);
        exchange.leave();
      }
    });
    return connection;
  }

  #opened(connection: Connection, incoming: IncomingMessage, response: ServerResponse): NodeExchange {
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
    // Behind the last request of its connection: left alone until the answer is out.
    if (error.code === 'HPE_CLOSED_CONNECTION') socket.pause();
    else if (error.code?.startsWith('HPE_')) this.#endRefused(socket, answerTo(error));
    else socket.destroy();
  }

  /**
   * Ends a connection with an answer that no exchange gives. It may go out only where no other one is unfinished or
   * queued before it, but that to the request whose body broke; behind an ended one the connection closes as soon as
   * that is out.
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

function refusalOf(isMalformed: boolean, incoming: IncomingMessage): Answer | undefined {
  if (incoming.httpVersionMajor !== 1) return VERSION_NOT_SUPPORTED;
  if (isMalformed) return MALFORMED_REQUEST;
  return incoming.rawHeaders.length > 2 * REQUEST_HEADERS_MAX ? HEAD_TOO_LARGE : undefined;
}

/** Counts a request of a connection; whether it is answered in the turn that read it. */
function isAtOnce(connection: Connection): boolean {
  if (connection.turnRequests++ === 0) setImmediate(() => (connection.turnRequests = 0));
  return Math.max(connection.turnRequests, connection.open.size) <= PIPELINED_AT_ONCE_MAX;
}

/** What a request that waits takes. Cost: the lines of its head. */
function headBytes({ url = '', rawHeaders }: IncomingMessage): number {
  return rawHeaders.reduce((sum, { length }) => sum + length, WAITING_BYTES + url.length);
}

/** What node:http says of bytes that it cannot read; `reason` tells a version it does not know from none at all. */
interface ParseError extends NodeJS.ErrnoException {
  readonly reason?: string;
}

function answerTo({ code, reason }: ParseError): Answer {
  if (reason === 'Invalid HTTP version') return VERSION_NOT_SUPPORTED;
  return code === 'HPE_HEADER_OVERFLOW' ? HEAD_TOO_LARGE : MALFORMED_REQUEST;
}

/**
 * Ends a connection behind its last answer as node:http ends it, but reads away what still comes until the client has
 * ended its side too: a socket that is closed before takes back what it has not sent yet.
 */
function lingersWhenDone(socket: Socket): void {
  socket.destroySoon = () => {
    socket.end();
    socket.resume();
    const timer = setTimeout(() => socket.destroy(), STALL_MS_MAX).unref();
    socket.once('close', () => clearTimeout(timer));
  };
}

/** Writes an answer of a connection without a request, and ends it. */
function endWith(socket: Socket, { status, headers, body }: Answer): void {
  const dated: Answer['headers'] = [...headers, ['Date', dateNow()]];
  const lines = dated.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const head = `HTTP/1.1 ${statusText(status)}\r\nConnection: close\r\n${lines}Content-Length: ${body.bytes}\r\n\r\n`;
  socket.end(Buffer.concat([Buffer.from(head), body.pieceAt(0)]), () => socket.destroy());
}
