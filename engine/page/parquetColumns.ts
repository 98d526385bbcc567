// The columns of a Parquet export: which there are, and the type that holds every value of one without loss. Derived
// from the fields and what the collection's values are, so that all exports of a generation have one schema.
import type { SchemaElement } from 'hyparquet-writer';
import { type Dictionary, textAt } from '../column/dictionary.ts';
import type { CollectionIndex, FieldNode } from '../index/table.ts';
import { exportColumns } from './csv.ts';

/** What the values of a column are: numbers and booleans, texts as they are, or the JSON of whatever it is. */
export type ColumnKind = 'integer' | 'float' | 'boolean' | 'text' | 'json';

/** A column: the top-level key that it holds, and how. */
export interface TypedColumn {
  readonly key: string;
  readonly kind: ColumnKind;
}

const STRING = { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } } as const;
/** JSON is no type of its own in the file: some readers take it for bytes, others for objects only (A142). */
const TYPES: Readonly<Record<ColumnKind, Pick<SchemaElement, 'type' | 'converted_type' | 'logical_type'>>> = {
  integer: { type: 'INT64' },
  float: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  text: STRING,
  json: STRING,
};
const INT64_END = 2 ** 63;
/** Digits and a sign. */
const INT64_BYTES_MAX = 20;

/**
 * The columns of a collection's export, those of CSV in the same order; with `keys` only those among them. Cost: the
 * keys.
 */
export function typedColumns(
  collection: CollectionIndex,
  keys: ReadonlySet<string> | undefined,
): readonly TypedColumn[] {
  return exportColumns(collection, keys).map((key) => ({ key, kind: kindOf(collection.members.get(key)) }));
}

/** A column as the file declares it; each value may be null. */
export function elementOf({ key, kind }: TypedColumn): SchemaElement {
  return { name: key, repetition_type: 'OPTIONAL', ...TYPES[kind] };
}

/** What is no field with values of one type is JSON; numbers that its type cannot hold make a column texts (A141). */
function kindOf(node: FieldNode | undefined): ColumnKind {
  if (node?.kind !== 'values') return 'json';
  const { dictionary } = node.index;
  switch (dictionary.type) {
    case 'integer':
      return endsOf(dictionary).every((code) => isInt64(dictionary, code)) ? 'integer' : 'text';
    case 'float':
      return endsOf(dictionary).every((code) => Number.isFinite(dictionary.numbers![code])) ? 'float' : 'text';
    case 'boolean':
      return 'boolean';
    default:
      return 'text';
  }
}

/** The codes of the least and the greatest value. */
function endsOf({ fitting }: Dictionary): readonly number[] {
  return fitting === 0 ? [] : [0, fitting - 1];
}

function isInt64(dictionary: Dictionary, code: number): boolean {
  // Also bounds the digits that are read exactly.
  if (Math.abs(dictionary.numbers![code]!) > INT64_END) return false;
  const text = textAt(dictionary, code);
  if (text.length > INT64_BYTES_MAX) return false;
  const token = String.fromCharCode(...text);
  if (!/^-?\d+$/.test(token)) return false;
  return BigInt.asIntN(64, BigInt(token)) === BigInt(token);
}
