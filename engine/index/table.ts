// The tables of a collection: the root table of its records and one child table per to-many embedded relation. Each
// field has an index. The tree has the shape of the declaration.
import type { Collection } from '../schema/types.ts';
import type { Records, TopLevelKeys } from '../column/records.ts';
import type { CodeRange } from '../column/dictionary.ts';
import type { FieldIndex } from './field.ts';
import { GrowableU32 } from '../bits/growable.ts';
import { lowerBound, upperBound } from '../bits/lists.ts';
import { countRows, eachRow, ofBitmap, type RowSet, rowSetOf } from './rowset.ts';
import { setBit, wordsFor } from '../bits/bitmap.ts';

/** One table of rows. `starts` and `parents` are undefined for a root table. */
export interface Table {
  readonly rows: number;
  /** The rows of parent p are starts[p] up to starts[p + 1], exclusive. */
  readonly starts: Uint32Array | undefined;
  /** The parent of each row. */
  readonly parents: Uint32Array | undefined;
}

/** The targets of the links of one column (join.ts). */
export interface Link {
  /**
   * The row in the linked collection for each code; `DANGLING` if the record does not exist. Undefined if the targets
   * are searched by id, as those of generic links.
   */
  readonly targets: Uint32Array | undefined;
  /** A function, because collections link in circles. */
  to(): CollectionIndex;
}

/** One collection that a generic link may lead to. */
export interface LinkOption {
  /** The ids as a link to this collection. No filter key can contain the name. */
  readonly node: ValuesNode;
  /** The rows whose ids lead there: those with one of these codes in the discriminator. */
  readonly discriminator: FieldIndex;
  readonly codes: CodeRange;
  /** The discriminator's name, and the text that it is compared with. */
  readonly field: string;
  readonly lookup: string;
  readonly text: string;
}

/**
 * A step of a filter key.
 *
 *   values  a scalar or a to-one link, with its index over the current table
 *   record  a to-one embedded record; the indexes of its members are over the same table. `index` is the relation
 *           itself, by its id; undefined if an inferred relation has no ids
 *   many    a to-many relation, with its own table. `index` is that of its ids, or of the elements of links and arrays
 *           of scalars. `isRelation` is false for arrays of scalars
 *
 * Only embedded records have `members`. `link` is defined if the index has ids that are links. It has their targets.
 * `options` are the collections of a generic link.
 */
export type FieldNode = ValuesNode | RecordNode | ManyNode;

interface Named {
  readonly name: string;
  readonly members: Members;
  readonly link?: Link | undefined;
}

export interface ValuesNode extends Named {
  readonly kind: 'values';
  readonly index: FieldIndex;
  readonly options?: readonly LinkOption[] | undefined;
}

interface RecordNode extends Named {
  readonly kind: 'record';
  readonly index: FieldIndex | undefined;
}

interface ManyNode extends Named {
  readonly kind: 'many';
  readonly index: FieldIndex | undefined;
  readonly table: Table;
  readonly isRelation: boolean;
}

/** The fields of a table or embedded record by name. */
export type Members = ReadonlyMap<string, FieldNode>;

export const NO_MEMBERS: Members = new Map();

/** One collection, ready for queries. Rows are in id order. */
export interface CollectionIndex {
  readonly declaration: Collection;
  readonly rows: number;
  readonly ids: FieldIndex;
  readonly members: Members;
  readonly keys: TopLevelKeys;
  readonly records: Records;
}

/** The row of the record with this id, or -1. `id` is an integer from 0 to 2^53 - 1. Cost: O(log rows). */
export function rowOfId(collection: CollectionIndex, id: number): number {
  const ids = collection.ids.dictionary.numbers!;
  const row = lowerBound(ids, id);
  return ids[row] === id ? row : -1;
}

/**
 * The first row whose record has an id greater than `id`, which may be any number. Returns the number of rows if all
 * ids are at most `id`. Cost: O(log rows).
 */
export function rowAfterId(collection: CollectionIndex, id: number): number {
  return upperBound(collection.ids.dictionary.numbers!, id);
}

/**
 * The parent rows of a set of child rows. `parentRows` is the size of the parent table. Cost: one step per child row,
 * and O(parentRows / 32).
 */
export function parentsOf(table: Table, set: RowSet, parentRows: number): RowSet {
  const parents = table.parents!;
  if (countRows(set) <= parentRows / 64) return fewParents(parents, set);
  const words = new Uint32Array(wordsFor(parentRows));
  eachRow(set, (row) => setBit(words, parents[row]!));
  return ofBitmap(words);
}

/** The number of rows that some parents have in a child table. Cost: the parents. */
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

/** Parents ascend with their rows, so that an ascending set gives ascending parents, and duplicates are neighbours. */
function fewParents(parents: Uint32Array, set: RowSet): RowSet {
  const rows = new Uint32Array(countRows(set));
  let length = 0;
  eachRow(set, (row) => {
    if (length === 0 || rows[length - 1] !== parents[row]) rows[length++] = parents[row]!;
  });
  return { kind: 'list', rows: rows.subarray(0, length) };
}
