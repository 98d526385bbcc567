// The paths of the OpenAPI documents. The complete document has every spelling of a path; each but the first refers to
// the first, so that the document stays small enough to open. The usual document is for generators, which make a
// function of each operation and a member of each parameter: one path for each operation, with GET and one form.
import type { DescribedField } from '../../../engine/described.ts';
import {
  type Collection,
  COLLECTIONS,
  collectionsOfPath,
  EXPORT_FORMATS,
  EXPORT_TYPES,
  type ExportFormat,
  type QueryOptions,
  type Version,
} from '../../../engine/engine.ts';
import { resolutionViews } from './resolutions.ts';
import {
  type DocumentedView,
  failures,
  foundResponse,
  jsonContent,
  LIST_STYLE,
  operationItem,
  parametersOf,
  viewItem,
} from './responses.ts';
import { type DocumentObject, type Filter, operandSchema, refTo, schemaName, wordOf } from './schemas.ts';

const VERSIONS: readonly Version[] = ['v3', 'v2'];

/** The path items by path. `kinds` has the first path of each kind, to which the others refer. */
class Paths {
  readonly items: Record<string, DocumentObject> = {};
  readonly #kinds = new Map<string, string>();

  add(kind: string, paths: readonly string[], view: () => DocumentedView): void {
    for (const path of paths) {
      const first = this.#kinds.get(kind);
      this.items[path] = first === undefined ? viewItem(view()) : { $ref: pointerTo(first) };
      if (first === undefined) this.#kinds.set(kind, path);
    }
  }
}

/** A reference to a path item. Source: RFC 6901, 3 and 6. */
function pointerTo(path: string): string {
  return `#/paths/${path.replace(/\//g, '~1').replace('{', '%7B').replace('}', '%7D')}`;
}

/** Every spelling of every path, with all methods. */
export function allPaths(query: QueryOptions): DocumentObject {
  const paths = new Paths();
  paths.add('index', ['/'], indexView);
  for (const [form, content] of DOCUMENTS) paths.add(form, [`/openapi.${form}`], () => documentView(form, content));
  for (const [path, view] of resolutionViews(query)) {
    const other = path.endsWith('/') ? path.slice(0, -1) : `${path}/`;
    paths.add(path, path.endsWith('}') ? [path] : [path, other], () => view);
  }
  for (const version of VERSIONS) {
    const root = `/api/${version}`;
    paths.add('root', spellings(`${root}/`), () => rootView(query));
    for (const segment of segmentsOf(version)) {
      const collections = collectionsOfPath(segment, version);
      const names = collections.map(({ title }) => wordOf(title));
      const list = `${root}/${segment}`;
      paths.add(`list ${names[0]!}`, [...spellings(list), ...exportsOf(list)], () => listView(collections[0]!, query));
      paths.add(`record ${names.join()}`, spellings(`${list}/{id}`), () => recordView(collections, query));
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

function indexView(): DocumentedView {
  const found = foundResponse('The root views.', jsonContent(refTo('schemas', 'RootView')));
  const failed = failures('oneForm', false);
  return { id: 'index', summary: 'Where to begin', tag: 'Views', parameters: [], found, failed };
}

const DOCUMENTS: readonly (readonly [form: string, content: DocumentObject])[] = [
  ['json', jsonContent({ type: 'object' })],
  ['yaml', { 'application/yaml': { schema: { type: 'string' } } }],
];

const SPELLINGS: DocumentObject = {
  name: 'spellings',
  in: 'query',
  description: '`usual` or none: the document for generators, with one path for each operation. `all`: this document.',
  schema: { type: 'string', enum: ['usual', 'all'] },
};

function documentView(form: string, content: DocumentObject): DocumentedView {
  const summary = `This document as ${form.toUpperCase()}`;
  const found = foundResponse('The document.', content);
  const failed = failures('oneForm', false);
  return { id: `${form}Document`, summary, tag: 'Views', parameters: [SPELLINGS], found, failed };
}

function rootView(query: QueryOptions): DocumentedView {
  const parameters = parametersOf('root', query);
  const found = foundResponse('Each collection with its list.', jsonContent(refTo('schemas', 'RootView')));
  const failed = failures('negotiated', query.pinsWalks === true);
  return { id: 'listCollections', summary: 'All collections', tag: 'Views', parameters, found, failed };
}

const LINES: Readonly<Record<ExportFormat, DocumentObject>> = {
  ndjson: { type: 'string', description: 'A record of JSON a line.' },
  parquet: { type: 'string', format: 'binary', description: 'A Parquet file, a row a record.' },
  csv: { type: 'string', description: 'A header row, and a row a record.' },
};

function exportContent(form: ExportFormat): DocumentObject {
  return { [EXPORT_TYPES[form]]: { schema: LINES[form] } };
}

const EXPORTED: DocumentObject = {
  ...exportContent('ndjson'),
  ...exportContent('parquet'),
  ...exportContent('csv'),
};

function listView(collection: Collection, query: QueryOptions): DocumentedView {
  const { title } = collection;
  const filters = refTo('parameters', schemaName(collection, 'Filters'));
  const parameters = [...parametersOf('list', query), filters];
  const page = refTo('schemas', schemaName(collection, 'Page'));
  const schema = query.mayExplain === true ? { anyOf: [page, refTo('schemas', 'Explanation')] } : page;
  const found = foundResponse('A page, or an export.', { ...jsonContent(schema), ...EXPORTED });
  const failed = failures('list', query.pinsWalks === true);
  return { id: `list${wordOf(title)}`, summary: `A list of ${title}`, tag: title, parameters, found, failed };
}

function recordView(collections: readonly Collection[], query: QueryOptions): DocumentedView {
  const title = collections.map((collection) => collection.title).join(' or ');
  const parameters = [refTo('parameters', 'Id'), ...parametersOf('record', query)];
  const tag = collections[0]!.title;
  const schemas = collections.map((collection) => refTo('schemas', schemaName(collection, 'Record')));
  const schema = schemas.length === 1 ? schemas[0]! : { anyOf: schemas };
  const content = { ...jsonContent(schema), ...EXPORTED };
  const found = foundResponse('The record, or an export of it, by `format` alone.', content);
  const failed = failures('negotiated', query.pinsWalks === true);
  return { id: `get${wordOf(title)}`, summary: `A record of ${title}`, tag, parameters, found, failed };
}

/** A collection with all its filters. */
export interface FilteredCollection {
  readonly collection: Collection;
  readonly filters: readonly Filter[];
}

/** Parameters that choose a form: an operation for generators has one. */
const OF_FORM = ['format', 'pretty', 'explain'];
/** Parameters without use in an export, which has all records that match the filters. */
const OF_PAGES = [...OF_FORM, 'limit', 'offset', 'after', 'facets'];

/** One path for each operation, with GET. Exports share a path for all collections, whose names are a parameter. */
export function operationPaths(all: readonly FilteredCollection[], query: QueryOptions): DocumentObject {
  const root = '/api/v3/';
  const views: readonly (readonly [path: string, view: DocumentedView])[] = [
    [root, { ...rootView(query), parameters: parametersOf('root', query, OF_FORM) }],
    ...all.flatMap(
      (one) =>
        [
          [`${root}${one.collection.name}/`, pageView(one, query)],
          [`${root}${one.collection.name}/{id}/`, oneView(one.collection, query)],
        ] as const,
    ),
    ...EXPORT_FORMATS.map((form) => [`${root}{collection}.${form}`, exportView(form, query)] as const),
    ...resolutionViews(query),
  ];
  return Object.fromEntries(views.map(([path, view]) => [path, operationItem(view)]));
}

function pageView({ collection, filters }: FilteredCollection, query: QueryOptions): DocumentedView {
  const own = filters.filter(isShown).map(filterParameter);
  const parameters = [...parametersOf('list', query, OF_FORM), ...own, refTo('parameters', 'Filters')];
  const found = foundResponse('A page.', jsonContent(refTo('schemas', schemaName(collection, 'Page'))));
  return { ...listView(collection, query), parameters, found };
}

function oneView(collection: Collection, query: QueryOptions): DocumentedView {
  const parameters = [refTo('parameters', 'Id'), ...parametersOf('record', query, OF_FORM)];
  const found = foundResponse('The record.', jsonContent(refTo('schemas', schemaName(collection, 'Record'))));
  return { ...recordView([collection], query), parameters, found };
}

const COLLECTION: DocumentObject = {
  name: 'collection',
  in: 'path',
  required: true,
  description: 'Name of the collection.',
  schema: { type: 'string', enum: COLLECTIONS.map(({ name }) => name) },
  example: 'observations',
};

function exportView(form: ExportFormat, query: QueryOptions): DocumentedView {
  const parameters = [COLLECTION, ...parametersOf('list', query, OF_PAGES), refTo('parameters', 'Filters')];
  const id = `export${form[0]!.toUpperCase()}${form.slice(1)}`;
  const summary = `All records of a list as ${form === 'parquet' ? 'Parquet' : form.toUpperCase()}`;
  const found = foundResponse('The export.', exportContent(form));
  return { id, summary, tag: 'Exports', parameters, found, failed: failures('list', query.pinsWalks === true) };
}

/** The lookups of documented fields that are parameters besides `exact`, by the values of the field. */
const SHOWN_LOOKUPS = {
  relation: [],
  boolean: [],
  enumeration: ['in'],
  text: ['icontains', 'startswith'],
  integer: ['in', 'gte', 'lte'],
  float: ['gte', 'lte'],
  date: ['gte', 'lte'],
  dateTime: ['gte', 'lte'],
} as const;

function isShown({ described: { field, isDocumented }, lookup }: Filter): boolean {
  const shown: readonly string[] = SHOWN_LOOKUPS[contentOf(field)];
  return isDocumented && (lookup.name === 'exact' || shown.includes(lookup.name));
}

function contentOf(field: DescribedField['field']): keyof typeof SHOWN_LOOKUPS {
  if (field.kind !== 'scalar' && field.kind !== 'scalars') return 'relation';
  return field.kind === 'scalar' && field.values ? 'enumeration' : field.type;
}

/** The parameter of one filter. */
function filterParameter({ key, described, lookup }: Filter): DocumentObject {
  const { sentence, lookups, field } = described;
  const description = key === described.key ? sentence : `\`${described.key}\` ${lookup.meaning}.`;
  const isList = lookup.name === 'in';
  const schema = isList ? { type: 'array', items: operandSchema(field, lookups[0]!) } : operandSchema(field, lookup);
  return { name: key, in: 'query', description, schema, ...(isList ? LIST_STYLE : {}) };
}
