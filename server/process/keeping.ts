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
  /** Why a restart will not begin with what was taken last; undefined where it will. */
  #problem: string | undefined;

  constructor(cache: SnapshotCache, report: Report) {
    this.#cache = cache;
    this.#report = report;
  }

  /** Whether a restart begins with what was taken last. */
  get isKept(): boolean {
    return this.#problem === undefined;
  }

  /** Keeps what is served, of which the cache has the files; may be asked again. Rejects with our bugs alone. */
  async keep(pointer: Pointer): Promise<void> {
    const told = this.#problem;
    this.#problem = await this.#noted(pointer.generation, () => this.#cache.keep(pointer), told);
  }

  /** A generation of the cache is served now: a restart begins with it. Rejects with our bugs alone. */
  async serves(generation: string): Promise<void> {
    await this.#noted(generation, () => this.#cache.serves(generation), undefined);
  }

  /** What is kept was seen to be current, now, in milliseconds since 1970. Throws OperationError `file`. */
  confirm(nowMs: number): void {
    // Else it is another one that the cache has.
    if (this.isKept) this.#cache.confirm(nowMs);
  }

  /** What went wrong, and was told unless it was `told` before. */
  async #noted(generation: string, note: () => Promise<void>, told: string | undefined): Promise<string | undefined> {
    try {
      await note();
      return undefined;
    } catch (error) {
      if (!(error instanceof OperationError)) throw error;
      const { message } = error;
      const line = `a restart will not serve generation ${generation.slice(0, 12)}: ${message}`;
      if (message !== told) this.#report(line, 'warn');
      return message;
    }
  }
}
