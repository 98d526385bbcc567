// The signing thread of a serving thread: what is handed over to it, in order, and what comes back. Requests to be
// authorised go there at once; long messages, which somebody has to read, one at a time between them.
import type { AuditLog } from '../observe/log.ts';
import { resourceLimits, Worker } from 'node:worker_threads';
import { isOutOfHeap, isStarved, type OnLostThread, waitMsAfter } from '../../workers/starvation.ts';
import type { AuthorisationOutcome } from './authorised.ts';
import type { AuthorisationRequest, LongMessage } from './authority.ts';
import type { AuthorityData } from './configuration/load.ts';

/** Requests that run or wait at once in one serving thread (A85): some 0.2 s of signing. */
export const WAITING_MAX = 128;
/** What their texts may have together (A85): 32 of the longest that a body of the default limit holds. */
const WAITING_CHARACTERS_MAX = 32 << 20;
/** Bytes of messages that are read or wait for it (A105): about a second of reading, at the worst. */
const READING_BYTES_MAX = 4 << 20;

/** Asks a thread for a sign of life. */
const NOTHING: LongMessage = { body: new Uint8Array(0), charset: undefined, isGone: () => false };

/** To a signing thread: what is to be answered, another configuration, or that nothing will follow. */
export type ToSigner =
  | { readonly kind: 'request'; readonly request: AuthorisationRequest }
  | { readonly kind: 'message'; readonly body: Uint8Array; readonly charset: string | undefined }
  | { readonly kind: 'data'; readonly data: AuthorityData }
  | { readonly kind: 'end' };

/** From a signing thread, one for each request and message and in their order: the answer, or the stack of our bug. */
export type FromSigner = { readonly answer: unknown } | { readonly bug: string };

/**
 * What a signing thread starts with, besides its configuration: the file that its decisions are recorded in, and the
 * URL of the module that reads messages, where there are any.
 */
export interface SignerParts {
  readonly auditLog?: AuditLog | undefined;
  readonly messageReader?: string | undefined;
}

/**
 * What a signing thread starts with. `posted` is shared:
 * its one number changes, and wakes, with each message to the thread.
 */
export interface SignerStart extends SignerParts {
  readonly data: AuthorityData;
  readonly posted: Int32Array;
}

/**
 * Works off the calling thread, or says that too much waits, or that there are no descriptors, threads or memory for it
 * now. A rejection is our bug.
 */
export interface SigningThread {
  run(request: AuthorisationRequest): Promise<AuthorisationOutcome | 'busy' | 'starved'>;
  /** What the reader of messages makes of one; what it says is its own, and plain data. */
  read(message: LongMessage): Promise<unknown>;
  /** Starts the thread, which the first request does otherwise; answers when it works, or could not start. */
  start(): Promise<void>;
  /** All that follows is answered by this configuration, with nothing in the caches. */
  configure(data: AuthorityData): void;
  /** Lets what is under way finish. */
  close(): Promise<void>;
}

/**
 * A thread that is started once, and again where it should fail: at once, then each time a while later. `onLost` is
 * told of it. All that waits is handed over at once: the thread sleeps only when there is nothing to do, and nobody is
 * woken to feed it. Without a pool's books of tasks, which cost a serving thread as much again as all else of a
 * request.
 */
export function signingThreadOf(
  data: AuthorityData,
  parts: SignerParts,
  onLost: OnLostThread = () => undefined,
): SigningThread {
  let current = data;
  let running: Running | undefined;
  let retry: NodeJS.Timeout | undefined;
  let failures = 0;
  let isClosing = false;
  const ended = (error: unknown): void => {
    running = undefined;
    if (isClosing) return;
    const isStarvation = isStarved(error);
    const waitMs = waitMsAfter(isStarvation ? ++failures : failures++);
    retry = setTimeout(() => {
      retry = undefined;
      started();
    }, waitMs).unref();
    onLost(error, isStarvation);
  };
  /** None where there is none now. */
  const started = (): Running | undefined => {
    if (running || retry) return running;
    try {
      running = new Running(current, parts, { ended, answered: () => void (failures = 0) });
    } catch (error) {
      ended(error);
    }
    return running;
  };
  const readings = new Readings(async (message) => {
    const read = await started()?.read(message);
    return read === undefined || read === 'starved' ? 'busy' : read;
  });
  return {
    run: async (request) => started()?.run(request) ?? 'starved',
    read: (message) => readings.read(message),
    // Why it ended meanwhile is told by `ended`.
    start: async () =>
      void (await started()
        ?.read(NOTHING)
        .catch(() => undefined)),
    configure(next) {
      current = next;
      running?.configure(next);
    },
    async close() {
      isClosing = true;
      clearTimeout(retry);
      await running?.close();
    },
  };
}

interface Reading {
  readonly message: LongMessage;
  start(): void;
}

/** Messages that wait to be read, in their order: one at a time, so that requests wait for one of them at most. */
class Readings {
  readonly #read: (message: LongMessage) => Promise<unknown>;
  readonly #waiting: Reading[] = [];
  #bytes = 0;
  #isReading = false;

  constructor(read: (message: LongMessage) => Promise<unknown>) {
    this.#read = read;
  }

  async read(message: LongMessage): Promise<unknown> {
    const { length } = message.body;
    // Where nothing waits there is room for one, however long.
    if (this.#bytes > 0 && this.#bytes + length > READING_BYTES_MAX) return 'busy';
    this.#bytes += length;
    try {
      if (this.#isReading) await new Promise<void>((start) => this.#waiting.push({ message, start }));
      this.#isReading = true;
      // Nobody reads what it says any more.
      return message.isGone() ? 'busy' : await this.#read(message);
    } finally {
      this.#bytes -= length;
      this.#isReading = false;
      this.#waiting.shift()?.start();
    }
  }
}

/** Who waits for one answer. */
interface Waiting {
  readonly characters: number;
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

/** `ended` is told once why a thread has ended, `answered` each time it has answered. */
interface RunningHearer {
  ended(error: unknown): void;
  answered(): void;
}

class Running {
  readonly #posted = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #worker: Worker;
  readonly #ended: Promise<void>;
  /** In the order of the answers. */
  readonly #waiting: Waiting[] = [];
  #characters = 0;
  #hasEnded = false;
  readonly #hearer: RunningHearer;

  constructor(data: AuthorityData, parts: SignerParts, hearer: RunningHearer) {
    this.#hearer = hearer;
    const workerData: SignerStart = { ...parts, data, posted: this.#posted };
    this.#worker = new Worker(new URL('./signer.ts', import.meta.url), { workerData, resourceLimits });
    this.#worker.on('message', (answers: readonly FromSigner[]) => answers.forEach((answer) => this.#take(answer)));
    this.#ended = new Promise((resolve) => {
      this.#worker.once('error', (error) => this.#end(error));
      this.#worker.once('exit', (code) => {
        this.#end(new Error(`a signing thread ended by itself, with code ${code}`));
        resolve();
      });
    });
  }

  run(request: AuthorisationRequest): Promise<AuthorisationOutcome | 'busy' | 'starved'> {
    const characters = request.usrProxyCert.length + request.usrAttCert.length;
    // Where nothing waits there is room for one, however long.
    const isTooMuch = this.#characters > 0 && this.#characters + characters > WAITING_CHARACTERS_MAX;
    const isFull = this.#waiting.length >= WAITING_MAX || isTooMuch;
    return isFull
      ? Promise.resolve('busy')
      : this.#answered<AuthorisationOutcome>({ kind: 'request', request }, characters);
  }

  read({ body, charset }: LongMessage): Promise<unknown> {
    return this.#answered({ kind: 'message', body, charset }, 0, body.length > 0 ? [body.buffer] : []);
  }

  configure(data: AuthorityData): void {
    this.#post({ kind: 'data', data });
  }

  /** The thread answers what waits and writes its counts before it ends. */
  close(): Promise<void> {
    this.#post({ kind: 'end' });
    return this.#ended;
  }

  /** What the thread answers to a message of this kind. */
  #answered<T>(message: ToSigner, characters: number, transferred: readonly ArrayBuffer[] = []): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#post(message, transferred);
      this.#characters += characters;
      this.#waiting.push({ characters, resolve, reject });
    });
  }

  #post(message: ToSigner, transferred: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, transferred);
    Atomics.add(this.#posted, 0, 1);
    Atomics.notify(this.#posted, 0);
  }

  #take(answer: FromSigner): void {
    const { characters, resolve, reject } = this.#waiting.shift()!;
    this.#characters -= characters;
    this.#hearer.answered();
    if ('bug' in answer) reject(Object.assign(new Error(), { stack: answer.bug }));
    else resolve(answer.answer);
  }

  #end(error: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#hearer.ended(error);
    for (const { resolve, reject } of this.#waiting.splice(0)) {
      if (isStarved(error) || isOutOfHeap(error)) resolve('starved');
      else reject(error);
    }
  }
}
