// The generations that a serving thread serves, one after the other. Each has a separate view of the snapshot, pool and
// caches. The next one is prepared next to the served one and replaces it between two requests. Requests in progress
// end with the generation that they began with.
import assert from 'node:assert/strict';
import { openBlocks, openSnapshot } from '../../engine/engine.ts';
import { type HeavyPool, POOL_LIMITS, startPool } from '../../workers/pool.ts';
import { type Router, routerOver } from '../../workers/router.ts';
import { RowSetCache } from '../../workers/rowSetCache.ts';
import type { Slices } from '../../workers/slices.ts';
import type { OnLostThread } from '../../workers/starvation.ts';
import { catalogueHandler, requestMemory } from '../catalogue/handler.ts';
import type { RequestMemory } from '../catalogue/requestMemory.ts';
import type { Handler } from '../http/exchange.ts';
import { pagesOf, type PageSources } from '../pages/pages.ts';
import type { GenerationData, LastingData } from './messages.ts';
import type { GenerationStatistics } from './threadTallies.ts';

/** Parts that all generations of a thread share. */
export type ThreadServices = Pick<LastingData, 'settings' | 'rowSetCacheBytes' | 'ignoredParameters'> & {
  readonly slices: Slices;
  readonly onLostPool: OnLostThread;
  readonly trustedHosts: PageSources['trustedHosts'];
};

interface Ready {
  readonly data: GenerationData;
  readonly handler: Handler;
  readonly pool: HeavyPool;
  readonly router: Router;
  readonly memory: RequestMemory;
}

/** The generations of a thread. `handler` is the same for all of them. */
export class ThreadGenerations {
  readonly handler: Handler = (request, disconnection) => this.#served.handler(request, disconnection);
  readonly #lasting: ThreadServices;
  #served: Ready;
  #next: Ready | undefined;
  /** Sums over the earlier generations: numbers only, so that no memory of them is kept. */
  #before: GenerationStatistics | undefined;

  constructor(first: GenerationData, lasting: ThreadServices) {
    this.#lasting = lasting;
    this.#served = this.#prepare(first);
  }

  /** Prepares the next generation and drops any other that was prepared. Cost: opening a snapshot. */
  prepare(data: GenerationData): void {
    this.abandon();
    this.#next = this.#prepare(data);
  }

  abandon(): void {
    void this.#next?.pool.retire();
    this.#next = undefined;
  }

  /** Serves the prepared generation from the next request on. Returns the memories of the previous one. */
  commit(): readonly WebAssembly.Memory[] {
    assert(this.#next, 'a generation is made ready before it is served');
    const { data, pool } = this.#served;
    this.#before = structuredClone(this.statistics());
    this.#served = this.#next;
    this.#next = undefined;
    void pool.retire();
    return [...data.loaded.memories, ...(data.blocks?.memories ?? [])];
  }

  /** Sums over all generations; of an earlier one, up to its replacement. */
  statistics(): GenerationStatistics {
    const { pool, router, memory } = this.#served;
    const now = { pool: pool.statistics(), router: router.statistics(), answers: memory };
    return this.#before === undefined ? now : addStatistics(this.#before, now);
  }

  /** Ends the threads of the served generation. No request may follow. */
  async close(): Promise<void> {
    this.abandon();
    await this.#served.pool.close();
  }

  #prepare(data: GenerationData): Ready {
    const { loaded, blocks, documents, changes, sinceMs } = data;
    const { settings, rowSetCacheBytes, ignoredParameters, slices, onLostPool, trustedHosts } = this.#lasting;
    const catalogue = openSnapshot(loaded);
    const pool = startPool(loaded, 1, POOL_LIMITS, onLostPool);
    const { generation, created } = loaded;
    const memory = requestMemory(settings);
    const cache = new RowSetCache(rowSetCacheBytes);
    const router = routerOver({ generation, cache, runHeavy: pool.run });
    const handler = catalogueHandler({
      generation,
      created,
      sinceMs,
      blocks: blocks && openBlocks(blocks, catalogue),
      changes,
      collections: (name) => catalogue.collection(name),
      settings,
      slices,
      ignored: ignoredParameters,
      memory,
      router,
      pages: pagesOf({ documents, trustedHosts }),
    });
    return { data, handler, pool, router, memory };
  }
}

/** Adds the counters of both; gauges are those of the second. */
function addStatistics(
  before: GenerationStatistics,
  { pool, router, answers }: GenerationStatistics,
): GenerationStatistics {
  const outcomes = addCounts(before.pool.outcomes, pool.outcomes, ['found', 'busy', 'gone', 'overtime']);
  return {
    pool: { ...pool, outcomes },
    router: addCounts(before.router, router, ['inline', 'pooled', 'joined', 'hits', 'misses']),
    answers: { hits: before.answers.hits + answers.hits, misses: before.answers.misses + answers.misses },
  };
}

/** The second object, with these keys summed over both. */
function addCounts<Key extends string, Counts extends Readonly<Record<Key, number>>>(
  before: Counts,
  now: Counts,
  keys: readonly Key[],
): Counts {
  return { ...now, ...Object.fromEntries(keys.map((key) => [key, before[key] + now[key]])) };
}
