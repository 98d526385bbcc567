// The oracle's joined fields and expanded links (A169, A170): each record is rebuilt with plain loops.
import type { Field } from '../../engine/schema/types.ts';
import { linkedTo, type DataSet } from './dataset.ts';
import { memberOf, type Json } from './json.ts';
import { columnsOf, type Linked, stepped } from './keys.ts';
import { SUGGESTED, suggestedName } from './suggest.ts';

/** A collection whose records are shown: its fields with their inferred types, and all keys of its records. */
export interface Shown {
  readonly fields: readonly Field[];
  readonly keys: readonly string[];
}

export interface JoinedField {
  readonly name: string;
  readonly path: readonly Field[];
}

/** The joined fields among the names of `fields`. */
export function joinedAmong(names: readonly string[], { fields, keys }: Shown, linked: Linked): readonly JoinedField[] {
  return names.flatMap((name) => {
    const [first, ...rest] = name.split('__');
    if (keys.includes(name) || rest.length === 0 || rest.length > 6) return [];
    let path = columnsOf(fields).filter((field) => field.name === first);
    for (const step of rest) path = path.length === 0 ? [] : [...(stepped(path, step, linked) ?? [])];
    return path.length === 0 ? [] : [{ name, path }];
  });
}

/** The value of a joined field of a record. */
export function joinedJson(dataSet: DataSet, json: Json, path: readonly Field[]): Json {
  const lastMany = path.findLastIndex(isMany);
  const missing = (i: number): readonly Json[] => (i <= lastMany ? [] : [{ kind: 'null' }]);
  const valuesIn = (record: Json, i: number): readonly Json[] => {
    const field = path[i] as Field;
    const value = memberOf(record, field.name);
    if (!value) return missing(i);
    const items = !isMany(field)
      ? [value]
      : value.kind === 'array'
        ? value.items
        : value.kind === 'null'
          ? []
          : [value];
    const next = path[i + 1];
    if (!next) return items;
    return items.flatMap((item) => {
      if (!('to' in field)) return item.kind === 'object' ? valuesIn(item, i + 1) : missing(i + 1);
      const target = linkedTo(dataSet, field.to, item);
      if (!target) return missing(i + 1);
      if (next.name === target.idField) return [{ kind: 'number', token: target.id }];
      return target.json ? valuesIn(target.json, i + 1) : missing(i + 1);
    });
  };
  const values = valuesIn(json, 0);
  return lastMany < 0 ? (values[0] as Json) : { kind: 'array', items: values };
}

function isMany(field: Field): boolean {
  return field.kind === 'links' || field.kind === 'records' || field.kind === 'scalars';
}

/** The number of links on a path of names that ends on a link, or 0. */
function linksOn(names: readonly string[], fields: readonly Field[], linked: Linked): number {
  const [first, ...rest] = names;
  const field = columnsOf(fields).find(({ name }) => name === first);
  if (!field) return 0;
  const below = 'to' in field ? linked(field.to).fields : 'fields' in field ? field.fields : [];
  if (rest.length === 0) return 'to' in field ? 1 : 0;
  const links = linksOn(rest, below, linked);
  return links === 0 ? 0 : links + ('to' in field ? 1 : 0);
}

/** A record with links replaced along these paths. */
export function expanded(
  dataSet: DataSet,
  json: Json,
  fields: readonly Field[],
  paths: readonly (readonly string[])[],
  linked: Linked,
): Json {
  if (json.kind !== 'object') return json;
  const replaced = (value: Json, field: Field, rest: readonly (readonly string[])[]): Json => {
    if (value.kind === 'array') return { kind: 'array', items: value.items.map((item) => replaced(item, field, rest)) };
    if ('fields' in field) return expanded(dataSet, value, field.fields, rest, linked);
    const target = 'to' in field ? linkedTo(dataSet, field.to, value)?.json : undefined;
    return target && 'to' in field ? expanded(dataSet, target, linked(field.to).fields, rest, linked) : value;
  };
  const members = json.members.map(([key, value]): [string, Json] => {
    const below = paths.filter(([first]) => first === key).map(([, ...rest]) => rest);
    const field = fields.find(({ name }) => name === key);
    return [key, below.length > 0 && field ? replaced(value, field, below) : value];
  });
  return { kind: 'object', members };
}

/** The paths that `expand` replaces, its messages, and its names without effect. */
export function expandOf(
  names: readonly string[],
  { fields, keys }: Shown,
  kept: readonly string[],
  { isStrict, isTable, linked }: { readonly isStrict: boolean; readonly isTable: boolean; readonly linked: Linked },
): { readonly paths: readonly (readonly string[])[]; readonly messages: readonly string[]; ignored: string[] } {
  const links = (name: string): number => linksOn(name.split('__'), fields, linked);
  const isKept = (name: string): boolean => kept.length === 0 || kept.includes(name.split('__')[0] as string);
  const used = names.filter((name) => links(name) > 0 && isKept(name));
  const others = names.filter((name) => !used.includes(name));
  const isKnown = (name: string): boolean =>
    keys.includes(name) || joinedAmong([name], { fields, keys }, linked).length > 0;
  const unknown = others.filter((name) => !isKnown(name));
  const useless = others.filter(isKnown);
  const linkNames = fields.filter((field) => 'to' in field).map(({ name }) => name);
  const strict = [
    ...unknown.map((name, i) => `Unknown field "${name}".${i < SUGGESTED ? suggestedName(name, linkNames) : ''}`),
    ...useless.map((name) => (links(name) > 0 ? `"${name}" is not among "fields".` : `"${name}" has no links.`)),
  ];
  const messages = [
    ...(names.length > 10 ? ['At most 10 names can be expanded at once.'] : []),
    ...(names.length > 0 && isTable ? [NO_TABLE] : []),
    ...(used.some((name) => links(name) > 2) ? ['At most 2 links after one another can be expanded.'] : []),
    ...(isStrict ? strict : []),
  ];
  return { paths: used.map((name) => name.split('__')), messages, ignored: [...unknown, ...useless] };
}

const NO_TABLE = 'A table has no embedded records. Name joined fields, such as "fields=ob_id,timePeriod__startTime".';
