// Decides where the rows of a list come from: the cache, this thread, or the pool; one per serving thread. Answers rows
// and counts, never bytes.
import assert from 'node:assert/strict';
import {
  compacted,
  execute,
  filterKey,
  findRows,
  hasView,
  isViewHeavy,
  type List,
  type Hits,
  ownedBytesMax,
  hitsOf,
  type Plan,
  type RowSet,
  walkedPage,
} from '../engine/engine.ts';
import type { RunHeavy } from './pool.ts';
import { HeavyLists } from './heavyLists.ts';
import type { MissReason } from './protocol.ts';
import { type RowSetCache, shortKey } from './rowSetCache.ts';
import type { Slices } from './slices.ts';
import { newTrace, type Trace } from './trace.ts';
import type { Disconnection } from './waiter.ts';

/**
 * What a router is made of. `generation` is that of the snapshot behind the collections; `slices` take their turns with
 * lists of very many rows that the pool has found, which are else made at once.
 */
export interface RouterOptions {
  readonly generation: string;
  readonly cache: RowSetCache;
  readonly runHeavy: RunHeavy;
  readonly slices?: Pick<Slices, 'soon'> | undefined;
}

/**
 * What a router has done since it was made, and keeps now. `joined` counts requests that found their query under way,
 * `hits` how often rows or a view of them were found kept, `misses` how often no rows were; `sets` of rows and views
 * are kept in `bytes` of at most `bytesMax`.
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
 * Finds rows. `find` answers at once what is cached or cheap, else a promise of them or of why there are none; a
 * rejection is our bug. Where and with what work is noted in `trace`, which is complete once the rows are there.
 */
export interface Router {
  find(query: List, waiter: Disconnection, trace?: Trace): Hits | Promise<Hits | MissReason>;
  statistics(): RouterStatistics;
}

/**
 * Rows that a plan must combine for its set to be kept: below, finding them again takes less than 10 us. A key and a
 * look into the cache take 1 us.
 */
const KEPT_ROWS_MIN = 4096;

/** A router over a cache and a pool. */
export function routerOver({ generation, cache, runHeavy, slices }: RouterOptions): Router {
  const heavy = new HeavyLists(cache, runHeavy, slices);
  let inline = 0;
  const keyOf = ({ collection, ask, plan }: List): string =>
    shortKey(filterKey(generation, collection.declaration.name, ask, plan.form));

  function find(query: List, waiter: Disconnection, trace: Trace = newTrace()): Hits | Promise<Hits | MissReason> {
    const { collection, plan } = query;
    const isKept = ownedBytesMax(collection.rows) <= cache.setBytesMax;
    if (!isWorthKeeping(plan) || (!isKept && !plan.isHeavy)) {
      inline++;
      return foundHere(execute(collection, plan, trace.counters));
    }
    const cacheKey = isKept ? keyOf(query) : undefined;
    const known = cacheKey === undefined ? undefined : cache.get(cacheKey);
    trace.isKept = known !== undefined;
    if (known && !isViewHeavy(collection, plan, known)) {
      trace.place = hasView(plan.page) ? 'inline' : 'cache';
      return hitsOf(collection, known, plan, trace.counters);
    }
    const walked = walkedPage(collection, plan, trace.counters);
    if (walked) {
      inline++;
      return walked;
    }
    const key = cacheKey ?? keyOf(query);
    if (plan.isHeavy) {
      const filter = { key, known, isKept };
      return hasView(plan.page)
        ? heavy.findView(query, filter, waiter, trace)
        : heavy.findSet(query, filter, waiter, trace);
    }
    inline++;
    const set = foundHere(findRows(collection, plan, trace.counters));
    cache.put(key, compacted(set, collection.rows));
    return hitsOf(collection, set, plan, trace.counters);
  }

  const statistics = (): RouterStatistics => {
    const { hits, misses, size, bytes, bytesMax } = cache;
    return { inline, pooled: heavy.begun, joined: heavy.joined, hits, misses, sets: size, bytes, bytesMax };
  };
  return { find, statistics };
}

function foundHere<T extends Hits | RowSet>(found: T | undefined): T {
  assert(found, 'a query that nobody can cancel was cancelled');
  return found;
}

/** A single posting list, or all but one, is a view of the snapshot: there is nothing that keeping it could save. */
function isWorthKeeping(plan: Plan): boolean {
  if (plan.isHeavy) return true;
  if (plan.isEmpty || (plan.node.steps.length === 0 && plan.excluded.length === 0)) return false;
  const { node, excluded } = plan;
  let steps = 0;
  let rows = 0;
  let isView = true;
  for (const tree of excluded.length === 0 ? [node] : [node, ...excluded]) {
    steps += tree.steps.length;
    for (const step of tree.steps) {
      rows += step.estimate;
      isView &&= step.kind === 'condition' && step.access === 'posting list';
    }
  }
  return (steps > 1 || !isView) && rows >= KEPT_ROWS_MIN;
}
