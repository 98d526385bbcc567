// Finds lists in the pool: whole sets of rows, or what is ordered and counted of them, each shared by those who want it
// at once and kept for the pages to come. Knows what is kept under which key; whether the pool is asked is decided by
// router.ts.
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
 * Rows of an ordered list that are kept with a page of it: a walk by pages of 100 is ordered in the pool once in 20
 * pages. Twice as many are found, so that every page of at most this many rows lies within one stretch.
 */
const STRETCH_ROWS = 2048;

/** What is known of a filter: its key, its rows where they are kept, and whether they may be. */
export interface FilterRows {
  readonly key: string;
  readonly known: RowSet | undefined;
  readonly isKept: boolean;
}

type Outcome = HeavyFinding | MissReason;

/** The pool as lists see it. `begun` counts what it was asked. */
export class HeavyLists {
  begun = 0;
  readonly #cache: RowSetCache;
  readonly #runHeavy: RunHeavy;
  readonly #budgetNs: number;
  readonly #work = new SharedWork<Outcome>();

  constructor(cache: RowSetCache, runHeavy: RunHeavy, budgetNs: number) {
    this.#cache = cache;
    this.#runHeavy = runHeavy;
    this.#budgetNs = budgetNs;
  }

  /** Requests that found what they want under way. */
  get joined(): number {
    return this.#work.joined;
  }

  /**
   * The whole set, kept for the pages to come: those who wait for it take theirs from it. Where a set would be too
   * large to keep, only requests for the same page share their work.
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
    const found = await this.#outcomeOf(workKey, query, waiter, trace, (outcome) => {
      if (outcome.set) this.#cache.put(key, outcome.set);
    });
    if (!isFound(found)) return found;
    if (found.kind !== 'set') return found.page;
    const { set } = found;
    const hits = hitsOf(collection, set, plan, new Meter(this.#budgetNs, trace.counters));
    // Many requests may have waited for this set: a page of very many rows is listed in the pool too.
    return hits ?? this.findView(list, { key, known: set, isKept }, waiter, trace);
  }

  /**
   * What is ordered or counted: more of it than the page, kept for the pages to come, and the set where it is not
   * known.
   */
  findView(
    { collection, plan }: List,
    { key, known, isKept }: FilterRows,
    waiter: Disconnection,
    trace: Trace,
  ): Hits | Promise<Hits | MissReason> {
    const wide = isKept ? widened(plan) : undefined;
    const workKey = shortKey(`${viewKey((wide ?? plan).page, plan.form)} ${key}`);
    const kept = wide && (plan.page.order.length > 0 || known) ? this.#cache.view(workKey) : undefined;
    if (kept) {
      trace.place = 'cache';
      return partOf(collection, plan, kept, known);
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
    return this.#outcomeOf(workKey, query, waiter, trace, keep).then((found) => {
      if (!isFound(found)) return found;
      assert(found.kind === 'page', 'the pool was asked for a page');
      const { page, set } = found;
      return wide ? partOf(collection, plan, page, set) : page;
    });
  }

  /**
   * Runs a query in the pool unless it is under way; what it finds is kept once, and comes with the set where that is
   * known.
   */
  async #outcomeOf(
    workKey: string,
    query: HeavyQuery,
    waiter: Disconnection,
    trace: Trace,
    keep: (outcome: HeavyFinding) => void,
  ): Promise<Outcome> {
    trace.place = 'pool';
    trace.isShared = this.#work.has(workKey);
    const found = await this.#work.wait(workKey, waiter, async (group) => {
      this.begun++;
      const outcome = await this.#runHeavy(query, group);
      if (!isFound(outcome)) return outcome;
      keep(outcome);
      return outcome.kind === 'page' && query.set ? { ...outcome, set: query.set } : outcome;
    });
    if (waiter.isGone()) return 'gone';
    if (isFound(found)) {
      Object.assign(trace.counters, found.counters);
      trace.spentNs = found.spentNs;
    }
    return found;
  }
}

/**
 * The plan of more than a page, of which the pages around can be taken: a stretch of an ordered list, or only the
 * facets of one by id. Undefined for a list with neither, and for a page of more rows than a stretch.
 */
function widened(plan: Plan): Plan | undefined {
  const { page } = plan;
  if (!hasView(page) || page.limit > STRETCH_ROWS) return undefined;
  if (page.order.length === 0) return { ...plan, page: { ...page, after: undefined, offset: 0, limit: 0 } };
  const offset = Math.floor(page.offset / STRETCH_ROWS) * STRETCH_ROWS;
  return { ...plan, page: { ...page, offset, limit: 2 * STRETCH_ROWS } };
}

/** The page of a plan from what `widened` finds; `set` has all rows, which a list by id is cut from. */
function partOf(collection: CollectionIndex, plan: Plan, wide: Hits, set: RowSet | undefined): Hits {
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
