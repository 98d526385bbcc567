// The process of the load client: raw sockets to loopback, keep-alive, one request at a time on each connection.
// Reads no more of an answer than its status and length; bounded in requests and time. Started by loadClient.ts.
import { connect, type Socket } from 'node:net';
import type { Exchange, LoadOrder, LoadOutcome } from './loadClient.ts';

const HEAD_END = '\r\n\r\n';
/** Has neither a body nor a length (RFC 9110, 15.4.5). */
const NOT_MODIFIED = 304;
/** Larger than any head: what follows in the same read is body. */
const READ_BYTES = 1 << 18;

/** The requests of one order, taken in turn by its connections. */
class Run {
  requests = 0;
  bodyBytes = 0;
  readonly #startMs = performance.now();
  readonly #waitsMs: number[] = [];
  #begun = 0;
  readonly #order: LoadOrder;
  readonly #wires: readonly Buffer[];
  readonly finish: (fault?: string) => void;

  constructor(order: LoadOrder, finish: (fault?: string) => void) {
    this.#order = order;
    this.finish = finish;
    this.#wires = order.exchanges.map(({ target, lines = [] }) => {
      return Buffer.from([`GET ${target} HTTP/1.1`, 'Host: bench', ...lines, '', ''].join('\r\n'));
    });
  }

  next(): { readonly exchange: Exchange; readonly wire: Buffer } | undefined {
    if (this.#begun >= this.#order.requests) return undefined;
    const i = this.#begun++ % this.#wires.length;
    return { exchange: this.#order.exchanges[i]!, wire: this.#wires[i]! };
  }

  done(bytes: number, waitMs: number): void {
    this.requests++;
    this.bodyBytes += bytes;
    this.#waitsMs.push(waitMs);
    if (this.requests === this.#order.requests) this.finish();
  }

  outcome(fault: string | undefined): LoadOutcome {
    const { requests, bodyBytes } = this;
    const p99Ms = Float64Array.from(this.#waitsMs).sort()[Math.ceil(requests * 0.99) - 1] ?? 0;
    return { requests, bodyBytes, elapsedMs: performance.now() - this.#startMs, p99Ms, fault };
  }
}

/** One connection: asks, waits for the whole answer, asks again. */
class Connection {
  readonly socket: Socket;
  readonly #run: Run;
  #exchange: Exchange | undefined;
  #head = '';
  #bytesLeft = 0;
  #askedMs = 0;

  constructor(port: number, run: Run) {
    this.#run = run;
    const onread = { buffer: Buffer.alloc(READ_BYTES), callback: this.#read.bind(this) };
    this.socket = connect({ host: '127.0.0.1', port, noDelay: true, onread });
    this.socket.once('connect', () => this.#ask());
    this.socket.once('error', (error) => run.finish(error.message));
    this.socket.once('close', () => this.#exchange && run.finish('the server closed a connection'));
  }

  #ask(): void {
    const next = this.#run.next();
    this.#exchange = next?.exchange;
    this.#askedMs = performance.now();
    if (next) this.socket.write(next.wire);
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
    const exchange = this.#exchange!;
    if (status !== exchange.status || bytes !== exchange.bytes) {
      const got = `got status ${status} and ${bytes} bytes`;
      return this.#run.finish(`${exchange.target}: ${got}, expected ${exchange.status} and ${exchange.bytes}`);
    }
    const bodyBytes = this.#head.length - end - HEAD_END.length;
    this.#head = '';
    this.#bytesLeft = bytes;
    this.#take(bodyBytes);
  }

  #take(length: number): void {
    this.#bytesLeft -= length;
    if (this.#bytesLeft < 0) return this.#run.finish(`${this.#exchange!.target}: more bytes than announced`);
    if (this.#bytesLeft > 0) return;
    this.#run.done(this.#exchange!.bytes, performance.now() - this.#askedMs);
    this.#ask();
  }
}

function runOrder(order: LoadOrder): Promise<LoadOutcome> {
  return new Promise((resolve) => {
    const connections: Connection[] = [];
    const finish = (fault?: string): void => {
      clearTimeout(timer);
      for (const { socket } of connections) socket.destroy();
      resolve(run.outcome(fault));
    };
    const timer = setTimeout(() => finish(`${order.exchanges[0]!.target}: no end in time`), order.withinMs);
    const run = new Run(order, finish);
    for (let i = 0; i < order.connections; i++) connections.push(new Connection(order.port, run));
  });
}

process.on('message', (order) => void runOrder(order as LoadOrder).then((outcome) => process.send!(outcome)));
process.once('disconnect', () => process.exit());
