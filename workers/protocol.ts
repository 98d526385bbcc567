// What a serving thread and its pool say to each other: a plan in, row ids and a count out, never bytes of a page.
// Plain data; the flags of running tasks are the only shared mutable memory.
import type { LoadedSnapshot, Plan, Selection } from '../engine/engine.ts';

/**
 * What a pool thread starts with. `flags` has one word a slot (see `TaskFlag`). `regexMsMax` is how many milliseconds a plan
 * with regular expressions may run.
 */
export interface PoolData {
  readonly loaded: LoadedSnapshot;
  readonly flags: Int32Array;
  readonly regexMsMax: number;
}

/** One heavy query. `slot` is its word in the flags. */
export interface HeavyTask {
  readonly collection: string;
  readonly plan: Plan;
  readonly slot: number;
}

/** What a heavy query found; undefined when it was cancelled, `overtime` when its regular expressions took too long. */
export type HeavyResult = { readonly count: number; readonly rows: Selection } | 'overtime' | undefined;

/** The word of a slot: its task runs or waits, or nobody wants its result any more. Polled once per slice of a scan. */
export const TaskFlag = { wanted: 0, cancelled: 1 } as const;
