// The process of the load client: raw sockets to loopback, keep-alive, one request at a time on each connection. Of a
// response it reads status and length, and the body if it has a digest. Requests and time are bounded.
import { createHash, type Hash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { LoadOrder, LoadOutcome } from './loadClient.ts';
import { type Errand, OrderRun } from './orderRun.ts';

const HEAD_END = '\r\n\r\n';
/** Has neither a body nor a length (RFC 9110, 15.4.5). */
const NOT_MODIFIED = 304;
/** Larger than any head. The rest of the same read is body. */
const READ_BYTES = 1 << 18;
const TICK_MS = 1;

/**
 * One connection: sends a request, waits for the whole response, repeats. Opens a new socket if the server closes it.
 */
class Connection {
  readonly #port: number;
  readonly #run: OrderRun;
  /** Undefined once the run is over. */
  #socket: Socket | undefined;
  #errand: Errand | undefined;
  #head = '';
  #bytes = 0;
  #bytesLeft = 0;
  #isLast = false;
  #hash: Hash | undefined;

  constructor(port: number, run: OrderRun) {
    this.#port = port;
    this.#run = run;
    this.#open();
  }

  end(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.destroy();
  }

  #open(): void {
    this.end();
    [this.#head, this.#bytesLeft, this.#isLast, this.#hash] = ['', 0, false, undefined];
    const onread = { buffer: Buffer.alloc(READ_BYTES), callback: this.#read.bind(this) };
    const socket = connect({ host: '127.0.0.1', port: this.#port, noDelay: true, onread });
    this.#socket = socket;
    let isConnected = false;
    socket.once('connect', () => {
      isConnected = true;
      this.ask();
    });
    const onEnd = (reason: string): void => {
      if (socket !== this.#socket) return;
      if (!isConnected) this.#run.finish(reason);
      else this.#broke(reason);
    };
    socket.once('error', (error) => onEnd(error.message));
    socket.once('close', () => onEnd('the server closed a connection'));
  }

  /** Removes an idle connection from the idle ones. It joins them again when it asks. */
  #broke(reason: string): void {
    const errand = this.#errand;
    this.#errand = undefined;
    if (errand) this.#run.failed(reason);
    else this.#run.forget(this);
    if (this.#socket) this.#open();
  }

  ask(): void {
    this.#errand = this.#run.next(this);
    if (this.#errand) this.#socket?.write(this.#errand.wire);
  }

  #read(length: number, buffer: Uint8Array): boolean {
    const piece = Buffer.from(buffer.buffer, buffer.byteOffset, length);
    if (this.#bytesLeft > 0) this.#take(piece);
    else this.#readHead(piece);
    return true;
  }

  #readHead(piece: Buffer): void {
    this.#head += piece.toString('latin1');
    const end = this.#head.indexOf(HEAD_END);
    if (end < 0) return;
    const status = Number(this.#head.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/i.exec(this.#head.slice(0, end))?.[1];
    const bytes = Number(length ?? (status === NOT_MODIFIED ? 0 : -1));
    const { exchange } = this.#errand!;
    if (status !== exchange.status || Math.abs(bytes - exchange.bytes) > (exchange.bytesSlack ?? 0)) {
      const got = `got status ${status} and ${bytes} bytes`;
      return this.#broke(`${exchange.target}: ${got}, expected ${exchange.status} and ${exchange.bytes}`);
    }
    this.#isLast = /\r\nconnection: *close/i.test(this.#head.slice(0, end));
    const bodyBytes = this.#head.length - end - HEAD_END.length;
    this.#head = '';
    this.#bytes = bytes;
    this.#bytesLeft = bytes;
    if (exchange.digest !== undefined) this.#hash = createHash('sha256');
    this.#take(piece.subarray(piece.length - bodyBytes));
  }

  #take(piece: Buffer): void {
    this.#bytesLeft -= piece.length;
    this.#hash?.update(piece);
    const { exchange, dueMs } = this.#errand!;
    if (this.#bytesLeft < 0) return this.#broke(`${exchange.target}: more bytes than announced`);
    if (this.#bytesLeft > 0) return;
    const digest = this.#hash?.digest('hex');
    this.#hash = undefined;
    if (digest !== exchange.digest) return this.#broke(`${exchange.target}: another body, of digest ${digest}`);
    this.#errand = undefined;
    this.#run.done(this.#bytes, performance.now() - dueMs);
    if (this.#isLast && this.#socket) this.#open();
    else this.ask();
  }
}

/** The current run, so that a message can end it. */
let running: OrderRun | undefined;

function runOrder(order: LoadOrder): Promise<LoadOutcome> {
  return new Promise((resolve) => {
    const connections: Connection[] = [];
    const { perSecond } = order;
    const finish = (fault?: string): void => {
      clearTimeout(timer);
      clearInterval(ticks);
      for (const connection of connections) connection.end();
      resolve(run.outcome(fault));
    };
    const timer = setTimeout(() => finish(`${order.exchanges[0]!.target}: no end in time`), order.withinMs);
    const run = new OrderRun(order, finish);
    const ticks = perSecond === undefined ? undefined : setInterval(() => run.tick(perSecond), TICK_MS);
    running = run;
    const { ports = [order.port] } = order;
    for (let i = 0; i < order.connections; i++) connections.push(new Connection(ports[i % ports.length]!, run));
  });
}

process.on('message', (message) => {
  if (message === 'enough') running?.finish();
  else void runOrder(message as LoadOrder).then((outcome) => process.send!(outcome));
});
process.once('disconnect', () => process.exit());
