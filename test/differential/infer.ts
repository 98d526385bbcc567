// The oracle's fields of a collection's data: declared ones, documented ones, and those that only the data has. Slow
// and obvious: for each key, all its values at once.
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import type { Collection, Field, ScalarType } from '../../engine/schema/types.ts';
import type { DataSet } from './dataset.ts';
import { memberOf, type Json } from './json.ts';
import { instantOf } from './values.ts';

const NAME = /^[\p{L}_][\p{L}\p{N}_]*$/u;
const inferred = new WeakMap<DataSet, Map<string, Collection>>();

/** A collection with the fields that its records in the data set have. Cost: one pass over them, once. */
export function collectionIn(dataSet: DataSet, collection: Collection): Collection {
  const known = inferred.get(dataSet) ?? new Map<string, Collection>();
  inferred.set(dataSet, known);
  const records = (dataSet.get(collection.name) ?? []).map(({ json }) => json);
  const found = known.get(collection.name) ?? {
    ...collection,
    fields: fieldsOf(collection.fields, records),
  };
  known.set(collection.name, found);
  return found;
}

/** The same by name. */
export function collectionOf(dataSet: DataSet, name: string): Collection {
  const collection = COLLECTIONS.find((candidate) => candidate.name === name);
  if (!collection) throw new Error(`no collection ${name}`);
  return collectionIn(dataSet, collection);
}

function fieldsOf(documented: readonly Field[], objects: readonly Json[]): readonly Field[] {
  const fields = documented.map((field) => withExtras(field, valuesOf(objects, field.name)));
  const names = new Set(
    objects.flatMap((object) => (object.kind === 'object' ? object.members.map(([key]) => key) : [])),
  );
  const extras = [...names].filter((name) => NAME.test(name) && !name.includes('__'));
  const known = documented.map(({ name }) => name);
  for (const name of extras.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))) {
    const found = known.includes(name) ? undefined : fieldOf(name, objects);
    if (found) fields.push(found);
  }
  return fields;
}

function withExtras(field: Field, values: readonly Json[]): Field {
  if (field.kind === 'record') return { ...field, fields: fieldsOf(field.fields, values) };
  if (field.kind === 'records') return { ...field, fields: fieldsOf(field.fields, itemsOf(values)) };
  return field;
}

function valuesOf(objects: readonly Json[], name: string): readonly Json[] {
  return objects.flatMap((object) => {
    const value = memberOf(object, name);
    return value === undefined || value.kind === 'null' ? [] : [value];
  });
}

function itemsOf(arrays: readonly Json[]): readonly Json[] {
  return arrays.flatMap((array) => (array.kind === 'array' ? array.items : []));
}

function fieldOf(name: string, objects: readonly Json[]): Field | undefined {
  const values = valuesOf(objects, name);
  if (values.length === 0) return { kind: 'scalar', name, type: 'text', nullable: true };
  if (values.every(({ kind }) => kind === 'object')) {
    return { kind: 'record', name, ...embedded(fieldsOf([], values)) };
  }
  if (values.every(({ kind }) => kind === 'array')) return arrayField(name, itemsOf(values));
  if (!values.every(isScalar)) return undefined;
  const type = typeOf(values);
  return type.to === undefined
    ? { kind: 'scalar', name, type: type.type, nullable: true }
    : { kind: 'link', name, to: type.to, nullable: true };
}

function arrayField(name: string, items: readonly Json[]): Field | undefined {
  if (items.length === 0) return { kind: 'scalars', name, type: 'text' };
  if (items.every(({ kind }) => kind === 'object')) {
    return { kind: 'records', name, ...embedded(fieldsOf([], items)) };
  }
  if (!items.every((item) => item.kind === 'null' || isScalar(item))) return undefined;
  const type = typeOf(items.filter(isScalar));
  return type.to === undefined ? { kind: 'scalars', name, type: type.type } : { kind: 'links', name, to: type.to };
}

function isScalar({ kind }: Json): boolean {
  return kind === 'string' || kind === 'number' || kind === 'boolean';
}

function embedded(fields: readonly Field[]): { fields: readonly Field[]; idField?: string } {
  const id = fields.find(({ name }) => name === 'ob_id');
  const isId = id?.kind === 'link' || (id?.kind === 'scalar' && id.type === 'integer');
  return isId ? { fields, idField: 'ob_id' } : { fields };
}

function typeOf(scalars: readonly Json[]): { readonly type: ScalarType; readonly to?: string } {
  const texts = scalars.flatMap((scalar) => (scalar.kind === 'string' ? [scalar.value] : []));
  const tokens = scalars.flatMap((scalar) => (scalar.kind === 'number' ? [scalar.token] : []));
  if (scalars.length === 0) return { type: 'text' };
  if (texts.length === scalars.length) return typeOfTexts(texts);
  if (tokens.length === scalars.length) {
    return { type: tokens.every((token) => /^-?\d+$/.test(token)) ? 'integer' : 'float' };
  }
  return { type: scalars.every(({ kind }) => kind === 'boolean') ? 'boolean' : 'text' };
}

function typeOfTexts(texts: readonly string[]): { readonly type: ScalarType; readonly to?: string } {
  const links = texts.map((text) => /^\{base_url\}\/api\/v3\/([a-z]+)\/(\d{1,16})\/\?format=api$/.exec(text));
  const targets = new Set(links.map((link) => link?.[1]));
  const [to] = targets;
  const isId = links.every((link) => Number(link?.[2]) <= Number.MAX_SAFE_INTEGER);
  if (targets.size === 1 && to !== undefined && isId && COLLECTIONS.some(({ name }) => name === to)) {
    return { type: 'text', to };
  }
  if (!texts.every((text) => instantOf(text) !== undefined)) return { type: 'text' };
  return { type: texts.every((text) => /^\d{4}-\d\d-\d\d$/.test(text)) ? 'date' : 'dateTime' };
}
