// The serving threads of a server as its supervisor has them: started at once, so that they read the program while the
// data loads, then given the data, replaced where they die or fall silent, at last drained. Knows neither data nor
// settings.
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { OperationError } from '../../data/operationError.ts';
import { isStarved, onceThereIsSome, waitMsAfter } from '../../workers/starvation.ts';
import type { DrainTime } from '../http/listener.ts';
import type { Report } from '../observe/events.ts';
import { BUG_EXIT, endAtOnce } from './exit.ts';
import type { ServedData } from '../generations/data.ts';
import { dataFor, give, type LastingData, send, stackOf, type ThreadParts } from './messages.ts';
import { type FromServing, type ServingThread, startServingThread } from './startedThread.ts';
import type { swapAll } from './swap.ts';
import { LOOK_MS, SILENT_LOOKS, SilenceWatch } from './silence.ts';
import { ThreadLosses, unreadProgram } from './threadLosses.ts';

/** Where a thread has failed: it finishes what it has, and nobody is waited for who might come. */
const AFTER_FAILURE: DrainTime = { graceMs: 0, withinMs: 10_000 };

const SILENT_S = (SILENT_LOOKS * LOOK_MS) / 1000;
/** Longer than a thread that runs JavaScript takes to be stopped, however busy the machine is. */
const INTERRUPTED_MS_MAX = 5000;

/** Threads that wait for their data, or serve. */
export class ServingThreads {
  readonly #parts: ThreadParts;
  readonly #report: Report;
  readonly #losses: ThreadLosses;
  /** All that have not ended, those that drain too. */
  readonly #running = new Set<ServingThread>();
  readonly #first: readonly ServingThread[];
  readonly #retries = new Set<NodeJS.Timeout>();
  readonly #watch = new SilenceWatch();
  /** A swap, or threads in place of others: one after the other, so that all threads serve the same. */
  #changing: Promise<unknown> = Promise.resolve();
  #dataOf: ((i: number) => LastingData) | undefined;
  #served: ServedData | undefined;
  #cut = 0;
  #isStopping = false;
  #isWithoutUws = false;

  /** Starts so many threads. `report` gets lines about bugs that requests meet, `losses` whatever dies. */
  constructor(count: number, parts: ThreadParts, report: Report, losses: ThreadLosses) {
    this.#parts = parts;
    this.#report = report;
    this.#losses = losses;
    try {
      this.#first = Array.from({ length: count }, (_, i) => this.#start(i));
    } catch (error) {
      void this.stop(AFTER_FAILURE);
      throw error;
    }
  }

  /**
   * Gives every thread its data, told its number from 0 on; resolves when all listen. Throws OperationError `port`, and
   * what a thread that fails before throws. One that dies later is replaced, with what is served then; where they keep
   * dying, all others stop and the process ends as our bug: half a server is none.
   */
  async begin(dataOf: (i: number) => LastingData, served: ServedData): Promise<void> {
    this.#dataOf = dataOf;
    this.#served = served;
    setInterval(() => this.#look(), LOOK_MS).unref();
    for (const [i, thread] of this.#first.entries()) this.#give(i, thread);
    await Promise.all(this.#first.map(({ listens }) => listens));
  }

  /**
   * Has every thread make a generation ready beside the one that it serves, and then all of them serve it: all or none.
   * Resolves when all do, and it is what is `served`; `isReleased` then resolves when no thread holds the one before.
   * Rejects with what a thread says that cannot open it; all go on as before then. A thread that dies meanwhile holds
   * nothing, and the one in its place begins with what is served then.
   */
  swap(next: ServedData): ReturnType<typeof swapAll> {
    return this.#inTurn(async () => {
      const served = this.#served;
      assert(served, 'threads begin with a generation');
      const threads = [...this.#running].filter((thread) => thread.isServing());
      const others = [...this.#running].filter((thread) => !thread.isServing()).map(({ ended }) => ended);
      const { swapAll } = await onceThereIsSome(() => import('./swap.ts'));
      const { swap, isReleased } = await swapAll(threads, served, next);
      return { swap, isReleased: Promise.all([isReleased, ...others]) };
    });
  }

  /** Ends the connections of answers that read the data from before a swap. */
  closeReaders(swap: number): void {
    for (const { worker } of this.#running) send(worker, { kind: 'closeReaders', swap });
  }

  /** How many answers read data that was replaced, a second ago at most. */
  replacedReaders(): number {
    return [...this.#running].reduce((sum, { beats }) => sum + Atomics.load(beats, 1), 0);
  }

  /**
   * Whether one serves: none does between the death of the last and the start of another, nor once all are told to end.
   */
  isServing(): boolean {
    return !this.#isStopping && [...this.#running].some((thread) => thread.isServing());
  }

  /**
   * Drains the threads, or ends those that have no data yet; resolves when they have ended, with the number of answers
   * that were cut.
   */
  async stop(time: DrainTime): Promise<number> {
    this.#isStopping = true;
    const cutBefore = this.#cut;
    for (const retry of this.#retries) clearTimeout(retry);
    for (const { worker } of this.#running) send(worker, { kind: 'drain', ...time });
    await Promise.all([...this.#running].map(({ ended }) => ended));
    return this.#cut - cutBefore;
  }

  /** A thread of this number, which reads the program and waits for its data. Throws where the system has none. */
  #start(i: number): ServingThread {
    const thread: ServingThread = startServingThread(this.#parts, {
      failed: (error) => this.#replace(i, thread, error),
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
    else if (message.kind === 'noUws') this.#sayNoUws(message.reason);
    else if (message.kind === 'exhausted') this.#losses.exhausted(message.reason);
    else if (message.kind === 'starved') this.#losses.starved(message.thread, message.reason);
    else if (ThreadLosses.isHopeless(this.#losses.died(message.thread, message.stack)) && message.thread === 'signing')
      this.#fail(new Error(`signing threads keep dying, the last one of this:\n${message.stack}`));
  }

  /** Each thread finds it out, and those that replace others; it is told once. */
  #sayNoUws(reason: string): void {
    if (this.#isWithoutUws) return;
    this.#isWithoutUws = true;
    const system = `Node ${process.versions.node}, ${process.platform} ${process.arch}`;
    this.#report(`node:http serves, more slowly: uWebSockets.js does not load on ${system} (${reason})`, 'warn');
  }

  #give(i: number, { worker }: ServingThread): void {
    const { dataOf, served } = { dataOf: this.#dataOf, served: this.#served };
    assert(dataOf && served, 'threads begin with a generation');
    give(worker, { ...dataOf(i), first: dataFor(served) });
  }

  async #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const before = this.#changing;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#changing = promise;
    await before;
    try {
      return await change();
    } finally {
      resolve();
    }
  }

  /** What is left of the thread answers what it has; its socket is closed at once, so that another may listen. */
  #replace(i: number, { worker }: ServingThread, error: unknown): void {
    if (this.#isStopping) return;
    send(worker, { kind: 'drain', ...AFTER_FAILURE });
    const deaths = this.#losses.died('serving', stackOf(error));
    if (ThreadLosses.isHopeless(deaths)) this.#fail(error);
    else this.#startIn(waitMsAfter(deaths - 1), i, 1);
  }

  #startIn(ms: number, i: number, tries: number): void {
    const retry = setTimeout(() => {
      this.#retries.delete(retry);
      void this.#startAgain(i, tries);
    }, ms);
    this.#retries.add(retry);
  }

  async #startAgain(i: number, tries: number): Promise<void> {
    let thread: ServingThread | undefined;
    try {
      await this.#inTurn(async () => {
        if (this.#isStopping) return;
        thread = this.#start(i);
        this.#give(i, thread);
        await thread.listens;
      });
    } catch (error) {
      if (this.#isStopping) return;
      // The one before it may still have the port of the second listener, for a moment.
      const isOver = isStarved(error) || error instanceof OperationError;
      if (!isOver && thread) return this.#replace(i, thread, error);
      if (thread) send(thread.worker, { kind: 'drain', ...AFTER_FAILURE });
      this.#losses.starved('serving', error instanceof Error ? error.message : String(error));
      this.#startIn(waitMsAfter(tries), i, tries + 1);
    }
  }

  /** Threads that read the program or open the data may take their time; those that serve turn. */
  #look(): void {
    for (const thread of this.#running)
      if (thread.hasListened() && this.#watch.isFallenSilent(thread)) void this.#endSilent(thread);
  }

  /** Ends a thread that turns no more, with what it does; where it cannot be ended, the process ends instead. */
  async #endSilent(thread: ServingThread): Promise<void> {
    let why = 'since it waits for the system';
    const where = await onceThereIsSome(() => import('./interruption.ts'))
      .then(({ interrupted }) => interrupted(thread.worker, INTERRUPTED_MS_MAX))
      // As where the program is gone from the disk: then the process ends.
      .catch((error: unknown) => void (why = `by what went wrong then (${stackOf(unreadProgram(error))})`));
    const told = Object.assign(new Error(), { stack: `Error: it did not turn for ${SILENT_S} s\n${where ?? ''}` });
    // It may have ended by itself meanwhile.
    if (where === undefined) return this.#running.has(thread) ? this.#leave(thread, why) : undefined;
    thread.fail(told);
    await thread.worker.terminate();
  }

  /** The other threads finish what they have. No ordinary exit behind that: it would wait for the silent one. */
  async #leave(silent: ServingThread, why: string): Promise<void> {
    this.#report(
      `a serving thread did not turn for ${SILENT_S} s and cannot be ended, ${why}: ` +
        'the server ends, to be started again',
      'error',
    );
    this.#isStopping = true;
    const others = [...this.#running].filter((one) => one !== silent);
    for (const { worker } of others) send(worker, { kind: 'drain', ...AFTER_FAILURE });
    await Promise.race([Promise.all(others.map(({ ended }) => ended)), delay(2 * AFTER_FAILURE.withinMs)]);
    endAtOnce(BUG_EXIT);
  }

  /** Nobody handles the rejection, which ends the process. */
  #fail(error: unknown): void {
    if (!this.#isStopping) void this.#failAfterStop(error);
  }

  async #failAfterStop(error: unknown): Promise<never> {
    await this.stop(AFTER_FAILURE);
    throw error;
  }
}
