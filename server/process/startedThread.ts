// One serving thread as the supervisor sees it: when it listens, fails or ends.
import { EventEmitter, once } from 'node:events';
import { type ResourceLimits, Worker } from 'node:worker_threads';
import { OperationError } from '../../data/operationError.ts';
import { type FromThread, receive, type ThreadParts, type ThreadStart } from './messages.ts';

export interface ServingThread {
  readonly worker: Worker;
  readonly listens: Promise<void>;
  /** Resolves to the number of cut responses. */
  readonly ended: Promise<number>;
  /** Two words, see ThreadStart. */
  readonly beats: Int32Array;
  /** Whether it has ever listened; it may have failed since. */
  hasListened(): boolean;
  /** Resolves to the next message of one of these kinds. Rejects if the thread ends first or has ended. */
  next<K extends FromThread['kind']>(...kinds: readonly K[]): Promise<Extract<FromThread, { kind: K }>>;
}

export type FromServing = Extract<FromThread, { readonly kind: 'noUws' | 'bug' | 'died' | 'starved' | 'exhausted' }>;

export interface ThreadListener {
  /** Called once if a listening thread ends unexpectedly or is about to. */
  failed(error: unknown): void;
  onMessage(message: FromServing): void;
}

/**
 * Heap limit for young objects: two halves of 4 MB, which V8 counts as 12. By default V8 grows them to 16 MB each under
 * bursts and returns none under load; requests cost the same (bench/FIGURES.md). With halves of 1 MB, the buffers of
 * exports outlive them and stay until a full collection.
 */
const LIMITS: ResourceLimits = { maxYoungGenerationSizeMb: 12 };

/** Starts a thread, which waits for its data. Throws the system's error if it cannot start one. */
export function startServingThread(parts: ThreadParts, hearer: ThreadListener): ServingThread {
  const beats = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  const workerData: ThreadStart = { ...parts, beats };
  const worker = new Worker(new URL('./servingThread.ts', import.meta.url), { workerData, resourceLimits: LIMITS });
  let cutCount: number | undefined;
  const ended = new Promise<number>((resolve) => worker.once('exit', () => resolve(cutCount ?? 0)));
  let hasListened = false;
  let hasFailed = false;
  let refuse: (error: unknown) => void;
  const fail = (error: unknown): void => {
    if (hasListened && !hasFailed) hearer.failed(error);
    hasFailed = true;
    refuse(error);
  };
  const listens = new Promise<void>((resolve, reject) => {
    refuse = reject;
    worker.once('error', fail);
    worker.once('exit', (code) => {
      if (cutCount === undefined) fail(new Error(`a serving thread ended by itself, with code ${code}`));
    });
    receive(worker, (message) => {
      if (message.kind === 'refused') reject(new OperationError('port', message.message));
      else if (message.kind === 'broken') fail(Object.assign(new Error(), { stack: message.stack }));
      else if (message.kind === 'drained') cutCount = message.cut;
      else if (message.kind === 'listening') {
        hasListened = true;
        resolve();
      } else if (isAboutThreads(message)) hearer.onMessage(message);
      else messages.emit(message.kind, message);
    });
  });
  const messages = new EventEmitter();
  let hasEnded = false;
  const next: ServingThread['next'] = async (...kinds) => {
    if (hasEnded) throw earlyEndError();
    const others = new AbortController();
    try {
      const [message] = await Promise.race(kinds.map((kind) => once(messages, kind, { signal: others.signal })));
      return message as never;
    } finally {
      others.abort();
    }
  };
  worker.once('exit', () => {
    hasEnded = true;
    if (messages.listenerCount('error') > 0) messages.emit('error', earlyEndError());
  });
  // `begin` awaits `listens` later; a rejection before that must not count as unhandled.
  listens.catch(() => undefined);
  return { worker, listens, ended, beats, hasListened: () => hasListened, next };
}

function earlyEndError(): Error {
  return new Error('a serving thread ended before it answered');
}

function isAboutThreads(message: FromThread): message is FromServing {
  return ['noUws', 'bug', 'died', 'starved', 'exhausted'].includes(message.kind);
}
