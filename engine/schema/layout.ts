// The declaration as columns and tables: which columns a collection's records become, by path, in one numbered list.
// Derived only. Decoding fills these columns, the snapshot names its sections after them, opening finds them again.
import type { Collection, Field, ScalarType } from './types.ts';

/**
 * One column. `path` is unique in the catalogue (`observations/result_field/dataPath`); `table` numbers the table whose
 * rows it has. `link` columns hold the ids that links to `to` point at. `isId` marks the record's own id.
 */
export interface ColumnLayout {
  readonly path: string;
  readonly table: number;
  readonly type: ScalarType | 'link';
  readonly to: string | undefined;
  readonly isNullable: boolean;
  readonly isId: boolean;
}

/** Names that a filter key can hold (A30): others are served, and never columns. */
export const FIELD_NAME = /^(?!.*__)[\p{L}_][\p{L}\p{N}_]*$/u;

/** Whether values of this type have numbers beside their texts, and are in the order of those. */
export function hasNumbers(type: ColumnLayout['type']): boolean {
  return type !== 'text' && type !== 'boolean';
}

/** What filters call a column or a table: its path behind the collection (`result_field__dataPath`). */
export function filterName({ path }: Pick<ColumnLayout, 'path'>): string {
  return path.split('/').slice(1).join('__');
}

/** One table: the records themselves (number 0, parent -1) or the rows of a to-many embedded relation. */
export interface TableLayout {
  readonly path: string;
  readonly parent: number;
}

/** A declared field with the numbers of what it fills. */
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

/** A collection's columns, tables and the tree of its fields. */
export interface Layout {
  readonly collection: Collection;
  readonly columns: readonly ColumnLayout[];
  readonly tables: readonly TableLayout[];
  readonly members: readonly LayoutNode[];
}

interface Draft {
  readonly columns: ColumnLayout[];
  readonly tables: TableLayout[];
}

/**
 * The layout of a collection as documented, or with the fields that its data has. Cost: the number of its fields;
 * derived once per collection and use.
 */
export function layoutOf(collection: Collection, fields: readonly Field[] = collection.fields): Layout {
  const draft: Draft = { columns: [], tables: [{ path: collection.name, parent: -1 }] };
  const members = fields.map((field) =>
    nodeOf(draft, field, { path: collection.name, table: 0, idField: collection.idField }),
  );
  return { collection, columns: draft.columns, tables: draft.tables, members };
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
