// Reads a data set directory of plain NDJSON and checks its records against the declaration of the catalogue. It shares
// no code with the generator or the import, so it can check both. Slow and obvious.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import type { Field } from '../../engine/schema/types.ts';

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

export type JsonObject = { [name: string]: Json };

/** A data set in memory: the lines of each collection, and their records. */
export interface Catalogue {
  readonly lines: ReadonlyMap<string, readonly string[]>;
  readonly records: ReadonlyMap<string, readonly JsonObject[]>;
}

/** Reads the data set of a directory into memory. Records round numbers beyond 2^53; the lines keep them. */
export function readCatalogue(directory: string): Catalogue {
  const lines = new Map<string, readonly string[]>();
  for (const { name } of COLLECTIONS) {
    const text = readFileSync(join(directory, `${name}.ndjson`), 'utf8');
    lines.set(name, text === '' ? [] : text.replace(/\n$/, '').split('\n'));
  }
  const records = new Map(
    [...lines].map(([name, texts]) => [name, texts.map((text) => JSON.parse(text) as JsonObject)]),
  );
  return { lines, records };
}

/** The violations of the declaration, one line each, with collection and place. */
export function problemsOf(catalogue: Catalogue): readonly string[] {
  const problems: string[] = [];
  for (const { name, fields, open, idField } of COLLECTIONS)
    for (const [n, record] of catalogue.records.get(name)!.entries()) {
      const at = `${name}:${n + 1}`;
      if (!open) problems.push(...objectProblems(record, fields, at));
      if (!Number.isSafeInteger(record[idField])) problems.push(`${at}/${idField}: no id`);
      problems.push(...stringProblems(record, at));
    }
  return problems;
}

function objectProblems(value: Json, fields: readonly Field[], at: string): readonly string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${at}: no object`];
  const names = fields.map((field) => field.name).join(' ');
  if (Object.keys(value).join(' ') !== names) return [`${at}: keys ${Object.keys(value).join(' ')}, not ${names}`];
  return fields.flatMap((field) => fieldProblems(value[field.name]!, field, `${at}/${field.name}`));
}

function fieldProblems(value: Json, field: Field, at: string): readonly string[] {
  if (field.kind === 'record') return objectProblems(value, field.fields, at);
  if (field.kind === 'link' || field.kind === 'scalar') {
    if (value === null) return field.nullable ? [] : [`${at}: null`];
    const fits = field.kind === 'link' ? isLink(value, field.to) : isScalar(value, field.type);
    return fits ? [] : [`${at}: ${JSON.stringify(value)}`];
  }
  if (!Array.isArray(value)) return [`${at}: no array`];
  if (field.kind === 'records')
    return value.flatMap((element, n) => objectProblems(element, field.fields, `${at}/${n}`));
  if (field.kind === 'opaque') return value.length === 0 ? [] : [`${at}: not empty`];
  const fits = (element: Json): boolean =>
    field.kind === 'links' ? isLink(element, field.to) : isScalar(element, field.type);
  return value.every(fits) ? [] : [`${at}: ${JSON.stringify(value)}`];
}

function isLink(value: Json, to: string): boolean {
  return typeof value === 'string' && LINK.exec(value)?.[1] === to;
}

function isScalar(value: Json, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'float') return typeof value === 'number';
  if (type === 'boolean') return typeof value === 'boolean';
  if (typeof value !== 'string') return false;
  if (type === 'date') return /^\d{4}-\d\d-\d\d$/.test(value);
  return type !== 'dateTime' || /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?$/.test(value);
}

function stringProblems(value: Json, at: string): readonly string[] {
  return strings(value)
    .filter((text) => text.includes('{base_url}') && !LINK.test(text))
    .map((text) => `${at}: ${text} is no link`);
}

function strings(value: Json): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(strings) : [];
}

/** `collection/id` of every link inside a value. */
export function linkTargets(value: Json): readonly string[] {
  return strings(value).flatMap((text) => {
    const match = LINK.exec(text);
    return match ? [`${match[1]}/${match[2]}`] : [];
  });
}

const LINK = /^\{base_url\}\/api\/v3\/([a-z]+)\/(0|[1-9]\d*)\/\?format=api$/;
