// Threads that died or could not start, of whatever kind: told to people, counted, and remembered for as long as it
// matters whether a kind keeps dying. Starts and ends no thread.
import { OperationError } from '../../data/operationError.ts';
import { type Clock, epochSeconds, steadyMs } from '../observe/clock.ts';
import { type Observer, type Report, THREAD_KINDS, type ThreadKind } from '../observe/events.ts';

/** So many deaths of one kind within this time are no accident: what is left ends, as a bug of ours. */
const DEATHS_MAX = 5;
const DEATHS_WITHIN_MS = 60_000;
/** What runs out is told of once in this time, however often it is tried. */
const TOLD_EVERY_MS = 60_000;

/** So many threads of a kind have died and were replaced, and so many starts have failed. */
interface LostThreads {
  readonly replaced: number;
  readonly startsFailed: number;
}

/** What is said where code is to be read that is not there any more. */
const PROGRAM_GONE = 'the program is not where it was when the server started: start the server again';

/** Code is to be read that is not there any more. */
export class ProgramGone extends OperationError {
  constructor(cause: unknown) {
    super('file', PROGRAM_GONE, cause);
  }
}

/** What is wrong where code could not be read: that the program is gone, or the error as it is. */
export function unreadProgram(error: unknown): unknown {
  return (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND' ? new ProgramGone(error) : error;
}

/** The threads that a process has lost. */
export class ThreadLosses {
  readonly #report: Report;
  readonly #observe: Observer;
  readonly #clock: Clock;
  readonly #deaths = new Map<ThreadKind, readonly number[]>();
  readonly #counts = new Map<ThreadKind, LostThreads>(
    THREAD_KINDS.map((thread) => [thread, { replaced: 0, startsFailed: 0 }]),
  );
  readonly #told = new Map<ThreadKind | 'descriptors', number>();

  /** `report` gets lines for people, `observe` the events. */
  constructor(report: Report, observe: Observer, clock: Clock = steadyMs) {
    this.#report = report;
    this.#observe = observe;
    this.#clock = clock;
  }

  /** A thread died of this, and is replaced. Answers how many of its kind did within the last minute, this one too. */
  died(thread: ThreadKind, stack: string): number {
    const now = this.#clock();
    const deaths = [...(this.#deaths.get(thread) ?? []), now].filter((ms) => now - ms < DEATHS_WITHIN_MS);
    this.#deaths.set(thread, deaths);
    this.#count(thread, 'replaced');
    this.#observe([{ kind: 'threadDied', at: epochSeconds(), thread, stack }]);
    this.#report(`a ${thread} thread died and is replaced, please report it: ${stack}`, 'error');
    return deaths.length;
  }

  /** Whether a kind has died so often of late that to replace it helps nobody. */
  static isHopeless(deaths: number): boolean {
    return deaths >= DEATHS_MAX;
  }

  /** A thread could not start, for want of what this says, and will be tried again. */
  starved(thread: ThreadKind, reason: string): void {
    this.#count(thread, 'startsFailed');
    this.#observe([{ kind: 'threadStarved', at: epochSeconds(), thread, reason }]);
    this.#tell(
      thread,
      `a ${thread} thread cannot start (${reason}) and is tried again; what needs it is answered 503: ` +
        (reason === 'ERR_MODULE_NOT_FOUND' ? PROGRAM_GONE : 'give the process more descriptors, threads or memory'),
    );
  }

  /** All since the start, by kind. */
  counts(): Readonly<Record<string, LostThreads>> {
    return Object.fromEntries(this.#counts);
  }

  #count(thread: ThreadKind, what: keyof LostThreads): void {
    const counts = this.#counts.get(thread)!;
    this.#counts.set(thread, { ...counts, [what]: counts[what] + 1 });
  }

  /** No descriptor is left for a connection, for this reason. */
  exhausted(reason: string): void {
    this.#tell(
      'descriptors',
      `no descriptor is left (${reason}), so that connections wait until others end: ` +
        'raise the limit of descriptors, or have a proxy in front hold fewer connections',
    );
  }

  #tell(what: ThreadKind | 'descriptors', line: string): void {
    const now = this.#clock();
    if (now - (this.#told.get(what) ?? -Infinity) < TOLD_EVERY_MS) return;
    this.#told.set(what, now);
    this.#report(line, 'error');
  }
}
