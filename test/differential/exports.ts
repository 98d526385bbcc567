// The oracle's reduced records and exports: plain maps and joins over records as read. Slow and obvious. Shares no rule
// of escaping or quoting with the product.
import type { Collection } from '../../engine/schema/types.ts';
import type { OracleRecord } from './dataset.ts';
import { writeJson, type Json } from './json.ts';

/** Keys that are not fields become columns only up to this number (A63). */
const OTHER_COLUMNS_MAX = 1000;

/** The top-level keys of a collection with inferred fields: first those of fields, then the others by code point. */
export function keysOf(
  collection: Collection,
  records: readonly OracleRecord[],
): { fields: string[]; others: string[] } {
  const fields = collection.fields.map(({ name }) => name);
  const all = records.flatMap(({ json }) => (json.kind === 'object' ? json.members.map(([key]) => key) : []));
  const others = [...new Set(all)].filter((key) => !fields.includes(key));
  return { fields, others: others.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))) };
}

/** The distinct names that `fields` requests; empty if records are whole. */
export function namesIn(fields: string | undefined): readonly string[] {
  const names = (fields ?? '').split(',').map((name) => name.trim());
  return [...new Set(names)].filter((name) => name !== '');
}

/** A record with the members of these keys only. */
export function cutTo(json: Json, names: readonly string[]): Json {
  if (names.length === 0 || json.kind !== 'object') return json;
  return { kind: 'object', members: json.members.filter(([key]) => names.includes(key)) };
}

/** Records as CSV (RFC 4180). `text` writes texts as served. */
export function csvOf(
  records: readonly OracleRecord[],
  { fields, others, idField }: { fields: readonly string[]; others: readonly string[]; idField: string },
  names: readonly string[],
  text: (stored: string) => string,
  joined: readonly { readonly name: string; readonly of: (json: Json) => Json }[] = [],
): string {
  const all = others.length > OTHER_COLUMNS_MAX && names.length === 0 ? fields : [...fields, ...others];
  const named = all.filter((key) => names.length === 0 || names.includes(key));
  const columns = named.length + joined.length > 0 ? named : [idField];
  const rows = records.map(({ json }) => [
    ...columns.map((key) => cellOf(valueAt(json, key), text)),
    ...joined.map((field) => cellOf(field.of(json), text)),
  ]);
  const lines = rows.map((cells) => (cells.length === 1 && cells[0] === '' ? '""' : cells.join(',')));
  const header = [...columns, ...joined.map(({ name }) => name)];
  return [header.map(quoted).join(','), ...lines].map((line) => `${line}\r\n`).join('');
}

function valueAt(json: Json, key: string): Json | undefined {
  return json.kind === 'object' ? json.members.find(([name]) => name === key)?.[1] : undefined;
}

function cellOf(value: Json | undefined, text: (stored: string) => string): string {
  if (value === undefined || value.kind === 'null') return '';
  if (value.kind === 'string') return quoted(text(value.value));
  return quoted(writeJson(value, text));
}

function quoted(cell: string): string {
  return cell === '' || /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
