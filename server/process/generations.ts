// The data of a server over time: a generation is loaded next to the served one, swapped in, or rolled back. Changes
// run one at a time, and a failed change leaves the served generation in place.
import type { Report } from '../observe/events.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { OperationError, type OperationErrorCode } from '../../data/operationError.ts';
import type { HeldFile } from '../../data/store/load.ts';
import { isStarved } from '../../workers/starvation.ts';
import type { Clock } from '../observe/clock.ts';
import { bytesText, countText } from '../observe/quantities.ts';
import type { TalliedMetric } from '../observe/tally.ts';
import { type Generation, releaseFile, type ServedData } from './loadGeneration.ts';

type Status = Change['status'];

/** The last change of each outcome. A refusal is kept separately, so that a later success does not hide it. */
export class LastOutcomes {
  readonly #last = new Map<Status, { readonly atMs: number; readonly reason: string | undefined }>();

  ended(status: Status, reason: string | undefined, atMs: number): void {
    this.#last.set(status, { atMs, reason });
  }

  /** Time of the last change of each outcome, in seconds since 1970. */
  get seconds(): readonly (readonly [Status, number])[] {
    return [...this.#last].map(([status, { atMs }]) => [status, atMs / 1000] as const);
  }

  status(): { readonly lastSuccess: string | null; readonly lastFailure: unknown } {
    const successes = [...this.#last].flatMap(([status, { atMs }]) => (status === 'refused' ? [] : [atMs]));
    const failure = this.#last.get('refused');
    return {
      lastSuccess: successes.length === 0 ? null : new Date(Math.max(...successes)).toISOString(),
      lastFailure: failure ? { at: new Date(failure.atMs).toISOString(), reason: failure.reason } : null,
    };
  }
}

export interface Change {
  readonly status: (typeof CHANGE_STATUSES)[number];
  /** The generation that is served after the change. */
  readonly served: string;
  readonly reason?: string;
  /** Set if the data or the machine caused the failure; undefined for a bug. */
  readonly failure?: OperationErrorCode | undefined;
  readonly seconds: number;
}

export const CHANGE_STATUSES = ['swapped', 'unchanged', 'refused'] as const;

export const CHANGES: TalliedMetric = {
  name: 'reloads_total',
  help: 'Reloads and rollbacks, by outcome: swapped, unchanged or refused.',
  cells: CHANGE_STATUSES.map((status) => ({ status })),
};

export const REFRESHES: TalliedMetric = {
  name: 'refreshes_total',
  help: 'Refreshes of the followed catalogue, by outcome: swapped, unchanged or refused, which includes failures.',
  cells: CHANGES.cells,
};

/** `load` and `serve` reject with an OperationError, or with another error for a bug. */
interface GenerationsOptions {
  /** Loads the file, or what --data names. Resolves to undefined if that is served already. */
  load(held: HeldFile | undefined): Promise<Generation | undefined>;
  /** Makes all threads serve the generation and updates `served`. If it rejects, no thread serves it. */
  serve(next: ServedData): Promise<void>;
  /** Called with each outcome, and with the stack of a bug if one caused it. */
  onChange(change: Change, bug: string | undefined): void;
  /** The file of the previous generation, if known. */
  readonly before?: HeldFile | undefined;
  /** Records which generation is served before the outcome is returned. Never rejects. */
  onServed?(generation: string): Promise<void>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly clock: Clock;
}

/** Changes the served generation. Keeps the previous one as an open file, not in memory. */
export class Generations {
  readonly #options: GenerationsOptions;
  readonly #served: ServedData;
  #before: HeldFile | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #waiting: Promise<Change> | undefined;

  constructor(served: ServedData, options: GenerationsOptions) {
    this.#served = served;
    this.#options = options;
    this.#before = options.before;
  }

  /** Serves what --data names now. Calls made while a reload is queued share that reload. */
  reload(): Promise<Change> {
    return (this.#waiting ??= this.#inTurn(() => {
      this.#waiting = undefined;
      return this.#change(undefined);
    }));
  }

  /** Serves a snapshot file and keeps it open if it was swapped in. Otherwise the caller closes it. */
  take(held: HeldFile): Promise<Change> {
    return this.#inTurn(() => this.#change(held));
  }

  /** Serves the previous generation. A second rollback undoes the first. */
  rollback(): Promise<Change> {
    return this.#inTurn(() => {
      if (this.#before) return this.#change(this.#before);
      const reason = 'there is no previous generation: only --from and --follow keep one across a restart';
      return Promise.resolve(this.#finish({ status: 'refused', reason, seconds: 0 }));
    });
  }

  /** Reports a change that failed before anything could be loaded. */
  refuse({ message: reason, code: failure }: OperationError): Change {
    return this.#finish({ status: 'refused', reason, failure, seconds: 0 });
  }

  #inTurn(work: () => Promise<Change>): Promise<Change> {
    const change = this.#last.then(work);
    this.#last = change;
    return change;
  }

  /** Never rejects. */
  async #change(held: HeldFile | undefined): Promise<Change> {
    const startMs = this.#options.clock();
    const seconds = (): number => Math.round(this.#options.clock() - startMs) / 1000;
    try {
      const next = await this.#options.load(held);
      if (!next) return this.#finish({ status: 'unchanged', seconds: seconds() });
      await this.#take(next, held);
      return this.#finish({ status: 'swapped', seconds: seconds() });
    } catch (error) {
      const isOperational = error instanceof OperationError || isStarved(error);
      const reason = isOperational ? (error as Error).message : 'this is a bug in the program; see its log';
      const stack = error instanceof Error ? error.stack : String(error);
      const failure = error instanceof OperationError ? error.code : undefined;
      return this.#finish(
        { status: 'refused', reason, failure, seconds: seconds() },
        isOperational ? undefined : stack,
      );
    }
  }

  async #take(next: Generation, held: HeldFile | undefined): Promise<void> {
    const before = this.#served.generation.held;
    try {
      // Last-Modified must move to a later second with each swap, even if the clock went back.
      const sinceMs = Math.max(this.#options.now(), this.#served.sinceMs + 1000);
      await this.#options.serve({ generation: next, sinceMs });
    } catch (error) {
      if (next.held !== held) releaseFile(next.held);
      throw error;
    }
    if (this.#before !== held) releaseFile(this.#before);
    this.#before = before;
    await this.#options.onServed?.(next.loaded.generation);
  }

  #finish(end: Omit<Change, 'served'>, bug?: string): Change {
    const change = { ...end, served: this.#served.generation.loaded.generation };
    this.#options.onChange(change, bug);
    return change;
  }
}

export interface ReplacedGeneration {
  readonly generation: string;
  readonly bytes: number;
  readonly swap: number;
  /** Resolves when no thread reads the generation any more. */
  readonly isFree: Promise<unknown>;
}

interface ReplacedReaders {
  /** The number of responses in progress that read replaced data. */
  replacedReaders(): number;
  /** Ends the responses that read data from before this swap. */
  closeReaders(swap: number): void;
}

/** Longer than closing the connections and the garbage collection of all threads take to free the memory. */
const FREE_MS_MAX = 10_000;

/** The replaced generations that are still in memory. Their readers get a limited time. */
export class ReplacedGenerations {
  /** Oldest first. */
  readonly #held = new Set<ReplacedGeneration>();
  readonly #seconds: number;
  readonly #threads: ReplacedReaders;
  readonly #report: Report;

  constructor(seconds: number, threads: ReplacedReaders, report: Report) {
    this.#seconds = seconds;
    this.#threads = threads;
    this.#report = report;
  }

  add(replaced: ReplacedGeneration): void {
    this.#held.add(replaced);
    const timer = setTimeout(() => this.#close(replaced, `after ${this.#seconds} s`), this.#seconds * 1000).unref();
    void replaced.isFree.then(() => {
      this.#held.delete(replaced);
      return clearTimeout(timer);
    });
  }

  status(): { readonly generations: number; readonly readers: number; readonly bytes: number } {
    const bytes = [...this.#held].reduce((sum, held) => sum + held.bytes, 0);
    return { generations: this.#held.size, readers: this.#held.size && this.#threads.replacedReaders(), bytes };
  }

  /** Runs `load`. While memory is short, closes the readers of the oldest generation and tries again. */
  async withRoom<T>(load: () => Promise<T>): Promise<T> {
    const { generations, readers, bytes } = this.status();
    for (;;) {
      try {
        return await load();
      } catch (error) {
        if (!(error instanceof OperationError && error.code === 'memory' && generations > 0)) throw error;
        const [oldest] = this.#held;
        if (oldest) this.#close(oldest, 'to make room for new data');
        const isFree = oldest?.isFree.then(() => true);
        if (await Promise.race([isFree, delay(FREE_MS_MAX, false, { ref: false })])) continue;
        const closed = `replaced data held ${bytesText(bytes)}: its ${countText(readers)} readers were closed`;
        throw new OperationError('memory', `${error.message}; ${closed}`, error);
      }
    }
  }

  #close({ generation, swap }: ReplacedGeneration, reason: string): void {
    this.#report(`generation ${generation.slice(0, 12)}: its readers are closed ${reason}`, 'warn');
    this.#threads.closeReaders(swap);
  }
}
