// The oracle's matching of a record with conditions: plain loops over the record's JSON. Rules: design, Filters,
// Combination.
import type { Field } from '../../engine/schema/types.ts';
import { memberOf, type Json } from './json.ts';
import type { Test } from './values.ts';

/** Inputs of matching in addition to the record: strings as served, and the record that a link points at. */
export interface World {
  text(stored: string): string;
  linked(to: string, link: Json | undefined): Json | undefined;
}

/** One condition: a walk from the record to values, and the test they must pass. */
export interface Condition {
  readonly path: readonly Field[];
  readonly negated: boolean;
  readonly test: Test;
}

/**
 * Whether a record meets all conditions. Positive conditions on one to-many relation must hold for the same related
 * row. Each negated one is separate and drops records with any matching row. A missing related row counts as a row of
 * nulls.
 */
export function matches(record: Json, conditions: readonly Condition[], world: World): boolean {
  const positive = conditions.filter(({ negated }) => !negated);
  const negative = conditions.filter(({ negated }) => negated);
  if (!hold(record, positive, 0, world)) return false;
  return negative.every((condition) => !hold(record, [condition], 0, world));
}

/** Whether all conditions hold for one (related) record. Their paths have already walked `depth` steps. */
function hold(record: Json | undefined, conditions: readonly Condition[], depth: number, world: World): boolean {
  const fields = new Set(conditions.map(({ path }) => path[depth]));
  for (const field of fields) {
    if (field === undefined) throw new Error('a path ends on a value');
    const group = conditions.filter(({ path }) => path[depth] === field);
    if (!fieldHolds(field, memberOf(record, field.name), group, depth, world)) return false;
  }
  return true;
}

function fieldHolds(
  field: Field,
  value: Json | undefined,
  group: readonly Condition[],
  depth: number,
  world: World,
): boolean {
  // A row of nulls replaces a missing related row.
  const items = value?.kind === 'array' && value.items.length > 0 ? value.items : [undefined];
  const { text } = world;
  switch (field.kind) {
    case 'scalar':
      return group.every(({ test }) => test(value, text));
    case 'scalars':
      return group.every(({ test }) => items.some((item) => test(item, text)));
    case 'link':
      return linkHolds(field.to, value, group, depth, world);
    case 'links':
      return items.some((item) => linkHolds(field.to, item, group, depth, world));
    case 'record':
      return hold(value, group, depth + 1, world);
    case 'records':
      return items.some((item) => hold(item, group, depth + 1, world));
    case 'opaque':
      throw new Error('an opaque field is no column');
  }
}

/** Conditions that end on a link test its id, the others the record that it points at. */
function linkHolds(
  to: string,
  link: Json | undefined,
  group: readonly Condition[],
  depth: number,
  world: World,
): boolean {
  const ending = group.filter(({ path }) => path.length === depth + 1);
  const going = group.filter(({ path }) => path.length > depth + 1);
  if (!ending.every(({ test }) => test(link, world.text))) return false;
  return going.length === 0 || hold(world.linked(to, link), going, depth + 1, world);
}
