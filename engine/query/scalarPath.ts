// Walks names over a collection's own records, embedded ones included, but through no link: what can be ordered and
// counted. Knows no value.
import type { FieldIndex } from '../index/field.ts';
import type { CollectionIndex, FieldNode, Members, Table } from '../index/table.ts';

/** The values that a path ends on, with the tables of the to-many relations on the way, outermost first. */
export interface Values {
  readonly index: FieldIndex;
  readonly tables: readonly Table[];
}

const NO_MEMBERS: Members = new Map();

/**
 * What a path of names has as values: a scalar's, or the ids of a relation that it ends on (A36); undefined where a
 * name is no field here, or where the embedded record at its end has no id. Cost: the names.
 */
export function valuesAt(collection: CollectionIndex, names: readonly string[]): Values | undefined {
  const tables: Table[] = [];
  let members = collection.members;
  let node: FieldNode | undefined;
  for (const name of names) {
    node = members.get(name);
    if (!node) return undefined;
    if (node.kind === 'many') tables.push(node.table);
    members = node.kind === 'values' ? NO_MEMBERS : node.members;
  }
  const index = node?.kind === 'values' ? node.index : node?.id;
  return index && { index, tables };
}
