// The serving threads of a server as its supervisor has them: started at once, so that they read the program while the
// data loads, then given the data, at last drained. Knows neither data nor settings.
import assert from 'node:assert/strict';
import { Worker } from 'node:worker_threads';
import { OperationError } from '../../data/operationError.ts';
import type { DrainTime } from '../http/listener.ts';
import type { Served } from './data.ts';
import { give, type FromThread, type GenerationData, type LastingData, prepare, receive, send } from './messages.ts';
import type { ThreadParts } from './messages.ts';

/** Threads that wait for their data, or serve. */
export interface ServingThreads {
  /**
   * Gives every thread its data, told its number from 0 on; resolves when all listen. Throws OperationError `port`, and
   * what a thread that fails before throws. One that fails later stops all others and ends the process as our bug: half
   * a server is none.
   */
  begin(dataOf: (i: number) => LastingData, served: Served): Promise<void>;
  /**
   * Has every thread make a generation ready beside the one that it serves, and then all of them serve it: all or none.
   * Resolves when all do, and it is what is `served`; `isReleased` then resolves when no thread holds the one before.
   * Rejects with what a thread says that cannot open it; all go on as before then.
   */
  swap(next: Served): Promise<{ readonly isReleased: Promise<unknown> }>;
  /**
   * Drains the threads, or ends those that have no data yet; resolves when they have ended, with the number of answers
   * that were cut.
   */
  stop(time: DrainTime): Promise<number>;
}

/** Starts so many threads. `report` gets lines about bugs that requests meet. */
export function startServingThreads(count: number, parts: ThreadParts, report: (line: string) => void): ServingThreads {
  const threads = Array.from({ length: count }, () => startThread(parts, report, onFailure));
  let failed: Promise<never> | undefined;
  let served: Served | undefined;
  function onFailure(error: unknown): void {
    failed ??= failAfterStop(threads, error);
  }
  return {
    begin: async (dataOf, first) => {
      served = first;
      for (const [i, { worker }] of threads.entries()) give(worker, { ...dataOf(i), first: dataFor(served) });
      await Promise.all(threads.map(({ listens }) => listens));
    },
    swap: (next) => {
      assert(served, 'threads begin with a generation');
      return swapAll(threads, served, next);
    },
    stop: (time) => stopThreads(threads, time),
  };
}

/** Nobody serves the new generation before everybody can. */
async function swapAll(
  threads: readonly ServingThread[],
  served: Served,
  next: Served,
): Promise<{ readonly isReleased: Promise<unknown> }> {
  const prepared = threads.map((thread) => {
    const answer = thread.next('prepared', 'unprepared');
    prepare(thread.worker, dataFor(next));
    return answer;
  });
  const refusal = (await Promise.all(prepared)).find((answer) => answer.kind === 'unprepared');
  if (refusal) {
    for (const { worker } of threads) send(worker, { kind: 'abandon' });
    throw Object.assign(new Error('a thread cannot open the new generation'), { stack: refusal.stack });
  }
  Object.assign(served, next);
  // A thread that has ended holds nothing, and serves nothing else.
  const isReleased = Promise.allSettled(threads.map((thread) => thread.next('released')));
  const committed = threads.map((thread) => {
    const answer = thread.next('committed');
    send(thread.worker, { kind: 'commit' });
    return answer;
  });
  await Promise.allSettled(committed);
  return { isReleased };
}

function dataFor({ generation: { loaded, blocks }, sinceMs }: Served): GenerationData {
  return { loaded, blocks, sinceMs };
}

/**
 * A serving thread. `listens` rejects when it cannot. `ended` resolves when the thread has ended, however it did; `cut`
 * answers are then known.
 */
interface ServingThread {
  readonly worker: Worker;
  readonly listens: Promise<void>;
  readonly ended: Promise<void>;
  cut(): number;
  /** The next message of one of these kinds. Rejects when the thread ends before. */
  next<K extends FromThread['kind']>(...kinds: readonly K[]): Promise<Extract<FromThread, { kind: K }>>;
}

/** Who waits for a message of a thread. */
interface Waiter {
  readonly kinds: ReadonlySet<FromThread['kind']>;
  readonly take: (message: FromThread) => void;
}

/** `onFailure` is told of an end that nobody asked for, once the thread listens. */
function startThread(
  parts: ThreadParts,
  report: (line: string) => void,
  onFailure: (error: unknown) => void,
): ServingThread {
  const worker = new Worker(new URL('./servingThread.ts', import.meta.url), { workerData: parts });
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  let cut: number | undefined;
  const listens = new Promise<void>((resolve, reject) => {
    let hasListened = false;
    const fail = (error: unknown): void => (hasListened ? onFailure(error) : reject(error));
    worker.once('error', fail);
    worker.once('exit', (code) => {
      if (cut === undefined) fail(new Error(`a serving thread ended by itself, with code ${code}`));
    });
    receive(worker, (message) => {
      if (message.kind === 'refused') reject(new OperationError('port', message.message));
      else if (message.kind === 'bug') report(`a request met a bug, please report it: ${message.stack}`);
      else if (message.kind === 'broken') fail(Object.assign(new Error(), { stack: message.stack }));
      else if (message.kind === 'drained') cut = message.cut;
      else if (message.kind === 'listening') {
        hasListened = true;
        resolve();
      } else for (const waiter of waiters) if (waiter.kinds.has(message.kind)) waiter.take(message);
    });
  });
  const waiters = new Set<Waiter>();
  const next: ServingThread['next'] = (...kinds) =>
    new Promise((resolve, reject) => {
      const waiter: Waiter = {
        kinds: new Set(kinds),
        take: (message) => {
          waiters.delete(waiter);
          // Of one of the kinds, as the caller has seen.
          resolve(message as never);
        },
      };
      waiters.add(waiter);
      void ended.then(() => reject(new Error('a serving thread ended before it answered')));
    });
  // Whoever begins hears of it; until then the data loads, and may fail first.
  listens.catch(() => undefined);
  return { worker, listens, ended, cut: () => cut ?? 0, next };
}

/** Where a thread has failed: the others finish what they have, and nobody is waited for who might come. */
const AFTER_FAILURE: DrainTime = { graceMs: 0, withinMs: 10_000 };

/** Rejects once all have ended: nobody handles that, which ends the process. */
async function failAfterStop(threads: readonly ServingThread[], error: unknown): Promise<never> {
  await stopThreads(threads, AFTER_FAILURE);
  throw error;
}

async function stopThreads(threads: readonly ServingThread[], time: DrainTime): Promise<number> {
  for (const { worker } of threads) send(worker, { kind: 'drain', ...time });
  await Promise.all(threads.map(({ ended }) => ended));
  return threads.reduce((sum, { cut }) => sum + cut(), 0);
}
