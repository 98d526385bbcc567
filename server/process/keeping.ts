// What a server that follows a target begins with after a restart: noted in its cache. Where that fails, as on a full
// disk, it is told once and tried again; what is served is as fresh as ever.
import type { SnapshotCache } from '../../data/distribution/cache.ts';
import type { Pointer } from '../../data/distribution/pointer.ts';
import { OperationError } from '../../data/operationError.ts';
import type { Report } from '../observe/events.ts';

/** What is kept in a cache, and what could not be. */
export class Keeping {
  readonly #cache: SnapshotCache;
  readonly #report: Report;
  /** What a restart will not begin with, though it is served. */
  #unkept: string | undefined;

  constructor(cache: SnapshotCache, report: Report) {
    this.#cache = cache;
    this.#report = report;
  }

  /** Whether a restart begins with what is served. */
  get isKept(): boolean {
    return this.#unkept === undefined;
  }

  /** Keeps what is served, of which the cache has the files; may be asked again. Rejects with our bugs alone. */
  async keep(pointer: Pointer): Promise<void> {
    if (!(await this.#isNoted(pointer.generation, () => this.#cache.keep(pointer)))) return;
    this.#unkept = undefined;
    this.#removeOthers();
  }

  /** A generation of the cache is served now: a restart begins with it. Rejects with our bugs alone. */
  async serves(generation: string): Promise<void> {
    await this.#isNoted(generation, () => this.#cache.serves(generation));
  }

  /** What had no room beside what is served is what a restart begins with. Rejects with our bugs alone. */
  async beginsWith(pointer: Pointer): Promise<void> {
    await this.#isNoted(pointer.generation, () => this.#cache.beginsWith(pointer));
  }

  /** What is kept was seen to be current, now, in milliseconds since 1970. Rejects with our bugs alone. */
  async confirm({ generation }: Pointer, nowMs: number): Promise<void> {
    // Else it is another one that the cache has.
    if (this.isKept) await this.#isNoted(generation, () => this.#cache.confirm(nowMs));
  }

  async #isNoted(generation: string, note: () => Promise<void> | void): Promise<boolean> {
    try {
      await note();
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
  #removeOthers(): void {
    try {
      this.#cache.removeOthers();
    } catch (error) {
      if (!(error instanceof OperationError)) throw error;
      this.#report(error.message, 'warn');
    }
  }
}
