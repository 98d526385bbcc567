// The OpenAPI document: its paths are the routed ones, its filters the described ones, and its YAML form is equivalent.
// validators.long.test.ts runs two independent validators.
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type DescribedField, describedFields } from '../../../../../engine/query/describe.ts';
import { PARAMETERS } from '../../../../../engine/query/parameters.ts';
import { COLLECTIONS } from '../../../../../engine/schema/catalogue.ts';
import { route } from '../../../../../server/catalogue/routes.ts';
import { sampleExamples, schemaName } from '../../../../../server/pages/openapi/schemas.ts';
import { yamlText } from '../../../../../server/pages/openapi/documents.ts';
import { temporaryDirectory } from '../../../../support/dataSets.ts';
import { BASE_URL, madeDocument, type OpenApiDocument } from '../../../../support/openApiDocuments.ts';
import { sampleSnapshot } from '../../../../support/sampleSnapshot.ts';
import { askOf } from '../../../../support/lists.ts';
import { fileOf, ODD_COLLECTIONS, opened, shapesIn } from '../../../../support/shapes.ts';

const examples = await sampleExamples(BASE_URL);
const catalogue = await opened(await sampleSnapshot());
const sampleShapes = await shapesIn(await sampleSnapshot());

const documentOf = (flags: Record<string, string | boolean> = {}, shapes = sampleShapes): OpenApiDocument =>
  madeDocument(flags, shapes, examples);

const oddShapes = await shapesIn(await fileOf(temporaryDirectory(), ODD_COLLECTIONS));
const document = documentOf();

test('finds an error by both validators', async () => {
  const one = { openapi: '3.1.1', info: { title: 'x' }, paths: {} };
  const config = await createConfig({ extends: ['recommended'] });
  const found = await lintFromString({ source: JSON.stringify(one), absoluteRef: '/openapi.json', config });
  expect(found.length).toBeGreaterThan(0);
  expect((await new Validator().validate(one)).valid).toBe(false);
});

const EXPORTS = ['.ndjson', '.ndjson/', '.csv', '.csv/', '.parquet', '.parquet/'];

describe('the paths of the document', () => {
  const paths = Object.keys(document.paths);
  const meaningOf = (path: string): string => {
    const meant = route(path.replace('{id}', '1'));
    if (meant.kind === 'list') return `list ${meant.collection.name}`;
    return meant.kind === 'record' ? `record ${meant.collections.map(({ name }) => name).join()}` : meant.kind;
  };

  test('are routed, and one that refers to another means the same', () => {
    for (const path of paths) {
      const { $ref } = document.paths[path]!;
      const first = $ref === undefined ? path : decodeURIComponent($ref.slice('#/paths/'.length)).replaceAll('~1', '/');
      expect([path, meaningOf(path)]).toEqual([path, meaningOf(first)]);
      expect(
        ['index', 'root', 'changes', 'description', 'resolution'].includes(meaningOf(path)) ||
          /^(list|record) /.test(meaningOf(path)),
        path,
      ).toBe(true);
      expect(document.paths[first]!.get, path).toBeDefined();
    }
  });

  test('are complete: each collection in each version by both its names, in every spelling', () => {
    const wanted = COLLECTIONS.flatMap(({ name, documentedPath, versions }) =>
      versions.flatMap((version) =>
        [name, documentedPath].flatMap((segment) =>
          ['', '/{id}'].flatMap((rest) =>
            ['/', '.json', '.json/', ...(rest === '' ? EXPORTS : [])].map(
              (end) => `/api/${version}/${segment}${rest}${end}`,
            ),
          ),
        ),
      ),
    );
    const roots = ['v2', 'v3'].flatMap((version) => ['', '.json', '.json/'].map((end) => `/api/${version}/${end}`));
    const resolved = ['obs/get_info/{path}', 'obs/all', 'complete', 'drs_lookup/{id}', 'drs_listing/{prefix}'];
    const both = [...resolved.map((path) => `/api/v0/${path}`), '/api/legacy_lookup'].flatMap((path) => {
      return path.endsWith('}') ? [path] : [path, `${path}/`];
    });
    expect(paths.toSorted()).toEqual(
      [
        ...new Set([...wanted, ...roots, ...both, '/', '/api/v3/changes/', '/openapi.json', '/openapi.yaml']),
      ].toSorted(),
    );
  });
});

test('redirects a path without its final slash, except look-ups and forms, which respond', () => {
  for (const path of Object.keys(document.paths).filter((one) => one.endsWith('/') && one !== '/')) {
    const [whole, open] = [path, path.slice(0, -1)].map((one) => route(one.replace('{id}', '1')).kind);
    const isAnswered = path.startsWith('/api/legacy') || path.startsWith('/api/v0/') || path.includes('.');
    expect([path, open]).toEqual([path, isAnswered ? whole : 'redirect']);
  }
});

const keysOf = (fields: readonly DescribedField[]): readonly string[] =>
  fields.flatMap(({ key, lookups }) => lookups.map(({ name }, i) => (i === 0 ? key : `${key}__${name}`)));
const membersIn = (from: OpenApiDocument, schema: string): readonly string[] =>
  Object.keys(from.components.schemas[schema]!.properties);

test.each(COLLECTIONS.map((collection, i) => [collection.name, collection, i] as const))(
  'describes as filters of %s its served fields with their lookups, and as members of its records these fields',
  (_name, collection, i) => {
    const fields = describedFields(collection, sampleShapes[i]!.fields);
    expect(membersIn(document, schemaName(collection, 'Filters'))).toEqual(keysOf(fields));
    const names = sampleShapes[i]!.fields.map(({ name }) => name);
    expect(membersIn(document, schemaName(collection, 'Record'))).toEqual([...names, ...sampleShapes[i]!.others]);
  },
);

test('describes under documented filters those of the specification', () => {
  expect(membersIn(document, 'ObservationsFilters')).toContain('result_field__dataPath__startswith');
  const documented = membersIn(documentOf({ filters: 'documented' }), 'IdentifiersFilters');
  expect(documented.filter((key) => !/^(url|identifierType)(__|$)/.test(key))).toEqual([]);
});

describe('the document of odd data', () => {
  const { schemas } = documentOf({}, oddShapes).components;

  test('has undeclared keys as members of records and not as filters', () => {
    expect(Object.keys(schemas['DrsDatasetsRecord']!.properties)).toEqual(
      expect.arrayContaining(['~1/{id}', '__proto__', 'mixed', 'größe', 'deep']),
    );
    const filters = Object.keys(schemas['DrsDatasetsFilters']!.properties);
    expect(filters.filter((key) => /[$~]|mixed/.test(key))).toEqual([]);
    expect(filters).toEqual(expect.arrayContaining(['größe__gte', 'deep__of', 'deep__of__parts__length__in']));
  });

  test('omits a filter whose name is a parameter, and has its lookups', () => {
    const filters = Object.keys(schemas['DrsDatasetsFilters']!.properties);
    expect(filters.filter((key) => key.startsWith('format'))).toEqual(
      expect.arrayContaining(['format__in', 'format__gt']),
    );
    expect(filters).not.toContain('format');
  });

  test('allows any value in records for documented fields with misfits, and keeps their types in filters', () => {
    const { title, location, platformType } = schemas['PlatformsRecord']!.properties;
    expect(title).toEqual({ description: expect.any(String) });
    expect(location).toEqual({ description: expect.stringMatching(/^Where the platform stands/) });
    expect(platformType).toEqual({ description: expect.any(String) });
    const filters = schemas['PlatformsFilters']!.properties;
    expect(filters['title']).toMatchObject({ $ref: '#/components/schemas/Text' });
    expect(filters['location']).toMatchObject({ $ref: '#/components/schemas/Integer' });
  });

  test('describes an embedded record as that of its collection only if both have the same fields', () => {
    const inline = {
      type: 'array',
      items: { type: 'object', properties: { other: { description: expect.any(String) } } },
    };
    expect(schemas['CompositesRecord']!.properties['computationComponent']).toMatchObject(inline);
    const same = document.components.schemas['CompositesRecord']!.properties['computationComponent'];
    expect(same).toMatchObject({ items: { $ref: '#/components/schemas/ComputationsRecord' } });
  });

  test('has a record of the sample as an example only if it has no other fields', () => {
    const isShown = (from: OpenApiDocument['components']['schemas'], name: string): boolean =>
      from[name]!.examples !== undefined;
    expect(isShown(document.components.schemas, 'DrsDatasetsRecord')).toBe(true);
    expect(isShown(schemas, 'DrsDatasetsRecord')).toBe(false);
    for (const name of ['PlatformsRecord', 'ObservationsRecord']) expect(isShown(schemas, name)).toBe(true);
  });
});

test('has every parameter, and those of settings only with them', () => {
  const namesOf = (from: OpenApiDocument): readonly unknown[] =>
    Object.values(from.components.parameters).map(({ name }) => name);
  const always = PARAMETERS.filter(({ setting }) => setting === undefined).map(({ name }) => name);
  // `format` occurs twice: the root view, which has no exports, has another one.
  expect(namesOf(document)).toEqual([...always, 'format', 'id', ...COLLECTIONS.map(() => 'filters')]);
  const all = namesOf(documentOf({ explain: true, pinWalks: true }));
  expect(all.slice(0, PARAMETERS.length)).toEqual(PARAMETERS.map(({ name }) => name));
});

test.each([
  [{}, 100],
  [{ limitMax: '20' }, 20],
  [{ limitMax: '1000' }, 100],
])('states the default limit of a page without a limit: under %j %d', (flags, most) => {
  expect(documentOf(flags).components.parameters['Limit']).toMatchObject({ schema: { default: most } });
});

test('describes the parameters of look-ups without an own meaning by reference', () => {
  const heeded = ['Strict', 'Pretty'].map((name) => ({ $ref: `#/components/parameters/${name}` }));
  const lookUps = Object.entries(document.paths).filter(([path, { get }]) => get && /^\/api\/(?:v0|legacy)/.test(path));
  expect(lookUps).toHaveLength(6);
  for (const [path, view] of lookUps) {
    const { parameters = [] } = view as { readonly parameters?: readonly object[] };
    expect([path, parameters.filter((one) => '$ref' in one)]).toEqual([path, heeded]);
  }
});

test('has the base URL as its server, and in the links of examples', () => {
  expect(document.servers).toEqual([{ url: BASE_URL }]);
  expect(JSON.stringify(document)).not.toContain('{base_url}');
  expect(JSON.stringify(document.components.schemas)).toContain(`${BASE_URL}/api/v3/times/`);
});

describe('the document for generators', () => {
  interface Operation {
    readonly operationId: string;
    readonly parameters: readonly { readonly name?: string; readonly $ref?: string }[];
    readonly responses: { readonly 200: { readonly content: object } };
  }
  const made = (flags = {}): OpenApiDocument => madeDocument(flags, sampleShapes, examples, 'usual');
  const operationsOf = (from: OpenApiDocument): ReadonlyMap<string, Operation> =>
    new Map(Object.entries(from.paths).map(([path, { get }]) => [path, get as unknown as Operation]));
  const usual = made();
  const operations = operationsOf(usual);
  const namesIn = (operation: Operation | undefined): readonly string[] =>
    operation!.parameters.map(({ name, $ref }) => name ?? $ref!.slice('#/components/parameters/'.length));

  test('has one path for each operation, with GET alone', () => {
    const collections = COLLECTIONS.flatMap(({ name }) => [`/api/v3/${name}/`, `/api/v3/${name}/{id}/`]);
    const exported = ['ndjson', 'csv', 'parquet'].map((form) => `/api/v3/{collection}.${form}`);
    const lookUps = Object.keys(document.paths).filter((path) => /^\/api\/(?:v0|legacy)/.test(path));
    const first = lookUps.filter((path) => document.paths[path]!.$ref === undefined);
    expect([...operations.keys()].toSorted()).toEqual(
      ['/api/v3/', '/api/v3/changes/', ...collections, ...exported, ...first].toSorted(),
    );
    for (const item of Object.values(usual.paths)) expect(Object.keys(item)).toEqual(['get']);
    for (const path of operations.keys()) {
      const target = path.replace('{id}', '1').replace('{collection}', 'observations');
      expect([path, route(target).kind]).toEqual([
        path,
        expect.stringMatching(/^(?:root|list|record|changes|resolution)$/),
      ]);
    }
  });

  test('gives each operation a unique name and one media type, JSON except in changes, exports and one look-up', () => {
    const ids = [...operations.values()].map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(operations.size);
    const types = [...operations].map(([path, { responses }]) => [path, Object.keys(responses[200].content)] as const);
    expect(types.filter(([, names]) => names.join() !== 'application/json')).toEqual([
      ['/api/v3/changes/', ['application/x-ndjson']],
      ['/api/v3/{collection}.ndjson', ['application/x-ndjson']],
      ['/api/v3/{collection}.csv', ['text/csv']],
      ['/api/v3/{collection}.parquet', ['application/vnd.apache.parquet']],
      ['/api/v0/complete', ['text/plain']],
    ]);
  });

  test.each(COLLECTIONS.map((collection) => [collection.name, collection] as const))(
    'has the usual filters of %s as parameters, those of the specification among them',
    (name, collection) => {
      const own = namesIn(operations.get(`/api/v3/${name}/`)).filter((one) => !/^[A-Z]/.test(one));
      const complete = membersIn(document, schemaName(collection, 'Filters'));
      expect(own.filter((key) => !complete.includes(key))).toEqual([]);
      expect(own).toEqual(expect.arrayContaining([collection.idField, ...collection.filters]));
      expect(own.length).toBeLessThan(110);
    },
  );

  test('offers a search, a box and an interval where they have an effect', () => {
    const values = { Search: 'ice', Bbox: '0,0,1,1', Datetime: '2020-01-01' };
    const offered = COLLECTIONS.map(({ name }) => {
      const names = namesIn(operations.get(`/api/v3/${name}/`));
      return [name, ...Object.keys(values).filter((one) => names.includes(one))];
    });
    const withEffect = COLLECTIONS.map(({ name }) => {
      const isHeeded = ([parameter, value]: readonly [string, string]): boolean =>
        askOf(catalogue.collection(name), `${parameter.toLowerCase()}=${value}`).ignored.length === 0;
      return [name, ...Object.entries(values).flatMap((one) => (isHeeded(one) ? one[0] : []))];
    });
    expect(offered).toEqual(withEffect);
    expect(new Set(offered.map(({ length }) => length)).size).toBeGreaterThan(2);
  });

  test('gives a filter the type of its field, and makes `in` a list', () => {
    const parameters = operations.get('/api/v3/observations/')!.parameters;
    const named = (name: string): unknown => parameters.find((one) => one.name === name);
    expect(named('title__icontains')).toMatchObject({ in: 'query', schema: { type: 'string' } });
    expect(named('result_field__volume__gte')).toMatchObject({ schema: { type: 'integer' } });
    expect(named('nonGeographicFlag')).toMatchObject({ schema: { type: 'boolean' } });
    expect(named('status__in')).toMatchObject({
      schema: { type: 'array', items: { $ref: '#/components/schemas/StatusValue' } },
      explode: false,
    });
  });

  test('has no further parameters under documented filters', () => {
    const documented = operationsOf(made({ filters: 'documented' })).get('/api/v3/identifiers/');
    expect(namesIn(documented).filter((one) => !/^[A-Z]/.test(one))).toEqual([
      'url',
      'url__startswith',
      'url__icontains',
      'identifierType',
      'identifierType__in',
    ]);
  });

  test('uses every component, and no type name that the language has', () => {
    const names = Object.keys(usual.components.schemas);
    expect(names.filter((name) => name in globalThis || name.endsWith('Filters'))).toEqual([]);
    const text = JSON.stringify(usual);
    for (const name of names) expect(text).toContain(`"#/components/schemas/${name}"`);
  });

  test('is half of the complete document', () => {
    expect(JSON.stringify(usual).length).toBeLessThan(350_000);
  });
});

test('is small enough to open', () => {
  expect(JSON.stringify(document).length).toBeLessThan(700_000);
});

test('is the same in YAML', () => {
  expect(parse(yamlText(document))).toEqual(document);
  const odd = { on: 1, 'a b': [], no: {}, list: [[1, [2]], { a: { b: null }, c: ['x: y', '# z'] }], é: 'ü\n"\u2028' };
  expect(parse(yamlText(odd))).toEqual(odd);
});
