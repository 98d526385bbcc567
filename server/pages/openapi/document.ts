// The OpenAPI 3.1 documents of the catalogue, derived from its declaration, the shapes of its records and the settings
// of the server. One document is for client generators; the other has all spellings. Both are plain data.
import {
  collectionSentence,
  type DescribedField,
  describedFields,
  type RecordShape,
} from '../../../engine/described.ts';
import { type Collection, COLLECTIONS, type QueryOptions } from '../../../engine/engine.ts';
import {
  filtersParameter,
  HEADERS,
  isListParameter,
  OTHER_FILTERS,
  parameterComponents,
  RESPONSES,
} from './responses.ts';
import { allPaths, operationPaths } from './paths.ts';
import {
  type DocumentObject,
  type Filter,
  filtersBy,
  filtersSchema,
  inlined,
  INFERRED_LISTED_MAX,
  pageSchema,
  recordStyle,
  recordSchema,
  schemaName,
  sharedSchemas,
  type DescribedCollection,
} from './schemas.ts';

/** `usual` is for client generators. `all` adds v2, every spelling of a path, every filter, HEAD and OPTIONS. */
export type Spellings = 'usual' | 'all';

export interface DocumentOptions {
  readonly baseUrl: string;
  readonly version: string;
  readonly query: QueryOptions;
  /** In the order of the collections. */
  readonly shapes: readonly RecordShape[];
  /** A record of each collection that has one. */
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

const FIELDS = `Fields are those of the data that is served: the documented ones, and up to ${INFERRED_LISTED_MAX} in each collection that
only the data has, with types inferred from all values; what is text to filters may be a number or a boolean in a record.
A documented field keeps its type for filters; if some of its values do not fit, records may have any value there.
Members of a record that are shown here may be missing; enumerations have the values that were seen.`;

/**
 * Cost: about 10 ms. The document of the sample has 300 kB of JSON, or 650 kB with all spellings. With as many fields
 * as a document may show, it has 16 MB.
 */
export function openApiDocument(options: DocumentOptions): DocumentObject {
  const { query, examples, spellings } = options;
  const isAll = spellings === 'all';
  const shown = isAll ? (schema: DocumentObject) => schema : inlined;
  const told = COLLECTIONS.map((collection, i) => describedCollection(collection, options.shapes[i]!, query));
  const style = recordStyle(told, isAll);
  const schemas = told.flatMap((one) => [
    [schemaName(one.collection, 'Record'), shown(recordSchema(one, style, examples.get(one.collection.name)))] as const,
    [schemaName(one.collection, 'Page'), pageSchema(one.collection)] as const,
    ...(isAll ? [[schemaName(one.collection, 'Filters'), filtersSchema(one.filters)] as const] : []),
  ]);
  const filters = told.map((one) => {
    const name = schemaName(one.collection, 'Filters');
    return [name, filtersParameter(name, filterExample(one.filters))] as const;
  });
  const paths = isAll ? allPaths(query) : operationPaths(told, query);
  const components: Components = {
    schemas: { ...sharedSchemas(told, query.mayExplain === true), ...Object.fromEntries(schemas) },
    parameters: {
      ...parameterComponents(query),
      ...(isAll ? Object.fromEntries(filters) : { Filters: OTHER_FILTERS }),
    },
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
      ...(isAll ? [] : [{ name: 'Exports', description: 'Whole lists in other forms than JSON.' }]),
      ...COLLECTIONS.map((collection) => ({ name: collection.title, description: collectionSentence(collection) })),
    ],
    paths,
    components: isAll ? components : usedComponents(paths, components),
  };
}

/** Components by kind, then by name. */
type Components = Readonly<Record<string, DocumentObject>>;

const COMPONENT = /^#\/components\/(\w+)\/(.+)$/;

/**
 * The components that paths refer to, directly or through other components. Cost: a pass over both, about as much as
 * building them.
 */
function usedComponents(paths: DocumentObject, components: Components): Components {
  const used = new Set<unknown>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const member of Object.values(value)) visit(member);
    const [, kind = '', name = ''] = ('$ref' in value && COMPONENT.exec(String(value.$ref))) || [];
    const component = components[kind]?.[name];
    if (component === undefined || used.has(component)) return;
    used.add(component);
    visit(component);
  };
  visit(paths);
  const usedOf = (kind: DocumentObject): DocumentObject =>
    Object.fromEntries(Object.entries(kind).filter(([, component]) => used.has(component)));
  return Object.fromEntries(Object.entries(components).map(([kind, all]) => [kind, usedOf(all)]));
}

function describedCollection(collection: Collection, shape: RecordShape, query: QueryOptions): DescribedCollection {
  const fields = describedFields(collection, shape.fields);
  const isFiltered = ({ key }: DescribedField): boolean =>
    query.filters === 'all' || collection.filters.includes(key.split('__')[0]!);
  return { collection, shape, fields, filters: filtersBy(fields.filter(isFiltered), isListParameter(query)) };
}

/** An example filter: on the first text field, otherwise on the first field with the lookup `in`. */
function filterExample(filters: readonly Filter[]): DocumentObject {
  const isText = ({ described: { field } }: Filter): boolean => field.kind === 'scalar' && field.type === 'text';
  const text = filters.find((one) => one.lookup.name === 'startswith' && isText(one));
  if (text) return { [text.key]: 'a' };
  const list = filters.find(({ lookup }) => lookup.name === 'in');
  return list ? { [list.key]: '1,8' } : {};
}
