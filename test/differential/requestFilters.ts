// Random filters: keys walk through the declaration, values are drawn from a record, both spelled in many ways.
import { COLLECTION_CODES } from '../../engine/schema/resolved.ts';
import type { Field } from '../../engine/schema/types.ts';
import type { Random } from '../support/random.ts';
import { linkedRecord, type DataSet } from './dataset.ts';
import { memberOf, type Json } from './json.ts';
import { collectionOf } from './infer.ts';
import { idOf, typeOf } from './keys.ts';
import { LOOKUPS, suits } from './lookups.ts';
import { encode } from './query.ts';
import { randomOperand } from './requestOperands.ts';
import { DATES, DATE_TIMES, INTEGERS, TEXTS } from './texts.ts';

/** The record from which values are mostly drawn, and the records that its links point at. */
export interface Model {
  readonly json: Json | undefined;
  readonly dataSet: DataSet;
}

/** Draws `key=value` for a path of fields, sometimes the key with several values. */
export function randomFilters(random: Random, path: readonly Field[], model: Model): readonly string[] {
  const lookup = random.chance(0.93) ? random.pick(fittingLookups(random, path.at(-1))) : random.pick(ODD_LOOKUPS);
  const key = path.map(({ name }) => encodeURIComponent(name)).join('__') + lookup + randomNegation(random);
  const draw = (): string => randomValue(random, path, model);
  return random.several(1, random.chance(0.15) ? 4 : 2, () => {
    const value = randomOperand(random, lookup.slice('__'.length), draw);
    const written = random.chance(0.03) ? random.pick(ODD_VALUES) : spell(random, value);
    const bracketed = random.pick(['filters[', 'filters%5B']) + key + random.pick([']', '%5D', '']);
    if (random.chance(0.03)) return `${bracketed}=${written}`;
    return `${random.chance(0.03) ? escapeSome(random, decodeURIComponent(key)) : key}=${written}`;
  });
}

/** Kinds that occur once in the declaration, among dozens of texts and links, are drawn more often. */
function isRare(field: Field): boolean {
  if (field.kind === 'record') return field.fields.some(isRare);
  return field.kind === 'scalars' || (field.kind === 'scalar' && field.type === 'boolean');
}

function randomNegation(random: Random): string {
  return random.chance(0.3) ? random.pick(['!', '!', '%21']) : '';
}

/** Mostly lookups that the field accepts. */
function fittingLookups(random: Random, field: Field | undefined): readonly string[] {
  const isOdd = random.chance(0.03);
  const fitting = LOOKUPS.filter((lookup) => isOdd || suits(lookup, typeOf(field)));
  return ['', ...fitting.map((lookup) => `__${lookup}`)];
}

const ODD_VALUES: readonly string[] = ['', '', '%zz', '%', '%ed%a0%80', '%c3', '+', '%00', '%EF%BB%BFocean'];

const ODD_LOOKUPS: readonly string[] = [
  '__',
  '__foo',
  '__Exact',
  '__uuid',
  '__contains__foo',
  '__foo__contains',
  '__contains__',
  '____in',
  '___in',
  '__ob_id',
  '__9',
  '!',
  '.in',
  '__%C3%A9t%C3%A9',
];

/** The fields that a path may use after a field, from the current data set. */
export type FieldsBehind = (field: Field | undefined) => readonly Field[];

/** Members of embedded records, and the fields that the linked records of a data set have, also of generic links. */
export function fieldsBehindIn(dataSet: DataSet): FieldsBehind {
  return (field) => {
    if (field?.kind === 'link' || field?.kind === 'links') return columnsOf(collectionOf(dataSet, field.to).fields);
    const own = field?.kind === 'record' || field?.kind === 'records' ? columnsOf(field.fields) : [];
    if (field?.name !== 'ob_ref' && (field?.name !== 'relatedTo' || field.kind !== 'record')) return own;
    const linked = ['observations', 'projects'].flatMap((name) => columnsOf(collectionOf(dataSet, name).fields));
    return [...own, ...own, ...own, ...linked];
  };
}

/** Draws a path that shares a relation with another one, so that both test the same related row. */
export function randomSibling(random: Random, path: readonly Field[], behind: FieldsBehind): readonly Field[] {
  const end = random.integer(1, path.length + 1);
  const fields = behind(path[end - 1]);
  return fields.length === 0 ? path : [...path.slice(0, end), ...randomFieldPath(random, fields, behind)];
}

/** Draws a walk from one of the fields down to a value or a relation, over this many links if possible. */
export function randomFieldPath(
  random: Random,
  fields: readonly Field[],
  behind: FieldsBehind,
  links: number = randomLinks(random),
): readonly Field[] {
  const preferred = fields.filter(links > 0 ? (field) => leadsFar(field, behind) : isRare);
  const field = random.pick(preferred.length > 0 && (links > 0 || random.chance(0.15)) ? preferred : fields);
  const rest = Math.max(0, links - 1);
  const goOn = (from: Field, left: number): readonly Field[] =>
    behind(from).length === 0 ? [field] : [field, ...randomFieldPath(random, behind(from), behind, left)];
  if (field.kind === 'link' || field.kind === 'links') {
    return random.chance(links > 0 ? 0.1 : 0.5) ? [field] : goOn(field, rest);
  }
  if (field.kind === 'scalar' && behind(field).length > 0) return random.chance(0.3) ? [field] : goOn(field, rest);
  if ((field.kind !== 'record' && field.kind !== 'records') || random.chance(links > 0 ? 0.02 : 0.2)) return [field];
  const id = idOf(field);
  return id?.kind !== 'link' || random.chance(0.4) ? goOn(field, links) : goOn(id, rest);
}

/** Whether a field is a link to records that have more than an id, or an embedded record whose id is such a link. */
function leadsFar(field: Field, behind: FieldsBehind): boolean {
  if (field.kind === 'record' || field.kind === 'records') return field.fields.some((inner) => leadsFar(inner, behind));
  return (field.kind === 'link' || field.kind === 'links') && behind(field).length > 1;
}

function columnsOf(fields: readonly Field[]): readonly Field[] {
  return fields.filter(({ kind }) => kind !== 'opaque');
}

/** Mostly none, else up to three; sometimes more than a key may follow. */
function randomLinks(random: Random): number {
  if (random.chance(0.5)) return 0;
  return random.chance(0.03) ? 8 : random.integer(1, 4);
}

/** The model's value at the path, or a piece of it, or any value of a fitting type, or any value at all. */
export function randomValue(random: Random, path: readonly Field[], model: Model): string {
  const names = path.map(({ name }) => name);
  const found = random.chance(0.8) ? valuesAt(model, names) : [];
  if (found.length === 0) return random.chance(0.9) ? fittingValue(random, path.at(-1)) : random.pick(ODD_OPERANDS);
  const value = random.pick(found);
  if (random.chance(0.8)) return value;
  const start = random.chance(0.6) ? 0 : random.integer(0, value.length + 1);
  return value.slice(start, random.integer(start, value.length + 1));
}

const ODD_OPERANDS: readonly string[] = [
  '',
  '5.00',
  '5.',
  '1.5',
  '1e3',
  '-0',
  'abc',
  'False',
  ' 3 ',
  '9'.repeat(400),
  'None',
  'in.(1,2)',
  'not.lte.3',
  'neq.5',
  'gt.abc',
  'not.is.null',
];

/** Instants as Java, .NET, GNU date, PostgreSQL, `strftime` and RFC 3339 print them; the last one is no instant. */
const PRINTED_TIMES: readonly string[] = [
  '2015-01-02T03:04:05.123456789Z',
  '2015-01-02T03:04:05.1234567+01:00',
  '2015-01-02T03:04:05,500000000+00:00',
  '2015-01-02 03:04:05+00',
  '2015-01-02T03:04:05+0000',
  '2015-01-02t03:04:05z',
  '2015-01-02T03:04:05.Z',
];

function fittingValue(random: Random, field: Field | undefined): string {
  const type = field?.kind === 'scalar' || field?.kind === 'scalars' ? field.type : 'integer';
  if (type === 'integer' || type === 'float') return random.pick(INTEGERS);
  if (type === 'boolean') return random.pick(['true', 'false', 'True', 'FALSE', '1', '0', '', 'no']);
  return random.pick(type === 'text' ? TEXTS : [...DATES, ...DATE_TIMES, ...PRINTED_TIMES]);
}

function valuesAt({ json: value, dataSet }: Model, names: readonly string[]): string[] {
  if (value?.kind === 'array') return value.items.flatMap((json) => valuesAt({ json, dataSet }, names));
  const [name, ...rest] = names;
  if (value?.kind === 'object') {
    const own = memberOf(value, name ?? 'ob_id');
    const related = own === undefined && name !== undefined ? relatedRecord(value, dataSet) : undefined;
    if (related) return valuesAt({ json: memberOf(related, name!), dataSet }, rest);
    const isShort = own === undefined && name !== undefined && memberOf(value, 'ob_id')?.kind === 'string';
    return isShort
      ? valuesAt({ json: memberOf(value, 'ob_id'), dataSet }, names)
      : valuesAt({ json: own, dataSet }, rest);
  }
  const to = value?.kind === 'string' ? /^\{base_url\}\/api\/v3\/(\w+)\/\d+\//.exec(value.value)?.[1] : undefined;
  if (to !== undefined && name !== undefined)
    return valuesAt({ json: linkedRecord(dataSet, to, value), dataSet }, names);
  if (value?.kind === 'number') return [value.token];
  if (value?.kind === 'boolean') return [String(value.value)];
  if (value?.kind !== 'string') return [];
  return [/^\{base_url\}.*\/(\d+)\/\?format=api$/.exec(value.value)?.[1] ?? value.value];
}

/** The record that a `relatedTo` leads to. */
function relatedRecord(value: Json, dataSet: DataSet): Json | undefined {
  const [kind, id] = [memberOf(value, 'short_code'), memberOf(value, 'ob_id')];
  const to = kind?.kind === 'string' ? COLLECTION_CODES.get(kind.value) : undefined;
  if (to === undefined || id?.kind !== 'number') return undefined;
  const link = { kind: 'string', value: `{base_url}/api/v3/${to}/${id.token}/?format=api` } as const;
  return linkedRecord(dataSet, to, link);
}

function spell(random: Random, value: string): string {
  // A cut through a surrogate pair leaves a text that UTF-8 cannot encode; the buffer turns it into U+FFFD.
  const text = Buffer.from(value).toString();
  const plain = encode(text, random.chance(0.5) ? '+' : '%20');
  if (random.chance(0.1)) return escapeSome(random, text);
  return random.chance(0.3) ? plain.replaceAll('%2C', ',').replaceAll('%2F', '/').replaceAll('%3A', ':') : plain;
}

/** Percent-encodes more than necessary, in either case of hexadecimal digits. */
export function escapeSome(random: Random, text: string): string {
  const bytes = [...Buffer.from(text)];
  return bytes
    .map((byte) => {
      const hex = byte.toString(16).padStart(2, '0');
      const isPlain = /[A-Za-z0-9_.~-]/.test(String.fromCharCode(byte)) && byte < 0x80 && random.chance(0.6);
      return isPlain ? String.fromCharCode(byte) : `%${random.chance(0.5) ? hex : hex.toUpperCase()}`;
    })
    .join('');
}
