// The schemas of records, pages and filters, derived from the declared fields. They say what is served, and no more: a
// record may lack any member (`fields` cuts it), may have others, and values that were seen are not the only ones.
import { type DescribedField, documentedFields, fieldSentence, type Lookup } from '../../engine/described.ts';
import { type Collection, COLLECTIONS, type Field } from '../../engine/engine.ts';
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

/** Schemas that are no collection's own: what filters compare with, enumerations, and what pages and errors share. */
export function sharedSchemas(mayExplain: boolean): DocumentObject {
  return { ...OPERANDS, ...enumerations(), ...VIEWS, ...(mayExplain ? { Explanation: EXPLANATION } : {}) };
}

/** The name of the schema of a collection's records, pages or filters. */
export function schemaName({ title }: Collection, of: 'Record' | 'Page' | 'Filters'): string {
  return wordOf(title) + of;
}

/** The schema of a record, with one of the sample as its example where there is one. */
export function recordSchema(collection: Collection, example: unknown): DocumentObject {
  return {
    ...objectSchema([collection.name], documentedFields(collection)),
    ...(collection.open ? { additionalProperties: true } : {}),
    ...(example === undefined ? {} : { examples: [example] }),
  };
}

/** The schema of a page. */
export function pageSchema(collection: Collection): DocumentObject {
  const results = { type: 'array', items: refTo('schemas', schemaName(collection, 'Record')) };
  return { allOf: [refTo('schemas', 'Envelope'), { type: 'object', required: ['results'], properties: { results } }] };
}

/** The schema of a collection's filters: a member for each field and each of its lookups. */
export function filtersSchema(fields: readonly DescribedField[]): DocumentObject {
  const properties = Object.fromEntries(
    fields.flatMap((field) =>
      field.lookups.map((lookup, i) => {
        const operand = operandSchema(field.field, lookup);
        return i === 0
          ? [field.key, { ...operand, description: field.sentence }]
          : [`${field.key}__${lookup.name}`, operand];
      }),
    ),
  );
  return { type: 'object', properties };
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

function objectSchema(path: readonly string[], fields: readonly Field[]): DocumentObject {
  const properties = fields.map((field) => {
    const at = [...path, field.name];
    return [field.name, { ...fieldSchema(at, field), description: fieldSentence(at) }] as const;
  });
  return { type: 'object', properties: Object.fromEntries(properties) };
}

function fieldSchema(path: readonly string[], field: Field): DocumentObject {
  switch (field.kind) {
    case 'scalar':
      return field.nullable ? orNull(valueSchema(field)) : valueSchema(field);
    case 'scalars':
      return { type: 'array', items: valueSchema(field) };
    case 'link':
      return linkSchema(field.to, field.nullable);
    case 'links':
      return { type: 'array', items: linkSchema(field.to, false) };
    case 'record':
      return embedded(path, field.fields);
    case 'records':
      return { type: 'array', items: embedded(path, field.fields) };
    case 'opaque':
      return { type: 'array' };
  }
}

/** A record that a collection has too is told there. */
function embedded(path: readonly string[], fields: readonly Field[]): DocumentObject {
  const same = COLLECTIONS.find((collection) => collection.fields === fields);
  return same ? refTo('schemas', schemaName(same, 'Record')) : objectSchema(path, fields);
}

function orNull(schema: DocumentObject): DocumentObject {
  return { anyOf: [schema, { type: 'null' }] };
}

/** The last number of a link is the id. */
function linkSchema(to: string, isNullable: boolean): DocumentObject {
  return { type: isNullable ? ['string', 'null'] : 'string', pattern: `/api/v[23]/${to}/[0-9]+` };
}

function valueSchema(field: {
  readonly type: string;
  readonly values?: readonly string[];
  name: string;
}): DocumentObject {
  return refTo('schemas', field.values ? `${wordOf(field.name)}Value` : wordOf(field.type));
}

/** Lists of values by the name of their schema, which is that of the field; no two fields of a name have other ones. */
const ENUMERATED: ReadonlyMap<string, readonly string[]> = new Map(
  COLLECTIONS.flatMap((collection) => enumeratedBelow(documentedFields(collection))).map(
    ({ name, values }) => [`${wordOf(name)}Value`, values] as const,
  ),
);

function enumeratedBelow(fields: readonly Field[]): readonly { name: string; values: readonly string[] }[] {
  return fields.flatMap((field) => {
    if ('fields' in field) return enumeratedBelow(field.fields);
    return field.kind === 'scalar' && field.values ? [{ name: field.name, values: field.values }] : [];
  });
}

function enumerations(): DocumentObject {
  const open = (values: readonly string[]): DocumentObject => ({
    anyOf: [{ type: 'string', enum: values }, { type: 'string' }],
    examples: [values.find((value) => value !== '')],
  });
  return Object.fromEntries([...ENUMERATED].map(([name, values]) => [name, open(values)]));
}
