// The paths of the OpenAPI documents. The complete document has every spelling of a path. All spellings except the
// first refer to the first, so that the document stays small enough to open. The usual document is for client
// generators, which create a function for each operation and an argument for each parameter. It has one path for each
// operation, with GET and one format.
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
import { isSearched } from '../../../engine/described.ts';
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
import {
  type DocumentObject,
  type Filter,
  inlined,
  operandSchema,
  refTo,
  schemaName,
  type DescribedCollection,
  wordOf,
} from './schemas.ts';

const VERSIONS: readonly Version[] = ['v3', 'v2'];

/** JSON Pointer to a path item. Source: RFC 6901, sections 3 and 6. */
function pointerTo(path: string): string {
  return `#/paths/${path.replace(/\//g, '~1').replace('{', '%7B').replace('}', '%7D')}`;
}

/** Every spelling of every path, with all methods. */
export function allPaths(query: QueryOptions): DocumentObject {
  const items: Record<string, DocumentObject> = {};
  const firstPaths = new Map<string, string>();
  const add = (view: DocumentedView, paths: readonly string[]): void => {
    for (const path of paths) {
      const first = firstPaths.get(view.id);
      items[path] = first === undefined ? viewItem(view) : { $ref: pointerTo(first) };
      if (first === undefined) firstPaths.set(view.id, path);
    }
  };
  add(indexView(), ['/']);
  add(changesView(), ['/api/v3/changes/']);
  for (const [form, content] of DOCUMENTS) add(documentView(form, content), [`/openapi.${form}`]);
  for (const [path, view] of resolutionViews(query)) {
    add(view, path.endsWith('}') ? [path] : [path, path.endsWith('/') ? path.slice(0, -1) : `${path}/`]);
  }
  for (const version of VERSIONS) {
    const root = `/api/${version}`;
    add(rootView(query), spellings(`${root}/`));
    for (const segment of segmentsOf(version)) {
      const collections = collectionsOfPath(segment, version);
      const list = `${root}/${segment}`;
      add(listView(collections[0]!, query), [...spellings(list), ...exportsOf(list)]);
      add(recordView(collections, query), spellings(`${list}/{id}`));
    }
  }
  return items;
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

function changesView(): DocumentedView {
  const summary = 'Records that were created, changed or deleted since a generation';
  const parameters = [SINCE, refTo('parameters', 'Strict')];
  const content = { [EXPORT_TYPES.ndjson]: { schema: { type: 'string', description: CHANGE_LINES } } };
  const found = foundResponse('The changes, the oldest first.', content);
  return { id: 'listChanges', summary, tag: 'Views', parameters, found, failed: failures('changes', false) };
}

const CHANGE_LINES =
  'A line of JSON for each change, with `time`, `generation`, `collection`, `id` and `change` (created, changed or ' +
  'deleted). The last line has `next`, the generation to ask from next.';

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

const EXPORTED: DocumentObject = Object.fromEntries(
  EXPORT_FORMATS.map((form) => [EXPORT_TYPES[form], { schema: LINES[form] }]),
);

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
  const failed = failures('record', query.pinsWalks === true);
  return { id: `get${wordOf(title)}`, summary: `A record of ${title}`, tag, parameters, found, failed };
}

/** Parameters that change the form of a response. In the usual document, each operation has one form. */
const FORM_PARAMETERS = ['format', 'pretty', 'bom', 'expand', 'explain'];
/** Parameters that do not apply to an export, which has all records that match the filters. */
const PAGE_PARAMETERS = [...FORM_PARAMETERS, 'limit', 'offset', 'after', 'facets'];

/**
 * One path for each operation, with GET. Each export format has one path for all collections: the name of the
 * collection is a parameter.
 */
export function operationPaths(all: readonly DescribedCollection[], query: QueryOptions): DocumentObject {
  const root = '/api/v3/';
  const views: [path: string, view: DocumentedView][] = [
    [root, { ...rootView(query), parameters: parametersOf('root', query, FORM_PARAMETERS) }],
    [`${root}changes/`, { ...changesView(), parameters: [SINCE] }],
  ];
  for (const described of all) {
    const list = `${root}${described.collection.name}/`;
    views.push([list, pageView(described, query)], [`${list}{id}/`, plainRecordView(described.collection, query)]);
  }
  for (const form of EXPORT_FORMATS) views.push([`${root}{collection}.${form}`, exportView(form, query)]);
  return Object.fromEntries([...views, ...resolutionViews(query)].map(([path, view]) => [path, operationItem(view)]));
}

function pageView(described: DescribedCollection, query: QueryOptions): DocumentedView {
  const { collection, filters } = described;
  const usualFilters = filters.filter(isShown).map(filterParameter);
  const excluded = [...FORM_PARAMETERS, ...parametersWithoutEffect(described)];
  const parameters = [...parametersOf('list', query, excluded), ...usualFilters, refTo('parameters', 'Filters')];
  const found = foundResponse('A page.', jsonContent(refTo('schemas', schemaName(collection, 'Page'))));
  return { ...listView(collection, query), parameters, found, failed: failures('page', query.pinsWalks === true) };
}

/** Parameters that no field of the collection gives an effect, so that strict requests refuse them (A166 to A168). */
function parametersWithoutEffect({ collection: { name }, fields }: DescribedCollection): readonly string[] {
  const leadsTo = (target: string): boolean =>
    name === target || fields.some(({ key, field }) => !key.includes('__') && 'to' in field && field.to === target);
  const hasEffect: Readonly<Record<string, boolean>> = {
    search: fields.some(({ key, type }) => type === 'text' && isSearched(name, key)),
    bbox: leadsTo('bboxes'),
    datetime: leadsTo('times'),
  };
  return Object.keys(hasEffect).filter((parameter) => !hasEffect[parameter]);
}

function plainRecordView(collection: Collection, query: QueryOptions): DocumentedView {
  const parameters = [refTo('parameters', 'Id'), ...parametersOf('record', query, FORM_PARAMETERS)];
  const found = foundResponse('The record.', jsonContent(refTo('schemas', schemaName(collection, 'Record'))));
  return { ...recordView([collection], query), parameters, found, failed: failures('negotiated', false) };
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
  const excluded = PAGE_PARAMETERS.filter((name) => name !== 'bom' || form !== 'csv');
  const parameters = [COLLECTION, ...parametersOf('list', query, excluded), refTo('parameters', 'Filters')];
  const type = EXPORT_TYPES[form];
  const found = foundResponse('The export.', { [type]: EXPORTED[type] });
  const summary = `All records of a list, as ${type}`;
  const failed = failures('list', query.pinsWalks === true);
  return { id: `export${wordOf(form)}`, summary, tag: 'Exports', parameters, found, failed };
}

/** Lookups that are parameters in addition to `exact`, by type of the field. Enumerations have `in` instead. */
const SHOWN_LOOKUPS: Readonly<Partial<Record<string, readonly string[]>>> = {
  text: ['icontains', 'startswith'],
  integer: ['in', 'gte', 'lte'],
  float: ['gte', 'lte'],
  date: ['gte', 'lte'],
  dateTime: ['gte', 'lte'],
};

function isShown({ described: { field, isDocumented }, lookup: { name } }: Filter): boolean {
  const isEnumeration = field.kind === 'scalar' && field.values !== undefined;
  const shown = isEnumeration ? ['in'] : 'type' in field ? SHOWN_LOOKUPS[field.type] : [];
  return isDocumented && (name === 'exact' || shown?.includes(name) === true);
}

function filterParameter({ key, described, lookup }: Filter): DocumentObject {
  const { sentence, lookups, field } = described;
  const description = key === described.key ? sentence : `\`${described.key}\` ${lookup.meaning}.`;
  const isList = lookup.name === 'in';
  const schema = isList ? { type: 'array', items: operandSchema(field, lookups[0]!) } : operandSchema(field, lookup);
  return { name: key, in: 'query', description, schema: inlined(schema), ...(isList ? LIST_STYLE : {}) };
}
