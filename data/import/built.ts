// What is known of a collection once its sections are written, built or carried over: what links, metadata and reports
// need of it. Types only.
import type { Outlines } from '../../engine/column/outline.ts';
import type { Field } from '../../engine/schema/types.ts';

/**
 * Where a link column points: the path of the column, the ids in code order, NaN of misfits, and how many links have
 * each.
 */
export interface LinkTargets {
  readonly path: string;
  readonly to: string;
  readonly ids: Float64Array;
  readonly counts: Uint32Array;
}

/** What a finished collection consists of. `ids` ascend. */
export interface BuiltCollection {
  readonly records: number;
  readonly ids: Float64Array;
  readonly chunks: number;
  readonly outlines: Outlines;
  readonly recordBytes: number;
  readonly columns: number;
  readonly fields: readonly Field[];
  readonly nulls: number;
  readonly targets: readonly LinkTargets[];
  /** Whether records have keys that are not documented. */
  readonly hasUndeclared: boolean;
  /** The line of a record; undefined if the collection has no misfits, or if the lines are not known. */
  readonly lineOf?: ((id: number) => number) | undefined;
}
