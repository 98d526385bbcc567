// What decoding makes of a run of lines: served bytes, and every column's values as parts of them. Plain typed arrays,
// so that a batch crosses threads without a copy.
import type { ShapeKind } from './shape.ts';

/** The `start` of a null value. */
export const NULL_START = 0xffffffff;

/** Added to a part that lies in `unescaped` instead of `bytes`. A batch is smaller than this. */
export const UNESCAPED_START = 0x80000000;

/**
 * The values of one column, one a row of its table, as parts of the batch's bytes: `starts` and `ends`. Rows behind
 * them are null. `kinds` is the sum of the `SCALAR_KIND`s (shape.ts) among the values of an inferred column.
 * `NULL_START` stands for null; a start of at least `UNESCAPED_START` lies in `unescaped`, less that number.
 */
export interface ColumnBatch {
  readonly path: string;
  readonly table: number;
  readonly kinds: number;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/**
 * One table: for a child table, `rowEnds` counts its rows up to and with each row of its parent; those behind them have
 * no array. The root's is empty.
 */
export interface TableBatch {
  readonly path: string;
  readonly parent: number;
  readonly rowEnds: Uint32Array;
}

/**
 * A line that could not be taken: its number in the file, the JSON pointer to the value and what is wrong with it.
 * `isNull` where that is a null which would be none if nulls were taken.
 */
export interface LineFault {
  readonly line: number;
  readonly pointer: string;
  readonly message: string;
  readonly isNull?: boolean;
}

/**
 * Decoded lines. `bytes` holds the records, each followed by a comma, ending at `recordEnds`; `lines` their line
 * numbers; `ids` their ids. `links` are the positions of own URLs in `bytes`, `linkEnds` how many stand up to and with
 * each record. `members` are the ends of top-level members, from the start of their record; `outlineOf` is the number
 * of each record's keys among `outlines`, as many as it has members. `columns` and `tables` begin with those of the
 * declared layout; those of inferred keys follow, in any order. `keys` are all inferred keys with what their values
 * are.
 */
export interface Batch {
  readonly bytes: Uint8Array;
  readonly unescaped: Uint8Array;
  readonly recordEnds: Uint32Array;
  readonly lines: Uint32Array;
  readonly ids: Float64Array;
  readonly links: Uint32Array;
  readonly linkEnds: Uint32Array;
  readonly members: Uint32Array;
  readonly outlineOf: Uint32Array;
  readonly outlines: readonly (readonly string[])[];
  readonly columns: readonly ColumnBatch[];
  readonly tables: readonly TableBatch[];
  readonly keys: readonly (readonly [path: string, kind: ShapeKind])[];
  readonly faults: readonly LineFault[];
}
