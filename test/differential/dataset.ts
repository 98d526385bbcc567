// The oracle's data set: for each collection an array of records in id order. No index, no column.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { collectionNamed, COLLECTIONS } from '../../engine/schema/catalogue.ts';
import type { Collection } from '../../engine/schema/types.ts';
import { memberOf, parseJson, type Json } from './json.ts';
import { fittedRecord } from './misfits.ts';

/** One record: its exact id, its JSON as read, with `{base_url}` still in it, and the JSON that filters see. */
export interface OracleRecord {
  readonly id: bigint;
  readonly json: Json;
  readonly fitted: Json;
}

/** Records by collection name, each array in ascending id order. A collection without records has an empty array. */
export type DataSet = ReadonlyMap<string, readonly OracleRecord[]>;

/** The data set of NDJSON texts by collection name; a missing name is an empty collection. Cost: linear and a sort. */
export function dataSetOf(texts: ReadonlyMap<string, string>): DataSet {
  return new Map(
    COLLECTIONS.map((collection) => [collection.name, recordsOf(collection, texts.get(collection.name) ?? '')]),
  );
}

/** The data set of a directory of `<collection>.ndjson` or `.ndjson.gz` files (design: Data set format). */
export function dataSetIn(directory: string): DataSet {
  return dataSetOf(new Map(COLLECTIONS.map(({ name }) => [name, textOf(join(directory, `${name}.ndjson`))])));
}

/**
 * The record that a link to a collection points at, undefined without a link. For a dangling link, and for a value in
 * place of a link that is not one, it is a record that has only its id.
 */
export function linkedRecord(dataSet: DataSet, to: string, link: Json | undefined): Json | undefined {
  const idField = collectionNamed(to)?.idField ?? '';
  if (link?.kind === 'misfit') return { kind: 'object', members: [[idField, link]] };
  const digits = link?.kind === 'string' ? /\/(\d+)\/\?format=api$/.exec(link.value)?.[1] : undefined;
  if (digits === undefined) return undefined;
  const id = BigInt(digits);
  const found = dataSet.get(to)?.find((record) => record.id === id);
  return found?.fitted ?? { kind: 'object', members: [[idField, { kind: 'number', token: digits }]] };
}

/** The target of a link to a collection, undefined without such a link. It has no record if the link dangles. */
export function linkedTo(
  dataSet: DataSet,
  to: string,
  link: Json,
): { readonly id: string; readonly idField: string; readonly json: Json | undefined } | undefined {
  const text = link.kind === 'string' ? link.value : '';
  const [, name, id = ''] = /^\{base_url\}\/api\/v3\/([a-zA-Z]+)\/(\d+)\/\?format=api$/.exec(text) ?? [];
  if (name !== to || BigInt(id) >= 2n ** 53n) return undefined;
  const json = dataSet.get(to)?.find((record) => record.id === BigInt(id))?.json;
  return { id, idField: collectionNamed(to)?.idField ?? '', json };
}

function textOf(path: string): string {
  if (existsSync(path)) return readFileSync(path, 'utf8');
  return existsSync(`${path}.gz`) ? gunzipSync(readFileSync(`${path}.gz`)).toString('utf8') : '';
}

function recordsOf(collection: Collection, text: string): OracleRecord[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const records = lines.map((line) => recordOf(collection, parseJson(line)));
  return records.sort((a, b) => (a.id < b.id ? -1 : 1));
}

function recordOf(collection: Collection, json: Json): OracleRecord {
  const id = memberOf(json, collection.idField);
  if (id?.kind !== 'number') throw new Error(`a record of ${collection.name} has no ${collection.idField}`);
  return { id: BigInt(id.token), json, fitted: fittedRecord(collection, json) };
}
