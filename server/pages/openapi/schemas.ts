// The schemas of records, pages and filters, derived from the fields that are served. They say what is served, and no
// more: a record may lack any member (`fields` cuts it), may have others, and values seen are not the only ones.
import { type DescribedField, type Lookup, type RecordShape } from '../../../engine/described.ts';
import type { Collection, Field } from '../../../engine/engine.ts';
import { hasFields } from './examples.ts';
import { type DocumentObject, refTo, wordOf } from './references.ts';

/** What filters compare with. */
const OPERANDS: DocumentObject = {
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

const TEXTS: DocumentObject = { type: 'array', items: { type: 'string' } };

/** What pages have in common, and all that is no record. */
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

/** A collection as it is told: the shape of its records, and the fields of that, described. */
export interface ToldCollection {
  readonly collection: Collection;
  readonly shape: RecordShape;
  readonly fields: readonly DescribedField[];
}

/** Schemas that are no collection's own: what filters compare with, enumerations, and what pages and errors share. */
export function sharedSchemas(told: readonly ToldCollection[], mayExplain: boolean): DocumentObject {
  return { ...OPERANDS, ...enumerations(told), ...VIEWS, ...(mayExplain ? { Explanation: EXPLANATION } : {}) };
}

/** The name of the schema of a collection's records, pages or filters. */
export function schemaName({ title }: Collection, of: 'Record' | 'Page' | 'Filters'): string {
  return wordOf(title) + of;
}

/** Names of the schemas of records by the JSON of their fields. */
export type RecordNames = ReadonlyMap<string, string>;

/** Those of declared collections: an embedded record that such a collection has too is told there. */
export function recordNames(told: readonly ToldCollection[]): RecordNames {
  const declared = told.filter(({ collection }) => !collection.open);
  return new Map(
    declared.map(({ collection, shape }) => [JSON.stringify(shape.fields), schemaName(collection, 'Record')]),
  );
}

/** What is said of a key that is no field. */
const NO_FIELD: DocumentObject = { description: 'No filter: its values differ in structure, or its name is no key.' };

/** The schema of a record, with one of the sample as its example where there is one that has no other fields. */
export function recordSchema(
  { collection, shape, fields }: ToldCollection,
  names: RecordNames,
  example: object | undefined,
): DocumentObject {
  // A member of this name is taken for a reference by tools.
  const others = shape.others.filter((key) => key !== '$ref').map((key) => [key, NO_FIELD] as const);
  return {
    type: 'object',
    properties: { ...propertiesOf(fields, '', names), ...Object.fromEntries(others) },
    ...(collection.open ? { additionalProperties: true } : {}),
    ...(example && hasFields(shape.fields, example) ? { examples: [example] } : {}),
  };
}

/** The schema of a page. */
export function pageSchema(collection: Collection): DocumentObject {
  const results = { type: 'array', items: refTo('schemas', schemaName(collection, 'Record')) };
  return { allOf: [refTo('schemas', 'Envelope'), { type: 'object', required: ['results'], properties: { results } }] };
}

/** The schema of a collection's filters: a member for each field and lookup, but for what is a parameter's name. */
export function filtersSchema(
  fields: readonly DescribedField[],
  isParameter: (name: string) => boolean,
): DocumentObject {
  const properties = fields.flatMap((field) =>
    field.lookups.map((lookup, i): readonly [key: string, schema: DocumentObject] => {
      const operand = operandSchema(field.field, lookup);
      return i === 0
        ? [field.key, { ...operand, description: field.sentence }]
        : [`${field.key}__${lookup.name}`, operand];
    }),
  );
  return { type: 'object', properties: Object.fromEntries(properties.filter(([key]) => !isParameter(key))) };
}

/** What a lookup of a field compares with. The first lookup of every field is that of a key without one. */
function operandSchema(field: Field, { name, group }: Lookup): DocumentObject {
  if (name === 'isnull') return refTo('schemas', 'Boolean');
  if (name === 'in') return refTo('schemas', 'List');
  if (name === 'range') return refTo('schemas', 'Range');
  if (group === 'text') return refTo('schemas', name.endsWith('regex') ? 'Regex' : 'Text');
  if (group === 'date') return refTo('schemas', name === 'date' ? 'Date' : 'Integer');
  if (field.kind !== 'scalar' && field.kind !== 'scalars') return refTo('schemas', 'Integer');
  return group === 'any' ? valueSchema(field) : refTo('schemas', wordOf(field.type));
}

/** The schemas of those fields whose keys are a name behind `above`. */
function propertiesOf(fields: readonly DescribedField[], above: string, names: RecordNames): DocumentObject {
  const own = fields.filter(({ key, field }) => key === above + field.name);
  const properties = own.map((one) => {
    const schema = fieldSchema(one, (inner) => embedded(fields, one.key, inner, names));
    return [one.field.name, { ...schema, description: one.sentence }] as const;
  });
  return Object.fromEntries(properties);
}

/** A field with misfits has any value. Of one that may be null, elements may be null too. */
function fieldSchema(
  { field, isNullable, isDocumented }: DescribedField,
  embeddedSchema: (fields: readonly Field[]) => DocumentObject,
): DocumentObject {
  if (field.hasMisfits) return {};
  const nullable = (schema: DocumentObject): DocumentObject => (isNullable ? orNull(schema) : schema);
  const arrayOf = (items: DocumentObject): DocumentObject => nullable({ type: 'array', items });
  // Values of several kinds are inferred to be text.
  const scalar = (of: ScalarField): DocumentObject =>
    isDocumented || of.type !== 'text' ? nullable(valueSchema(of)) : { type: ['string', 'number', 'boolean', 'null'] };
  switch (field.kind) {
    case 'scalar':
      return scalar(field);
    case 'scalars':
      return arrayOf(scalar(field));
    case 'link':
      return linkSchema(field.to, isNullable);
    case 'links':
      return arrayOf(linkSchema(field.to, isNullable));
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
  names: RecordNames,
): DocumentObject {
  const name = names.get(JSON.stringify(inner));
  if (name !== undefined) return refTo('schemas', name);
  return { type: 'object', properties: propertiesOf(fields, `${key}__`, names) };
}

function orNull(schema: DocumentObject): DocumentObject {
  return { anyOf: [schema, { type: 'null' }] };
}

/** The last number of a link is the id. */
function linkSchema(to: string, isNullable: boolean): DocumentObject {
  return { type: isNullable ? ['string', 'null'] : 'string', pattern: `/api/v[23]/${to}/[0-9]+` };
}

type ScalarField = Extract<Field, { kind: 'scalar' | 'scalars' }>;

function valueSchema(field: ScalarField): DocumentObject {
  return refTo('schemas', field.kind === 'scalar' && field.values ? `${wordOf(field.name)}Value` : wordOf(field.type));
}

/** The lists of values, each under the name of its fields: no two of a name have other ones. */
function enumerations(told: readonly ToldCollection[]): DocumentObject {
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
