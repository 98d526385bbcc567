// The serving threads of a server as its supervisor has them. They start at once, to read the program while the data
// loads, and get the data then. The process ends with 70 if one of them dies or falls silent. Knows neither data nor
// settings.
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { DrainTime } from '../http/listener.ts';
import type { Report } from '../observe/events.ts';
import { BUG_EXIT, endAtOnce } from './exit.ts';
import type { ServedData } from './loadGeneration.ts';
import { dataFor, give, type LastingData, send, stackOf, type ThreadParts } from './messages.ts';
import { type FromServing, type ServingThread, startServingThread } from './startedThread.ts';
import { swapAll } from './swap.ts';
import { LOOK_MS, SILENT_LOOKS, SilenceWatch } from './silence.ts';
import type { ThreadFaults } from './threadFaults.ts';

/** After a failure answers that have begun have this time. The next start of the process waits for it. */
const AFTER_FAILURE: DrainTime = { graceMs: 0, withinMs: 500 };

const SILENT_S = (SILENT_LOOKS * LOOK_MS) / 1000;

/** Threads that wait for their data, or serve. */
export class ServingThreads {
  readonly #report: Report;
  readonly #faults: ThreadFaults;
  /** All threads, by number. One that ends before it has data makes `begin` throw. */
  readonly #threads: readonly ServingThread[];
  /** The threads that have not ended. */
  readonly #running = new Set<ServingThread>();
  readonly #watch = new SilenceWatch();
  #served: ServedData | undefined;
  /** One swap at a time. */
  #swapping: Promise<unknown> = Promise.resolve();
  #cut = 0;
  #isStopping = false;
  #isWithoutUws = false;

  /** Starts `count` threads. `report` gets lines about bugs that requests meet. */
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

  /**
   * Gives the thread of each number, from 0 on, its data. Resolves when all listen. Throws OperationError `port`, and
   * what a thread that fails before throws.
   */
  async begin(dataOf: (i: number) => LastingData, served: ServedData): Promise<void> {
    this.#served = served;
    setInterval(() => this.#look(), LOOK_MS).unref();
    for (const [i, { worker }] of this.#threads.entries()) give(worker, { ...dataOf(i), first: dataFor(served) });
    await Promise.all(this.#threads.map(({ listens }) => listens));
  }

  /**
   * Every thread makes a generation ready while it serves another one, and then all of them serve it: all or none.
   * Resolves when all do, and it is what is `served`; `isReleased` then resolves when no thread holds the one before.
   * Rejects with the error of a thread that cannot open it; all go on as before then.
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

  /** Ends the connections of answers that read the data from before a swap. */
  closeReaders(swap: number): void {
    for (const { worker } of this.#running) send(worker, { kind: 'closeReaders', swap });
  }

  /** The number of answers that read replaced data, at most a second ago. */
  replacedReaders(): number {
    return [...this.#running].reduce((sum, { beats }) => sum + Atomics.load(beats, 1), 0);
  }

  /**
   * Drains the threads, or ends those that have no data yet; resolves when they have ended, with the number of answers
   * that were cut.
   */
  async stop(time: DrainTime): Promise<number> {
    this.#isStopping = true;
    const cutBefore = this.#cut;
    for (const { worker } of this.#running) send(worker, { kind: 'drain', ...time });
    await Promise.all([...this.#running].map(({ ended }) => ended));
    return this.#cut - cutBefore;
  }

  /** Starts a thread, which reads the program and waits for its data. Throws if the system has no thread. */
  #start(parts: ThreadParts): ServingThread {
    const thread: ServingThread = startServingThread(parts, {
      failed: (error) => void this.#end(`died, please report it: ${stackOf(error)}`),
      said: (message) => this.#heard(message),
    });
    this.#running.add(thread);
    void this.#forgetOnceEnded(thread);
    return thread;
  }

  async #forgetOnceEnded(thread: ServingThread): Promise<void> {
    const cut = await thread.ended;
    this.#cut += cut;
    this.#running.delete(thread);
  }

  #heard(message: FromServing): void {
    if (message.kind === 'bug') this.#report(`a request met a bug, please report it: ${message.stack}`, 'error');
    else if (message.kind === 'noUws') this.#reportNoUws(message.reason);
    else if (message.kind === 'exhausted') this.#faults.exhausted(message.reason);
    else if (message.kind === 'starved') this.#faults.starved('pool', message.reason);
    else this.#faults.died('pool', message.stack);
  }

  /** Each thread reports it; people read it once. */
  #reportNoUws(reason: string): void {
    if (this.#isWithoutUws) return;
    this.#isWithoutUws = true;
    const system = `Node ${process.versions.node}, ${process.platform} ${process.arch}`;
    this.#report(`node:http serves, more slowly: uWebSockets.js does not load on ${system} (${reason})`, 'warn');
  }

  /** Threads that read the program or open the data may take their time. */
  #look(): void {
    for (const thread of this.#running)
      if (thread.hasListened() && this.#watch.isFallenSilent(thread))
        void this.#end(`did not turn for ${SILENT_S} s, please report it`);
  }

  /**
   * Ends the process, because half a server is worse than a restart. Threads that turn finish their answers first. An
   * ordinary exit would wait for a thread that does not turn.
   */
  async #end(what: string): Promise<void> {
    if (this.#isStopping) return;
    this.#report(`a serving thread ${what}\nthe process ends with status ${BUG_EXIT}, to be started again`, 'error');
    await Promise.race([this.stop(AFTER_FAILURE), delay(2 * AFTER_FAILURE.withinMs)]);
    endAtOnce(BUG_EXIT);
  }
}
