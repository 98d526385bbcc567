// A collection as tables: the root table of its records and one child table per to-many embedded relation, each field
// with its index. The tree has the shape of the declaration.
import type { Collection } from '../schema/types.ts';
import type { Records, TopLevelKeys } from '../column/records.ts';
import type { FieldIndex } from './field.ts';
import { GrowableU32 } from '../bits/growable.ts';
import { lowerBound, upperBound } from '../bits/lists.ts';
import { countRows, eachRow, ofBitmap, type RowSet, rowSetOf } from './rowset.ts';
import { setBit, wordsFor } from '../bits/bitmap.ts';

/**
 * One table of rows. A child table knows its parents: the rows of parent p are starts[p]..starts[p + 1], and
 * parents[row] is the parent of a row; both undefined on a root table.
 */
export interface Table {
  readonly rows: number;
  readonly starts: Uint32Array | undefined;
  readonly parents: Uint32Array | undefined;
}

/**
 * Where the links of one column point (join.ts). `targets` has a row of the linked collection for each code, `DANGLING`
 * where there is no such record. `to` is a call because collections link in circles.
 */
export interface Link {
  readonly targets: Uint32Array;
  to(): CollectionIndex;
}

/**
 * A name that a filter key can step on. `values`: a scalar or a to-one link, with its index over the table at hand.
 * `record`: a to-one embedded record; its members' indexes are over the same table; `id` means the relation itself,
 * undefined where an inferred one has none. `many`: a to-many relation with a table of its own. Embedded records have
 * `members`; links and arrays of scalars have none, and `id` is the index of their elements. `isRelation` is false for
 * arrays of scalars. `link` stands beside the index of ids that are links, and says where they point.
 */
export type FieldNode =
  | { readonly kind: 'values'; readonly name: string; readonly index: FieldIndex; readonly link?: Link }
  | { readonly kind: 'record'; readonly name: string; readonly members: Members; readonly id: FieldIndex | undefined }
  | {
      readonly kind: 'many';
      readonly name: string;
      readonly table: Table;
      readonly members: Members;
      readonly id: FieldIndex | undefined;
      readonly isRelation: boolean;
      readonly link?: Link;
    };

/** The fields of a table or embedded record by name. */
export type Members = ReadonlyMap<string, FieldNode>;

/** One collection, ready to be asked: its declaration, rows in id order, fields, top-level keys and served bytes. */
export interface CollectionIndex {
  readonly declaration: Collection;
  readonly rows: number;
  readonly ids: FieldIndex;
  readonly members: Members;
  readonly keys: TopLevelKeys;
  readonly records: Records;
}

/** The row of the record with this id, or -1. `id` is an integer of 0 to 2^53 - 1. Cost: O(log rows). */
export function rowOfId(collection: CollectionIndex, id: number): number {
  const ids = collection.ids.dictionary.numbers!;
  const row = lowerBound(ids, id);
  return ids[row] === id ? row : -1;
}

/**
 * The first row whose record has an id above `id`, any number; the number of rows where there is none. Cost: O(log
 * rows).
 */
export function rowAfterId(collection: CollectionIndex, id: number): number {
  return upperBound(collection.ids.dictionary.numbers!, id);
}

/** The parents of a set of rows of a child table, over `parentRows` rows. Cost: the set, and O(parentRows / 32). */
export function parentsOf(table: Table, set: RowSet, parentRows: number): RowSet {
  const parents = table.parents!;
  if (countRows(set) <= parentRows / 64) return fewParents(parents, set);
  const words = new Uint32Array(wordsFor(parentRows));
  eachRow(set, (row) => setBit(words, parents[row]!));
  return ofBitmap(words);
}

/** How many rows some parents have in a child table. Cost: the parents. */
export function countChildren({ starts }: Table, parents: RowSet): number {
  let count = 0;
  eachRow(parents, (parent) => (count += starts![parent + 1]! - starts![parent]!));
  return count;
}

/** The rows that a few parents have in a child table. Cost: these rows. */
export function childRows({ starts, rows }: Table, parents: RowSet): RowSet {
  const children = new GrowableU32();
  eachRow(parents, (parent) => {
    for (let row = starts![parent]!; row < starts![parent + 1]!; row++) children.push(row);
  });
  return rowSetOf(children.view(), rows);
}

/** Parents ascend with their rows, so that an ascending set gives ascending parents and repeats are neighbours. */
function fewParents(parents: Uint32Array, set: RowSet): RowSet {
  const rows = new Uint32Array(countRows(set));
  let length = 0;
  eachRow(set, (row) => {
    if (length === 0 || rows[length - 1] !== parents[row]) rows[length++] = parents[row]!;
  });
  return { kind: 'list', rows: rows.subarray(0, length) };
}
