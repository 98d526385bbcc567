// What the supervisor and its serving threads say to each other, and how: control messages as msgpack.
// The snapshot itself goes once, as the thread's workerData, because only that shares memory; the authority has a port of its own.
import type { MessagePort, Worker } from 'node:worker_threads';
import { Packr } from 'msgpackr';
import type { LoadedSnapshot } from '../engine/engine.ts';
import type { AuthorityLink } from './authority/service.ts';
import type { CatalogueSettings } from './catalogue.ts';
import type { Tally } from './observe/tally.ts';
import type { SoapSettings } from './soap/service.ts';

/**
 * What a serving thread starts with. `blocks` are those of the snapshot's records, where there are any. `http10Port` is set for
 * the one thread that has the second listener. `soapAnswers` and `ignoredParameters` are its tallies, in memory
 * that it shares with the supervisor.
 */
export interface ServingData {
  readonly loaded: LoadedSnapshot;
  readonly blocks: LoadedSnapshot | undefined;
  readonly settings: CatalogueSettings & SoapSettings;
  readonly host: string;
  readonly port: number;
  readonly http10Port: number | undefined;
  readonly poolThreads: number;
  readonly rowSetCacheBytes: number;
  readonly authority: AuthorityLink | undefined;
  readonly soapAnswers: Tally;
  readonly ignoredParameters: Tally;
}

/** From a serving thread: it listens, it could not listen, a request met a bug of ours, it met one itself, it has drained. */
export type FromThread =
  | { readonly kind: 'listening' }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'bug'; readonly stack: string }
  | { readonly kind: 'broken'; readonly stack: string }
  | { readonly kind: 'drained' };

/** To a serving thread: stop taking requests, finish what is in flight within this time, end. */
export interface ToThread {
  readonly kind: 'drain';
  readonly withinMs: number;
}

const packr = new Packr({ useRecords: false });

/** Sends a control message to the other side. */
export function send(to: MessagePort | Worker, message: FromThread | ToThread): void {
  to.postMessage(Uint8Array.from(packr.pack(message)));
}

/** Calls `take` with every control message that comes. The other side is code of the same process and version. */
export function receive<M extends FromThread | ToThread>(from: MessagePort | Worker, take: (message: M) => void): void {
  from.on('message', (packed: Uint8Array) => take(packr.unpack(packed) as M));
}
