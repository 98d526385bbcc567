// Notes in the cache what a restart begins with. If that fails, as on a full disk, it is reported once and tried again:
// what is served is as fresh as ever.
import type { SnapshotCache } from '../../data/distribution/cache.ts';
import type { Pointer } from '../../data/distribution/target.ts';
import { OperationError, reasonOf } from '../../data/operationError.ts';
import { withTimeLimit } from '../../data/timeLimit.ts';
import type { Report } from '../observe/events.ts';

/** What a cache has noted. All methods reject with bugs only. */
export class Keeping {
  readonly #cache: SnapshotCache;
  readonly #report: Report;
  /** When the data was last confirmed, in milliseconds since 1970. */
  #confirmedMs: number | undefined;
  #reported: string | undefined;
  /** Whether a restart begins with what is served; if not, `keep` has to be called again. */
  isKept = true;

  constructor(cache: SnapshotCache, report: Report) {
    this.#cache = cache;
    this.#confirmedMs = cache.confirmedMs();
    this.#report = report;
  }

  /** Keeps the generation of a pointer and the one that was served before, and removes all others. */
  async keep(pointer: Pointer): Promise<void> {
    await this.#noteGeneration(pointer.generation, () => this.#cache.keep(pointer));
    if (!this.isKept) return;
    try {
      await withTimeLimit(this.#cache.directory, () => this.#cache.removeOthers());
    } catch (error) {
      if (!(error instanceof OperationError)) throw error;
      this.#report(error.message, 'warn');
    }
  }

  /** A generation of the cache is served now, so that a restart begins with it. */
  async serves(generation: string): Promise<void> {
    await this.#noteGeneration(generation, () => this.#cache.serves(generation));
  }

  async confirm(nowMs: number): Promise<void> {
    this.#confirmedMs = nowMs;
    // The cache may have noted another generation.
    if (!this.isKept) return;
    const what = 'a restart will not know how fresh what is served is';
    if (await this.#note(what, () => this.#cache.confirm(nowMs))) this.#reported = undefined;
  }

  /** What is written now is as fresh as it was before. */
  async #noteGeneration(generation: string, work: () => Promise<void>): Promise<void> {
    await this.#note(`a restart will not serve generation ${generation.slice(0, 12)}`, async () => {
      await work();
      if (this.#confirmedMs !== undefined) await this.#cache.confirm(this.#confirmedMs);
    });
  }

  async #note(what: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await withTimeLimit(this.#cache.directory, work);
      return (this.isKept = true);
    } catch (error) {
      if (!(error instanceof OperationError)) throw error;
      // An index that was removed is written again.
      if (this.#reported !== what && reasonOf(error.cause) !== 'ENOENT')
        this.#report(`${what}: ${error.message}`, 'warn');
      this.#reported = what;
      return (this.isKept = false);
    }
  }
}
