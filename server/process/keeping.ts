// What a server that follows a target begins with after a restart: noted in its cache. Where that fails, as on a full
// disk, it is told once and tried again; what is served is as fresh as ever.
import type { SnapshotCache } from '../../data/distribution/cache.ts';
import type { Pointer } from '../../data/distribution/pointer.ts';
import { OperationError, reasonOf } from '../../data/operationError.ts';
import { withTimeLimit } from '../../data/timeLimit.ts';
import type { Report } from '../observe/events.ts';

/** What is kept in a cache, and what could not be. */
export class Keeping {
  readonly #cache: SnapshotCache;
  readonly #report: Report;
  /** What a restart will not begin with, though it is served. */
  #unkept: string | undefined;
  /** Whether somebody has removed what was kept, and what was told of a confirmation that cannot be noted. */
  #isRemoved = false;
  #unconfirmed: string | undefined;
  /** When it was last confirmed, in milliseconds since 1970. */
  #confirmedMs: number | undefined;

  constructor(cache: SnapshotCache, report: Report) {
    this.#cache = cache;
    this.#confirmedMs = cache.confirmedMs();
    this.#report = report;
  }

  /** Whether a restart begins with what is served. */
  get isKept(): boolean {
    return this.#unkept === undefined && !this.#isRemoved;
  }

  /** Keeps what is served, of which the cache has the files; may be asked again. Rejects with our bugs alone. */
  async keep(pointer: Pointer): Promise<void> {
    if (!(await this.#isNoted(pointer.generation, () => this.#cache.keep(pointer)))) return;
    this.#unkept = undefined;
    this.#isRemoved = false;
    await this.#removeOthers();
  }

  /** A generation of the cache is served now: a restart begins with it. Rejects with our bugs alone. */
  async serves(generation: string): Promise<void> {
    if (await this.#isNoted(generation, () => this.#cache.serves(generation))) await this.#confirmNothing();
  }

  /** Keeps what could not be kept. Rejects with our bugs alone. */
  async keepAgain(pointer: Pointer): Promise<void> {
    await this.keep(pointer);
    await this.#confirmNothing();
  }

  /** What was written now is as fresh as before. */
  async #confirmNothing(): Promise<void> {
    if (this.#confirmedMs !== undefined) await this.confirm(this.#confirmedMs);
  }

  /** What is kept was seen to be current, in milliseconds since 1970; told once where that cannot be noted. */
  async confirm(nowMs: number): Promise<void> {
    this.#confirmedMs = nowMs;
    // Else it is another one that the cache has.
    if (!this.isKept) return;
    try {
      await withTimeLimit(this.#cache.directory, () => this.#cache.confirm(nowMs));
      this.#unconfirmed = undefined;
    } catch (error) {
      if (!(error instanceof OperationError)) throw error;
      this.#isRemoved = reasonOf(error.cause) === 'ENOENT';
      if (this.#isRemoved) return;
      const line = `a restart will not know how fresh what is served is: ${error.message}`;
      if (this.#unconfirmed !== line) this.#report(line, 'warn');
      this.#unconfirmed = line;
    }
  }

  async #isNoted(generation: string, note: () => Promise<void>): Promise<boolean> {
    try {
      await withTimeLimit(this.#cache.directory, note);
      return true;
    } catch (error) {
      if (!(error instanceof OperationError)) throw error;
      const line = `a restart will not serve generation ${generation.slice(0, 12)}: ${error.message}`;
      if (this.#unkept !== generation) this.#report(line, 'warn');
      this.#unkept = generation;
      return false;
    }
  }

  /** What nobody serves any more goes; where it cannot, that is told, and tried with the next generation. */
  async #removeOthers(): Promise<void> {
    try {
      await withTimeLimit(this.#cache.directory, () => this.#cache.removeOthers());
    } catch (error) {
      if (!(error instanceof OperationError)) throw error;
      this.#report(error.message, 'warn');
    }
  }
}
