// The signing thread of a serving thread, for one configuration: what is handed over to it, in order, and what comes
// back. A reload makes another, with nothing in its caches; this one ends when its last request is answered.
import { Worker } from 'node:worker_threads';
import type { Authorised } from './authorised.ts';
import type { AuthorisationRequest } from './authority.ts';
import type { AuthorityData } from './configuration/load.ts';

/** Requests that run or wait at once in one serving thread (A85): some 0.2 s of signing, at most 64 MiB of texts. */
export const WAITING_MAX = 128;

/** What a signing thread is told when no request will follow. */
export const END = 'end';

/** To a signing thread: a request, or that none will follow. */
export type ToSigner = AuthorisationRequest | typeof END;

/** From a signing thread, one for each request and in their order: the answer, or the stack of a bug of ours. */
export type FromSigner = Authorised | { readonly bug: string };

/**
 * What a signing thread starts with. `posted` is shared: its one number changes, and wakes, with each message to the
 * thread.
 */
export interface SignerStart {
  readonly data: AuthorityData;
  readonly posted: Int32Array;
}

/** Answers requests off the calling thread, or says that too many wait. `close` lets those under way finish. */
export interface SigningThread {
  run(request: AuthorisationRequest): Promise<Authorised | 'busy'>;
  close(): Promise<void>;
}

/**
 * A thread over one configuration, started with the first request, and again with the next one if it should fail. A
 * rejected run is our bug. All that waits is handed over at once: the thread sleeps only when there is nothing to do,
 * and nobody is woken to feed it. Without a pool's books of tasks, which cost a serving thread as much again as all
 * else of a request.
 */
export function signingThreadOf(data: AuthorityData): SigningThread {
  let running: Running | undefined;
  const started = (): Running => {
    if (running === undefined || running.hasEnded) running = new Running(data);
    return running;
  };
  return {
    run: (request) => started().run(request),
    close: async () => running?.close(),
  };
}

/** Who waits for one answer. */
type Waiting = Pick<PromiseWithResolvers<Authorised>, 'resolve' | 'reject'>;

class Running {
  readonly #posted = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #worker: Worker;
  readonly #ended: Promise<void>;
  /** In the order of the answers. */
  readonly #waiting: Waiting[] = [];
  hasEnded = false;

  constructor(data: AuthorityData) {
    const workerData: SignerStart = { data, posted: this.#posted };
    this.#worker = new Worker(new URL('./signer.ts', import.meta.url), { workerData });
    this.#worker.on('message', (answers: readonly FromSigner[]) => answers.forEach((answer) => this.#take(answer)));
    this.#ended = new Promise((resolve) => {
      this.#worker.once('error', (error) => this.#end(error));
      this.#worker.once('exit', (code) => {
        this.#end(new Error(`a signing thread ended by itself, with code ${code}`));
        resolve();
      });
    });
  }

  run(request: AuthorisationRequest): Promise<Authorised | 'busy'> {
    if (this.#waiting.length >= WAITING_MAX) return Promise.resolve('busy');
    return new Promise((resolve, reject) => {
      this.#post(request);
      this.#waiting.push({ resolve, reject });
    });
  }

  /** What waits is before the end in the thread's queue. */
  close(): Promise<void> {
    if (!this.hasEnded) this.#post(END);
    return this.#ended;
  }

  #post(message: ToSigner): void {
    this.#worker.postMessage(message);
    Atomics.add(this.#posted, 0, 1);
    Atomics.notify(this.#posted, 0);
  }

  #take(answer: FromSigner): void {
    const { resolve, reject } = this.#waiting.shift()!;
    if ('bug' in answer) reject(Object.assign(new Error(), { stack: answer.bug }));
    else resolve(answer);
  }

  #end(error: unknown): void {
    this.hasEnded = true;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}
