// The requests of one order of the load client: whose turn it is, when each became due, and what came of them. Knows no
// socket; the clock is all that it asks.
import type { Exchange, LoadOrder, LoadOutcome } from './loadClient.ts';

/** A request to be sent: what to write, what to expect, and when it became due. */
export interface Errand {
  readonly exchange: Exchange;
  readonly wire: Buffer;
  readonly dueMs: number;
}

/** A connection of an order: one that is idle is told to ask when something is due. */
export interface OrderConnection {
  ask(): void;
}

/** The requests of one order, taken in turn by its connections: as fast as they can, or at the pace of the order. */
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

  /** The next errand of a connection; without one it is idle until `tick` finds one for it. */
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
   * Notices what has become due. A request that finds a connection idle waits from now on, since it was this client
   * that was late; one that finds none, from when it was due, so that what the server holds up is in all behind it.
   */
  tick(perSecond: number): void {
    const due = Math.min(this.#order.requests, Math.floor(((performance.now() - this.#startMs) * perSecond) / 1000));
    while (this.#noticed < due) {
      const dueMs = this.#startMs + (++this.#noticed * 1000) / perSecond;
      // While one is idle, nothing is queued that it would take in place of this.
      const idle = this.#idle.shift();
      this.#dueMs.push(idle ? performance.now() : dueMs);
      idle?.ask();
    }
  }

  /** A connection that is no more idle. */
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

  /** A request failed; the order goes on where it may. */
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

/** The request of an exchange with its body as it stands there. */
function wireOf({ target, headers = {}, body }: Exchange): Buffer {
  const content = Buffer.from(body ?? '');
  const length = body === undefined ? {} : { 'Content-Length': `${content.length}` };
  const all = Object.entries({ Host: 'bench', ...headers, ...length });
  const lines = all.map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`${body === undefined ? 'GET' : 'POST'} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`);
  return Buffer.concat([head, content]);
}
