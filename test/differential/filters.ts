// The oracle's matching: does a record fulfil all conditions? Plain loops over the record's JSON.
// Called by the oracle. Rules: design, Filters, Combination.
import type { Field } from '../../engine/schema/types.ts';
import { memberOf, type Json } from './json.ts';
import type { Test } from './values.ts';

/** One condition: a walk from the record to values, and the test they must pass. */
export interface Condition {
  readonly path: readonly Field[];
  readonly negated: boolean;
  readonly test: Test;
}

/**
 * Whether a record fulfils all conditions. Positive conditions on one to-many relation hold for the same related row; each
 * negated one stands alone and drops records with any matching row. `text` gives strings as served.
 */
export function matches(record: Json, conditions: readonly Condition[], text: (stored: string) => string): boolean {
  const positive = conditions.filter(({ negated }) => !negated);
  const negative = conditions.filter(({ negated }) => negated);
  if (!hold(record, positive, 0, text)) return false;
  return negative.every((condition) => !hold(record, [condition], 0, text));
}

type Text = (stored: string) => string;

/** Whether the conditions, whose paths have `depth` steps behind them, all hold for one (related) record. */
function hold(record: Json | undefined, conditions: readonly Condition[], depth: number, text: Text): boolean {
  const fields = new Set(conditions.map(({ path }) => path[depth]));
  for (const field of fields) {
    if (field === undefined) throw new Error('a path ends on a value');
    const group = conditions.filter(({ path }) => path[depth] === field);
    if (!fieldHolds(field, memberOf(record, field.name), group, depth, text)) return false;
  }
  return true;
}

function fieldHolds(
  field: Field,
  value: Json | undefined,
  group: readonly Condition[],
  depth: number,
  text: Text,
): boolean {
  // Where there is no related row, one of nulls stands for it.
  const items = value?.kind === 'array' && value.items.length > 0 ? value.items : [undefined];
  switch (field.kind) {
    case 'scalar':
    case 'link':
      return group.every(({ test }) => test(value, text));
    case 'scalars':
      return group.every(({ test }) => items.some((item) => test(item, text)));
    case 'links':
      return items.some((item) => group.every(({ test }) => test(item, text)));
    case 'record':
      return hold(value, group, depth + 1, text);
    case 'records':
      return items.some((item) => hold(item, group, depth + 1, text));
    case 'opaque':
      throw new Error('an opaque field is no column');
  }
}
