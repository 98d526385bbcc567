// The requests of one order of the load client: which connection sends next, when each request became due, and the
// results. Uses the clock but no socket.
import type { Exchange, LoadOrder, LoadOutcome } from './loadClient.ts';

/** A request to be sent: its bytes, the expected response, and when it became due. */
export interface Errand {
  readonly exchange: Exchange;
  readonly wire: Buffer;
  readonly dueMs: number;
}

/** A connection of an order. If it is idle, it is called when a request is due. */
export interface OrderConnection {
  ask(): void;
}

/** The requests of one order, which connections take in turn: as fast as possible, or at the rate of the order. */
export class OrderRun {
  requests = 0;
  errors = 0;
  bodyBytes = 0;
  readonly #startMs: number;
  readonly #waitsMs: number[] = [];
  readonly #dueMs: number[] = [];
  readonly #idle: OrderConnection[] = [];
  #begun = 0;
  #noticed = 0;
  readonly #order: LoadOrder;
  readonly #wires: readonly Buffer[];
  readonly finish: (fault?: string) => void;

  constructor(order: LoadOrder, finish: (fault?: string) => void) {
    this.#order = order;
    this.finish = finish;
    this.#wires = order.exchanges.map(wireOf);
    this.#startMs = performance.now();
  }

  /** The next errand of a connection. Without one, the connection is idle until `tick` finds one for it. */
  next(connection: OrderConnection): Errand | undefined {
    const isPaced = this.#order.perSecond !== undefined;
    if (this.#begun >= this.#order.requests || (isPaced && this.#dueMs.length === 0)) {
      this.#idle.push(connection);
      return undefined;
    }
    const dueMs = this.#dueMs.shift() ?? performance.now();
    const i = this.#begun++ % this.#wires.length;
    return { exchange: this.#order.exchanges[i]!, wire: this.#wires[i]!, dueMs };
  }

  /**
   * Adds what has become due. A request that finds an idle connection waits from now on, because this client was late.
   * Otherwise it waits from when it was due, so that every later request includes a delay of the server.
   */
  tick(perSecond: number): void {
    const due = Math.min(this.#order.requests, Math.floor(((performance.now() - this.#startMs) * perSecond) / 1000));
    while (this.#noticed < due) {
      const dueMs = this.#startMs + (++this.#noticed * 1000) / perSecond;
      // While a connection is idle, no queued request could go before this one.
      const idle = this.#idle.shift();
      this.#dueMs.push(idle ? performance.now() : dueMs);
      idle?.ask();
    }
  }

  /** Removes a connection from the idle ones. */
  forget(connection: OrderConnection): void {
    const at = this.#idle.indexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  done(bytes: number, waitMs: number): void {
    this.requests++;
    this.bodyBytes += bytes;
    this.#waitsMs.push(waitMs);
    this.#finishWhenAll();
  }

  /** Counts a failed request. The order continues if it may. */
  failed(reason: string): void {
    if (this.errors === (this.#order.errorsMax ?? 0)) return this.finish(reason);
    this.errors++;
    this.#finishWhenAll();
  }

  #finishWhenAll(): void {
    if (this.requests + this.errors === this.#order.requests) this.finish();
  }

  outcome(fault: string | undefined): LoadOutcome {
    const { requests, errors, bodyBytes } = this;
    const waits = Float64Array.from(this.#waitsMs).sort();
    const [p50Ms, p99Ms, p999Ms] = [0.5, 0.99, 0.999].map((part) => waits[Math.ceil(requests * part) - 1] ?? 0);
    const elapsedMs = performance.now() - this.#startMs;
    return { requests, errors, bodyBytes, elapsedMs, p50Ms: p50Ms!, p99Ms: p99Ms!, p999Ms: p999Ms!, fault };
  }
}

/** The bytes of an exchange's request with its body. */
function wireOf({ target, headers = {}, body }: Exchange): Buffer {
  const content = Buffer.from(body ?? '');
  const length = body === undefined ? {} : { 'Content-Length': `${content.length}` };
  const all = Object.entries({ Host: 'bench', ...headers, ...length });
  const lines = all.map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`${body === undefined ? 'GET' : 'POST'} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`);
  return Buffer.concat([head, content]);
}
