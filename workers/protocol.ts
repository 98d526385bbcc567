// The messages between a serving thread and its pool: plans in, row ids and counts out, never bytes of a page. Plain
// data. The flags of running tasks are the only shared mutable memory.
import type { Counters, Hits, LoadedSnapshot, Plan, RowSet } from '../engine/engine.ts';

/**
 * The start data of a pool thread. `flags` has one word for each slot (see `TaskFlag`). `taskMsMax` is the time limit
 * of a task in milliseconds.
 */
export interface PoolData {
  readonly loaded: LoadedSnapshot;
  readonly flags: Int32Array;
  readonly taskMsMax: number;
}

/**
 * One expensive query. It wants all rows as a compact set, transferred without a copy, or only the rows of its page, or
 * both. `set` has all rows if they are known; the query then only orders and counts them.
 */
export interface HeavyQuery {
  readonly collection: string;
  readonly plan: Plan;
  readonly wants: 'set' | 'page' | 'both';
  readonly set?: RowSet | undefined;
}

/** An expensive query for a pool thread. `slot` is the index of its word in the flags. */
export interface HeavyTask extends HeavyQuery {
  readonly slot: number;
}

/** The result of an expensive query in the wanted form, and the work it took. */
export type HeavyFinding = { readonly counters: Counters; readonly spentNs: number } & (
  | { readonly kind: 'set'; readonly set: RowSet }
  | { readonly kind: 'page'; readonly page: Hits; readonly set?: RowSet | undefined }
);

/** The result of a task. Undefined if it was cancelled, `overtime` if its time was over. */
export type HeavyResult = HeavyFinding | 'overtime' | undefined;

/**
 * Why an expensive query has no rows: `busy` if too many wait or it waited too long, `gone` if its client left first,
 * `overtime` if it ran too long.
 */
export type MissReason = 'busy' | 'gone' | 'overtime';

/** Values of a slot's flag: whether a client still waits for the result. A scan reads the flag once per slice. */
export const TaskFlag = { wanted: 0, cancelled: 1 } as const;
