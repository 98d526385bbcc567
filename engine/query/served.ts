// The fields of a collection as they are served: those that its data has, in the words of the declaration. What people
// and machines are told of a collection; no request needs it. Reads the tree of fields and no value.
import type { Dictionary } from '../column/dictionary.ts';
import type { FieldIndex } from '../index/field.ts';
import type { CollectionIndex, FieldNode, Link, Members } from '../index/table.ts';
import type { Collection, Field } from '../schema/types.ts';

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
  const fields = fieldsAmong(members, documentedBy(declaration), { budget, characters: keyCharactersMax });
  const others = keys.others.slice(0, budget.left).filter((key) => key.length <= keyCharactersMax);
  return { name: declaration.name, fields, others };
}

/**
 * The fields of a collection: declared ones, which import holds the data to; then those that public documents show,
 * each with the type that the data gives it; then those that only the data has, as inferred (A54). Cost: the fields.
 */
export function servedFields({ declaration, members }: CollectionIndex): readonly Field[] {
  return fieldsAmong(members, documentedBy(declaration), { budget: { left: Infinity }, characters: Infinity });
}

/** What is documented of the records of a collection. */
export function documentedBy({ fields, shown }: Collection): DocumentedFields {
  return { declared: fields, shown };
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

/** The documented fields of an object. */
export interface DocumentedFields {
  readonly declared: readonly Field[];
  readonly shown: readonly Field[];
}

function fieldsAmong(members: Members, { declared, shown }: DocumentedFields, room: Room): readonly Field[] {
  const all = declared.map((field) => declaredField(members.get(field.name), field, room));
  for (const field of shown) {
    const node = members.get(field.name);
    if (node) all.push(shownField(node, field, room));
  }
  const { budget, characters } = room;
  const known = new Set([...declared, ...shown].map(({ name }) => name));
  for (const node of members.values()) {
    if (known.has(node.name) || node.name.length > characters) continue;
    if (budget.left === 0) break;
    budget.left--;
    all.push(inferredField(node, [], room));
  }
  return all;
}

/** A declared embedded record may have extra keys, and any record lack a declared value. */
function declaredField(node: FieldNode | undefined, field: Field, room: Room): Field {
  if (!node) return field;
  if (!('fields' in field) || node.kind === 'values') return nullableAsServed(node, field);
  const inner = { declared: field.fields, shown: [] };
  return { ...field, fields: fieldsAmong(node.members, inner, roomBehind(field, room)) };
}

function roomBehind({ name }: { readonly name: string }, { budget, characters }: Room): Room {
  return { budget, characters: characters - name.length - '__'.length };
}

/** Nothing enforces what documents show: it holds where the data agrees. */
function shownField(node: FieldNode, shown: Field, room: Room): Field {
  const found = inferredField(node, 'fields' in shown ? shown.fields : [], room);
  if ('fields' in found || !isAlike(found, shown)) return found;
  return nullableAsServed(node, shown);
}

/** The field, told as one that may be null where a value is. */
function nullableAsServed(node: FieldNode, field: Field): Field {
  return 'nullable' in field && !field.nullable && hasNulls(node) ? { ...field, nullable: true } : field;
}

/** Whether two fields have values of the same structure and type, members of embedded records apart. */
export function isAlike(one: Field, other: Field): boolean {
  return one.kind === other.kind && typeOf(one) === typeOf(other);
}

function typeOf(field: Field): string | undefined {
  if ('type' in field) return field.type;
  return 'to' in field ? field.to : undefined;
}

function hasNulls(node: FieldNode): boolean {
  if (node.kind !== 'values') return false;
  const { size } = node.index.dictionary;
  return node.index.countOf({ start: size, end: size + 1 }) > 0;
}

/** A field as import infers it; `shown` are those that documents show within it. */
function inferredField(node: FieldNode, shown: readonly Field[], room: Room): Field {
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
  const fields = fieldsAmong(node.members, { declared: [], shown }, roomBehind(node, room));
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
