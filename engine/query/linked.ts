// Which records a record's links name, chosen by what these are declared to have: for who shows beside a record what
// stands in others. Reads links and no record; which fields are followed is the declaration's.
import type { CollectionIndex, FieldNode } from '../index/table.ts';
import type { Collection } from '../schema/types.ts';

/** A record that a link names, which may not exist, and the field with that link. */
export interface LinkedRecord {
  readonly key: string;
  readonly to: Collection;
  readonly id: number;
}

/**
 * The records of collections with all of `keys` that the record in a row links to: by to-one links, and by the first
 * `most` links of each to-many one. Cost: the fields of the collection, and these links.
 */
export function linkedRecords(
  { members }: Pick<CollectionIndex, 'members'>,
  row: number,
  keys: readonly string[],
  most: number,
): readonly LinkedRecord[] {
  return [...members.values()].flatMap((node) => {
    if (node.kind === 'record' || !node.link) return [];
    const to = node.link.to().declaration;
    const names = new Set(to.fields.map(({ name }) => name));
    if (!keys.every((key) => names.has(key))) return [];
    return idsAt(node, row, most).map((id) => ({ key: node.name, to, id }));
  });
}

/** The ids that stand in a row of a link, or in the first rows of links that are its. */
function idsAt(node: Exclude<FieldNode, { kind: 'record' }>, row: number, most: number): readonly number[] {
  const isMany = node.kind === 'many';
  const index = isMany ? node.id : node.index;
  if (!index) return [];
  const start = isMany ? node.table.starts![row]! : row;
  const end = isMany ? Math.min(node.table.starts![row + 1]!, start + most) : row + 1;
  const { numbers, fitting } = index.dictionary;
  const ids: number[] = [];
  for (let at = start; at < end; at++) {
    const code = index.codeAt(at);
    if (code < fitting) ids.push(numbers![code]!);
  }
  return ids;
}
