// Decides where the rows of a list come from: the cache, this thread, or the pool; one per serving thread.
// Answers rows and counts, never bytes. Called by the catalogue's handler.
import assert from 'node:assert/strict';
import {
  compacted,
  type CollectionIndex,
  execute,
  filterKey,
  findRows,
  hasView,
  isViewHeavy,
  type Listed,
  type ListRequest,
  ownedBytesMax,
  pageOf,
  type Plan,
  type RowSet,
} from '../engine/engine.ts';
import type { RunHeavy } from './pool.ts';
import type { HeavyFound, Missed } from './protocol.ts';
import type { RowSetCache } from './rowSetCache.ts';
import { newTrace, type Trace } from './trace.ts';
import { SharedWork, type Waiter } from './waiter.ts';

/** A list to find rows for. `plan` is that of `request` on `collection`. */
export interface ListQuery {
  readonly collection: CollectionIndex;
  readonly request: ListRequest;
  readonly plan: Plan;
}

/** What a router is made of. `generation` is that of the snapshot behind the collections. */
export interface RouterOptions {
  readonly generation: string;
  readonly cache: RowSetCache;
  readonly runHeavy: RunHeavy;
}

/**
 * What a router has done since it was made, and keeps now. `joined` counts requests that found their query under way, `hits`
 * and `misses` those that found the rows of their filter kept or not; `sets` are kept in `bytes` of at most `bytesMax`.
 */
export interface RouterStatistics {
  readonly inline: number;
  readonly pooled: number;
  readonly joined: number;
  readonly hits: number;
  readonly misses: number;
  readonly sets: number;
  readonly bytes: number;
  readonly bytesMax: number;
}

/**
 * Finds rows. `find` answers at once what is cached or cheap, else a promise of them or of why there are none; a rejection is
 * our bug. Where and with what work is noted in `trace`, which is complete once the rows are there.
 */
export interface Router {
  find(query: ListQuery, waiter: Waiter, trace?: Trace): Listed | Promise<Listed | Missed>;
  statistics(): RouterStatistics;
}

/**
 * Rows that a plan must combine for its set to be kept: below, finding them again takes less than 10 us. A key and a look
 * into the cache take 1 us.
 */
const KEPT_ROWS_MIN = 4096;

type Outcome = HeavyFound | Missed;

/** A router over a cache and a pool. */
export function routerOver({ generation, cache, runHeavy }: RouterOptions): Router {
  const work = new SharedWork<Outcome>();
  let inline = 0;
  let pooled = 0;
  const keyOf = ({ collection, request, plan }: ListQuery): string =>
    filterKey(generation, collection.declaration.name, request, plan.form);

  function find(query: ListQuery, waiter: Waiter, trace: Trace = newTrace()): Listed | Promise<Listed | Missed> {
    const { collection, plan } = query;
    const isKept = ownedBytesMax(collection.rows) <= cache.setBytesMax;
    if (!isWorthKeeping(plan) || (!isKept && !plan.isHeavy)) {
      inline++;
      return foundHere(execute(collection, plan, trace.counters));
    }
    const key = keyOf(query);
    const known = isKept ? cache.get(key) : undefined;
    trace.isKept = known !== undefined;
    if (known && !isViewHeavy(collection, plan, known)) {
      trace.place = hasView(plan) ? 'inline' : 'cache';
      return pageOf(collection, known, plan, trace.counters);
    }
    if (plan.isHeavy) return inPool(query, { key, isSetWanted: isKept && !hasView(plan) }, waiter, trace);
    inline++;
    const set = foundHere(findRows(collection, plan, trace.counters));
    cache.put(key, compacted(set, collection.rows));
    return pageOf(collection, set, plan, trace.counters);
  }

  /**
   * The whole set, kept for the pages to come: those who wait for it take theirs from it. Where a set would be too large to
   * keep, or is to be ordered or counted in the pool too, only requests for the same page share their work.
   */
  async function inPool(
    { collection, plan }: ListQuery,
    { key, isSetWanted }: { readonly key: string; readonly isSetWanted: boolean },
    waiter: Waiter,
    trace: Trace,
  ): Promise<Listed | Missed> {
    const name = collection.declaration.name;
    const workKey = isSetWanted ? key : `${viewKey(plan)} ${key}`;
    trace.place = 'pool';
    trace.isShared = work.has(workKey);
    const found = await work.wait(workKey, waiter, async (group) => {
      pooled++;
      const outcome = await runHeavy({ collection: name, plan, wants: isSetWanted ? 'set' : 'page' }, group);
      if (isFound(outcome) && outcome.kind === 'set') cache.put(key, outcome.set);
      return outcome;
    });
    if (waiter.isGone()) return 'gone';
    if (!isFound(found)) return found;
    Object.assign(trace.counters, found.counters);
    return found.kind === 'set' ? pageOf(collection, found.set, plan, trace.counters) : found.page;
  }

  const statistics = (): RouterStatistics => {
    const { hits, misses, size, bytes, bytesMax } = cache;
    return { inline, pooled, joined: work.joined, hits, misses, sets: size, bytes, bytesMax };
  };
  return { find, statistics };
}

/** What two plans of one filter share when they show the same page. An id may be infinite, which JSON does not know. */
function viewKey({ order, after, offset, limit, facets }: Plan): string {
  return JSON.stringify([order, String(after), offset, limit, facets]);
}

function foundHere<T extends Listed | RowSet>(found: T | undefined): T {
  assert(found, 'a query that nobody can cancel was cancelled');
  return found;
}

function isFound(outcome: Outcome): outcome is HeavyFound {
  return typeof outcome === 'object';
}

/** A single posting list, or all but one, is a view of the snapshot: there is nothing that keeping it could save. */
function isWorthKeeping(plan: Plan): boolean {
  if (plan.isHeavy) return true;
  if (plan.isEmpty) return false;
  const trees = [plan.node, ...plan.excluded];
  const steps = trees.flatMap((tree) => tree.steps);
  const isView = steps.every((step) => step.kind === 'condition' && step.access === 'posting list');
  if (steps.length === 0 || (steps.length === 1 && isView)) return false;
  return steps.reduce((sum, step) => sum + step.estimate, 0) >= KEPT_ROWS_MIN;
}
