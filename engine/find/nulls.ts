// Related rows that do not exist: each parent without rows has one row of nulls, which only `isnull=true` finds. Knows
// how a plan says so and where a table lacks rows. Source: A59.
import { setBit, wordsFor } from '../bits/bitmap.ts';
import { ofBitmap, type RowSet } from '../index/rowset.ts';
import type { Table } from '../index/table.ts';
import { NULL_LOOKUP } from '../query/lookups.ts';
import type { Operand } from '../query/values.ts';

/** The steps of a plan, as far as nulls matter: conditions on a table's rows, and related rows within. */
export type NullStep =
  | { readonly kind: 'condition'; readonly lookup: string; readonly operand: Operand }
  | { readonly kind: 'table' | 'link'; readonly steps: readonly NullStep[] };

/** Whether a row of nulls, and below it nothing but rows of nulls, fulfils every step. Cost: the steps. */
export function holdsForNulls({ steps }: { readonly steps: readonly NullStep[] }): boolean {
  return steps.every((step) =>
    step.kind === 'condition' ? step.lookup === NULL_LOOKUP && step.operand.values[0] === 'true' : holdsForNulls(step),
  );
}

/** The parents that have no row in a child table, over `parentRows` rows. Cost: O(parentRows). */
export function parentsWithoutRows(table: Table, parentRows: number): RowSet {
  const starts = table.starts!;
  const words = new Uint32Array(wordsFor(parentRows));
  for (let row = 0; row < parentRows; row++) if (starts[row] === starts[row + 1]) setBit(words, row);
  return ofBitmap(words);
}
