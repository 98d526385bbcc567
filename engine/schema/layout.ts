// The declaration as columns and tables: a numbered list of the columns that a collection's records become, by path.
// Derived only. Decoding fills these columns, the snapshot names its sections after them, and opening a snapshot finds
// them by these names.
import { GENERIC_LINKS, type GenericLink } from './genericLinks.ts';
import type { Collection, Field, ScalarType } from './types.ts';

/** One column. */
export interface ColumnLayout {
  /** Unique in the catalogue, such as `observations/result_field/dataPath`. */
  readonly path: string;
  /** The number of the table with its rows. */
  readonly table: number;
  /** A `link` column contains the ids of links to `to`. */
  readonly type: ScalarType | 'link';
  readonly to: string | undefined;
  readonly isNullable: boolean;
  /** Whether the column is the record's own id. */
  readonly isId: boolean;
}

/** Names that a filter key can contain (A30). Fields with other names are served, but have no column. */
export const FIELD_NAME = /^(?!.*__)[\p{L}_][\p{L}\p{N}_]*$/u;

/** Whether values of this type have numbers next to their texts, and are sorted by these numbers. */
export function hasNumbers(type: ColumnLayout['type']): boolean {
  return type !== 'text' && type !== 'boolean';
}

/** The name of a column or table in filters: its path without the collection (`result_field__dataPath`). */
export function filterName({ path }: Pick<ColumnLayout, 'path'>): string {
  return path.split('/').slice(1).join('__');
}

/** One table: the records themselves (number 0, parent -1) or the rows of a to-many embedded relation. */
export interface TableLayout {
  readonly path: string;
  readonly parent: number;
}

/** A declared field, with the numbers of its columns and tables. */
export type LayoutNode =
  | { readonly kind: 'column'; readonly name: string; readonly column: number }
  | {
      readonly kind: 'record';
      readonly name: string;
      readonly idField: string | undefined;
      readonly members: readonly LayoutNode[];
    }
  | {
      readonly kind: 'table';
      readonly name: string;
      readonly idField: string | undefined;
      readonly table: number;
      readonly members: readonly LayoutNode[];
    }
  | { readonly kind: 'elements'; readonly name: string; readonly table: number; readonly column: number }
  | { readonly kind: 'opaque'; readonly name: string };

/** A generic link with the numbers of its columns. */
export interface GenericColumns {
  readonly link: GenericLink;
  readonly id: number;
  readonly discriminator: number;
}

/** A collection's columns, tables and the tree of its fields. */
export interface Layout {
  readonly collection: Collection;
  readonly columns: readonly ColumnLayout[];
  readonly tables: readonly TableLayout[];
  readonly members: readonly LayoutNode[];
  readonly genericLinks: readonly GenericColumns[];
}

interface Draft {
  readonly columns: ColumnLayout[];
  readonly tables: TableLayout[];
  readonly genericLinks: GenericColumns[];
}

/**
 * The layout of a collection as documented, or with the given fields, such as those of its data. Cost: the number of
 * its fields; derived once for each collection and use.
 */
export function layoutOf(collection: Collection, fields: readonly Field[] = collection.fields): Layout {
  const draft: Draft = { columns: [], tables: [{ path: collection.name, parent: -1 }], genericLinks: [] };
  const members = fields.map((field) =>
    nodeOf(draft, field, { path: collection.name, table: 0, idField: collection.idField }),
  );
  addGenericLinks(draft, collection.name, members);
  return { collection, members, ...draft };
}

interface Place {
  readonly path: string;
  readonly table: number;
  readonly idField?: string;
}

function nodeOf(draft: Draft, field: Field, place: Place): LayoutNode {
  const { name } = field;
  const path = `${place.path}/${name}`;
  switch (field.kind) {
    case 'scalar':
      return { kind: 'column', name, column: addColumn(draft, path, place, field) };
    case 'link':
      return { kind: 'column', name, column: addColumn(draft, path, place, { ...field, type: 'link' }) };
    case 'record': {
      const members = field.fields.map((member) => nodeOf(draft, member, { path, table: place.table }));
      addGenericLinks(draft, name, members);
      return { kind: 'record', name, idField: field.idField, members };
    }
    case 'records': {
      const table = draft.tables.push({ path, parent: place.table }) - 1;
      const members = field.fields.map((member) => nodeOf(draft, member, { path, table }));
      return { kind: 'table', name, idField: field.idField, table, members };
    }
    case 'links':
    case 'scalars': {
      const table = draft.tables.push({ path, parent: place.table }) - 1;
      const element =
        field.kind === 'links'
          ? { name, type: 'link' as const, to: field.to, nullable: false }
          : { name, type: field.type, nullable: false };
      return { kind: 'elements', name, table, column: addColumn(draft, path, { path, table }, element) };
    }
    case 'opaque':
      return { kind: 'opaque', name };
  }
}

interface Declared {
  readonly name: string;
  readonly type: ScalarType | 'link';
  readonly to?: string;
  readonly nullable: boolean;
}

function addColumn(draft: Draft, path: string, place: Place, field: Declared): number {
  const isId = field.name === place.idField;
  const column = { path, table: place.table, type: field.type, to: field.to, isNullable: field.nullable, isId };
  return draft.columns.push(column) - 1;
}

/** Adds the generic link among the members of a record, if its fields have the types. */
function addGenericLinks({ columns, genericLinks }: Draft, parent: string, members: readonly LayoutNode[]): void {
  const columnOf = (field: string, type: ColumnLayout['type']): number => {
    const node = members.find(({ name }) => name === field);
    return node?.kind === 'column' && columns[node.column]!.type === type ? node.column : -1;
  };
  for (const link of GENERIC_LINKS) {
    if (link.parent !== parent) continue;
    const [id, discriminator] = [columnOf(link.id, 'integer'), columnOf(link.discriminator, 'text')];
    if (id >= 0 && discriminator >= 0) genericLinks.push({ link, id, discriminator });
  }
}
