// The OpenAPI 3.1 documents of the catalogue, derived from its declaration and the shapes of its records under the
// settings of a server: one for generators of clients, and one with all spellings. Plain data.
import {
  collectionSentence,
  type DescribedField,
  describedFields,
  type RecordShape,
} from '../../../engine/described.ts';
import { type Collection, COLLECTIONS, type QueryOptions } from '../../../engine/engine.ts';
import { filtersParameter, HEADERS, isListParameter, parameterComponents, RESPONSES } from './responses.ts';
import { allPaths, operationPaths } from './paths.ts';
import {
  type DocumentObject,
  filtersBy,
  filtersSchema,
  INFERRED_TOLD_MAX,
  operandNamed,
  pageSchema,
  recordNames,
  recordSchema,
  schemaName,
  sharedSchemas,
  type ToldCollection,
} from './schemas.ts';

/** `usual` is for generators of clients. `all` has v2, every spelling of a path, every filter, HEAD and OPTIONS too. */
export type Spellings = 'usual' | 'all';

/** `shapes` are in the order of the collections; `examples` has a record of each, if there is one. */
export interface DocumentOptions {
  readonly baseUrl: string;
  readonly version: string;
  readonly query: QueryOptions;
  readonly shapes: readonly RecordShape[];
  readonly examples: ReadonlyMap<string, object>;
  readonly spellings: Spellings;
}

const WHAT = `A read-only catalogue of observations and the entities around them. Each collection is listed in
pages and filtered by any field; a record is fetched by its id.`;

const PATHS: Readonly<Record<Spellings, string>> = {
  usual: `This document has one path for each operation, for generators of clients. The usual filters are parameters of
their own; all others are members of \`filters\`. \`/openapi.json?spellings=all\` lists them, with version 2, all forms and
spellings of the paths, HEAD and OPTIONS. Parameters that are unknown are ignored and named in the header
\`X-Ignored-Params\`, unless \`strict\` refuses them.`,
  all: `Every path answers GET, HEAD (the headers alone, with the length of the body) and OPTIONS. The path of a list or record
without its final slash is answered 301 with the path that has it, unless it names a form, as \`.json\` does; look-ups
are answered with and without. Both versions have the same collections, but for one that only v3 has; links in answers
have the version that was asked for. Parameters that are unknown are ignored and named in the header
\`X-Ignored-Params\`, unless \`strict\` refuses them.`,
};

const FIELDS = `Fields are those of the data that is served: the documented ones, and up to ${INFERRED_TOLD_MAX} in each collection that
only the data has, with types inferred from all values; what is text to filters may be a number or a boolean in a record.
A documented field keeps its type for filters; if some of its values do not fit, records may have any value there.
Members of a record that are shown here may be missing; enumerations have the values that were seen.`;

/**
 * Makes a document. Cost: some 10 ms. The sample gives 300 kB of JSON, or 650 kB with all spellings. Records with as many
 * fields as the document may show give 16 MB.
 */
export function openApiDocument(options: DocumentOptions): DocumentObject {
  const { query, examples, spellings } = options;
  const told = COLLECTIONS.map((collection, i) => toldOf(collection, options.shapes[i]!));
  const names = recordNames(told);
  const isParameter = isListParameter(query);
  const filtered = told.map((one) => {
    return { collection: one.collection, filters: filtersBy(filtersOf(one, query), isParameter) };
  });
  const schemas = told.flatMap((one, i) => [
    [schemaName(one.collection, 'Record'), recordSchema(one, names, examples.get(one.collection.name))] as const,
    [schemaName(one.collection, 'Page'), pageSchema(one.collection)] as const,
    [schemaName(one.collection, 'Filters'), filtersSchema(filtered[i]!.filters)] as const,
  ]);
  const filters = told.map((one) => {
    const name = schemaName(one.collection, 'Filters');
    return [name, filtersParameter(name, filterExample(filtersOf(one, query)))] as const;
  });
  const paths = spellings === 'all' ? allPaths(query) : inlined(operationPaths(filtered, query));
  const components: Components = {
    schemas: { ...sharedSchemas(told, query.mayExplain === true), ...Object.fromEntries(schemas) },
    parameters: { ...parameterComponents(query), ...Object.fromEntries(filters) },
    headers: HEADERS,
    responses: RESPONSES,
  };
  return {
    openapi: '3.1.1',
    info: {
      title: 'Catalogue',
      version: options.version,
      description: [WHAT, PATHS[spellings], FIELDS].join('\n\n'),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: options.baseUrl }],
    security: [],
    tags: [
      { name: 'Views', description: 'What there is.' },
      { name: 'Look-ups', description: 'Records by the path of their data, or by an identifier.' },
      ...(spellings === 'all' ? [] : [{ name: 'Exports', description: 'Whole lists in other forms than JSON.' }]),
      ...COLLECTIONS.map((collection) => ({ name: collection.title, description: collectionSentence(collection) })),
    ],
    paths,
    components: usedComponents(paths, spellings === 'all' ? components : inlined(components)),
  };
}

/** Components by kind, then by name. */
type Components = Readonly<Record<string, DocumentObject>>;

const COMPONENT = /^#\/components\/([^/]+)\/([^/]+)$/;

/** The components that paths refer to, also by way of others. Cost: a pass over both. */
function usedComponents(paths: DocumentObject, components: Components): Components {
  const used = new Set<unknown>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, member] of Object.entries(value) as [string, unknown][]) {
      visit(member);
      const [, kind = '', name = ''] = (key === '$ref' && COMPONENT.exec(String(member))) || [];
      const component = components[kind]?.[name];
      if (component === undefined || used.has(component)) continue;
      used.add(component);
      visit(component);
    }
  };
  visit(paths);
  const kinds = Object.entries(components).map(([kind, all]) => {
    return [kind, Object.fromEntries(Object.entries(all).filter(([, component]) => used.has(component)))] as const;
  });
  return Object.fromEntries(kinds);
}

/** Replaces references to simple types by the types: a generated type named `Date` would hide that of the language. */
function inlined<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((element: unknown) => inlined(element)) as T;
  const members = Object.entries(value).flatMap(([key, member]: [string, unknown]) => {
    const type = key === '$ref' ? operandNamed(String(member)) : undefined;
    return type ? Object.entries(type) : [[key, inlined(member)] as const];
  });
  return Object.fromEntries(members) as T;
}

function toldOf(collection: Collection, shape: RecordShape): ToldCollection {
  return { collection, shape, fields: describedFields(collection, shape.fields) };
}

function filtersOf({ collection, fields }: ToldCollection, { filters }: QueryOptions): readonly DescribedField[] {
  const fit = fields.filter(({ lookups }) => lookups.length > 0);
  return filters === 'all' ? fit : fit.filter(({ key }) => collection.filters.includes(key.split('__')[0]!));
}

/** A filter of the first field of texts, or of the id. */
function filterExample(fields: readonly DescribedField[]): DocumentObject {
  const text = fields.find(({ field }) => field.kind === 'scalar' && field.type === 'text');
  if (text) return { [`${text.key}__startswith`]: 'a' };
  return fields.length === 0 ? {} : { [`${fields[0]!.key}__in`]: '1,8' };
}
