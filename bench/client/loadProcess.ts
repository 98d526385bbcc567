// The process of the load client: raw sockets to loopback, keep-alive, one request at a time on each connection. Reads
// no more of an answer than its status and length; bounded in requests and time.
import { connect, type Socket } from 'node:net';
import { bodiesOf } from './freshBody.ts';
import type { Exchange, LoadOrder, LoadOutcome } from './loadClient.ts';
import { wireOf } from './wire.ts';

const HEAD_END = '\r\n\r\n';
/** Has neither a body nor a length (RFC 9110, 15.4.5). */
const NOT_MODIFIED = 304;
/** Larger than any head: what follows in the same read is body. */
const READ_BYTES = 1 << 18;
const TICK_MS = 1;

/** A request to be sent: what to write, what to expect, and when it became due. */
interface Errand {
  readonly exchange: Exchange;
  readonly wire: Buffer;
  readonly dueMs: number;
}

/** The requests of one order, taken in turn by its connections: as fast as they can, or at the pace of the order. */
class Run {
  requests = 0;
  bodyBytes = 0;
  readonly #startMs: number;
  readonly #waitsMs: number[] = [];
  readonly #dueMs: number[] = [];
  readonly #idle: Connection[] = [];
  #begun = 0;
  #noticed = 0;
  readonly #order: LoadOrder;
  readonly #wires: readonly (() => Buffer)[];
  readonly finish: (fault?: string) => void;

  constructor(order: LoadOrder, finish: (fault?: string) => void) {
    this.#order = order;
    this.finish = finish;
    const { exchanges, requests, ahead = requests } = order;
    this.#wires = exchanges.map((exchange) => wiresOf(exchange, Math.ceil(ahead / exchanges.length)));
    this.#startMs = performance.now();
  }

  /** The next errand of a connection; without one it is idle until `tick` finds one for it. */
  next(connection: Connection): Errand | undefined {
    const isPaced = this.#order.perSecond !== undefined;
    if (this.#begun >= this.#order.requests || (isPaced && this.#dueMs.length === 0)) {
      this.#idle.push(connection);
      return undefined;
    }
    const dueMs = this.#dueMs.shift() ?? performance.now();
    const i = this.#begun++ % this.#wires.length;
    return { exchange: this.#order.exchanges[i]!, wire: this.#wires[i]!(), dueMs };
  }

  /**
   * Notices what has become due; a request waits from here on, so that a client's own slow timer is not the server's.
   */
  tick(perSecond: number): void {
    const now = performance.now();
    const due = Math.min(this.#order.requests, Math.floor(((now - this.#startMs) * perSecond) / 1000));
    for (; this.#noticed < due; this.#noticed++) this.#dueMs.push(now);
    while (this.#dueMs.length > 0 && this.#idle.length > 0) this.#idle.shift()!.ask();
  }

  done(bytes: number, waitMs: number): void {
    this.requests++;
    this.bodyBytes += bytes;
    this.#waitsMs.push(waitMs);
    if (this.requests === this.#order.requests) this.finish();
  }

  outcome(fault: string | undefined): LoadOutcome {
    const { requests, bodyBytes } = this;
    const waits = Float64Array.from(this.#waitsMs).sort();
    const [p50Ms, p99Ms, p999Ms] = [0.5, 0.99, 0.999].map((part) => waits[Math.ceil(requests * part) - 1] ?? 0);
    const elapsedMs = performance.now() - this.#startMs;
    return { requests, bodyBytes, elapsedMs, p50Ms: p50Ms!, p99Ms: p99Ms!, p999Ms: p999Ms!, fault };
  }
}

/** What a request is written as: the same bytes every time, or others of which so many are made now. */
function wiresOf(exchange: Exchange, ahead: number): () => Buffer {
  const { body = '', fresh } = exchange;
  if (!fresh) {
    const wire = wireOf(exchange);
    return () => wire;
  }
  const bodies = bodiesOf(body, fresh);
  const next = (): Buffer => wireOf({ ...exchange, body: bodies() });
  const made = Array.from({ length: ahead }, next);
  return () => made.pop() ?? next();
}

/** One connection: asks, waits for the whole answer, asks again. */
class Connection {
  readonly socket: Socket;
  readonly #run: Run;
  #errand: Errand | undefined;
  #head = '';
  #bytes = 0;
  #bytesLeft = 0;

  constructor(port: number, run: Run) {
    this.#run = run;
    const onread = { buffer: Buffer.alloc(READ_BYTES), callback: this.#read.bind(this) };
    this.socket = connect({ host: '127.0.0.1', port, noDelay: true, onread });
    this.socket.once('connect', () => this.ask());
    this.socket.once('error', (error) => run.finish(error.message));
    this.socket.once('close', () => this.#errand && run.finish('the server closed a connection'));
  }

  ask(): void {
    this.#errand = this.#run.next(this);
    if (this.#errand) this.socket.write(this.#errand.wire);
  }

  #read(length: number, buffer: Uint8Array): boolean {
    if (this.#bytesLeft > 0) this.#take(length);
    else this.#readHead(Buffer.from(buffer.buffer, buffer.byteOffset, length).toString('latin1'));
    return true;
  }

  #readHead(piece: string): void {
    this.#head += piece;
    const end = this.#head.indexOf(HEAD_END);
    if (end < 0) return;
    const status = Number(this.#head.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/i.exec(this.#head.slice(0, end))?.[1];
    const bytes = Number(length ?? (status === NOT_MODIFIED ? 0 : -1));
    const { exchange } = this.#errand!;
    if (status !== exchange.status || Math.abs(bytes - exchange.bytes) > (exchange.bytesSlack ?? 0)) {
      const got = `got status ${status} and ${bytes} bytes`;
      return this.#run.finish(`${exchange.target}: ${got}, expected ${exchange.status} and ${exchange.bytes}`);
    }
    const bodyBytes = this.#head.length - end - HEAD_END.length;
    this.#head = '';
    this.#bytes = bytes;
    this.#bytesLeft = bytes;
    this.#take(bodyBytes);
  }

  #take(length: number): void {
    this.#bytesLeft -= length;
    const { exchange, dueMs } = this.#errand!;
    if (this.#bytesLeft < 0) return this.#run.finish(`${exchange.target}: more bytes than announced`);
    if (this.#bytesLeft > 0) return;
    this.#run.done(this.#bytes, performance.now() - dueMs);
    this.ask();
  }
}

/** The run under way, so that it can be told that it is enough. */
let running: Run | undefined;

function runOrder(order: LoadOrder): Promise<LoadOutcome> {
  return new Promise((resolve) => {
    const connections: Connection[] = [];
    const { perSecond } = order;
    const finish = (fault?: string): void => {
      clearTimeout(timer);
      clearInterval(ticks);
      for (const { socket } of connections) socket.destroy();
      resolve(run.outcome(fault));
    };
    const timer = setTimeout(() => finish(`${order.exchanges[0]!.target}: no end in time`), order.withinMs);
    const run = new Run(order, finish);
    const ticks = perSecond === undefined ? undefined : setInterval(() => run.tick(perSecond), TICK_MS);
    running = run;
    for (let i = 0; i < order.connections; i++) connections.push(new Connection(order.port, run));
  });
}

process.on('message', (message) => {
  if (message === 'enough') running?.finish();
  else void runOrder(message as LoadOrder).then((outcome) => process.send!(outcome));
});
process.once('disconnect', () => process.exit());
