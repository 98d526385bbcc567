// What a serving thread and its pool say to each other: a plan in, row ids and counts out, never bytes of a page.
// Plain data; the flags of running tasks are the only shared mutable memory.
import type { Counters, Hits, LoadedSnapshot, Plan, RowSet } from '../engine/engine.ts';

/**
 * What a pool thread starts with. `flags` has one word a slot (see `TaskFlag`). `taskMsMax` is how many milliseconds a
 * task may run.
 */
export interface PoolData {
  readonly loaded: LoadedSnapshot;
  readonly flags: Int32Array;
  readonly taskMsMax: number;
}

/**
 * One heavy query: all rows as a set, compact and given away without a copy, those of its page alone, or `both`. `set`
 * has all rows where they are known, so that they are ordered and counted only.
 */
export interface HeavyQuery {
  readonly collection: string;
  readonly plan: Plan;
  readonly wants: 'set' | 'page' | 'both';
  readonly set?: RowSet | undefined;
}

/** A heavy query as a pool thread gets it. `slot` is its word in the flags. */
export interface HeavyTask extends HeavyQuery {
  readonly slot: number;
}

/** What a heavy query found, in the form it was wanted, and the work it took. */
export type HeavyFinding = { readonly counters: Counters; readonly spentNs: number } & (
  | { readonly kind: 'set'; readonly set: RowSet }
  | { readonly kind: 'page'; readonly page: Hits; readonly set?: RowSet | undefined }
);

/** What a task answers: what it found, undefined when it was cancelled, or that its time was over. */
export type HeavyResult = HeavyFinding | 'overtime' | undefined;

/**
 * Why a heavy query has no rows: `busy` when too much waits or it waited too long, `gone` when its client was gone
 * first, `overtime` when it ran too long.
 */
export type MissReason = 'busy' | 'gone' | 'overtime';

/** The word of a slot: its task runs or waits, or nobody wants its result any more. Polled once per slice of a scan. */
export const TaskFlag = { wanted: 0, cancelled: 1 } as const;
