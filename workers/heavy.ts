// A pool thread: runs expensive plans over the shared snapshot and returns row ids. Opens no socket. A cancelled task
// stops within one slice of its scan, or one pass over rows.
import { move, transferableSymbol, valueSymbol, workerData } from 'piscina';
import { compacted, findRows, type Hits, hitsOf, Meter, openSnapshot, ownBuffers } from '../engine/engine.ts';
import { beNice } from './niceness.ts';
import { TaskFlag, type HeavyFinding, type HeavyTask, type PoolData } from './protocol.ts';

const { loaded, flags, taskMsMax } = workerData as PoolData;
const catalogue = openSnapshot(loaded);
beNice();

/**
 * Runs one plan. Returns a HeavyResult: Piscina transfers the buffers of a set and copies the rows of a page. Cost:
 * that of the plan.
 */
export function runPlan(task: HeavyTask): unknown {
  const isCancelled = (): boolean => Atomics.load(flags, task.slot) === TaskFlag.cancelled;
  if (isCancelled()) return undefined;
  const endMs = performance.now() + taskMsMax;
  // The time limit is for patterns that are slow when there is much text to search.
  const isStopped = (): boolean => isCancelled() || performance.now() > endMs;
  const answer = answerTo(task, isStopped);
  return answer === undefined && !isCancelled() ? 'overtime' : answer;
}

/** The result of a task. If it has a set, Piscina transfers the buffers of the set. */
function answerTo({ collection, plan, wants, set: known }: HeavyTask, isStopped: () => boolean): unknown {
  const index = catalogue.collection(collection);
  const meter = new Meter(Infinity, undefined, isStopped);
  const rows = known ?? findRows(index, plan, meter);
  if (!rows) return undefined;
  const page = wants === 'set' ? undefined : hitsOf(index, rows, plan, meter);
  if (wants !== 'set' && !page) return undefined;
  const set = wants === 'page' ? undefined : compacted(rows, index.rows);
  const work = { counters: meter.counters, spentNs: meter.spent };
  const value: HeavyFinding = page
    ? { kind: 'page', page: copyPage(page), set, ...work }
    : { kind: 'set', set: set!, ...work };
  return set ? move({ [transferableSymbol]: ownBuffers(set), [valueSymbol]: value }) : value;
}

/** Copies the rows of a page. A view would be sent with the buffer of all rows. */
function copyPage(page: Hits): Hits {
  if (page.rows.kind === 'range') return page;
  return { ...page, rows: { kind: page.rows.kind, rows: page.rows.rows.slice() } };
}
