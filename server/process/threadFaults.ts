// Reports and counts faults of threads. Serving threads report their pool threads.
import { PROGRAM_GONE } from '../../data/threadsInOrder.ts';
import { epochSeconds, steadyMs } from '../observe/clock.ts';
import type { Observer, Report, ThreadKind } from '../observe/events.ts';

/** A lack is reported once in this time, however often the process meets it. */
const REPEATED_MS = 60_000;

/** `report` gets lines for people, `observe` the events. */
export class ThreadFaults {
  readonly #report: Report;
  readonly #observe: Observer;
  readonly #reportedMs = new Map<ThreadKind | 'descriptors', number>();

  constructor(report: Report, observe: Observer) {
    this.#report = report;
    this.#observe = observe;
  }

  /** A thread died, and another one takes its place. */
  died(thread: ThreadKind, stack: string): void {
    this.#observe([{ kind: 'threadDied', at: epochSeconds(), thread, stack }]);
    this.#report(`a ${thread} thread died and is replaced, please report it: ${stack}`, 'error');
  }

  /** A thread cannot start, for lack of what `reason` says. */
  starved(thread: ThreadKind, reason: string): void {
    this.#observe([{ kind: 'threadStarved', at: epochSeconds(), thread, reason }]);
    const remedy =
      reason === 'ERR_MODULE_NOT_FOUND' ? PROGRAM_GONE : 'give the process more descriptors, threads or memory';
    this.#reportOnce(thread, `a ${thread} thread cannot start (${reason}); requests that need it get 503: ${remedy}`);
  }

  /** No descriptor is left for a connection. */
  exhausted(reason: string): void {
    this.#reportOnce(
      'descriptors',
      `no descriptor is left (${reason}), so that connections wait until others end: ` +
        'raise the limit of descriptors, or let a proxy in front hold fewer connections',
    );
  }

  #reportOnce(lack: ThreadKind | 'descriptors', line: string): void {
    const now = steadyMs();
    if (now - (this.#reportedMs.get(lack) ?? -Infinity) < REPEATED_MS) return;
    this.#reportedMs.set(lack, now);
    this.#report(line, 'error');
  }
}
