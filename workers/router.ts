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
 * Finds rows. `find` answers at once what is cached or cheap, else a promise of them or of why there are
 * none; a rejection is our bug. `joined` counts requests that found their query under way.
 */
export interface Router {
  find(query: ListQuery, waiter: Waiter): Listed | Promise<Listed | Missed>;
  readonly joined: number;
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
  const keyOf = ({ collection, request, plan }: ListQuery): string =>
    filterKey(generation, collection.declaration.name, request, plan.form);

  function find(query: ListQuery, waiter: Waiter): Listed | Promise<Listed | Missed> {
    const { collection, plan } = query;
    if (!isWorthKeeping(plan)) return pageAtOnce(query);
    const isKept = ownedBytesMax(collection.rows) <= cache.setBytesMax;
    if (!isKept && !plan.isHeavy) return pageAtOnce(query);
    const key = keyOf(query);
    const known = isKept ? cache.get(key) : undefined;
    if (known && !isViewHeavy(collection, plan, known)) return pageOf(collection, known, plan);
    if (plan.isHeavy) {
      return isKept && !hasView(plan) ? heavySet(query, key, waiter) : heavyPage(query, key, waiter);
    }
    const set = foundHere(findRows(collection, plan));
    cache.put(key, compacted(set, collection.rows));
    return pageOf(collection, set, plan);
  }

  /** The whole set, kept for the pages to come; those who wait for it take theirs from it. */
  async function heavySet({ collection, plan }: ListQuery, key: string, waiter: Waiter): Promise<Listed | Missed> {
    const name = collection.declaration.name;
    const found = await work.wait(key, waiter, async (group) => {
      const outcome = await runHeavy({ collection: name, plan, wants: 'set' }, group);
      if (isFound(outcome) && outcome.kind === 'set') cache.put(key, outcome.set);
      return outcome;
    });
    return listedOf(found, { collection, plan }, waiter);
  }

  /**
   * Where a set would be too large to keep, or is to be ordered or counted in the pool too, only requests for the same page
   * share their work.
   */
  async function heavyPage({ collection, plan }: ListQuery, key: string, waiter: Waiter): Promise<Listed | Missed> {
    const name = collection.declaration.name;
    const pageKey = `${viewKey(plan)} ${key}`;
    const found = await work.wait(pageKey, waiter, (group) =>
      runHeavy({ collection: name, plan, wants: 'page' }, group),
    );
    return listedOf(found, { collection, plan }, waiter);
  }

  return {
    find,
    get joined() {
      return work.joined;
    },
  };
}

/** What two plans of one filter share when they show the same page. An id may be infinite, which JSON does not know. */
function viewKey({ order, after, offset, limit, facets }: Plan): string {
  return JSON.stringify([order, String(after), offset, limit, facets]);
}

function pageAtOnce({ collection, plan }: ListQuery): Listed {
  return foundHere(execute(collection, plan));
}

function foundHere<T extends Listed | RowSet>(found: T | undefined): T {
  assert(found, 'a query that nobody can cancel was cancelled');
  return found;
}

function listedOf(
  outcome: Outcome,
  { collection, plan }: Pick<ListQuery, 'collection' | 'plan'>,
  waiter: Waiter,
): Listed | Missed {
  if (waiter.isGone()) return 'gone';
  if (!isFound(outcome)) return outcome;
  return outcome.kind === 'set' ? pageOf(collection, outcome.set, plan) : outcome.page;
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
