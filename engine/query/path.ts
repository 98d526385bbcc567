// Walks the names of a key over a collection's fields: what a path ends on and which tables lie on the way.
// Knows no lookup and no value. Called by key.ts, plan.ts and execute.ts.
import type { FieldIndex } from '../index/field.ts';
import type { CollectionIndex, FieldNode, Members } from '../index/table.ts';

/** A to-many relation on a path; `path` leads to it from the collection, its own name last. */
export interface ManyStep {
  readonly path: readonly string[];
  readonly node: Extract<FieldNode, { kind: 'many' }>;
}

/**
 * Where a path ends. `path` holds the names that fit. `index` is over the rows of the last table of `tables`, or of the
 * collection where there is none; undefined where the path ends on an embedded record without an id. `isRelation` where the path ends on a relation, so that the index is of its id (A36), and
 * `idName` then names the member that is this id, where there is one.
 */
export interface Located {
  readonly path: readonly string[];
  readonly index: FieldIndex | undefined;
  readonly isRelation: boolean;
  readonly idName: string | undefined;
  readonly tables: readonly ManyStep[];
}

/** A path that ends on something with values. */
export type LocatedField = Located & { readonly index: FieldIndex };

const NO_MEMBERS: Members = new Map();

/** Follows names as far as they are fields; undefined where the first is none. Cost: the names. */
export function locate(collection: CollectionIndex, names: readonly string[]): Located | undefined {
  const tables: ManyStep[] = [];
  let members = collection.members;
  let last: FieldNode | undefined;
  let length = 0;
  for (let node = members.get(names[0] ?? ''); node; node = members.get(names[length] ?? '')) {
    last = node;
    length++;
    if (node.kind === 'many') tables.push({ path: names.slice(0, length), node });
    members = node.kind === 'values' ? NO_MEMBERS : node.members;
  }
  if (!last) return undefined;
  return {
    path: names.slice(0, length),
    index: indexOf(last),
    isRelation: isRelation(last),
    idName: idNameOf(last),
    tables,
  };
}

/** Where the path of a condition ends, which key.ts has found to have values. */
export function locateField(collection: CollectionIndex, names: readonly string[]): LocatedField {
  const located = locate(collection, names);
  if (!located?.index) throw new Error(`a plan names ${names.join('__')}, which has no values`);
  return { ...located, index: located.index };
}

function indexOf(node: FieldNode): FieldIndex | undefined {
  return node.kind === 'values' ? node.index : node.id;
}

function isRelation(node: FieldNode): boolean {
  if (node.kind === 'values') return node.index.dictionary.type === 'link';
  return node.kind === 'record' || node.isRelation;
}

function idNameOf(node: FieldNode): string | undefined {
  if (node.kind === 'values') return undefined;
  for (const [name, member] of node.members) if (member.kind === 'values' && member.index === node.id) return name;
  return undefined;
}
