// The OpenAPI 3.1 document of the catalogue, derived from its declaration and the shapes of its records under the
// settings of a server. Plain data; every path that is not the first of its kind is a reference to that one, so that it
// stays small enough to open.
import {
  collectionSentence,
  type DescribedField,
  describedFields,
  type RecordShape,
} from '../../../engine/described.ts';
import {
  type Collection,
  COLLECTIONS,
  collectionsOfPath,
  EXPORT_FORMATS,
  EXPORT_TYPES,
  type QueryOptions,
  type Version,
} from '../../../engine/engine.ts';
import {
  failures,
  filtersParameter,
  foundResponse,
  HEADERS,
  isListParameter,
  jsonContent,
  parameterComponents,
  parametersOf,
  RESPONSES,
  viewItem,
} from './responses.ts';
import {
  type DocumentObject,
  filtersSchema,
  INFERRED_TOLD_MAX,
  pageSchema,
  recordNames,
  recordSchema,
  refTo,
  schemaName,
  sharedSchemas,
  type ToldCollection,
  wordOf,
} from './schemas.ts';
import { resolutionItems } from './resolutions.ts';

/** `shapes` are in the order of the collections; `examples` has a record of each, if there is one. */
export interface DocumentOptions {
  readonly baseUrl: string;
  readonly version: string;
  readonly query: QueryOptions;
  readonly shapes: readonly RecordShape[];
  readonly examples: ReadonlyMap<string, object>;
}

const DESCRIPTION = `A read-only catalogue of observations and the entities around them. Each collection is listed in
pages and filtered by any field; a record is fetched by its id.

Every path answers GET, HEAD (the headers alone, with the length of the body) and OPTIONS. The path of a list or record
without its final slash is answered 301 with the path that has it, unless it names a form, as \`.json\` does; look-ups
are answered with and without. Both versions have the same collections, but for one that only v3 has; links in answers
have the version that was asked for. Parameters that are unknown are ignored and named in the header
\`X-Ignored-Params\`, unless \`strict\` refuses them.

Fields are those of the data that is served: the documented ones, and up to ${INFERRED_TOLD_MAX} in each collection that
only the data has, with types inferred from all values; what is text to filters may be a number or a boolean in a record.
A documented field keeps its type for filters; if some of its values do not fit, records may have any value there.
Members of a record that are shown here may be missing; enumerations have the values that were seen.`;

const VERSIONS: readonly Version[] = ['v3', 'v2'];

/** The document. Cost: some 10 ms; 650 kB of JSON for the sample, 16 MB where records have all that may be told. */
export function openApiDocument(options: DocumentOptions): DocumentObject {
  const { query, examples } = options;
  const told = COLLECTIONS.map((collection, i) => toldOf(collection, options.shapes[i]!));
  const names = recordNames(told);
  const isParameter = isListParameter(query);
  const schemas = told.flatMap((one) => [
    [schemaName(one.collection, 'Record'), recordSchema(one, names, examples.get(one.collection.name))] as const,
    [schemaName(one.collection, 'Page'), pageSchema(one.collection)] as const,
    [schemaName(one.collection, 'Filters'), filtersSchema(filtersOf(one, query), isParameter)] as const,
  ]);
  const filters = told.map((one) => {
    const name = schemaName(one.collection, 'Filters');
    return [name, filtersParameter(name, filterExample(filtersOf(one, query)))] as const;
  });
  return {
    openapi: '3.1.1',
    info: {
      title: 'Catalogue',
      version: options.version,
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: options.baseUrl }],
    security: [],
    tags: [
      { name: 'Views', description: 'What there is.' },
      { name: 'Look-ups', description: 'Records by the path of their data, or by an identifier.' },
      ...COLLECTIONS.map((collection) => ({ name: collection.title, description: collectionSentence(collection) })),
    ],
    paths: pathsOf(query),
    components: {
      schemas: { ...sharedSchemas(told, query.mayExplain === true), ...Object.fromEntries(schemas) },
      parameters: { ...parameterComponents(query), ...Object.fromEntries(filters) },
      headers: HEADERS,
      responses: query.pinsWalks === true ? RESPONSES : withoutGone(RESPONSES),
    },
  };
}

function withoutGone({ Gone: _gone, ...others }: typeof RESPONSES): DocumentObject {
  return others;
}

function toldOf(collection: Collection, shape: RecordShape): ToldCollection {
  return { collection, shape, fields: describedFields(collection, shape.fields) };
}

function filtersOf({ collection, fields }: ToldCollection, { filters }: QueryOptions): readonly DescribedField[] {
  const fit = fields.filter(({ lookups }) => lookups.length > 0);
  return filters === 'all' ? fit : fit.filter(({ key }) => collection.filters.includes(key.split('__')[0]!));
}

/** A filter by a text where there is one, else by id. */
function filterExample(fields: readonly DescribedField[]): DocumentObject {
  const text = fields.find(({ field }) => field.kind === 'scalar' && field.type === 'text');
  if (text) return { [`${text.key}__startswith`]: 'a' };
  return fields.length === 0 ? {} : { [`${fields[0]!.key}__in`]: '1,8' };
}

/** The path items by path; `kinds` has the first path of each, which the others refer to. */
class Paths {
  readonly items: Record<string, DocumentObject> = {};
  readonly #kinds = new Map<string, string>();

  add(kind: string, paths: readonly string[], item: () => DocumentObject): void {
    for (const path of paths) {
      const first = this.#kinds.get(kind);
      this.items[path] = first === undefined ? item() : { $ref: pointerTo(first) };
      if (first === undefined) this.#kinds.set(kind, path);
    }
  }
}

/** A reference to a path item. Source: RFC 6901, 3 and 6. */
function pointerTo(path: string): string {
  return `#/paths/${path.replace(/\//g, '~1').replace('{', '%7B').replace('}', '%7D')}`;
}

function pathsOf(query: QueryOptions): DocumentObject {
  const paths = new Paths();
  paths.add('index', ['/'], indexItem);
  paths.add('changes', ['/api/v3/changes/'], changesItem);
  for (const [form, content] of DOCUMENTS) paths.add(form, [`/openapi.${form}`], () => documentItem(form, content));
  for (const [path, item] of resolutionItems(query)) {
    paths.add(path, [path, ...(path.endsWith('}') ? [] : [path.endsWith('/') ? path.slice(0, -1) : `${path}/`])], item);
  }
  for (const version of VERSIONS) {
    const root = `/api/${version}`;
    paths.add('root', spellings(`${root}/`), () => rootItem(query));
    for (const segment of segmentsOf(version)) {
      const collections = collectionsOfPath(segment, version);
      const names = collections.map(({ title }) => wordOf(title));
      const list = `${root}/${segment}`;
      paths.add(`list ${names[0]!}`, [...spellings(list), ...exportsOf(list)], () => listItem(collections[0]!, query));
      paths.add(`record ${names.join()}`, spellings(`${list}/{id}`), () => recordItem(collections, query));
    }
  }
  return paths.items;
}

function segmentsOf(version: Version): readonly string[] {
  const served = COLLECTIONS.filter((collection) => collection.versions.includes(version));
  return [...new Set([...served.map(({ name }) => name), ...served.map(({ documentedPath }) => documentedPath)])];
}

function spellings(path: string): readonly string[] {
  return [path.endsWith('/') ? path : `${path}/`, `${path}.json`, `${path}.json/`];
}

function exportsOf(path: string): readonly string[] {
  return EXPORT_FORMATS.flatMap((form) => [`${path}.${form}`, `${path}.${form}/`]);
}

function indexItem(): DocumentObject {
  const view = { id: 'index', summary: 'Where to begin', tag: 'Views', parameters: [] };
  const found = foundResponse('The root views.', jsonContent(refTo('schemas', 'RootView')));
  return viewItem(view, found, failures('oneForm', false));
}

function changesItem(): DocumentObject {
  const summary = 'Records that were created, changed or deleted since a generation';
  const parameters = [SINCE, LINES_FORMAT, refTo('parameters', 'Strict')];
  const view = { id: 'listChanges', summary, tag: 'Views', parameters };
  const content = { [EXPORT_TYPES.ndjson]: { schema: { type: 'string', description: CHANGE_LINES } } };
  return viewItem(view, foundResponse('The changes, the oldest first.', content), failures('changes', false));
}

const CHANGE_LINES =
  'A line of JSON for each change, with `time`, `generation`, `collection`, `id` and `change` (created, changed or ' +
  'deleted). The last line has `next`, the generation to ask from next.';

const LINES_FORMAT: DocumentObject = {
  name: 'format',
  in: 'query',
  description: 'The form, which is the same without it.',
  schema: { type: 'string', enum: ['ndjson'] },
};

const SINCE: DocumentObject = {
  name: 'since',
  in: 'query',
  required: true,
  description: 'The generation of a copy: `X-Generation` of a list, or `next` of the last line of an earlier response.',
  schema: { type: 'string', pattern: '^[0-9a-f]{12,64}$' },
  example: '0123456789ab',
};

const DOCUMENTS: readonly (readonly [form: string, content: DocumentObject])[] = [
  ['json', jsonContent({ type: 'object' })],
  ['yaml', { 'application/yaml': { schema: { type: 'string' } } }],
];

function documentItem(form: string, content: DocumentObject): DocumentObject {
  const summary = `This document as ${form.toUpperCase()}`;
  const view = { id: `${form}Document`, summary, tag: 'Views', parameters: [] };
  return viewItem(view, foundResponse('The document.', content), failures('oneForm', false));
}

function rootItem(query: QueryOptions): DocumentObject {
  const parameters = parametersOf('root', query);
  const view = { id: 'listCollections', summary: 'All collections', tag: 'Views', parameters };
  const found = foundResponse('Each collection with its list.', jsonContent(refTo('schemas', 'RootView')));
  return viewItem(view, found, failures('negotiated', query.pinsWalks === true));
}

const LINES: DocumentObject = {
  [EXPORT_TYPES.ndjson]: { schema: { type: 'string', description: 'A record of JSON a line.' } },
  [EXPORT_TYPES.parquet]: {
    schema: { type: 'string', format: 'binary', description: 'A Parquet file, a row a record.' },
  },
  [EXPORT_TYPES.csv]: { schema: { type: 'string', description: 'A header row, and a row a record.' } },
};

function listItem(collection: Collection, query: QueryOptions): DocumentObject {
  const { title } = collection;
  const filters = refTo('parameters', schemaName(collection, 'Filters'));
  const parameters = [...parametersOf('list', query), filters];
  const view = { id: `list${wordOf(title)}`, summary: `A list of ${title}`, tag: title, parameters };
  const page = refTo('schemas', schemaName(collection, 'Page'));
  const schema = query.mayExplain === true ? { anyOf: [page, refTo('schemas', 'Explanation')] } : page;
  const found = foundResponse('A page, or an export.', { ...jsonContent(schema), ...LINES });
  return viewItem(view, found, failures('list', query.pinsWalks === true));
}

function recordItem(collections: readonly Collection[], query: QueryOptions): DocumentObject {
  const title = collections.map((collection) => collection.title).join(' or ');
  const parameters = [refTo('parameters', 'Id'), ...parametersOf('record', query)];
  const tag = collections[0]!.title;
  const view = { id: `get${wordOf(title)}`, summary: `A record of ${title}`, tag, parameters };
  const schemas = collections.map((collection) => refTo('schemas', schemaName(collection, 'Record')));
  const schema = schemas.length === 1 ? schemas[0]! : { anyOf: schemas };
  const found = foundResponse('The record, or an export of it, by `format` alone.', {
    ...jsonContent(schema),
    ...LINES,
  });
  return viewItem(view, found, failures('negotiated', query.pinsWalks === true));
}
