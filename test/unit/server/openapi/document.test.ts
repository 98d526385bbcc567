// The OpenAPI document: two independent validators find nothing, its paths are those that are routed, its filters those
// that are described, and it says the same in YAML.
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { describedFields } from '../../../../engine/query/describe.ts';
import { PARAMETERS } from '../../../../engine/query/parameters.ts';
import { collectionNamed, COLLECTIONS } from '../../../../engine/schema/catalogue.ts';
import { queryOptionsOf } from '../../../../server/catalogue/catalogue.ts';
import { route } from '../../../../server/catalogue/routes.ts';
import { openApiDocument } from '../../../../server/openapi/document.ts';
import { sampleExamples } from '../../../../server/openapi/examples.ts';
import { yamlText } from '../../../../server/openapi/yaml.ts';
import { readSettings } from '../../../../server/settings/declarations.ts';

const BASE_URL = 'https://catalogue.test/some';
const examples = await sampleExamples(BASE_URL);

/** Both take some seconds for a document of this size, and more on a busy machine. */
const VALIDATION_MS_MAX = 120_000;

/** What tests read of a document. */
interface Document {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, { readonly $ref?: string; readonly get?: { readonly operationId: string } }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly properties: object }>>;
    readonly parameters: Readonly<Record<string, { readonly name: string }>>;
  };
}

function documentOf(flags: Record<string, string | boolean> = {}): Document {
  const query = queryOptionsOf(readSettings(flags, {}));
  const options = { baseUrl: BASE_URL, version: '1.2.3', query, examples };
  return JSON.parse(JSON.stringify(openApiDocument(options))) as Document;
}

const document = documentOf();

test.each([{}, { explain: true, pinWalks: true, filters: 'documented' }])(
  'under %j two validators find neither an error nor a warning',
  async (flags) => {
    const one = documentOf(flags);
    // The only rule that is off is one of taste: spec 4.1 has the slashes.
    const config = await createConfig({ extends: ['recommended'], rules: { 'no-path-trailing-slash': 'off' } });
    const source = JSON.stringify(one);
    expect(await lintFromString({ source, absoluteRef: '/openapi.json', config })).toEqual([]);
    expect(await new Validator().validate({ ...one })).toEqual({ valid: true });
  },
  VALIDATION_MS_MAX,
);

test('a mistake is a problem to both', async () => {
  const one = { openapi: '3.1.1', info: { title: 'x' }, paths: {} };
  const config = await createConfig({ extends: ['recommended'] });
  const found = await lintFromString({ source: JSON.stringify(one), absoluteRef: '/openapi.json', config });
  expect(found.length).toBeGreaterThan(0);
  expect((await new Validator().validate(one)).valid).toBe(false);
});

const EXPORTS = ['.ndjson', '.ndjson/', '.csv', '.csv/', '.parquet', '.parquet/'];

describe('paths', () => {
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
        ['index', 'root', 'description', 'resolution'].includes(meaningOf(path)) ||
          /^(list|record) /.test(meaningOf(path)),
        path,
      ).toBe(true);
      expect(document.paths[first]!.get, path).toBeDefined();
    }
  });

  test('are all that there are: each collection in each version by both its names, in every spelling', () => {
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
      [...new Set([...wanted, ...roots, ...both, '/', '/openapi.json', '/openapi.yaml'])].toSorted(),
    );
  });
});

test('filters are the described fields with their lookups, or under documented filters those of the specification', () => {
  const membersIn = (from: Document, schema: string): readonly string[] =>
    Object.keys(from.components.schemas[schema]!.properties);
  const fields = describedFields(collectionNamed('observations')!);
  const keys = fields.flatMap(({ key, lookups }) => lookups.map(({ name }, i) => (i === 0 ? key : `${key}__${name}`)));
  expect(membersIn(document, 'ObservationsFilters')).toEqual(keys);
  expect(keys).toContain('result_field__dataPath__startswith');
  const documented = membersIn(documentOf({ filters: 'documented' }), 'IdentifiersFilters');
  expect(documented.filter((key) => !/^(url|identifierType)(__|$)/.test(key))).toEqual([]);
});

test('every parameter is there, those of settings only with them', () => {
  const namesOf = (from: Document): readonly unknown[] =>
    Object.values(from.components.parameters).map(({ name }) => name);
  const always = PARAMETERS.filter(({ setting }) => setting === undefined).map(({ name }) => name);
  expect(namesOf(document)).toEqual([...always, 'id', ...COLLECTIONS.map(() => 'filters')]);
  const all = namesOf(documentOf({ explain: true, pinWalks: true }));
  expect(all.slice(0, PARAMETERS.length)).toEqual(PARAMETERS.map(({ name }) => name));
});

test('the base URL is its server, and starts the links of examples', () => {
  expect(document.servers).toEqual([{ url: BASE_URL }]);
  expect(JSON.stringify(document)).not.toContain('{base_url}');
  expect(JSON.stringify(document.components.schemas)).toContain(`${BASE_URL}/api/v3/times/`);
});

test('it is small enough to open', () => {
  expect(JSON.stringify(document).length).toBeLessThan(600_000);
});

test('YAML says the same', () => {
  expect(parse(yamlText(document))).toEqual(document);
  const odd = { on: 1, 'a b': [], no: {}, list: [[1, [2]], { a: { b: null }, c: ['x: y', '# z'] }], é: 'ü\n"\u2028' };
  expect(parse(yamlText(odd))).toEqual(odd);
});
