// The sliced work of a serving thread. All of it together gets one fraction of each turn of the event loop, step by
// step, so that other requests are answered in between.
import { Semaphore } from './pool.ts';
import type { Disconnection } from './waiter.ts';

/**
 * Milliseconds of a turn in which a queued step may start, or a writing step may continue. One step always starts.
 * Steps take 0.5 to 4 ms, and many tasks delay others no longer than one.
 */
const QUEUED_MS = 1;

/**
 * Milliseconds of a turn in which sliced work may start at once, in the turn of its request: a later response ends the
 * connection of a client that pipelines.
 */
const AT_ONCE_MS = 3;

/** Tasks of a lane that take steps in turn. More would only finish later, and each holds memory. */
export const SLICED_RUNNING_MAX = 16;

/** A piece of work of at most 4 ms. Returns whether there is more to do. It never throws. */
export type Step = () => boolean;

/** Why work has no result: its client left first, or too much was running. */
export type UnfinishedReason = 'gone' | 'busy';

/** A kind of work. Each has a separate semaphore, so that no kind waits for another. */
export type Lane = 'queries' | 'exports' | 'copies' | 'pages';

/**
 * The scheduler of a serving thread. Steps run round-robin. All steps of a turn together take QUEUED_MS, or the time of
 * the longest. A turn that spent AT_ONCE_MS on immediate work runs no step, and the next turn runs steps only. `now` is
 * a clock in milliseconds. `nextTurn` calls back in the next turn of the event loop. `queuedSteps` counts queued steps.
 */
export class Slices {
  queuedSteps = 0;
  readonly now: () => number;
  readonly #nextTurn: (turn: () => void) => void;
  /** In the order of their turns. */
  readonly #steps = new Set<Step>();
  readonly #lanes: Readonly<Record<Lane, Semaphore>> = {
    queries: new Semaphore(SLICED_RUNNING_MAX),
    exports: new Semaphore(SLICED_RUNNING_MAX),
    copies: new Semaphore(SLICED_RUNNING_MAX),
    pages: new Semaphore(SLICED_RUNNING_MAX),
  };
  #spentMs = 0;
  #isArmed = false;
  #isInTurn = false;
  /** Whether the next turn is for queued steps only. */
  #isStepsTurn = false;

  constructor(now: () => number, nextTurn: (turn: () => void) => void = setImmediate) {
    this.now = now;
    this.#nextTurn = nextTurn;
  }

  /** Whether sliced work may start at once; then call `spend` with its time. */
  hasTime(): boolean {
    return this.#spentMs < AT_ONCE_MS;
  }

  /**
   * Whether work that started at `sinceMs`, at once or as a step, should leave the rest to a later step. Cost: one read
   * of the clock.
   */
  isUp(sinceMs: number): boolean {
    return this.now() - sinceMs >= (this.#isInTurn ? QUEUED_MS : AT_ONCE_MS);
  }

  /** Counts the time since `sinceMs` as spent on sliced work. The time of a step is counted by the turn. */
  spend(sinceMs: number): void {
    if (this.#isInTurn) return;
    this.#spentMs += this.now() - sinceMs;
    this.#arm();
  }

  /**
   * Runs work and counts its time. Returns its result, or undefined without running it if this turn has no time left.
   */
  runNow<T>(work: () => T): T | undefined {
    if (!this.hasTime()) return undefined;
    const [sinceMs, spentMs] = [this.now(), this.#spentMs];
    const result = work();
    // Discards what `work` itself has counted, so that no time counts twice.
    this.#spentMs = spentMs;
    this.spend(sinceMs);
    return result;
  }

  /** Runs the step in a later turn, after those that wait, and again while it returns true. Cost: constant. */
  queue(step: Step): void {
    this.#steps.add(step);
    this.#arm();
  }

  /** Removes a step. Cost: constant. */
  drop(step: Step): void {
    this.#steps.delete(step);
  }

  /**
   * Calls `work` in later turns until it returns a result. At most SLICED_RUNNING_MAX tasks of a lane run. A task whose
   * result is a promise has ended, because the promise may wait for another task of the lane. Rejects if `work` throws.
   */
  async run<T>(lane: Lane, work: () => T | undefined, client: Disconnection): Promise<T | UnfinishedReason> {
    const semaphore = this.#lanes[lane];
    const permit = await semaphore.acquire(client);
    if (typeof permit === 'string') return permit;
    if (client.isGone()) {
      semaphore.release(permit);
      return 'gone';
    }
    let isRunning = true;
    const end = (): void => {
      if (isRunning) semaphore.release(permit);
      isRunning = false;
    };
    return new Promise((resolve, reject) => {
      const step: Step = () => {
        try {
          const result = work();
          if (result === undefined) return isRunning;
          end();
          resolve(result);
        } catch (error) {
          end();
          reject(error);
        }
        return false;
      };
      this.queue(step);
      client.onGone(() => {
        this.drop(step);
        end();
        resolve('gone');
      });
    });
  }

  #arm(): void {
    if (this.#isArmed) return;
    this.#isArmed = true;
    this.#nextTurn(() => this.#turn());
  }

  #turn(): void {
    this.#isArmed = false;
    this.#isInTurn = true;
    const startMs = this.now();
    try {
      const endMs = startMs + QUEUED_MS - (this.#isStepsTurn ? 0 : this.#spentMs);
      this.#isStepsTurn = !this.#isStepsTurn && !this.hasTime() && this.#steps.size > 0;
      if (this.#isStepsTurn) return;
      do this.#takeOne();
      while (this.#steps.size > 0 && this.now() < endMs);
    } finally {
      this.#isInTurn = false;
      // A turn of queued steps has no time for immediate work.
      this.#spentMs = this.#isStepsTurn ? AT_ONCE_MS : 0;
      if (this.#steps.size > 0) this.#arm();
    }
  }

  #takeOne(): void {
    const [step] = this.#steps;
    if (!step) return;
    this.#steps.delete(step);
    this.queuedSteps++;
    if (step()) this.#steps.add(step);
  }
}

/**
 * Runs pieces of a few ms, such as loading code, each in a turn of the event loop. Rejects with the first that rejects.
 */
export async function runInTurns(parts: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const part of parts) {
    await part();
    await new Promise((resolve) => setImmediate(resolve));
  }
}
