// The oracle's matching of a record with conditions: plain loops over the record's JSON. Rules: design, Filters,
// Combination.
import { collectionNamed } from '../../engine/schema/catalogue.ts';
import { collectionOfLink, GENERIC_LINKS } from '../../engine/schema/genericLinks.ts';
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
  /** After a generic link, at whose id `path` ends: the path in each collection that it may lead to. */
  readonly rests?: ReadonlyMap<string, readonly Field[]>;
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
  const generic = conditions.filter(({ rests, path }) => rests && path.length === depth + 1);
  if (generic.length > 0 && !genericHolds(record, generic, depth, world)) return false;
  const others = conditions.filter((condition) => !generic.includes(condition));
  const fields = new Set(others.map(({ path }) => path[depth]));
  for (const field of fields) {
    if (field === undefined) throw new Error('a path ends on a value');
    const group = others.filter(({ path }) => path[depth] === field);
    if (!fieldHolds(field, memberOf(record, field.name), group, depth, world)) return false;
  }
  return true;
}

/** Whether the conditions after a generic link hold for its record. A field that its collection lacks is null. */
function genericHolds(
  parent: Json | undefined,
  conditions: readonly Condition[],
  depth: number,
  world: World,
): boolean {
  const link = GENERIC_LINKS.find(({ id }) => id === conditions[0]?.path[depth]?.name)!;
  const kind = memberOf(parent, link.discriminator);
  const to = kind?.kind === 'string' ? collectionOfLink(link, kind.value) : undefined;
  const id = memberOf(parent, link.id);
  const number = id?.kind === 'number' && /^-?\d+$/.test(id.token) ? BigInt(id.token) : -1n;
  const address = { kind: 'string', value: `{base_url}/api/v3/${to}/${number}/?format=api` } as const;
  const record = to === undefined || number < 0n ? undefined : world.linked(to, address);
  const known: Condition[] = [];
  for (const { rests, ...condition } of conditions) {
    const path = to === undefined ? undefined : rests!.get(to);
    const isId = path?.length === 1 && path[0]!.name === collectionNamed(to!)?.idField;
    if (path && !isId) known.push({ ...condition, path });
    else if (!condition.test(isId ? id : undefined, world.text)) return false;
  }
  return hold(record, known, 0, world);
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
