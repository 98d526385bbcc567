// The fields of a collection as served: those that its data has, in the terms of the declaration. For descriptions of a
// collection, for people and machines; no request needs them. Reads the tree of fields, but no values.
import type { Dictionary } from '../column/dictionary.ts';
import type { FieldIndex } from '../index/field.ts';
import type { CollectionIndex, FieldNode, Link, Members } from '../index/table.ts';
import type { Field } from '../schema/types.ts';
import { idMember } from './path.ts';

/** The record shape of a collection, as plain data. */
export interface RecordShape {
  readonly name: string;
  readonly fields: readonly Field[];
  /** Top-level keys that are not fields, for example because their values differ in structure. */
  readonly others: readonly string[];
}

/** Limits on what a shape includes besides the documented fields. */
export interface ShapeLimits {
  /** Maximum number of undocumented fields and keys. */
  readonly inferredMax: number;
  /** Maximum characters in the key of an undocumented field. */
  readonly keyCharactersMax: number;
}

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
 * The fields of a collection: documented fields with their documented types, then those that only the data has, with
 * inferred types (A54). Cost: the fields.
 */
export function servedFields({ declaration, members }: CollectionIndex): readonly Field[] {
  return fieldsAmong(members, declaration.fields, { budget: { left: Infinity }, characters: Infinity });
}

/** The undocumented fields that may still be included. */
interface Budget {
  left: number;
}

/** Limits for the members of an object. */
interface Room {
  readonly budget: Budget;
  /** Characters left for a key, after the key of the object. */
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

/**
 * A documented field as served. A documented embedded record may have extra keys, and any record may lack a documented
 * value.
 */
function documentedField(node: FieldNode | undefined, field: Field, room: Room): Field {
  if (!node) return field;
  const dictionary = node.index?.dictionary;
  const served = dictionary && dictionary.fitting < dictionary.size ? { ...field, hasMisfits: true as const } : field;
  if (!('fields' in served) || node.kind === 'values') return nullableAsServed(node, served);
  return { ...served, fields: fieldsAmong(node.members, served.fields, roomBelow(field, room)) };
}

function roomBelow({ name }: { readonly name: string }, { budget, characters }: Room): Room {
  return { budget, characters: characters - name.length - '__'.length };
}

/** The field, declared nullable if the data has a null there. */
function nullableAsServed(node: FieldNode, field: Field): Field {
  return 'nullable' in field && !field.nullable && hasNulls(node) ? { ...field, nullable: true } : field;
}

function hasNulls(node: FieldNode): boolean {
  if (node.kind !== 'values') return false;
  const { size } = node.index.dictionary;
  return node.index.countOf({ start: size, end: size + 1 }) > 0;
}

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
    if (!node.isRelation) return { kind: 'scalars', name, type: scalarType(node.index) };
  }
  const fields = fieldsAmong(node.members, [], roomBelow(node, room));
  const id = idMember(node);
  return { kind: node.kind === 'many' ? 'records' : 'record', name, fields, ...(id ? { idField: id.name } : {}) };
}

function targetOf(link: Link): string {
  return link.to().declaration.name;
}

function scalarType(index: FieldIndex | undefined): Exclude<Dictionary['type'], 'link'> {
  const type = index?.dictionary.type;
  if (type === undefined || type === 'link') throw new Error(`a field of scalars has values of type ${type}`);
  return type;
}
