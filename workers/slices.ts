// The sliced work of a serving thread, whatever it is: together it has one part of each turn of the event loop, step by
// step in turn, so that other requests are answered between, however much of it there is. Knows no work.
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

/** Works of a lane that take their steps in turn; more only finish later each, and every one holds its memory. */
export const SLICED_RUNNING_MAX = 16;

/** Works that wait for one of their lane to end, in order, or for their only step; one more is told so. */
export const SLICED_WAITING_MAX = 256;

/** Milliseconds that a work waits to begin; then it is told that too much is under way. */
export const SLICED_WAIT_MS_MAX = 5000;

/** A part of a work that takes 4 ms at most; whether there is more to do. It never throws. */
export type Step = () => boolean;

/** Why a work has no result: its client was gone first, or too much was under way. */
export type UnfinishedReason = 'gone' | 'busy';

/** What takes its steps in turn, bounded by itself, so that none waits for a place that another kind has taken. */
export type Lane = 'exports' | 'copies' | 'pages';

/** One of a `run`: when it came, and how it is told that it does not begin. */
interface Work {
  readonly step: Step;
  readonly sinceMs: number;
  readonly refuse: () => void;
}

/** The works of a lane, each in the order in which it came. */
class Works {
  readonly running = new Set<Work>();
  readonly waiting = new Set<Work>();
}

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
  readonly #lanes: Readonly<Record<Lane, Works>> = {
    exports: new Works(),
    copies: new Works(),
    pages: new Works(),
  };
  readonly #single = new Set<Step>();
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

  /**
   * What work answers in a turn to come, whatever runs: it is one step. SLICED_WAITING_MAX wait, others are `busy`; a
   * client that leaves ends it at once. Rejects where it throws.
   */
  soon<T>(work: () => T | Promise<T>, waiter: Disconnection): Promise<T | UnfinishedReason> {
    if (waiter.isGone()) return Promise.resolve('gone');
    if (this.#single.size >= SLICED_WAITING_MAX) return Promise.resolve('busy');
    return new Promise((resolve, reject) => {
      const step: Step = () => {
        this.#single.delete(step);
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
        return false;
      };
      this.#single.add(step);
      this.queue(step);
      waiter.onGone(() => {
        if (this.#single.delete(step)) this.drop(step);
        resolve('gone');
      });
    });
  }

  /** Takes the step in a turn to come, behind those that wait, and again while there is more to do. Cost: constant. */
  queue(step: Step): void {
    this.#steps.add(step);
    this.#arm();
  }

  /** Takes a step no more. Cost: constant. */
  drop(step: Step): void {
    this.#steps.delete(step);
  }

  /**
   * Takes a step in turn with others until it has a result. At most SLICED_RUNNING_MAX works of a lane run,
   * SLICED_WAITING_MAX more wait in order, for SLICED_WAIT_MS_MAX; others are `busy`. A client that leaves ends it at
   * once. Rejects where the step throws.
   */
  run<T>(lane: Lane, step: () => T | undefined, waiter: Disconnection): Promise<T | UnfinishedReason> {
    const works = this.#lanes[lane];
    if (waiter.isGone()) return Promise.resolve('gone');
    if (works.running.size >= SLICED_RUNNING_MAX && works.waiting.size >= SLICED_WAITING_MAX)
      return Promise.resolve('busy');
    return new Promise((resolve, reject) => {
      const end = (outcome: T | UnfinishedReason): void => {
        this.#end(works, work);
        resolve(outcome);
      };
      const work: Work = {
        sinceMs: this.now(),
        refuse: () => end('busy'),
        step: () => {
          try {
            const result = step();
            if (result !== undefined) end(result);
            return works.running.has(work);
          } catch (error) {
            this.#end(works, work);
            reject(error);
            return false;
          }
        },
      };
      works.waiting.add(work);
      this.#admit(works);
      waiter.onGone(() => end('gone'));
    });
  }

  #admit({ running, waiting }: Works): void {
    for (const work of waiting) {
      if (running.size >= SLICED_RUNNING_MAX) return;
      waiting.delete(work);
      running.add(work);
      this.queue(work.step);
    }
  }

  #end(works: Works, work: Work): void {
    works.waiting.delete(work);
    this.drop(work.step);
    if (works.running.delete(work)) this.#admit(works);
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
      for (const { waiting } of Object.values(this.#lanes)) refuseLate(waiting, startMs - SLICED_WAIT_MS_MAX);
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

/** Works only wait while others run, so that their time is looked at in every turn. */
function refuseLate(waiting: ReadonlySet<Work>, latestMs: number): void {
  for (const work of waiting) {
    if (work.sinceMs > latestMs) return;
    work.refuse();
  }
}

/** Does parts of a few ms, such as reading code, each in a turn of the event loop. Rejects as the first that does. */
export async function inTurns(parts: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const part of parts) {
    await part();
    await new Promise((resolve) => setImmediate(resolve));
  }
}
