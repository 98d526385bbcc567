// The generations that a serving thread serves, one after the other: each has its own view of the snapshot, its own
// pool and its own caches. The next one is prepared next to the served one and takes its place between two requests;
// requests in progress end with the generation that they began with.
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

/** What outlives a generation. */
export type Lasting = Pick<LastingData, 'settings' | 'rowSetCacheBytes' | 'ignoredParameters'> & {
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
  readonly #lasting: Lasting;
  #served: Ready;
  #next: Ready | undefined;
  /** What those before have done, numbers only: they hold none of them. */
  #before: GenerationStatistics | undefined;

  constructor(first: GenerationData, lasting: Lasting) {
    this.#lasting = lasting;
    this.#served = this.#readied(first);
  }

  /** Makes the next generation ready, in place of one that was not served. Cost: that of opening a snapshot. */
  prepare(data: GenerationData): void {
    this.abandon();
    this.#next = this.#readied(data);
  }

  abandon(): void {
    void this.#next?.pool.retire();
    this.#next = undefined;
  }

  /** Serves the prepared generation from the next request on. Returns the memories of the one before. */
  commit(): readonly WebAssembly.Memory[] {
    assert(this.#next, 'a generation is made ready before it is served');
    const { data, pool } = this.#served;
    this.#before = structuredClone(this.statistics());
    this.#served = this.#next;
    this.#next = undefined;
    void pool.retire();
    return [...data.loaded.memories, ...(data.blocks?.memories ?? [])];
  }

  /** What all have done until now; of one that has gone, until then. */
  statistics(): GenerationStatistics {
    const { pool, router, memory } = this.#served;
    const now = { pool: pool.statistics(), router: router.statistics(), answers: memory };
    return this.#before === undefined ? now : added(this.#before, now);
  }

  /** Ends the threads that work for this one; nothing is asked behind it. */
  async close(): Promise<void> {
    this.abandon();
    await this.#served.pool.close();
  }

  #readied(data: GenerationData): Ready {
    const { loaded, blocks, documents, sinceMs } = data;
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

/** Counts of both, and what is there now of the second. */
function added(before: GenerationStatistics, { pool, router, answers }: GenerationStatistics): GenerationStatistics {
  const outcomes = summed(before.pool.outcomes, pool.outcomes, ['found', 'busy', 'gone', 'overtime']);
  return {
    pool: { ...pool, outcomes },
    router: summed(before.router, router, ['inline', 'pooled', 'joined', 'hits', 'misses']),
    answers: { hits: before.answers.hits + answers.hits, misses: before.answers.misses + answers.misses },
  };
}

/** The second with the sums of both under these keys. */
function summed<Key extends string, Counts extends Readonly<Record<Key, number>>>(
  before: Counts,
  now: Counts,
  keys: readonly Key[],
): Counts {
  return { ...now, ...Object.fromEntries(keys.map((key) => [key, before[key] + now[key]])) };
}
