// What the supervisor and its serving threads say to each other, and how: control messages as msgpack.
// The data goes once, as it is, because only that shares memory; the authority has a port of its own.
import assert from 'node:assert/strict';
import type { MessagePort, Worker } from 'node:worker_threads';
import { Packr } from 'msgpackr/pack';
import type { LoadedSnapshot } from '../../engine/engine.ts';
import type { AuthorityLink } from '../authority/client.ts';
import type { CatalogueSettings } from '../catalogue/catalogue.ts';
import type { DrainTime } from '../http/listener.ts';
import type { AccessLogLink } from '../observe/accessLog.ts';
import type { Documents } from '../pages/openapi/documents.ts';
import type { Tally } from '../observe/tally.ts';
import type { RequestTallies } from './requestTallies.ts';
import type { ThreadTallies } from './threadTallies.ts';
import type { SoapSettings } from '../authority/soap/service.ts';
import type { ServedData } from './loadGeneration.ts';

/** What a serving thread will need of the program, so that it reads that much of it before it has its data. */
export interface ThreadParts {
  readonly hasAuthority: boolean;
  readonly hasHttp10: boolean;
}

/** `beats` are two shared words: the seconds in which the thread turned, and its responses that read replaced data. */
export interface ThreadStart extends ThreadParts {
  readonly beats: Int32Array;
}

/** `sinceMs` is the same in every thread. */
export interface GenerationData {
  readonly loaded: LoadedSnapshot;
  readonly blocks: LoadedSnapshot | undefined;
  readonly documents: Documents;
  readonly sinceMs: number;
}

/**
 * What a serving thread serves with, and the generation that it begins with. `http10Port` is set for the one thread
 * that has the second listener. `staleness` is one word for all threads, 1 while the data is stale. `soapAnswers`,
 * `ignoredParameters` and, where somebody may ask for them, `requests` and `readings` are its tallies, in memory that
 * it shares with the supervisor.
 */
export interface ServingData {
  readonly first: GenerationData;
  readonly settings: CatalogueSettings & SoapSettings;
  readonly host: string;
  readonly port: number;
  readonly http10Port: number | undefined;
  readonly rowSetCacheBytes: number;
  readonly authority: AuthorityLink | undefined;
  readonly staleness: Int32Array;
  readonly soapAnswers: Tally;
  readonly ignoredParameters: Tally;
  readonly requests: RequestTallies | undefined;
  readonly readings: ThreadTallies | undefined;
  readonly accessLog: AccessLogLink | undefined;
}

/** From a serving thread to the supervisor. */
export type FromThread =
  | { readonly kind: 'noUws'; readonly reason: string }
  | { readonly kind: 'listening' }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'bug'; readonly stack: string }
  | { readonly kind: 'broken'; readonly stack: string }
  | { readonly kind: 'died'; readonly stack: string }
  | { readonly kind: 'starved'; readonly reason: string }
  | { readonly kind: 'exhausted'; readonly reason: string }
  | { readonly kind: 'prepared' }
  | { readonly kind: 'unprepared'; readonly stack: string }
  | { readonly kind: 'committed' }
  | { readonly kind: 'released'; readonly swap: number }
  | { readonly kind: 'drained'; readonly cut: number };

export interface DrainOrder extends DrainTime {
  readonly kind: 'drain';
}

/** To a serving thread: serve the generation that was made ready, or let go of it; end old readers; or drain. */
export type ToThread =
  { readonly kind: 'commit' | 'closeReaders'; readonly swap: number } | { readonly kind: 'abandon' } | DrainOrder;

const packr = new Packr({ useRecords: false });

export function send(to: MessagePort | Worker, message: FromThread | ToThread): void {
  to.postMessage(Uint8Array.from(packr.pack(message)));
}

/** Calls `take` with every control message of a thread. It is code of the same process and version. */
export function receive(from: Worker, take: (message: FromThread) => void): void {
  from.on('message', (packed: Uint8Array) => take(packr.unpack(packed) as FromThread));
}

/** Gives a thread its data. The memories are shared with it, the port of the authority is handed over. */
export function give(to: Worker, data: ServingData): void {
  to.postMessage(data, data.authority ? [data.authority.port] : []);
}

export function dataFor({ generation: { loaded, blocks, documents }, sinceMs }: ServedData): GenerationData {
  return { loaded, blocks, documents, sinceMs };
}

/** Heeds what a serving thread is told of generations: to make one ready, then to serve it or to let go of it. */
export interface SwapOrders {
  prepare(generation: GenerationData): void;
  commit(swap: number): void;
  abandon(): void;
  /** Ends the connections of answers that read the data from before a swap. */
  closeReaders(swap: number): void;
}

export type LastingData = Omit<ServingData, 'first'>;

/**
 * What a serving thread is told in its time: the data, once, if ever; then or before, to drain. `first` gives the
 * generation that came with the data away, so that nobody else holds it. In between `heed` says who is told of further
 * ones: nobody is told of one before the thread listens.
 */
export interface Orders {
  readonly data: Promise<LastingData>;
  readonly drain: Promise<DrainOrder>;
  first(): GenerationData;
  heed(orders: SwapOrders): void;
}

/** The orders of a serving thread, whenever they come from now on. Keeps the thread alive until `from` is closed. */
export function ordersFrom(from: MessagePort): Orders {
  const data = Promise.withResolvers<LastingData>();
  const drain = Promise.withResolvers<DrainOrder>();
  let given: GenerationData | undefined;
  let swaps: SwapOrders | undefined;
  from.on('message', (message: ServingData | GenerationData | Uint8Array) => {
    if (message instanceof Uint8Array) {
      const order = packr.unpack(message) as ToThread;
      if (order.kind === 'drain') drain.resolve(order);
      else if (order.kind === 'abandon') swaps?.abandon();
      else swaps?.[order.kind](order.swap);
    } else if ('settings' in message) {
      const { first, ...lasting } = message;
      given = first;
      data.resolve(lasting);
    } else swaps?.prepare(message);
  });
  const first = (): GenerationData => {
    const taken = given;
    assert(taken, 'the first generation is there with the data, and taken once');
    given = undefined;
    return taken;
  };
  return { data: data.promise, drain: drain.promise, first, heed: (orders) => void (swaps = orders) };
}

/** The stack of what was thrown, or its text: errors themselves are no messages. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
