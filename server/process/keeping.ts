// Notes in the cache which generation a restart begins with. A failure, such as a full disk, is logged once and
// retried. It does not affect what is served.
import type { SnapshotCache } from '../../data/distribution/cache.ts';
import type { Pointer } from '../../data/distribution/target.ts';
import { OperationError, reasonOf } from '../../data/operationError.ts';
import { withTimeLimit } from '../../data/timeLimit.ts';
import type { Report } from '../observe/events.ts';

/** The notes of a cache. Its methods reject only for bugs. */
export class Keeping {
  readonly #cache: SnapshotCache;
  readonly #report: Report;
  /** Last confirmation of the data, in milliseconds since 1970. */
  #confirmedMs: number | undefined;
  #reported: string | undefined;
  /** Whether a restart begins with the served generation. If false, `keep` must be called again. */
  isKept = true;

  constructor(cache: SnapshotCache, report: Report) {
    this.#cache = cache;
    this.#confirmedMs = cache.confirmedMs();
    this.#report = report;
  }

  /** Keeps the pointer's generation and the previously served one, and removes all others. */
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

  /** Notes that this cached generation is served. */
  async serves(generation: string): Promise<void> {
    await this.#noteGeneration(generation, () => this.#cache.noteServed(generation));
  }

  async confirm(nowMs: number): Promise<void> {
    this.#confirmedMs = nowMs;
    // Without a kept generation, the cache may name an older one, to which this confirmation does not apply.
    if (!this.isKept) return;
    const consequence = 'a restart will not know how fresh its data is';
    if (await this.#note(consequence, () => this.#cache.confirm(nowMs))) this.#reported = undefined;
  }

  /** Writes a note about a generation, followed by the last confirmation, which also applies to this generation. */
  async #noteGeneration(generation: string, work: () => Promise<void>): Promise<void> {
    await this.#note(`a restart will not serve generation ${generation.slice(0, 12)}`, async () => {
      await work();
      if (this.#confirmedMs !== undefined) await this.#cache.confirm(this.#confirmedMs);
    });
  }

  async #note(consequence: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await withTimeLimit(this.#cache.directory, work);
      return (this.isKept = true);
    } catch (error) {
      if (!(error instanceof OperationError)) throw error;
      // ENOENT means that the index was removed: the next attempt writes it again.
      if (this.#reported !== consequence && reasonOf(error.cause) !== 'ENOENT')
        this.#report(`${consequence}: ${error.message}`, 'warn');
      this.#reported = consequence;
      return (this.isKept = false);
    }
  }
}
