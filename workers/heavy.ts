// A pool thread: executes heavy plans over the shared snapshot and answers row ids. Started by Piscina, see pool.ts.
// Never opens a socket; a cancelled task ends itself within one slice of its scan.
import { workerData } from 'piscina';
import { execute, hasRegex, openSnapshot } from '../engine/engine.ts';
import { budgetOf } from './budget.ts';
import { TaskFlag, type HeavyResult, type HeavyTask, type PoolData } from './protocol.ts';

const { loaded, flags, regexMsMax } = workerData as PoolData;
const catalogue = openSnapshot(loaded);

/** Runs one plan. Cost: the plan's; the answer holds one page of rows, copied out of larger sets. */
export function runPlan({ collection, plan, slot }: HeavyTask): HeavyResult {
  const isCancelled = (): boolean => Atomics.load(flags, slot) === TaskFlag.cancelled;
  if (isCancelled()) return undefined;
  const isOvertime = budgetOf(hasRegex(plan) ? regexMsMax : Infinity);
  const isStopped = (): boolean => isCancelled() || isOvertime();
  const found = execute(catalogue.collection(collection), plan, undefined, isStopped);
  if (!found && !isCancelled()) return 'overtime';
  if (found?.rows.kind !== 'list') return found;
  return { count: found.count, rows: { kind: 'list', rows: found.rows.rows.slice() } };
}
