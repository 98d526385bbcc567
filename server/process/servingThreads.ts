// The serving threads as the supervisor sees them. They import the program while the data loads. A swap is all or
// nothing: every thread prepares the new generation before any thread serves it. If a thread dies or becomes
// unresponsive, the process exits with status 70. Checks are counted, not time, so that suspending the machine does not
// make threads look unresponsive.
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { DrainTime } from '../http/listener.ts';
import type { Observer, Report, ThreadKind } from '../observe/events.ts';
import { BUG_EXIT, endAtOnce } from './signals.ts';
import type { ServedData } from './loadGeneration.ts';
import { dataFor, transfer, type LastingData, send, stackText, type ThreadParts } from './messages.ts';
import { type FromServing, type ServingThread, startServingThread } from './startedThread.ts';
import { PROGRAM_GONE } from '../../data/threadsInOrder.ts';
import { epochSeconds, steadyMs } from '../observe/clock.ts';

/** Time for responses in progress after a failure. It delays the restart of the process. */
const AFTER_FAILURE: DrainTime = { graceMs: 0, withinMs: 500 };

/** A thread that has not turned for this many checks is unresponsive. */
export const SILENT_LOOKS = 2;

/**
 * Interval between checks; a thread turns more often. Checking more often made the heap grow by more than the load did.
 */
export const LOOK_MS = 5000;

const SILENT_S = (SILENT_LOOKS * LOOK_MS) / 1000;

export class ServingThreads {
  readonly #report: Report;
  readonly #faults: ThreadFaults;
  /** All threads, by number. If one ends before it has data, `begin` throws. */
  readonly #threads: readonly ServingThread[];
  readonly #running = new Set<ServingThread>();
  readonly #watch = new SilenceWatch();
  #served: ServedData | undefined;
  #swapping: Promise<unknown> = Promise.resolve();
  #cutCount = 0;
  #isStopping = false;
  #isWithoutUws = false;

  /** Starts `count` threads. `report` receives bugs that requests hit. */
  constructor(count: number, parts: ThreadParts, report: Report, faults: ThreadFaults) {
    this.#report = report;
    this.#faults = faults;
    try {
      this.#threads = Array.from({ length: count }, () => this.#start(parts));
    } catch (error) {
      void this.stop(AFTER_FAILURE);
      throw error;
    }
  }

  /** Gives each thread its data. Resolves when all listen. Throws OperationError `port`, and errors of the threads. */
  async begin(dataOf: (i: number) => LastingData, served: ServedData): Promise<void> {
    this.#served = served;
    setInterval(() => this.#look(), LOOK_MS).unref();
    for (const [i, { worker }] of this.#threads.entries()) transfer(worker, { ...dataOf(i), first: dataFor(served) });
    await Promise.all(this.#threads.map(({ listens }) => listens));
  }

  /**
   * Serves another generation: every thread prepares it, then all of them serve it. Swaps run one at a time. Resolves
   * and rejects as swapAll does.
   */
  async swap(next: ServedData): ReturnType<typeof swapAll> {
    const before = this.#swapping;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#swapping = promise;
    await before;
    try {
      assert(this.#served, 'threads begin with a generation');
      return await swapAll([...this.#running], this.#served, next);
    } finally {
      resolve();
    }
  }

  closeReaders(swap: number): void {
    for (const { worker } of this.#running) send(worker, { kind: 'closeReaders', swap });
  }

  /** Responses in progress that read replaced data, as of at most a second ago. */
  replacedReaders(): number {
    return [...this.#running].reduce((sum, { beats }) => sum + Atomics.load(beats, 1), 0);
  }

  /** Drains the threads, or stops those without data. Resolves to the number of cut responses. */
  async stop(time: DrainTime): Promise<number> {
    this.#isStopping = true;
    const cutBefore = this.#cutCount;
    for (const { worker } of this.#running) send(worker, { kind: 'drain', ...time });
    await Promise.all([...this.#running].map(({ ended }) => ended));
    return this.#cutCount - cutBefore;
  }

  /** Starts a thread, which waits for its data. Throws if the system cannot start one. */
  #start(parts: ThreadParts): ServingThread {
    const thread: ServingThread = startServingThread(parts, {
      failed: (error) => void this.#end(`died, please report it: ${stackText(error)}`),
      onMessage: (message) => this.#receive(message),
    });
    this.#running.add(thread);
    void this.#forgetOnceEnded(thread);
    return thread;
  }

  async #forgetOnceEnded(thread: ServingThread): Promise<void> {
    const cutCount = await thread.ended;
    this.#cutCount += cutCount;
    this.#running.delete(thread);
  }

  #receive(message: FromServing): void {
    if (message.kind === 'bug') this.#report(`a request met a bug, please report it: ${message.stack}`, 'error');
    else if (message.kind === 'noUws') this.#reportMissingUws(message.reason);
    else if (message.kind === 'exhausted') this.#faults.exhausted(message.reason);
    else if (message.kind === 'starved') this.#faults.starved('pool', message.reason);
    else this.#faults.died('pool', message.stack);
  }

  /** Every thread sends this; it is logged once. */
  #reportMissingUws(reason: string): void {
    if (this.#isWithoutUws) return;
    this.#isWithoutUws = true;
    const system = `Node ${process.versions.node}, ${process.platform} ${process.arch}`;
    this.#report(`node:http serves, more slowly: uWebSockets.js does not load on ${system} (${reason})`, 'warn');
  }

  /** Only threads that listen are checked: importing the program and opening the data may take long. */
  #look(): void {
    for (const thread of this.#running)
      if (thread.hasListened() && this.#watch.isFallenSilent(thread))
        void this.#end(`did not turn for ${SILENT_S} s, please report it`);
  }

  /** A server with fewer threads is worse than a restart. `process.exit` would wait for the unresponsive thread. */
  async #end(subject: string): Promise<void> {
    if (this.#isStopping) return;
    this.#report(`a serving thread ${subject}\nthe process ends with status ${BUG_EXIT}, to be started again`, 'error');
    await Promise.race([this.stop(AFTER_FAILURE), delay(2 * AFTER_FAILURE.withinMs)]);
    endAtOnce(BUG_EXIT);
  }
}

/**
 * Makes all threads serve the next generation and updates `served`. Resolves to the number of the swap, which counts
 * up, and to `isReleased`, which resolves when no thread holds the previous generation. If a thread cannot open the
 * next one, rejects with its error, and all threads keep serving the previous one.
 */
export async function swapAll(
  threads: readonly ServingThread[],
  served: ServedData,
  next: ServedData,
): Promise<{ readonly swap: number; readonly isReleased: Promise<unknown> }> {
  const prepared = threads.map((thread) => {
    const answer = thread.next('prepared', 'unprepared');
    thread.worker.postMessage(dataFor(next));
    return answer;
  });
  const answers = await Promise.allSettled(prepared);
  const refusal = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : [])).find(isRefusal);
  if (refusal) {
    for (const { worker } of threads) send(worker, { kind: 'abandon' });
    throw Object.assign(new Error('a thread cannot open the new generation'), { stack: refusal.stack });
  }
  Object.assign(served, next);
  const swap = ++swaps;
  const isReleased = Promise.allSettled(threads.map((thread) => waitForRelease(thread, swap)));
  const committed = threads.map((thread) => {
    const answer = thread.next('committed');
    send(thread.worker, { kind: 'commit', swap });
    return answer;
  });
  await Promise.allSettled(committed);
  return { swap, isReleased };
}

/** Number of the last swap. It identifies a generation, because a slow reader may hold one longer than later ones. */
let swaps = 0;

async function waitForRelease(thread: ServingThread, swap: number): Promise<void> {
  while ((await thread.next('released')).swap !== swap);
}

function isRefusal<M extends { readonly kind: string }>(message: M): message is Extract<M, { kind: 'unprepared' }> {
  return message.kind === 'unprepared';
}

interface Beating {
  readonly beats: Int32Array;
}

export class SilenceWatch {
  readonly #seen = new WeakMap<Beating, { count: number; looks: number }>();

  /** Checks a thread. Returns true once, when it becomes unresponsive. Allocates nothing. */
  isFallenSilent(thread: Beating): boolean {
    const count = Atomics.load(thread.beats, 0);
    const previous = this.#seen.get(thread);
    if (previous?.count === count) return ++previous.looks === SILENT_LOOKS;
    if (previous) {
      previous.count = count;
      previous.looks = 0;
    } else this.#seen.set(thread, { count, looks: 0 });
    return false;
  }
}

/** A shortage is logged at most once in this time. */
const REPEATED_MS = 60_000;

export class ThreadFaults {
  readonly #report: Report;
  readonly #observe: Observer;
  readonly #reportedMs = new Map<ThreadKind | 'descriptors', number>();

  constructor(report: Report, observe: Observer) {
    this.#report = report;
    this.#observe = observe;
  }

  died(thread: ThreadKind, stack: string): void {
    this.#observe([{ kind: 'threadDied', at: epochSeconds(), thread, stack }]);
    this.#report(`a ${thread} thread died and is replaced, please report it: ${stack}`, 'error');
  }

  starved(thread: ThreadKind, reason: string): void {
    this.#observe([{ kind: 'threadStarved', at: epochSeconds(), thread, reason }]);
    const remedy =
      reason === 'ERR_MODULE_NOT_FOUND' ? PROGRAM_GONE : 'give the process more descriptors, threads or memory';
    this.#reportOnce(thread, `a ${thread} thread cannot start (${reason}); requests that need it get 503: ${remedy}`);
  }

  exhausted(reason: string): void {
    this.#reportOnce(
      'descriptors',
      `no descriptor is left (${reason}), so new connections wait until others close: ` +
        'raise the limit of descriptors, or let the proxy keep fewer connections open',
    );
  }

  #reportOnce(lack: ThreadKind | 'descriptors', line: string): void {
    const now = steadyMs();
    if (now - (this.#reportedMs.get(lack) ?? -Infinity) < REPEATED_MS) return;
    this.#reportedMs.set(lack, now);
    this.#report(line, 'error');
  }
}
