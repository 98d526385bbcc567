// What decoding makes of a run of lines: served bytes, and the number of every column's value in each row. Plain typed
// arrays, so that a batch crosses threads without a copy.
import type { Texts } from '../../engine/column/sort.ts';
import type { ShapeKind } from './shape.ts';

/** The number of the text of a row that has none. */
export const NULL_NUMBER = 0xffffffff;

/**
 * The values of one column, one a row of its table: the number of each among the different texts that the thread has
 * met of the column (`DecodedTexts`), `NULL_NUMBER` for null. Rows behind them are null. `kinds` is the sum of the
 * `SCALAR_KIND`s (shape.ts) among the values of an inferred column, `textBytes` what its different texts take so far.
 */
export interface ColumnBatch {
  readonly path: string;
  readonly table: number;
  readonly kinds: number;
  readonly numbers: Uint32Array;
  readonly textBytes: number;
}

/**
 * The different texts that a thread has met of a column of one collection, in the order of their numbers. `thread` says
 * which one, as in its batches.
 */
export interface DecodedTexts {
  readonly thread: number;
  readonly path: string;
  readonly texts: Texts;
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
 * Decoded lines. `bytes` holds the records, each followed by a comma, ending at `recordEnds`; where they are spilled,
 * it is empty, and `spilledAt` their place in the file. `lines` are their line numbers; `ids` their ids. `links` are
 * the positions of own URLs in the bytes, `linkEnds` how many stand up to and with each record. `members` are the ends
 * of top-level members, from the start of their record; `outlineOf` is the number of each record's keys among
 * `outlines`, as many as it has members. `columns` and `tables` begin with those of the declared layout; those of
 * inferred keys follow, in any order. `keys` are all inferred keys with what their values are. `thread` is the one that
 * decoded it.
 */
export interface Batch {
  readonly thread: number;
  readonly bytes: Uint8Array;
  readonly spilledAt: number | undefined;
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
