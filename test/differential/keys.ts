// The oracle's parsing of a filter key: the field it walks to, the lookup, the negation, or the error. Reads only the
// declaration of the product.
import type { Collection, Field } from '../../engine/schema/types.ts';
import { GENERIC_LINKS } from '../../engine/schema/genericLinks.ts';
import { LOOKUP_HABITS } from '../../engine/query/habits.ts';
import { LOOKUPS, suits, type Lookup } from './lookups.ts';
import { suggestedName } from './suggest.ts';
import type { OperandType } from './values.ts';

/**
 * A key that names a condition. `path` and `rests` (filters.ts) walk from the record to the value; `normal` is equal
 * for equal conditions.
 */
export interface FilterKey {
  readonly kind: 'filter';
  readonly path: readonly Field[];
  readonly rests?: ReadonlyMap<string, readonly Field[]>;
  readonly type: OperandType;
  readonly lookup: Lookup;
  readonly negated: boolean;
  readonly normal: string;
}

/** A collection by name, with the fields that a key can use after a link to it. */
export type Linked = (name: string) => Collection;

/** A parsed key: a condition, a known field followed by something that does not fit it, or an unknown parameter. */
export type Key =
  | FilterKey
  | {
      readonly kind: 'wrong';
      readonly message: string;
      readonly explained?: readonly string[];
      /** The working form of a lookup of other services. */
      readonly meant?: string;
    }
  | { readonly kind: 'unknown' };

const UNKNOWN: Key = { kind: 'unknown' };
const NAME = /^[\p{L}_][\p{L}\p{N}_]*$/u;
const STEPS_MAX = 6;

/** The fields a query may start from: declared ones that are columns, or just the documented filters (spec 4.3). */
export function filterableFields(collection: Collection, filters: 'all' | 'documented'): readonly Field[] {
  const fields = columnsOf(collection.fields);
  return filters === 'all' ? fields : fields.filter(({ name }) => collection.filters.includes(name));
}

/** The meaning of a decoded parameter name for a list whose filterable fields are `roots`. */
export function keyOf(key: string, roots: readonly Field[], linked: Linked): Key {
  const negated = key.endsWith('!');
  const [first = '', ...rest] = (negated ? key.slice(0, -1) : key).split('__');
  if (![first, ...rest.filter((name) => name !== '')].every((name) => NAME.test(name))) return UNKNOWN;
  const root = fieldNamed(roots, first);
  return root ? walk([root, ...roots.filter((field) => field !== root)], rest, negated, linked) : UNKNOWN;
}

/** The first of `roots` is the one that the key starts from. */
function walk(roots: readonly [Field, ...Field[]], names: readonly string[], negated: boolean, linked: Linked): Key {
  const [root] = roots;
  const plain = walked([root], names, linked);
  const generic = genericRests(plain.path, roots, names.slice(plain.depth), linked);
  const depth = plain.depth + (generic?.depth ?? 0);
  const path = generic ? plainEnd(plain.path) : plain.path;
  const last = generic ? generic.first.at(-1) : path.at(-1);
  if (depth > STEPS_MAX) {
    return { kind: 'wrong', message: `At most ${STEPS_MAX} relations can be stepped over.` };
  }
  const [lookup = 'exact', excess] = names.slice(depth);
  const rest = [...names.slice(depth + 1).map((name) => `__${name}`), negated ? '!' : ''].join('');
  if (!isLookup(lookup) || !suits(lookup, typeOf(last)) || hasNoId(last)) {
    const ends = generic ? [...generic.rests.values()].map((one) => one.at(-1)) : [last];
    const options = generic ? [] : optionsAt(path, roots).map((name) => linked(name));
    const fields = [...new Set([...ends.flatMap((end) => fieldsBehind(end, linked)), ...options.flatMap(namesOf)])];
    return wrongStep({ last, fields, start: [root.name, ...names.slice(0, depth)], lookup, rest });
  }
  if (excess !== undefined) {
    const message = `"${excess}" lookup is not supported`;
    return { kind: 'wrong', message, explained: [message, `Nothing may follow "${lookup}".`] };
  }
  const whole = generic ? path : withId(path);
  const end = generic ? withId(generic.first).at(-1) : whole.at(-1);
  const toId = end?.kind === 'link' || end?.kind === 'links' ? `__${linked(end.to).idField}` : '';
  const after = generic ? [...names.slice(plain.depth, depth), ...(end === last ? [] : [end!.name])] : [];
  const normal = `${[...whole.map(({ name }) => name), ...after].join('__')}${toId}__${lookup}${negated ? '!' : ''}`;
  const key: FilterKey = { kind: 'filter', path: whole, type: typeOf(end), lookup, negated, normal };
  if (!generic) return key;
  return { ...key, rests: new Map([...generic.rests].map(([to, one]) => [to, withId(one)])) };
}

/** Follows names as long as they are fields. */
function walked(
  start: readonly Field[],
  names: readonly string[],
  linked: Linked,
): { readonly path: readonly Field[]; readonly depth: number } {
  let path = start;
  let depth = 0;
  for (; depth < names.length; depth++) {
    const longer = stepped(path, names[depth]!, linked);
    if (!longer) break;
    path = longer;
  }
  return { path, depth };
}

/**
 * The collections that a path may continue in, because it ends on a generic link. `siblings` are those of its first.
 */
function optionsAt(path: readonly Field[], siblings: readonly Field[]): readonly string[] {
  const id = plainEnd(path).at(-1);
  const parent = plainEnd(path).at(-2);
  const fields = parent && 'fields' in parent ? parent.fields : parent ? [] : siblings;
  const link = GENERIC_LINKS.find((one) => one.id === id?.name && (!parent || parent.name === one.parent));
  const kind = fields.find(({ name }) => name === link?.discriminator);
  const isGeneric =
    parent?.kind !== 'records' &&
    (parent !== undefined || link?.id === 'ob_ref') &&
    id?.kind === 'scalar' &&
    id.type === 'integer' &&
    kind?.kind === 'scalar' &&
    kind.type === 'text';
  return isGeneric ? [...new Set(link!.collections.values())] : [];
}

/** A path to an embedded record, continued to its id. */
function plainEnd(path: readonly Field[]): readonly Field[] {
  return path.at(-1)?.kind === 'record' ? withId(path) : path;
}

/** The rest of a key after a generic link: its longest path in each collection, if its type is that of the first. */
function genericRests(
  path: readonly Field[],
  siblings: readonly Field[],
  names: readonly string[],
  linked: Linked,
):
  | { readonly rests: ReadonlyMap<string, readonly Field[]>; readonly first: readonly Field[]; readonly depth: number }
  | undefined {
  const [name = '', ...others] = names;
  const all = optionsAt(path, siblings).flatMap((to) => {
    const field = fieldNamed(columnsOf(linked(to).fields), name);
    return field ? [{ to, ...walked([field], others, linked) }] : [];
  });
  const depth = Math.max(...all.map((one) => one.depth));
  const longest = all.filter((one) => one.depth === depth);
  const [first] = longest;
  if (!first) return undefined;
  const typeAt = (one: readonly Field[]): string => (hasNoId(one.at(-1)) ? 'none' : typeOf(one.at(-1)));
  const same = longest.filter((one) => typeAt(one.path) === typeAt(first.path));
  return { rests: new Map(same.map((one) => [one.to, one.path])), first: first.path, depth: depth + 1 };
}

function namesOf({ fields }: Collection): readonly string[] {
  return columnsOf(fields).map(({ name }) => name);
}

interface WrongStep {
  readonly last: Field | undefined;
  /** The fields that can follow. */
  readonly fields: readonly string[];
  readonly start: readonly string[];
  readonly lookup: string;
  readonly rest: string;
}

/** A step that is not a lookup or not one that fits. If fields can follow here, it counts as a wrong field name. */
function wrongStep({ last, fields: names, start, lookup, rest }: WrongStep): Key {
  const fields = isLookup(lookup) || lookup === '' ? [] : names;
  const fitting = hasNoId(last) ? [] : LOOKUPS.filter((one) => suits(one, typeOf(last)));
  const meant = suggestedName(lookup, [...fields, ...fitting], rest).replace('"', `"${start.join('__')}__`);
  const fits = fitting.length > 0 ? [`Lookups that fit: ${fitting.join(', ')}.`] : [];
  const message = `"${lookup}" lookup is not supported`;
  const first = fields.length > 0 ? `Unknown field "${lookup}".` : message;
  const habit = ['', '!'].includes(rest) ? LOOKUP_HABITS.find(({ names }) => names.includes(lookup)) : undefined;
  if (habit && fitting.some((one) => one === habit.lookup)) {
    const key = [...start, ...(habit.lookup === 'exact' ? [] : [habit.lookup])].join('__');
    const working = (habit.isNegated === true) === (rest === '!') ? key : `${key}!`;
    return { kind: 'wrong', message, meant: working, explained: [first, `Did you mean "${working}"?`, ...fits] };
  }
  return { kind: 'wrong', message, explained: [first, ...(meant === '' ? [] : [meant.trim()]), ...fits] };
}

/** The names that can follow a step: members of an embedded record, or fields of the record that a link points at. */
function fieldsBehind(last: Field | undefined, linked: Linked): readonly string[] {
  if (last?.kind === 'link' || last?.kind === 'links') return columnsOf(linked(last.to).fields).map(({ name }) => name);
  if (last?.kind !== 'record' && last?.kind !== 'records') return [];
  const own = columnsOf(last.fields).map(({ name }) => name);
  const id = idOf(last);
  return [...new Set([...own, ...(id?.kind === 'link' ? fieldsBehind(id, linked) : [])])];
}

function isLookup(name: string): name is Lookup {
  return (LOOKUPS as readonly string[]).includes(name);
}

/** An embedded record that is only inferred from the data may have no id. */
function hasNoId(last: Field | undefined): boolean {
  return (last?.kind === 'record' || last?.kind === 'records') && last.idField === undefined;
}

/** A path that ends on an embedded record continues to its id. */
function withId(path: readonly Field[]): readonly Field[] {
  const last = path.at(-1);
  if (last?.kind !== 'record' && last?.kind !== 'records') return path;
  const id = idOf(last);
  return id ? [...path, id] : path;
}

/** The operand type of a key that ends on a field: for a relation its id. */
export function typeOf(last: Field | undefined): OperandType {
  return last?.kind === 'scalar' || last?.kind === 'scalars' ? last.type : 'id';
}

/**
 * The path and one more name: a member of an embedded record, or a field of the record that a link points at. If the id
 * of an embedded record is a link, names that are not its members belong to the record that the link points at.
 */
export function stepped(path: readonly Field[], name: string, linked: Linked): readonly Field[] | undefined {
  const last = path.at(-1);
  if (last?.kind === 'link' || last?.kind === 'links') {
    const field = fieldNamed(columnsOf(linked(last.to).fields), name);
    return field && [...path, field];
  }
  if (last?.kind !== 'record' && last?.kind !== 'records') return undefined;
  const own = fieldNamed(columnsOf(last.fields), name);
  if (own) return [...path, own];
  const id = idOf(last);
  return id?.kind === 'link' ? stepped([...path, id], name, linked) : undefined;
}

/** The member of an embedded record that is its id; one that is only inferred from the data may have none. */
export function idOf(record: Extract<Field, { kind: 'record' | 'records' }>): Field | undefined {
  return record.idField === undefined ? undefined : fieldNamed(record.fields, record.idField);
}

export function columnsOf(fields: readonly Field[]): readonly Field[] {
  return fields.filter(({ kind }) => kind !== 'opaque');
}

function fieldNamed(fields: readonly Field[], name: string): Field | undefined {
  return fields.find((field) => field.name === name);
}
