// The structure of a collection's records as decoded so far: the declared fields, and the other keys, whose structure
// is inferred from their values. Evidence from a line with an error is rolled back.
import type { ScalarType } from '../../engine/schema/types.ts';
import { FIELD_NAME, type Layout, type LayoutNode, type TableLayout } from '../../engine/schema/layout.ts';
import type { JsonKind } from './scanner.ts';

/** A column during decoding. An inferred type is known only after all values. */
export interface DecodeColumn {
  readonly path: string;
  readonly table: number;
  readonly type: ScalarType | 'link' | 'inferred';
  readonly to: string | undefined;
  readonly isNullable: boolean;
  readonly isId: boolean;
}

/**
 * The kind of a key's values: `column` scalars, `record` objects, `table` arrays of objects, `elements` arrays of
 * scalars, `opaque` arrays that are declared without a shape. Keys that are not declared can also be `unknown` (only
 * null so far), `empty` (only empty arrays so far), or `mixed` (several structures, so no column; only the keys of its
 * objects are counted).
 */
export type ShapeKind = 'column' | 'record' | 'table' | 'elements' | 'opaque' | 'unknown' | 'empty' | 'mixed';

/**
 * One key of an object. `kind` decides which of `column`, `table` and `child` are set. The `column` of a documented
 * record is that of its id.
 */
export interface ShapeNode {
  readonly name: string;
  readonly path: string;
  readonly isInferred: boolean;
  kind: ShapeKind;
  column: number;
  table: number;
  child: Shape | undefined;
  /** The unique number of the last object with this key, to detect a repeated key. */
  lastObject: number;
}

/** The keys of an object in the expected order, prepared for reading. */
export interface Shape {
  readonly path: string;
  readonly table: number;
  readonly nodes: ShapeNode[];
  readonly keys: Uint8Array[];
  readonly byName: Map<string, number>;
}

/** The shape of objects from which nothing is inferred. */
export const NO_SHAPE: Shape = { path: '', table: 0, nodes: [], keys: [], byName: new Map() };

/**
 * More keys than this in one collection are data, not names, and none of its inferred columns is kept (A54). All keys
 * of all records count, also those below mixed keys, so that the order of records does not change the number.
 */
export const INFERRED_MAX = 1000;

/** A decoder stops adding keys here. The collection is then beyond `INFERRED_MAX`, whatever other decoders find. */
const LEARNT_MAX = 2 * INFERRED_MAX;

/**
 * Longer than the paths of any catalogue. Paths are in maps, and V8 hashes texts beyond 16,383 characters by length
 * alone.
 */
const PATH_CHARACTERS_MAX = 4096;

const ENCODER = new TextEncoder();

/** The shape of one collection's records. Numbers of columns and tables start with those of the layout. */
export class ShapeTree {
  readonly columns: DecodeColumn[];
  readonly tables: TableLayout[];
  readonly root: Shape;
  /** For every column the sum of the `SCALAR_KIND`s of its values. */
  readonly kinds: number[];
  readonly #undo: (() => void)[] = [];
  #inferredCount = 0;

  /** With `takesNulls`, every column that `mayBeAbsent` accepts null. */
  constructor(layout: Layout, takesNulls: boolean) {
    this.tables = [...layout.tables];
    this.columns = layout.columns.map((column) => {
      const isOpen = layout.collection.open && !column.isId;
      return { ...column, isNullable: column.isNullable || isOpen || (takesNulls && this.mayBeAbsent(column)) };
    });
    this.kinds = layout.columns.map(() => 0);
    this.root = makeDeclaredShape(layout.collection.name, 0, layout.members);
  }

  /** Whether a value may be missing: not the id of a record, and not an element of an array of scalars. */
  mayBeAbsent({ path, table, isId }: Pick<DecodeColumn, 'path' | 'table' | 'isId'>): boolean {
    return !isId && this.tables[table]!.path !== path;
  }

  /** From here on, changes can be undone by `rollback`. */
  begin(): void {
    this.#undo.length = 0;
  }

  rollback(): void {
    while (this.#undo.length > 0) this.#undo.pop()!();
  }

  /** Adds a new key. Returns undefined if it cannot be a filter, or if there are too many keys. */
  addKey(shape: Shape, name: string): ShapeNode | undefined {
    const path = `${shape.path}/${name}`;
    const isLearnt = this.#inferredCount < LEARNT_MAX && path.length <= PATH_CHARACTERS_MAX && FIELD_NAME.test(name);
    if (!isLearnt) return undefined;
    const node: ShapeNode = {
      name,
      path,
      isInferred: true,
      kind: 'unknown',
      column: -1,
      table: -1,
      child: undefined,
      lastObject: 0,
    };
    this.#inferredCount++;
    shape.byName.set(name, shape.nodes.push(node) - 1);
    shape.keys.push(ENCODER.encode(`${name}"`));
    this.#undo.push(() => {
      this.#inferredCount--;
      shape.nodes.pop();
      shape.keys.pop();
      shape.byName.delete(name);
    });
    return node;
  }

  /** A key of an object below a mixed key; undefined as for `addKey`. */
  keyBelow(mixed: ShapeNode, name: string): ShapeNode | undefined {
    const shape = (mixed.child ??= makeEmptyShape(mixed.path, 0));
    const i = shape.byName.get(name);
    return i === undefined ? this.addKey(shape, name) : shape.nodes[i];
  }

  /** Sets the kind of an inferred key, in an object whose rows are those of `table`. */
  settle(node: ShapeNode, kind: ShapeKind, table: number): void {
    const before = { ...node };
    this.#undo.push(() => Object.assign(node, before));
    node.kind = kind;
    if (kind === 'column') node.column = this.#addColumn(node.path, table);
    if (kind === 'record') node.child = makeEmptyShape(node.path, table);
    if (kind === 'table' || kind === 'elements') {
      node.table = this.tables.push({ path: node.path, parent: table }) - 1;
      this.#undo.push(() => this.tables.pop());
    }
    if (kind === 'table') node.child = makeEmptyShape(node.path, node.table);
    if (kind === 'elements') node.column = this.#addColumn(node.path, node.table);
  }

  note(column: number, kind: number): void {
    const before = this.kinds[column]!;
    if ((before & kind) !== 0) return;
    this.kinds[column] = before | kind;
    this.#undo.push(() => (this.kinds[column] = before));
  }

  #addColumn(path: string, table: number): number {
    this.#undo.push(() => {
      this.columns.pop();
      this.kinds.pop();
    });
    this.kinds.push(0);
    return this.columns.push({ path, table, type: 'inferred', to: undefined, isNullable: true, isId: false }) - 1;
  }
}

/** The kinds of scalars that decide an inferred type. */
export const SCALAR_KIND = { text: 1, integer: 2, float: 4, boolean: 8 } as const;

/** All inferred keys of a tree with their kinds, by path. */
export function listInferredKeys(tree: ShapeTree): readonly (readonly [path: string, kind: ShapeKind])[] {
  const keys: [string, ShapeKind][] = [];
  const visit = (shape: Shape): void => {
    for (const node of shape.nodes) {
      if (node.isInferred) keys.push([node.path, node.kind]);
      if (node.child) visit(node.child);
    }
  };
  visit(tree.root);
  return keys;
}

function makeEmptyShape(path: string, table: number): Shape {
  return { path, table, nodes: [], keys: [], byName: new Map() };
}

function makeDeclaredShape(path: string, table: number, members: readonly LayoutNode[]): Shape {
  const shape = makeEmptyShape(path, table);
  for (const member of members) {
    shape.byName.set(member.name, shape.nodes.push(makeDeclaredNode(`${path}/${member.name}`, table, member)) - 1);
    shape.keys.push(ENCODER.encode(`${member.name}"`));
  }
  return shape;
}

function makeDeclaredNode(path: string, table: number, node: LayoutNode): ShapeNode {
  const base = { name: node.name, path, isInferred: false, column: -1, table: -1, child: undefined, lastObject: 0 };
  switch (node.kind) {
    case 'column':
      return { ...base, kind: 'column', column: node.column };
    case 'record': {
      const id = node.members.find(({ name }) => name === node.idField);
      const column = id?.kind === 'column' ? id.column : -1;
      return { ...base, kind: 'record', column, child: makeDeclaredShape(path, table, node.members) };
    }
    case 'table':
      return { ...base, kind: 'table', table: node.table, child: makeDeclaredShape(path, node.table, node.members) };
    case 'elements':
      return { ...base, kind: 'elements', table: node.table, column: node.column };
    case 'opaque':
      return { ...base, kind: 'opaque' };
  }
}

/** The kind of value that a declared column accepts. Links are texts. */
export function expectedKind(column: DecodeColumn): JsonKind {
  if (column.type === 'integer' || column.type === 'float') return 'a number';
  return column.type === 'boolean' ? 'a boolean' : 'text';
}
