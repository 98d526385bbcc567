// The schemas of the OpenAPI document, and the references between its components. Examples are records of the embedded
// sample.
import { type DescribedField, type Lookup, recordShape, type RecordShape } from '../../../engine/described.ts';
import { type Collection, type CollectionIndex, COLLECTIONS, type Field } from '../../../engine/engine.ts';
import { readFile } from 'node:fs/promises';
import { installed } from '../../settings/values.ts';

export type DocumentObject = { readonly [name: string]: unknown };

export function refTo(kind: string, name: string): DocumentObject {
  return { $ref: `#/components/${kind}/${name}` };
}

/** References to components of one kind. `names` has the name of a component for each key of the result. */
export function refsTo(kind: string, names: Readonly<Record<string, string>>): DocumentObject {
  return Object.fromEntries(Object.entries(names).map(([name, component]) => [name, refTo(kind, component)]));
}

/** A name in Pascal case, as schemas are named: `Migration Properties` becomes `MigrationProperties`. */
export function wordOf(name: string): string {
  return name.replace(/(?:^|[ _])(.)/g, (_, first: string) => first.toUpperCase());
}

/** Limit of undocumented fields for each collection, so that tools can open the document. */
export const INFERRED_LISTED_MAX = 100;
/** A longer name is presumed to be data. `result_field__storageLocation` has 29 characters. */
const KEY_CHARACTERS_MAX = 128;
const LIMITS = { inferredMax: INFERRED_LISTED_MAX, keyCharactersMax: KEY_CHARACTERS_MAX };

/** The shapes of all collections, in their order. Cost: a few hundred fields, less than 1 ms. */
export function shapesOf(collections: (name: string) => CollectionIndex): readonly RecordShape[] {
  return COLLECTIONS.map(({ name }) => recordShape(collections(name), LIMITS));
}

const LINE_FEED = 0x0a;

/** The first line of each file of the sample. Cached for reloads: the installation may have been removed by then. */
let firstLines: readonly (readonly [collection: string, line: string])[] | undefined;

/**
 * A sample record for each collection, whose own URLs have this base URL. Cost: the first call reads the sample, 2.5
 * MB, without blocking the thread.
 */
export async function sampleExamples(baseUrl: string): Promise<ReadonlyMap<string, object>> {
  firstLines ??= await Promise.all(COLLECTIONS.map(async ({ name }) => [name, await firstLine(name)] as const));
  const start = JSON.stringify(baseUrl).slice(1, -1);
  return new Map(firstLines.map(([name, line]) => [name, JSON.parse(line.replaceAll('{base_url}', start)) as object]));
}

async function firstLine(collection: string): Promise<string> {
  const lines = await readFile(installed(`data/sample/${collection}.ndjson`));
  return lines.toString('utf8', 0, lines.indexOf(LINE_FEED));
}

/**
 * Returns whether each member of a record is one of these fields, with a value of its type or null. Cost: the record.
 */
function hasFields(fields: readonly Field[], record: object): boolean {
  const entries: readonly (readonly [name: string, value: unknown])[] = Object.entries(record);
  return entries.every(([name, value]) => {
    const field = fields.find((one) => one.name === name);
    return field !== undefined && (value === null || isOf(field, value));
  });
}

function isOf(field: Field, value: unknown): boolean {
  switch (field.kind) {
    case 'scalar':
      return isScalar(field.type, value);
    case 'scalars':
      return Array.isArray(value) && value.every((each) => isScalar(field.type, each));
    case 'link':
      return isLinkTo(field.to, value);
    case 'links':
      return Array.isArray(value) && value.every((each) => isLinkTo(field.to, each));
    case 'record':
      return typeof value === 'object' && value !== null && hasFields(field.fields, value);
    case 'records':
      return Array.isArray(value) && value.every((each: object) => hasFields(field.fields, each));
    case 'opaque':
      return Array.isArray(value);
  }
}

function isScalar(type: string, value: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'float') return typeof value === 'number';
  return typeof value === (type === 'boolean' ? 'boolean' : 'string');
}

function isLinkTo(to: string, value: unknown): boolean {
  return typeof value === 'string' && value.includes(`/api/v3/${to}/`);
}

const OPERANDS: Readonly<Record<string, DocumentObject>> = {
  Text: { type: 'string' },
  Integer: { type: 'integer' },
  Float: { type: 'number' },
  Boolean: { type: 'boolean' },
  Date: { type: 'string', description: 'YYYY-MM-DD.', examples: ['2024-02-29'] },
  DateTime: {
    type: 'string',
    description: 'ISO 8601; without a zone it is UTC, without a time midnight.',
    examples: ['2024-02-29T12:00:00'],
  },
  List: { type: 'string', description: 'Values with commas between them.' },
  Range: { type: 'string', description: 'Two values with a comma between them.' },
  Regex: { type: 'string', description: 'A regular expression in the syntax of RE2.' },
};

/** The simple types, keyed by the reference to each. */
const TYPES: ReadonlyMap<unknown, DocumentObject> = new Map(
  Object.entries(OPERANDS).map(([name, type]) => [refTo('schemas', name)['$ref'], type]),
);

/**
 * Returns a copy with simple types instead of references to them: a generated type named `Date` would hide the built-in
 * one.
 */
export function inlined<T>(schema: T): T {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map((each: unknown) => inlined(each)) as T;
  const members = Object.entries(schema).map(([key, member]: [string, unknown]) => [key, inlined(member)] as const);
  const { $ref, ...others } = Object.fromEntries(members);
  const type = TYPES.get($ref);
  return (type ? { ...type, ...others } : $ref === undefined ? others : { $ref, ...others }) as T;
}

const TEXTS: DocumentObject = { type: 'array', items: { type: 'string' } };

/** The envelope of pages, and the responses without records. */
const VIEWS: DocumentObject = {
  Envelope: {
    type: 'object',
    required: ['count', 'next', 'previous'],
    properties: {
      count: { type: 'integer', description: 'How many records the whole filtered list has.' },
      next: { type: ['string', 'null'], description: 'Link to the following page; null on the last one.' },
      previous: { type: ['string', 'null'], description: 'Link to the preceding page; null on the first one.' },
      facets: {
        type: 'object',
        description: 'With `facets`: by field, how many records have each value.',
        additionalProperties: { type: 'object', additionalProperties: { type: 'integer' } },
      },
    },
  },
  RootView: {
    type: 'object',
    description: 'Each name with its URL.',
    additionalProperties: { type: 'string' },
  },
  Detail: {
    type: 'object',
    required: ['detail'],
    properties: {
      detail: { type: 'string', description: 'What is wrong, as a sentence.' },
      generation: { type: 'string', description: 'With 410: the generation that is served now.' },
    },
  },
  Problems: {
    type: 'object',
    description: 'Each parameter that was refused, with what is wrong with it.',
    additionalProperties: { type: ['array', 'string'], items: { type: 'string' } },
  },
  View: {
    type: 'object',
    required: ['name', 'description', 'renders', 'parses'],
    properties: { name: { type: 'string' }, description: { type: 'string' }, renders: TEXTS, parses: TEXTS },
  },
};

const EXPLANATION: DocumentObject = {
  type: 'object',
  description: 'With `explain`: how the list is found.',
  required: ['generation', 'plan', 'count'],
  properties: {
    generation: { type: 'string' },
    plan: { type: 'object' },
    count: { type: 'integer' },
    ran: { type: 'object' },
  },
};

/** A collection with the shape of its records, the description of their fields, and all its filters. */
export interface DescribedCollection {
  readonly collection: Collection;
  readonly shape: RecordShape;
  readonly fields: readonly DescribedField[];
  readonly filters: readonly Filter[];
}

/**
 * Schemas that belong to no single collection: operands of filters, enumerations, and those that pages and errors
 * share.
 */
export function sharedSchemas(told: readonly DescribedCollection[], mayExplain: boolean): DocumentObject {
  return { ...OPERANDS, ...enumerations(told), ...VIEWS, ...(mayExplain ? { Explanation: EXPLANATION } : {}) };
}

/** The name of the schema of a collection's records, pages or filters. */
export function schemaName({ title }: Collection, of: 'Record' | 'Page' | 'Filters'): string {
  return wordOf(title) + of;
}

/** The choices that all schemas of records share. */
interface RecordStyle {
  /** Names of record schemas, keyed by the JSON of their fields. */
  readonly names: ReadonlyMap<string, string>;
  /** Whether `expand` may replace links by records. */
  readonly mayExpand: boolean;
}

/**
 * The names are those of the record schemas of all collections that are not open. Embedded records with the same fields
 * refer to these schemas.
 */
export function recordStyle(told: readonly DescribedCollection[], mayExpand: boolean): RecordStyle {
  const declared = told.filter(({ collection }) => !collection.open);
  const names = new Map(
    declared.map(({ collection, shape }) => [JSON.stringify(shape.fields), schemaName(collection, 'Record')]),
  );
  return { names, mayExpand };
}

const NO_FIELD: DocumentObject = { description: 'No filter: its values differ in structure, or its name is no key.' };

/** The schema of a record. The example is the sample record, unless it has a field that this data lacks. */
export function recordSchema(
  { collection, shape, fields }: DescribedCollection,
  style: RecordStyle,
  example: object | undefined,
): DocumentObject {
  // Tools would take a member with this name for a reference.
  const others = shape.others.filter((key) => key !== '$ref').map((key) => [key, NO_FIELD] as const);
  return {
    type: 'object',
    properties: { ...propertiesOf(fields, '', style), ...Object.fromEntries(others) },
    ...(collection.open ? { additionalProperties: true } : {}),
    ...(example && hasFields(shape.fields, example) ? { examples: [example] } : {}),
  };
}

export function pageSchema(collection: Collection): DocumentObject {
  const results = { type: 'array', items: refTo('schemas', schemaName(collection, 'Record')) };
  return { allOf: [refTo('schemas', 'Envelope'), { type: 'object', required: ['results'], properties: { results } }] };
}

/** A field with a lookup. */
export interface Filter {
  /** The name of its parameter. */
  readonly key: string;
  readonly described: DescribedField;
  readonly lookup: Lookup;
}

/**
 * All filters of these fields, except those that have the name of another parameter. The key for the first lookup of a
 * field is the field alone.
 */
export function filtersBy(
  fields: readonly DescribedField[],
  isParameter: (name: string) => boolean,
): readonly Filter[] {
  const filters = fields.flatMap((described) =>
    described.lookups.map((lookup, i) => {
      return { key: i === 0 ? described.key : `${described.key}__${lookup.name}`, described, lookup };
    }),
  );
  return filters.filter(({ key }) => !isParameter(key));
}

/** The schema of a collection's filters, with one member for each. */
export function filtersSchema(filters: readonly Filter[]): DocumentObject {
  const properties = filters.map(({ key, described, lookup }) => {
    const operand = operandSchema(described.field, lookup);
    return [key, key === described.key ? { ...operand, description: described.sentence } : operand] as const;
  });
  return { type: 'object', properties: Object.fromEntries(properties) };
}

/** The schema of the value that a lookup of a field compares with. */
export function operandSchema(field: Field, { name, group }: Lookup): DocumentObject {
  if (name === 'isnull') return refTo('schemas', 'Boolean');
  if (name === 'in') return refTo('schemas', 'List');
  if (name === 'range') return refTo('schemas', 'Range');
  if (group === 'text') return refTo('schemas', name.endsWith('regex') ? 'Regex' : 'Text');
  if (group === 'date') return refTo('schemas', name === 'date' ? 'Date' : 'Integer');
  if (field.kind !== 'scalar' && field.kind !== 'scalars') return refTo('schemas', 'Integer');
  return group === 'any' ? valueSchema(field) : refTo('schemas', wordOf(field.type));
}

/** The schemas of the fields directly below `above`, the prefix of their keys. */
function propertiesOf(fields: readonly DescribedField[], above: string, style: RecordStyle): DocumentObject {
  const own = fields.filter(({ key, field }) => key === above + field.name);
  const properties = own.map((one) => {
    const schema = fieldSchema(one, style, (inner) => embedded(fields, one.key, inner, style));
    return [one.field.name, { ...schema, description: one.sentence }] as const;
  });
  return Object.fromEntries(properties);
}

/** A field with misfits may have any value. If a list may be null, its elements may be null too. */
function fieldSchema(
  { field, isNullable, isDocumented }: DescribedField,
  { mayExpand }: RecordStyle,
  embeddedSchema: (fields: readonly Field[]) => DocumentObject,
): DocumentObject {
  if (field.hasMisfits) return {};
  const nullable = (schema: DocumentObject): DocumentObject => (isNullable ? orNull(schema) : schema);
  const arrayOf = (items: DocumentObject): DocumentObject => nullable({ type: 'array', items });
  // A field whose values have several types is inferred to be text.
  const scalar = (of: ScalarField): DocumentObject =>
    isDocumented || of.type !== 'text' ? nullable(valueSchema(of)) : { type: ['string', 'number', 'boolean', 'null'] };
  switch (field.kind) {
    case 'scalar':
      return scalar(field);
    case 'scalars':
      return arrayOf(scalar(field));
    case 'link':
      return linkSchema(field.to, isNullable, mayExpand);
    case 'links':
      return arrayOf(linkSchema(field.to, isNullable, mayExpand));
    case 'record':
      return nullable(embeddedSchema(field.fields));
    case 'records':
      return arrayOf(embeddedSchema(field.fields));
    case 'opaque':
      return { type: 'array' };
  }
}

function embedded(
  fields: readonly DescribedField[],
  key: string,
  inner: readonly Field[],
  style: RecordStyle,
): DocumentObject {
  const name = style.names.get(JSON.stringify(inner));
  if (name !== undefined) return refTo('schemas', name);
  return { type: 'object', properties: propertiesOf(fields, `${key}__`, style) };
}

function orNull(schema: DocumentObject): DocumentObject {
  return { anyOf: [schema, { type: 'null' }] };
}

/** The id is the last number of a link. */
function linkSchema(to: string, isNullable: boolean, mayExpand: boolean): DocumentObject {
  const types = ['string', ...(mayExpand ? ['object'] : []), ...(isNullable ? ['null'] : [])];
  return { type: types.length === 1 ? types[0] : types, pattern: `/api/v[23]/${to}/[0-9]+` };
}

type ScalarField = Extract<Field, { kind: 'scalar' | 'scalars' }>;

function valueSchema(field: ScalarField): DocumentObject {
  return refTo('schemas', field.kind === 'scalar' && field.values ? `${wordOf(field.name)}Value` : wordOf(field.type));
}

/** The enumerations, by name of their fields. All fields with the same name have the same values. */
function enumerations(told: readonly DescribedCollection[]): DocumentObject {
  const all = told.flatMap(({ fields }) =>
    fields.flatMap(({ field }) =>
      field.kind === 'scalar' && field.values ? [[field.name, field.values] as const] : [],
    ),
  );
  const open = (values: readonly string[]): DocumentObject => ({
    anyOf: [{ type: 'string', enum: values }, { type: 'string' }],
    examples: [values.find((value) => value !== '')],
  });
  return Object.fromEntries(all.map(([name, values]) => [`${wordOf(name)}Value`, open(values)]));
}
