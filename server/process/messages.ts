// The messages between the supervisor and its serving threads. Control messages are msgpack. The data is posted as it
// is, once, because only that shares memory. The authority has a separate port.
import assert from 'node:assert/strict';
import type { MessagePort, Worker } from 'node:worker_threads';
import { Packr } from 'msgpackr/pack';
import type { ChangeFeed } from '../../data/changeFeed.ts';
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

/** The optional parts of the program that a serving thread needs. It imports them before it has its data. */
export interface ThreadParts {
  readonly hasAuthority: boolean;
  readonly hasHttp10: boolean;
}

export interface ThreadStart extends ThreadParts {
  /**
   * Two shared words: the number of seconds in which the event loop turned, and of responses that read replaced
   * data.
   */
  readonly beats: Int32Array;
}

export interface GenerationData {
  readonly loaded: LoadedSnapshot;
  readonly blocks: LoadedSnapshot | undefined;
  readonly documents: Documents;
  readonly changes: ChangeFeed | undefined;
  /** The same in every thread. */
  readonly sinceMs: number;
}

/** Everything a serving thread needs to serve. The tallies are in memory that it shares with the supervisor. */
export interface ServingData {
  /** The generation that the thread begins with. */
  readonly first: GenerationData;
  readonly settings: CatalogueSettings & SoapSettings;
  readonly host: string;
  readonly port: number;
  /** Set only for the one thread that has the second listener. */
  readonly http10Port: number | undefined;
  readonly rowSetCacheBytes: number;
  readonly authority: AuthorityLink | undefined;
  /** One word for all threads: 1 while the data is stale. */
  readonly staleness: Int32Array;
  readonly soapAnswers: Tally;
  readonly ignoredParameters: Tally;
  /** With an admin port only, like `readings`. */
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

/** To a serving thread: serve or drop the prepared generation, end the readers of old data, or drain. */
export type ToThread =
  { readonly kind: 'commit' | 'closeReaders'; readonly swap: number } | { readonly kind: 'abandon' } | DrainOrder;

const packr = new Packr({ useRecords: false });

export function send(to: MessagePort | Worker, message: FromThread | ToThread): void {
  to.postMessage(Uint8Array.from(packr.pack(message)));
}

/**
 * Calls `take` with every control message of a thread. The thread runs the same version, so the content is not checked.
 */
export function receive(from: Worker, take: (message: FromThread) => void): void {
  from.on('message', (packed: Uint8Array) => take(packr.unpack(packed) as FromThread));
}

/** Sends a thread its data. The memories are shared with it; the port of the authority is transferred. */
export function transfer(to: Worker, data: ServingData): void {
  to.postMessage(data, data.authority ? [data.authority.port] : []);
}

export function dataFor({ generation: { loaded, blocks, documents, changes }, sinceMs }: ServedData): GenerationData {
  return { loaded, blocks, documents, changes, sinceMs };
}

/** Handles the orders to prepare a generation, and then to serve or drop it. */
export interface SwapOrders {
  prepare(generation: GenerationData): void;
  commit(swap: number): void;
  abandon(): void;
  /** Ends the connections whose responses read data from before the swap. */
  closeReaders(swap: number): void;
}

export type LastingData = Omit<ServingData, 'first'>;

/** The orders that a serving thread gets: its data, at most once; a drain, then or before; and swaps in between. */
export interface Orders {
  readonly data: Promise<LastingData>;
  readonly drain: Promise<DrainOrder>;
  /** Returns the first generation and drops the reference to it. Can be called once. */
  first(): GenerationData;
  /** Sets the handler of swaps. The supervisor sends none before the thread listens. */
  obey(orders: SwapOrders): void;
}

/** Receives the orders of a serving thread. Keeps the thread alive until `from` is closed. */
export function ordersFrom(from: MessagePort): Orders {
  const data = Promise.withResolvers<LastingData>();
  const drain = Promise.withResolvers<DrainOrder>();
  let generation: GenerationData | undefined;
  let swaps: SwapOrders | undefined;
  from.on('message', (message: ServingData | GenerationData | Uint8Array) => {
    if (message instanceof Uint8Array) {
      const order = packr.unpack(message) as ToThread;
      if (order.kind === 'drain') drain.resolve(order);
      else if (order.kind === 'abandon') swaps?.abandon();
      else swaps?.[order.kind](order.swap);
    } else if ('settings' in message) {
      const { first, ...lasting } = message;
      generation = first;
      data.resolve(lasting);
    } else swaps?.prepare(message);
  });
  const first = (): GenerationData => {
    const first = generation;
    assert(first, 'the first generation is there with the data, and taken once');
    generation = undefined;
    return first;
  };
  return { data: data.promise, drain: drain.promise, first, obey: (orders) => void (swaps = orders) };
}

/** The stack of an error, or the text of any other thrown value. Errors cannot be sent as messages. */
export function stackText(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
