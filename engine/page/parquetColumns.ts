// The columns of a Parquet export, each with a type that represents all its values without loss. Derived from the
// fields and values of the collection, so that all exports of a generation have one schema.
import type { SchemaElement } from 'hyparquet-writer';
import { type Dictionary, textAt } from '../column/dictionary.ts';
import type { CollectionIndex, FieldNode } from '../index/table.ts';
import { exportColumns } from './csv.ts';
import type { JoinedColumn } from './joined.ts';

/** The type of a column's values: numbers, booleans, plain texts, or JSON texts of any value. */
export type ColumnKind = 'integer' | 'float' | 'boolean' | 'text' | 'json';

export interface TypedColumn {
  /** The top-level key of the values, or the name of a joined field. */
  readonly key: string;
  readonly kind: ColumnKind;
  readonly joined?: JoinedColumn;
}

const STRING = { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } } as const;
/** JSON columns are declared as strings: some readers take the JSON type for bytes, others for objects only (A142). */
const TYPES: Readonly<Record<ColumnKind, Pick<SchemaElement, 'type' | 'converted_type' | 'logical_type'>>> = {
  integer: { type: 'INT64' },
  float: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  text: STRING,
  json: STRING,
};
const INT64_END = 2 ** 63;
/** The most digits of an integer, with its sign. */
const INT64_BYTES_MAX = 20;

/**
 * The columns of a collection's export: those of CSV, in the same order. `keys` selects among them; `joined` ones
 * follow. Cost: the keys.
 */
export function typedColumns(
  collection: CollectionIndex,
  keys: ReadonlySet<string> | undefined,
  joined: readonly JoinedColumn[] = [],
): readonly TypedColumn[] {
  const columns = exportColumns(collection, keys, joined);
  return [
    ...columns.map((key): TypedColumn => ({ key, kind: kindOf(collection.members.get(key)) })),
    ...joined.map((column): TypedColumn => {
      return { key: column.name, kind: column.lastMany < 0 ? kindOf(column.node) : 'json', joined: column };
    }),
  ];
}

/** The declaration of a column in the file; each value may be null. */
export function elementOf({ key, kind }: TypedColumn): SchemaElement {
  return { name: key, repetition_type: 'OPTIONAL', ...TYPES[kind] };
}

/**
 * Keys that are not fields with values of one type are JSON columns. Numbers that do not fit the type make a text
 * column (A141).
 */
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

/** The codes of the smallest and the greatest fitting value. */
function endsOf({ fitting }: Dictionary): readonly number[] {
  return fitting === 0 ? [] : [0, fitting - 1];
}

function isInt64(dictionary: Dictionary, code: number): boolean {
  // This also limits the number of digits.
  if (Math.abs(dictionary.numbers![code]!) > INT64_END) return false;
  const text = textAt(dictionary, code);
  if (text.length > INT64_BYTES_MAX) return false;
  const token = String.fromCharCode(...text);
  if (!/^-?\d+$/.test(token)) return false;
  return BigInt.asIntN(64, BigInt(token)) === BigInt(token);
}
