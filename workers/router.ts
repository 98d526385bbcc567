// Decides where the rows of a list come from: the cache, this thread, or the pool. One for each serving thread. Returns
// rows and counts, never bytes.
import {
  compacted,
  execute,
  filterKey,
  findRows,
  hasView,
  type Hits,
  hitsOf,
  type List,
  Meter,
  nearPage,
  ownedBytesMax,
  viewKey,
} from '../engine/engine.ts';
import type { RunHeavy } from './pool.ts';
import { HeavyLists } from './heavyLists.ts';
import type { MissReason } from './protocol.ts';
import { type RowSetCache, shortKey } from './rowSetCache.ts';
import { newTrace, type Trace } from './heavyThreads.ts';
import type { Disconnection } from './waiter.ts';

/** `generation` is that of the snapshot of the collections. `budgetNs` is for tests. */
export interface RouterOptions {
  readonly generation: string;
  readonly cache: RowSetCache;
  readonly runHeavy: RunHeavy;
  readonly budgetNs?: number;
}

/** Counts since the start, and the current contents of the cache. */
export interface RouterStatistics {
  readonly inline: number;
  readonly pooled: number;
  /** Requests that joined a running query. */
  readonly joined: number;
  /** Look-ups that found cached rows or a view of them. */
  readonly hits: number;
  /** Look-ups that found no cached rows. */
  readonly misses: number;
  /** Cached sets and views. */
  readonly sets: number;
  readonly bytes: number;
  readonly bytesMax: number;
}

/**
 * Finds rows. `find` returns them at once if they are cached or cheap, otherwise a promise of them or of why they are
 * missing. A rejection is a bug. `trace` gets the place and the work; it is complete when the rows are there.
 */
export interface Router {
  find(query: List, waiter: Disconnection, trace?: Trace): Hits | Promise<Hits | MissReason>;
  statistics(): RouterStatistics;
}

/** Work of a list in a serving thread, in nanoseconds. The next request of the thread waits at most this long. */
export const BUDGET_NS = 200_000;

/** Fraction of the budget from which a set is cached. A key and a cache look-up take 1 us. */
const KEPT_PART = 1 / 10;

/** Fraction of the budget from which orders or facets are left to the pool, which caches them for later pages. */
const KEPT_VIEW_PART = 1 / 4;

/** Fraction of the budget for a list that looks cheap: the estimate may be wrong for every request. */
const CHEAP_PART = 1 / 2;

/** The cost of a filter's key for each value. */
const KEY_VALUE_NS = 80;

/** Number of remembered keys. Each has at most 1,024 characters. */
const EXPENSIVE_MAX = 1024;

export function routerOver({ generation, cache, runHeavy, budgetNs = BUDGET_NS }: RouterOptions): Router {
  const heavy = new HeavyLists(cache, runHeavy, budgetNs);
  /** Keys of filters, and of their views, that exceeded the budget. The oldest is removed first. */
  const expensive = new Set<string>();
  let inline = 0;

  function remember(key: string): void {
    expensive.add(key);
    const [oldest = key] = expensive;
    if (expensive.size > EXPENSIVE_MAX) expensive.delete(oldest);
  }

  function find(list: List, waiter: Disconnection, trace: Trace = newTrace()): Hits | Promise<Hits | MissReason> {
    trace.place = 'inline';
    trace.isKept = false;
    if (isCheap(list, budgetNs)) {
      const meter = new Meter(list.plan.ns === 0 ? budgetNs : budgetNs * CHEAP_PART, trace.counters);
      const hits = traceHits(execute(list.collection, list.plan, meter), meter, trace);
      if (hits) return hits;
    }
    return findByKey(list, waiter, trace);
  }

  function findByKey(list: List, waiter: Disconnection, trace: Trace): Hits | Promise<Hits | MissReason> {
    const { collection, ask, plan } = list;
    const key = shortKey(filterKey(generation, collection.declaration.name, ask, plan.form));
    const isViewed = hasView(plan.page);
    // All pages of an order cost about the same.
    const shown = { ...plan.page, after: undefined, offset: 0, limit: 0 };
    const shownKey = isViewed ? shortKey(`${viewKey(shown, plan.form)} ${key}`) : key;
    const isKept = ownedBytesMax(collection.rows) <= cache.setBytesMax;
    let set = isKept ? cache.get(key) : undefined;
    trace.isKept = set !== undefined;
    if (set && !isViewed) trace.place = 'cache';
    if (!set) {
      const meter = new Meter(budgetNs, trace.counters);
      const near = traceHits(nearPage(collection, plan, meter), meter, trace);
      if (near) return near;
    }
    const isExpensive = (isViewed && expensive.has(shownKey)) || (!set && expensive.has(key));
    if (!isExpensive) {
      const meter = new Meter(budgetNs, trace.counters);
      const isFound = set !== undefined;
      set ??= findRows(collection, plan, meter);
      const filterNs = meter.spent;
      if (set && !isFound && isKept && filterNs > budgetNs * KEPT_PART) cache.put(key, compacted(set, collection.rows));
      const hits = set && traceHits(hitsOf(collection, set, plan, meter), meter, trace);
      if (!hits || (isViewed && meter.spent - filterNs > budgetNs * KEPT_VIEW_PART)) remember(set ? shownKey : key);
      if (hits) return hits;
      trace.ranOutAt = meter.purpose;
    }
    const filter = { key, known: set, isKept };
    return isViewed || set ? heavy.findView(list, filter, waiter, trace) : heavy.findSet(list, filter, waiter, trace);
  }

  /** Counts and traces what this thread found. */
  function traceHits(hits: Hits | undefined, { spent }: Meter, trace: Trace): Hits | undefined {
    if (!hits) return undefined;
    trace.spentNs = spent;
    if (!trace.isKept) inline++;
    return hits;
  }

  const statistics = (): RouterStatistics => {
    const { hits, misses, size, bytes, bytesMax } = cache;
    return { inline, pooled: heavy.startedTasks, joined: heavy.joined, hits, misses, sets: size, bytes, bytesMax };
  };
  return { find, statistics };
}

/** Whether a list is expected to cost hardly more than its key, so that a look-up would not pay. */
function isCheap({ ask, plan }: List, budgetNs: number): boolean {
  if (plan.isEmpty) return true;
  if (hasView(plan.page)) return false;
  let values = 0;
  for (const { operand } of ask.conditions) values += operand.values.length;
  return plan.ns - values * KEY_VALUE_NS <= budgetNs * KEPT_PART;
}
