// Parquet files read with DuckDB, which shares no code with the library that writes them. Their expected content is
// computed, value by value, from the NDJSON of the same list.
import { memberOf, parseJson, writeJson, type Json } from '../differential/json.ts';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import { FIELD_NAME } from '../../engine/schema/layout.ts';
import { isInstalled, requireFrom } from './ownPackages.ts';

const DUCKDB = 'test/duckdb';

export const hasDuckDb: boolean = isInstalled(DUCKDB);

/** A file as DuckDB reads it: the names and types of its columns, and its rows. Integers are strings of digits. */
export interface ParquetTable {
  readonly names: readonly string[];
  readonly types: readonly string[];
  readonly rows: readonly (readonly (string | number | boolean | null)[])[];
}

/** The part of @duckdb/node-api that is used here. */
interface DuckDb {
  readonly DuckDBInstance: {
    create(path: string): Promise<{ connect(): Promise<Connection> }>;
  };
}
interface Connection {
  runAndReadAll(sql: string): Promise<{
    columnNames(): readonly string[];
    columnTypes(): readonly { toString(): string }[];
    getRowsJson(): unknown;
  }>;
}

let connection: Promise<Connection> | undefined;

/** Runs SQL in DuckDB and returns the rows. */
export async function askDuckDb(sql: string): Promise<ParquetTable> {
  const { DuckDBInstance } = requireFrom(DUCKDB, '@duckdb/node-api') as DuckDb;
  connection ??= DuckDBInstance.create(':memory:').then((instance) => instance.connect());
  const reader = await (await connection).runAndReadAll(sql);
  const types = reader.columnTypes().map(String);
  return { names: reader.columnNames(), types, rows: reader.getRowsJson() as ParquetTable['rows'] };
}

/** All rows of a file in their order. Rejects with DuckDB's error if the file is not Parquet. */
export function readParquet(file: string): Promise<ParquetTable> {
  return askDuckDb(`SELECT * FROM read_parquet('${file}')`);
}

/**
 * The expected rows of a file with these columns. `ndjson` has the listed records, `all` has those of the whole
 * collection `of`. The column of a documented scalar or link has the type of its field. Any other column is JSON if one
 * of its values in `all` is nested, or if no filter can have its name.
 */
export function expectedRows(
  { names, types }: Pick<ParquetTable, 'names' | 'types'>,
  of: string,
  ndjson: string,
  all: string,
): ParquetTable['rows'] {
  const fields = COLLECTIONS.find(({ name }) => name === of)!.fields;
  const isNested = names.map((name) => {
    const field = fields.find((one) => one.name === name);
    if (field?.kind === 'scalar' || field?.kind === 'link') return false;
    const values = recordsIn(all).map((record) => memberOf(record, name)?.kind);
    return !FIELD_NAME.test(name) || values.includes('array') || values.includes('object');
  });
  return recordsIn(ndjson).map((record) =>
    names.map((name, i) => valueOf(memberOf(record, name), types[i]!, isNested[i]!)),
  );
}

function recordsIn(ndjson: string): readonly Json[] {
  return ndjson
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => parseJson(line));
}

function valueOf(value: Json | undefined, type: string, isNested: boolean): string | number | boolean | null {
  if (value === undefined || value.kind === 'null') return null;
  if (type === 'BOOLEAN' && value.kind === 'boolean') return value.value;
  // A value that does not fit (A150) is null.
  if (type === 'BIGINT')
    return value.kind === 'number' && /^-?\d+$/.test(value.token) ? String(BigInt(value.token)) : null;
  if (type === 'DOUBLE') return value.kind === 'number' ? Number(value.token) : null;
  if (type !== 'VARCHAR') throw new Error(`a column of ${type} for a value of kind ${value.kind}`);
  return value.kind === 'string' && !isNested ? value.value : writeJson(value);
}
