// The oracle's parsing of a filter key: the field it walks to, the lookup, the negation, or the error. Reads only the
// declaration of the product.
import type { Collection, Field } from '../../engine/schema/types.ts';
import { LOOKUP_HABITS } from '../../engine/query/habits.ts';
import { LOOKUPS, suits, type Lookup } from './lookups.ts';
import { suggestedName } from './suggest.ts';
import type { OperandType } from './values.ts';

/** A key that names a condition. `path` walks from the record to the value; `normal` is equal for equal conditions. */
export interface FilterKey {
  readonly kind: 'filter';
  readonly path: readonly Field[];
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
  return root ? walk(root, rest, negated, linked) : UNKNOWN;
}

function walk(root: Field, names: readonly string[], negated: boolean, linked: Linked): Key {
  let path: readonly Field[] = [root];
  let depth = 0;
  for (; depth < names.length; depth++) {
    const longer = stepped(path, names[depth] ?? '', linked);
    if (!longer) break;
    path = longer;
  }
  if (depth > STEPS_MAX) {
    return { kind: 'wrong', message: `At most ${STEPS_MAX} relations can be stepped over.` };
  }
  const [lookup = 'exact', excess] = names.slice(depth);
  const rest = [...names.slice(depth + 1).map((name) => `__${name}`), negated ? '!' : ''].join('');
  if (!isLookup(lookup) || !suits(lookup, typeOf(path.at(-1))) || hasNoId(path.at(-1))) {
    return wrongStep({ last: path.at(-1), start: [root.name, ...names.slice(0, depth)], lookup, rest, linked });
  }
  if (excess !== undefined) {
    const message = `"${excess}" lookup is not supported`;
    return { kind: 'wrong', message, explained: [message, `Nothing may follow "${lookup}".`] };
  }
  const whole = withId(path);
  const last = whole.at(-1);
  const toId = last?.kind === 'link' || last?.kind === 'links' ? `__${linked(last.to).idField}` : '';
  const normal = `${whole.map(({ name }) => name).join('__')}${toId}__${lookup}${negated ? '!' : ''}`;
  return { kind: 'filter', path: whole, type: typeOf(whole.at(-1)), lookup, negated, normal };
}

interface WrongStep {
  readonly last: Field | undefined;
  readonly start: readonly string[];
  readonly lookup: string;
  readonly rest: string;
  readonly linked: Linked;
}

/** A step that is not a lookup or not one that fits. If fields can follow here, it counts as a wrong field name. */
function wrongStep({ last, start, lookup, rest, linked }: WrongStep): Key {
  const fields = isLookup(lookup) || lookup === '' ? [] : fieldsBehind(last, linked);
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
function stepped(path: readonly Field[], name: string, linked: Linked): readonly Field[] | undefined {
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
