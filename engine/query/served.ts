// The fields of a collection as they are served: those that its data has, in the words of the declaration. What people
// and machines are told of a collection; no request needs it. Reads the tree of fields and no value.
import type { Dictionary } from '../column/dictionary.ts';
import type { FieldIndex } from '../index/field.ts';
import type { CollectionIndex, FieldNode, Link, Members } from '../index/table.ts';
import type { Field } from '../schema/types.ts';

/**
 * What the records of a collection have, as plain data: fields, and top-level keys that are none, such as those whose
 * values differ in structure.
 */
export interface RecordShape {
  readonly name: string;
  readonly fields: readonly Field[];
  readonly others: readonly string[];
}

/** What may be told beside the documented fields: so many, with so many characters in their keys at most. */
export interface ShapeLimits {
  readonly inferredMax: number;
  readonly keyCharactersMax: number;
}

/** The shape of a collection within limits. Cost: its fields. */
export function recordShape(
  { declaration, members, keys }: CollectionIndex,
  { inferredMax, keyCharactersMax }: ShapeLimits,
): RecordShape {
  const budget: Budget = { left: inferredMax };
  const fields = fieldsAmong(members, declaration.fields, { budget, characters: keyCharactersMax });
  const others = keys.others.slice(0, budget.left).filter((key) => key.length <= keyCharactersMax);
  return { name: declaration.name, fields, others };
}

/**
 * The fields of a collection: documented ones with their documented types, then those that only the data has, as
 * inferred (A54). Cost: the fields.
 */
export function servedFields({ declaration, members }: CollectionIndex): readonly Field[] {
  return fieldsAmong(members, declaration.fields, { budget: { left: Infinity }, characters: Infinity });
}

/** How many fields that are not documented may still be told. */
interface Budget {
  left: number;
}

/** What may be told of an object: so many fields, so many characters behind the key of the object. */
interface Room {
  readonly budget: Budget;
  readonly characters: number;
}

function fieldsAmong(members: Members, documented: readonly Field[], room: Room): readonly Field[] {
  const all = documented.map((field) => documentedField(members.get(field.name), field, room));
  const { budget, characters } = room;
  const known = new Set(documented.map(({ name }) => name));
  for (const node of members.values()) {
    if (known.has(node.name) || node.name.length > characters) continue;
    if (budget.left === 0) break;
    budget.left--;
    all.push(inferredField(node, room));
  }
  return all;
}

/** A documented embedded record may have extra keys, and any record lack a documented value. */
function documentedField(node: FieldNode | undefined, field: Field, room: Room): Field {
  if (!node) return field;
  const dictionary = (node.kind === 'values' ? node.index : node.id)?.dictionary;
  const served = dictionary && dictionary.fitting < dictionary.size ? { ...field, hasMisfits: true as const } : field;
  if (!('fields' in served) || node.kind === 'values') return nullableAsServed(node, served);
  return { ...served, fields: fieldsAmong(node.members, served.fields, roomBehind(field, room)) };
}

function roomBehind({ name }: { readonly name: string }, { budget, characters }: Room): Room {
  return { budget, characters: characters - name.length - '__'.length };
}

/** The field, told as one that may be null where a value is. */
function nullableAsServed(node: FieldNode, field: Field): Field {
  return 'nullable' in field && !field.nullable && hasNulls(node) ? { ...field, nullable: true } : field;
}

function hasNulls(node: FieldNode): boolean {
  if (node.kind !== 'values') return false;
  const { size } = node.index.dictionary;
  return node.index.countOf({ start: size, end: size + 1 }) > 0;
}

/** A field as import infers it. */
function inferredField(node: FieldNode, room: Room): Field {
  const { name } = node;
  if (node.kind === 'values') {
    const { index, link } = node;
    return link
      ? { kind: 'link', name, to: targetOf(link), nullable: true }
      : { kind: 'scalar', name, type: scalarType(index), nullable: true };
  }
  if (node.kind === 'many') {
    if (node.link) return { kind: 'links', name, to: targetOf(node.link) };
    if (!node.isRelation) return { kind: 'scalars', name, type: scalarType(node.id) };
  }
  const fields = fieldsAmong(node.members, [], roomBehind(node, room));
  const id = [...node.members.values()].find((member) => member.kind === 'values' && member.index === node.id);
  return { kind: node.kind === 'many' ? 'records' : 'record', name, fields, ...(id ? { idField: id.name } : {}) };
}

function targetOf(link: Link): string {
  return link.to().declaration.name;
}

/** The type of values that are no links. */
function scalarType(index: FieldIndex | undefined): Exclude<Dictionary['type'], 'link'> {
  const type = index?.dictionary.type;
  if (type === undefined || type === 'link') throw new Error(`a field of scalars has values of type ${type}`);
  return type;
}
