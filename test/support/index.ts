// A collection's index from plain JavaScript values, by slow and obvious code that follows the declaration. It shares
// only the declaration and the stored form of the index with the import. It has no served bytes (records have no
// chunk).
import { parseInstant } from '../../engine/query/decimal.ts';
import { collectionNamed } from '../../engine/schema/catalogue.ts';
import type { Collection, Field } from '../../engine/schema/types.ts';
import { NO_OUTLINES, topLevelKeys } from '../../engine/column/records.ts';
import type { ColumnType, Dictionary } from '../../engine/column/dictionary.ts';
import { type FieldIndex, identityIndex, invertedIndex } from '../../engine/index/field.ts';
import { DANGLING } from '../../engine/index/join.ts';
import {
  type CollectionIndex,
  type FieldNode,
  type Link,
  type Members,
  NO_MEMBERS,
  type Table,
} from '../../engine/index/table.ts';
import { makeBitmap } from '../../engine/bits/bitmap.ts';
import { DENSE_PART } from '../../engine/index/rowset.ts';

/** A JSON value; a bigint stands for an integer token that a number would round. Text may start with `{base_url}`. */
export type Value = string | number | bigint | boolean | null | undefined | readonly Value[] | RecordValue;

export interface RecordValue {
  readonly [name: string]: Value;
}

/**
 * The index of a declared collection over these records, in any order. Its `records` have rows but no chunks. Links
 * dangle unless they point to the same collection.
 */
export function indexOf(collectionName: string, records: readonly RecordValue[]): CollectionIndex {
  return indexesOf({ [collectionName]: records })(collectionName);
}

/** The indexes of declared collections that link to each other; one without records is empty. */
export function indexesOf(
  records: Readonly<Record<string, readonly RecordValue[]>>,
): (collectionName: string) => CollectionIndex {
  const made = new Map<string, CollectionIndex>();
  const named = (name: string): CollectionIndex => {
    const declaration = collectionNamed(name);
    if (!declaration) throw new Error(`no collection ${name}`);
    const index = made.get(name) ?? indexOfDeclared(declaration, records[name] ?? [], { records, named });
    made.set(name, index);
    return index;
  };
  return named;
}

/** The records and indexes that links point to. */
interface Linked {
  readonly records: Readonly<Record<string, readonly RecordValue[]>>;
  named(collectionName: string): CollectionIndex;
}

/** The same for an undeclared collection. */
export function indexOfDeclared(
  declaration: Collection,
  records: readonly RecordValue[],
  linked: Linked = { records: {}, named: (name) => indexOf(name, []) },
): CollectionIndex {
  const idOf = (record: RecordValue): number => Number(record[declaration.idField]);
  const sorted = [...records].sort((a, b) => idOf(a) - idOf(b));
  const dictionary = dictionaryOf(
    'integer',
    sorted.map((record) => tokenOf(record[declaration.idField], 'integer')),
  );
  const ids = identityIndex(dictionary);
  const members = new Map(membersOf(declaration.fields, sorted, linked));
  members.set(declaration.idField, { kind: 'values', name: declaration.idField, index: ids, members: NO_MEMBERS });
  return {
    declaration,
    rows: sorted.length,
    ids,
    members,
    keys: topLevelKeys(
      declaration.fields.map(({ name }) => name),
      NO_OUTLINES,
    ),
    records: { rows: sorted.length, chunks: [], baseUrl: '', growth: 0, outlines: NO_OUTLINES },
  };
}

/** The id that a link points to: the last number of `{base_url}/api/v3/projects/7/?format=api`. */
export function idOfLink(link: string): string {
  return /(\d+)\/?(?:\?.*)?$/.exec(link)![1]!;
}

/** `rows` holds one (embedded) record per row of the table, undefined if the parent has none. */
function membersOf(fields: readonly Field[], rows: readonly (RecordValue | undefined)[], linked: Linked): Members {
  const members = new Map<string, FieldNode>();
  for (const field of fields) {
    const node = nodeOf(
      field,
      rows.map((row) => row?.[field.name]),
      linked,
    );
    if (node) members.set(field.name, node);
  }
  return members;
}

/** `values` holds the field's value of every row. */
function nodeOf(field: Field, values: readonly Value[], linked: Linked): FieldNode | undefined {
  const { kind, name } = field;
  switch (kind) {
    case 'scalar':
      return { kind: 'values', name, index: columnOf(field.type, values), members: NO_MEMBERS };
    case 'link':
      return { kind: 'values', name, members: NO_MEMBERS, ...linkTo(field.to, values, linked) };
    case 'record': {
      const members = membersOf(field.fields, values.map(asRecord), linked);
      return { kind: 'record', name, members, index: idIndex(members, field.idField) };
    }
    case 'records': {
      const { table, elements } = childOf(values);
      const members = membersOf(field.fields, elements.map(asRecord), linked);
      return { kind: 'many', name, table, members, index: idIndex(members, field.idField), isRelation: true };
    }
    case 'links': {
      const { table, elements } = childOf(values);
      const link = linkTo(field.to, elements, linked);
      return { kind: 'many', name, table, members: NO_MEMBERS, isRelation: true, ...link };
    }
    case 'scalars': {
      const { table, elements } = childOf(values);
      return {
        kind: 'many',
        name,
        table,
        members: NO_MEMBERS,
        index: columnOf(field.type, elements),
        isRelation: false,
      };
    }
    case 'opaque':
      return undefined;
  }
}

function linkTo(
  to: string,
  values: readonly Value[],
  linked: Linked,
): { readonly index: FieldIndex; readonly link: Link } {
  const index = columnOf('link', values);
  const ids = (linked.records[to] ?? []).map((record) => Number(record[collectionNamed(to)!.idField]));
  const rowOf = new Map(ids.sort((a, b) => a - b).map((id, row) => [id, row]));
  const targets = Uint32Array.from(index.dictionary.numbers!, (id) => rowOf.get(id) ?? DANGLING);
  return { index, link: { targets, to: () => linked.named(to) } };
}

function asRecord(value: Value): RecordValue | undefined {
  return typeof value === 'object' && value !== null ? (value as RecordValue) : undefined;
}

function idIndex(members: Members, idField: string | undefined): FieldIndex | undefined {
  const node = members.get(idField ?? '');
  return node?.kind === 'values' ? node.index : undefined;
}

function childOf(arrays: readonly Value[]): { readonly table: Table; readonly elements: readonly Value[] } {
  const elements: Value[] = [];
  const parents: number[] = [];
  const starts: number[] = [];
  arrays.forEach((array, parent) => {
    starts.push(elements.length);
    for (const element of (array ?? []) as readonly Value[]) {
      elements.push(element);
      parents.push(parent);
    }
  });
  starts.push(elements.length);
  return {
    table: { rows: elements.length, starts: Uint32Array.from(starts), parents: Uint32Array.from(parents) },
    elements,
  };
}

function columnOf(type: ColumnType, values: readonly Value[]): FieldIndex {
  const tokens = values.map((value) => tokenOf(value, type));
  const dictionary = dictionaryOf(type, tokens);
  const codeOf = new Map(textsOf(dictionary).map((text, code) => [text, code]));
  const codes = tokens.map((token) => (token === undefined ? dictionary.size : codeOf.get(token)!));
  const rowsOf = Map.groupBy(codes.keys(), (row) => codes[row]!);
  const starts: number[] = [];
  const postings: number[] = [];
  const dense: number[] = [];
  const bitmaps: number[] = [];
  for (let code = 0; code <= dictionary.size; code++) {
    starts.push(postings.length);
    const rows = rowsOf.get(code) ?? [];
    postings.push(...rows);
    if (rows.length <= codes.length * DENSE_PART) continue;
    dense.push(code);
    bitmaps.push(...makeBitmap(Uint32Array.from(rows), codes.length));
  }
  starts.push(postings.length);
  const [a, b, c, d, e] = [codes, starts, postings, dense, bitmaps].map((list) => Uint32Array.from(list));
  return invertedIndex(dictionary, { codes: a!, starts: b!, postings: c!, dense: d!, bitmaps: e! });
}

/** The text of a value in its dictionary, undefined for null. */
function tokenOf(value: Value, type: ColumnType): string | undefined {
  if (value === null || value === undefined) return undefined;
  const text = `${value as string | number | bigint | boolean}`;
  return type === 'link' ? idOfLink(text) : text;
}

/** The dictionary of the values with these tokens. */
export function dictionaryOf(type: ColumnType, tokens: readonly (string | undefined)[]): Dictionary {
  const distinct = [...new Set(tokens.filter((token) => token !== undefined))];
  const isByText = type === 'text' || type === 'boolean';
  const numberOf = type === 'date' || type === 'dateTime' ? parseInstant : Number;
  const compare = (a: string, b: string): number =>
    (isByText ? 0 : compareNumbers(numberOf(a), numberOf(b))) ||
    (type === 'integer' ? Number(BigInt(a) > BigInt(b)) - Number(BigInt(a) < BigInt(b)) : 0) ||
    Buffer.compare(Buffer.from(a), Buffer.from(b));
  const sorted = distinct.sort(compare);
  let bytes = 0;
  return {
    type,
    size: sorted.length,
    fitting: isByText ? sorted.length : sorted.filter((text) => !Number.isNaN(numberOf(text))).length,
    ends: Uint32Array.from(sorted, (text) => (bytes += Buffer.byteLength(text))),
    text: new Uint8Array(Buffer.from(sorted.join(''))),
    numbers: isByText ? undefined : Float64Array.from(sorted, numberOf),
  };
}

/** Compares in ascending order, with NaN last. */
function compareNumbers(a: number, b: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return a < b ? -1 : a > b ? 1 : 0;
}

function textsOf(dictionary: Dictionary): readonly string[] {
  const { text, ends } = dictionary;
  return Array.from(ends, (end, code) => Buffer.from(text.subarray(code === 0 ? 0 : ends[code - 1], end)).toString());
}
