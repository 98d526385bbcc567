// The view of a record that filters, orders and facets use: documented values that do not fit their types are misfits
// (A150). Slow and obvious: field by field, type by type.
import type { Collection, Field, ScalarType } from '../../engine/schema/types.ts';
import { writeJson, type Json } from './json.ts';
import { instantOf } from './values.ts';

/** A record with misfits in place of the values that do not fit. */
export function fittedRecord({ fields }: Collection, record: Json): Json {
  return fittedObject(fields, record);
}

function fittedObject(fields: readonly Field[], object: Json): Json {
  if (object.kind !== 'object') return object;
  const members = object.members.map(([key, value]) => {
    const field = fields.find(({ name }) => name === key);
    return [key, field && value.kind !== 'null' ? fitted(field, value) : value] as const;
  });
  return { kind: 'object', members };
}

/** For values other than null. */
function fitted(field: Field, value: Json): Json {
  switch (field.kind) {
    case 'scalar':
      return fits(field.type, value) ? value : misfit(value);
    case 'link':
      return isLink(field.to, value) ? value : misfit(value);
    case 'scalars':
      return elements(value, (item) => (fits(field.type, item) ? item : misfit(item)));
    case 'links':
      return elements(value, (item) => (isLink(field.to, item) ? item : misfit(item)));
    case 'records':
      return elements(value, (item) => fittedObject(field.fields, item));
    case 'record':
      if (value.kind === 'object') return fittedObject(field.fields, value);
      return { kind: 'object', members: [[field.idField ?? '', misfit(value)]] };
    case 'opaque':
      return value;
  }
}

/** The elements of an array that are not null. A value that is not an array counts as one element, a misfit. */
function elements(value: Json, read: (item: Json) => Json): Json {
  if (value.kind !== 'array') return { kind: 'array', items: [misfit(value)] };
  return { kind: 'array', items: value.items.map((item) => (item.kind === 'null' ? item : read(item))) };
}

function misfit(value: Json): Json {
  const scalar = value.kind === 'string' ? value.value : undefined;
  return { kind: 'misfit', text: scalar ?? writeJson(value) };
}

function fits(type: ScalarType, value: Json): boolean {
  switch (type) {
    case 'integer':
      return value.kind === 'number' && /^-?\d+$/.test(value.token);
    case 'float':
      return value.kind === 'number';
    case 'boolean':
      return value.kind === 'boolean';
    case 'text':
      return value.kind === 'string';
    case 'date':
    case 'dateTime':
      return value.kind === 'string' && instantOf(value.value) !== undefined;
  }
}

function isLink(to: string, value: Json): boolean {
  const link =
    value.kind === 'string' ? /^\{base_url\}\/api\/v3\/([a-z]+)\/(\d+)\/\?format=api$/.exec(value.value) : null;
  return link?.[1] === to && Number(link[2]) <= Number.MAX_SAFE_INTEGER;
}
