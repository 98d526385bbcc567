// The sliced work of a serving thread, whatever it is: together it has one part of each turn of the event loop, step by
// step in turn, so that other requests are answered between, however much of it there is. Knows no work.
import { Semaphore } from './pool.ts';
import type { Disconnection } from './waiter.ts';

/**
 * Milliseconds of a turn within which a queued step may begin, or one that writes may go on; one always does. Steps
 * take 0.5 to 4 ms, so that many works hold nobody up for longer than one does.
 */
const QUEUED_MS = 1;

/**
 * Milliseconds of a turn within which sliced work may begin at once, in the turn of its request: an answer that comes
 * later ends the connection of a client that pipelines.
 */
const AT_ONCE_MS = 3;

/** Works of a lane that take their steps in turn. More would only finish later each, and every one holds its memory. */
export const SLICED_RUNNING_MAX = 16;

/** A part of a work that takes 4 ms at most; whether there is more to do. It never throws. */
export type Step = () => boolean;

/** Why a work has no result: its client was gone first, or too much was under way. */
export type UnfinishedReason = 'gone' | 'busy';

/** A kind of work. Each has its own semaphore, so that no kind waits for another. */
export type Lane = 'queries' | 'exports' | 'copies' | 'pages';

/**
 * The one scheduler of a serving thread. Steps are taken round-robin, and all of a turn together take the time of the
 * longest and QUEUED_MS at most; one in which AT_ONCE_MS were spent at once takes none, and in the next nothing is done
 * at once. `now` is a clock in milliseconds, `nextTurn` calls back in the next turn of the event loop. `taken`
 * counts queued steps.
 */
export class Slices {
  taken = 0;
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
  /** Whether the turn to come is for queued steps alone. */
  #isStepsTurn = false;

  constructor(now: () => number, nextTurn: (turn: () => void) => void = setImmediate) {
    this.now = now;
    this.#nextTurn = nextTurn;
  }

  /** Whether sliced work may begin at once; `spend` then says what it took. Cost: none. */
  hasTime(): boolean {
    return this.#spentMs < AT_ONCE_MS;
  }

  /** Whether work that began at `sinceMs`, at once or as a step, should leave the rest to a step. Cost: the clock. */
  isUp(sinceMs: number): boolean {
    return this.now() - sinceMs >= (this.#isInTurn ? QUEUED_MS : AT_ONCE_MS);
  }

  /** Counts the time since then as spent on sliced work; that of a step is counted as it is. */
  spend(sinceMs: number): void {
    if (this.#isInTurn) return;
    this.#spentMs += this.now() - sinceMs;
    this.#arm();
  }

  /** What work answers, its time counted as spent; undefined where this turn has none left, and then not begun. */
  atOnce<T>(work: () => T): T | undefined {
    if (!this.hasTime()) return undefined;
    const [sinceMs, spentMs] = [this.now(), this.#spentMs];
    const result = work();
    // Once, whatever was counted within.
    this.#spentMs = spentMs;
    this.spend(sinceMs);
    return result;
  }

  /** Takes the step in a turn to come, after those that wait, and again while there is more to do. Cost: constant. */
  queue(step: Step): void {
    this.#steps.add(step);
    this.#arm();
  }

  /** Takes a step no more. Cost: constant. */
  drop(step: Step): void {
    this.#steps.delete(step);
  }

  /**
   * Calls `work` in turns to come until it has a result. At most SLICED_RUNNING_MAX works of a lane run. One that
   * results in a promise has ended: what it waits for may be a work of the same lane. Rejects if `work` throws.
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
      // That of steps has no time for what comes with it.
      this.#spentMs = this.#isStepsTurn ? AT_ONCE_MS : 0;
      if (this.#steps.size > 0) this.#arm();
    }
  }

  #takeOne(): void {
    const [step] = this.#steps;
    if (!step) return;
    this.#steps.delete(step);
    this.taken++;
    if (step()) this.#steps.add(step);
  }
}

/** Does parts of a few ms, such as reading code, each in a turn of the event loop. Rejects as the first that does. */
export async function inTurns(parts: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const part of parts) {
    await part();
    await new Promise((resolve) => setImmediate(resolve));
  }
}
