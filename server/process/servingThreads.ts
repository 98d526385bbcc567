// The serving threads of a server as its supervisor has them: started at once, so that they read the program while the
// data loads, then given the data, at last drained. Knows neither data nor settings.
import { Worker } from 'node:worker_threads';
import { OperationError } from '../../data/operationError.ts';
import type { DrainTime } from '../http/listener.ts';
import type { Report } from '../observe/report.ts';
import { give, receive, send, type ServingData, type ThreadParts } from './messages.ts';

/** Threads that wait for their data, or serve. */
export interface ServingThreads {
  /**
   * Gives every thread its data, told its number from 0 on; resolves when all listen. Throws OperationError `port`, and
   * what a thread that fails before throws. One that fails later stops all others and ends the process as our bug: half
   * a server is none.
   */
  begin(dataOf: (i: number) => ServingData): Promise<void>;
  /**
   * Drains the threads, or ends those that have no data yet; resolves when they have ended, with the number of answers
   * that were cut.
   */
  stop(time: DrainTime): Promise<number>;
}

/** Starts so many threads. `report` gets lines about bugs that requests meet. */
export function startServingThreads(count: number, parts: ThreadParts, report: Report): ServingThreads {
  const threads = Array.from({ length: count }, () => startThread(parts, report, onFailure));
  let failed: Promise<never> | undefined;
  function onFailure(error: unknown): void {
    failed ??= failAfterStop(threads, error);
  }
  return {
    begin: async (dataOf) => {
      for (const [i, { worker }] of threads.entries()) give(worker, dataOf(i));
      await Promise.all(threads.map(({ listens }) => listens));
    },
    stop: (time) => stopThreads(threads, time),
  };
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
}

/** `onFailure` is told of an end that nobody asked for, once the thread listens. */
function startThread(parts: ThreadParts, report: Report, onFailure: (error: unknown) => void): ServingThread {
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
      else if (message.kind === 'bug') report(`a request met a bug, please report it: ${message.stack}`, 'error');
      else if (message.kind === 'broken') fail(Object.assign(new Error(), { stack: message.stack }));
      else if (message.kind === 'drained') cut = message.cut;
      else {
        hasListened = true;
        resolve();
      }
    });
  });
  // Whoever begins hears of it; until then the data loads, and may fail first.
  listens.catch(() => undefined);
  return { worker, listens, ended, cut: () => cut ?? 0 };
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
