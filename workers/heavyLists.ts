// Finds lists in the pool: whole sets of rows, or the ordered rows and counts of one. Requests that need the same at
// the same time share it. The results are cached for later pages. router.ts decides what comes here.
import assert from 'node:assert/strict';
import {
  type CollectionIndex,
  hasView,
  type Hits,
  hitsOf,
  type List,
  Meter,
  type Plan,
  type RowSet,
  viewKey,
} from '../engine/engine.ts';
import type { RunHeavy } from './pool.ts';
import type { HeavyFinding, HeavyQuery, MissReason } from './protocol.ts';
import { type RowSetCache, shortKey } from './rowSetCache.ts';
import type { Trace } from './heavyThreads.ts';
import { type Disconnection, SharedWork } from './waiter.ts';

/**
 * Rows of an ordered list that are cached with a page: a walk by pages of 100 runs the order in the pool once in 20
 * pages. A stretch has twice as many, so every page of at most this many rows fits into one stretch.
 */
const STRETCH_ROWS = 2048;

/** A filter: its key, its rows if they are cached, and whether they may be cached. */
export interface FilterRows {
  readonly key: string;
  readonly known: RowSet | undefined;
  readonly isKept: boolean;
}

type Outcome = HeavyFinding | MissReason;

/** Runs lists in the pool. `startedTasks` counts its tasks. */
export class HeavyLists {
  startedTasks = 0;
  readonly #cache: RowSetCache;
  readonly #runHeavy: RunHeavy;
  readonly #budgetNs: number;
  readonly #work = new SharedWork<Outcome>();

  constructor(cache: RowSetCache, runHeavy: RunHeavy, budgetNs: number) {
    this.#cache = cache;
    this.#runHeavy = runHeavy;
    this.#budgetNs = budgetNs;
  }

  /** Requests that joined a task that had already begun. */
  get joined(): number {
    return this.#work.joined;
  }

  /**
   * Finds the whole set and caches it; each request takes its page from it. If a set would be too large for the cache,
   * only requests for the same page share the work.
   */
  async findSet(
    list: List,
    { key, isKept }: FilterRows,
    waiter: Disconnection,
    trace: Trace,
  ): Promise<Hits | MissReason> {
    const { collection, plan } = list;
    const workKey = isKept ? key : shortKey(`${viewKey(plan.page, plan.form)} ${key}`);
    const query: HeavyQuery = { collection: collection.declaration.name, plan, wants: isKept ? 'set' : 'page' };
    const outcome = await this.#runShared(workKey, query, waiter, trace, (outcome) => {
      if (outcome.set) this.#cache.put(key, outcome.set);
    });
    if (!isFound(outcome)) return outcome;
    if (outcome.kind !== 'set') return outcome.page;
    const { set } = outcome;
    const hits = hitsOf(collection, set, plan, new Meter(this.#budgetNs, trace.counters));
    // Many requests may have waited for this set, so a page of very many rows is listed in the pool too.
    return hits ?? this.findView(list, { key, known: set, isKept }, waiter, trace);
  }

  /** Finds ordered rows or counts: more than the page, cached for later pages. Finds the set too if it is not known. */
  findView(
    { collection, plan }: List,
    { key, known, isKept }: FilterRows,
    waiter: Disconnection,
    trace: Trace,
  ): Hits | Promise<Hits | MissReason> {
    const wide = isKept ? widenPlan(plan) : undefined;
    const workKey = shortKey(`${viewKey((wide ?? plan).page, plan.form)} ${key}`);
    const cached = wide && (plan.page.order.length > 0 || known) ? this.#cache.view(workKey) : undefined;
    if (cached) {
      trace.place = 'cache';
      return cutPage(collection, plan, cached, known);
    }
    const query: HeavyQuery = {
      collection: collection.declaration.name,
      plan: wide ?? plan,
      wants: isKept && !known ? 'both' : 'page',
      set: known,
    };
    const keep = (outcome: HeavyFinding): void => {
      if (outcome.set && !known) this.#cache.put(key, outcome.set);
      if (wide && outcome.kind === 'page') this.#cache.putView(workKey, outcome.page);
    };
    return this.#runShared(workKey, query, waiter, trace, keep).then((outcome) => {
      if (!isFound(outcome)) return outcome;
      assert(outcome.kind === 'page', 'the pool was asked for a page');
      const { page, set } = outcome;
      return wide ? cutPage(collection, plan, page, set) : page;
    });
  }

  /**
   * Runs a query in the pool unless it is already running. Its result is cached once. If the set is known, the result
   * includes it.
   */
  async #runShared(
    workKey: string,
    query: HeavyQuery,
    waiter: Disconnection,
    trace: Trace,
    keep: (outcome: HeavyFinding) => void,
  ): Promise<Outcome> {
    trace.place = 'pool';
    trace.isShared = this.#work.has(workKey);
    const shared = await this.#work.wait(workKey, waiter, async (group) => {
      this.startedTasks++;
      const outcome = await this.#runHeavy(query, group);
      if (!isFound(outcome)) return outcome;
      keep(outcome);
      return outcome.kind === 'page' && query.set ? { ...outcome, set: query.set } : outcome;
    });
    if (waiter.isGone()) return 'gone';
    if (isFound(shared)) {
      Object.assign(trace.counters, shared.counters);
      trace.spentNs = shared.spentNs;
    }
    return shared;
  }
}

/**
 * A plan that finds more than a page, so that the pages around it can be cut from the result: a stretch of an ordered
 * list, or only the facets of a list by id. Undefined for a list with neither, and for a page larger than a stretch.
 */
function widenPlan(plan: Plan): Plan | undefined {
  const { page } = plan;
  if (!hasView(page) || page.limit > STRETCH_ROWS) return undefined;
  if (page.order.length === 0) return { ...plan, page: { ...page, after: undefined, offset: 0, limit: 0 } };
  const offset = Math.floor(page.offset / STRETCH_ROWS) * STRETCH_ROWS;
  return { ...plan, page: { ...page, offset, limit: 2 * STRETCH_ROWS } };
}

/** Cuts the page of a plan from the result of `widenPlan`. A list by id is cut from `set`, which has all rows. */
function cutPage(collection: CollectionIndex, plan: Plan, wide: Hits, set: RowSet | undefined): Hits {
  const { page, form } = plan;
  if (page.order.length === 0) {
    assert(set, 'a list by id has its rows');
    return { ...hitsOf(collection, set, { page: { ...page, facets: [] }, form })!, facets: wide.facets };
  }
  assert(wide.rows.kind === 'sequence', 'an ordered list has its rows in a sequence');
  const start = page.offset - wide.offset;
  const rows = wide.rows.rows.subarray(start, start + page.limit);
  return { ...wide, offset: page.offset, rows: { kind: 'sequence', rows } };
}

function isFound(outcome: Outcome): outcome is HeavyFinding {
  return typeof outcome === 'object';
}
