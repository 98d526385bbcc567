// The OpenAPI document of a real server matches its responses: the server accepts every documented filter, every member
// of a record is documented, the forms at /browse/ offer the same filters, and new data brings a new document.
import { parseHTML } from 'linkedom';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import { LOOKUPS } from '../../engine/query/lookups.ts';
import { schemaName } from '../../server/pages/openapi/schemas.ts';
import { type JsonObject, servedSample } from '../conformance/sample.ts';
import { type Client, clientOf } from '../support/client.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { servedDocument } from '../support/documentChecker.ts';
import { someOf } from '../support/ring.ts';
import { fileOf } from '../support/shapes.ts';
import { type SwappedServer, swappedServer } from '../support/swaps.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}
type Schemas = Readonly<Record<string, Schema>>;

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly example?: string | number | readonly string[];
}

const REFERENCE = '#/components/schemas/';

async function schemasOf(get: Client['get']): Promise<Schemas> {
  return (await servedDocument(get)).components.schemas as Schemas;
}

const sample = servedSample();
let schemas: Schemas;
let pages: Client;
beforeAll(async () => {
  schemas = await schemasOf(sample.get);
  pages = clientOf(sample.url());
});
afterAll(() => pages.close());
const named = COLLECTIONS.map((declared) => [declared.name, declared] as const);
/** The collection with most fields, and other ones in each run. */
const drawn = named.filter(([name]) => name === 'observations').concat(someOf(named, 6));

/** A value of each type that filters compare with. Any other type is an enumeration, which accepts every text. */
const VALUES: Readonly<Record<string, string>> = {
  Integer: '1',
  Float: '-1.5',
  Boolean: 'true',
  Date: '2020-02-29',
  DateTime: '2020-02-29T12:00:00',
  Regex: '^a',
};

/** An operand for a filter: for lists and ranges, made of values of the type that the field has without a lookup. */
function valueFor(key: string, properties: Readonly<Record<string, Schema>>): string {
  const typeOf = (name: string): string => properties[name]?.$ref?.slice(REFERENCE.length) ?? '';
  const one = (type: string): string => VALUES[type] ?? 'a';
  const type = typeOf(key);
  if (type !== 'List' && type !== 'Range') return one(type);
  const value = one(typeOf(key.slice(0, key.lastIndexOf('__'))));
  return `${value},${value}`;
}

test.each(drawn)('accepts every documented filter of %s with a value of its type', async (name, declared) => {
  const properties = schemas[schemaName(declared, 'Filters')]!.properties!;
  for (const key of Object.keys(properties)) {
    const value = encodeURIComponent(valueFor(key, properties));
    const target = `/api/v3/${name}/?strict=1&limit=1&${encodeURIComponent(key)}=${value}`;
    expect([target, (await sample.send({ method: 'HEAD', target })).status]).toEqual([target, 200]);
  }
});

test.each(named)('accepts every example of a parameter in the list of %s', async (name) => {
  const { components } = JSON.parse((await sample.get('/openapi.json?spellings=all')).body) as {
    readonly components: { readonly parameters: Readonly<Record<string, Parameter>> };
  };
  const shown = Object.values(components.parameters).filter((one) => one.in === 'query' && one.name !== 'filters');
  expect(shown.length).toBeGreaterThan(8);
  for (const { name: parameter, example } of shown) {
    if (example === undefined) continue;
    const target = `/api/v3/${name}/?${parameter}=${encodeURIComponent(String(example))}`;
    expect([target, (await sample.send({ method: 'HEAD', target })).status]).toEqual([target, 200]);
  }
});

test.each(drawn)('documents the filters of %s that its form offers', async (name, declared) => {
  const told = Object.keys(schemas[schemaName(declared, 'Filters')]!.properties!);
  // The document does not contain the browse pages, so the sample cannot check them against it.
  const { status, body } = await pages.get(`/browse/${name}/`, { accept: 'text/html' });
  expect(status).toBe(200);
  const { document } = parseHTML(body);
  const options = [...document.querySelectorAll('select[name="browse.field"] option')];
  const words = [...document.querySelectorAll('select[name="browse.lookup"] option')];
  const offered = options.flatMap((option) => {
    const key = option.getAttribute('value')!;
    const fit = words.filter((word) =>
      word.getAttribute('data-sets').split(' ').includes(option.getAttribute('data-set')),
    );
    const [first, ...others] = fit.map((word): string => word.getAttribute('value'));
    expect(first).toBe(LOOKUPS[0]!.name);
    return [key, ...others.map((lookup) => `${key}__${lookup}`)];
  });
  expect(told).toEqual(offered);
});

/** Paths of the members of a value that its schema does not contain. */
function untold(value: unknown, schema: Schema | undefined, path: string): readonly string[] {
  if (value === null || typeof value !== 'object') return [];
  const all = variantsOf(schema);
  if (Array.isArray(value)) {
    const items = all.find((one) => one.items !== undefined)?.items;
    return value.flatMap((element) => untold(element, items, `${path}[]`));
  }
  const properties = all.find((one) => one.properties !== undefined)?.properties ?? {};
  return Object.entries(value as JsonObject).flatMap(([key, member]) => {
    return Object.hasOwn(properties, key) ? untold(member, properties[key], `${path}/${key}`) : [`${path}/${key}`];
  });
}

/** A schema or its alternatives, with references resolved. */
function variantsOf(schema: Schema | undefined): readonly Schema[] {
  if (!schema) return [];
  const { $ref, anyOf } = schema;
  if ($ref !== undefined) return variantsOf(schemas[$ref.slice(REFERENCE.length)]);
  return anyOf ? anyOf.flatMap((one) => variantsOf(one)) : [schema];
}

test.each(named)('documents every member of every record of %s', async (name, declared) => {
  const records = await sample.all(name);
  expect(records.length).toBeGreaterThan(0);
  const schema = { $ref: REFERENCE + schemaName(declared, 'Record') };
  expect([...new Set(records.flatMap((record) => untold(record, schema, name)))]).toEqual([]);
});

describe('the document after new data', () => {
  const directory = temporaryDirectory();
  const VERSIONS = {
    plain: { notes: [{ ob_id: 1, text: 'a' }] },
    other: { notes: [{ ob_id: 7, text: 'b' }] },
    coloured: { notes: [{ ob_id: 1, text: 'a', colour: 'red', at: { metres: 1.5 } }] },
    counted: { notes: [{ ob_id: 1, text: 12, colour: 'red', at: { metres: 1.5 } }] },
  };
  const files = new Map<string, string>();
  let server: SwappedServer;
  let client: Client;
  beforeAll(async () => {
    for (const [name, records] of Object.entries(VERSIONS)) files.set(name, await fileOf(directory, records));
    server = await swappedServer(directory, versionOf('plain'), ['--threads', '1']);
    client = clientOf(server.url);
  });
  afterAll(async () => {
    client.close();
    server.admin.close();
    await server.kill();
  });
  const versionOf = (name: keyof typeof VERSIONS): Parameters<SwappedServer['replace']>[0] => {
    return { name, file: files.get(name)!, count: 1, generation: '' };
  };
  const swapTo = async (name: keyof typeof VERSIONS): Promise<void> => {
    server.replace(versionOf(name));
    expect((await server.admin.send({ method: 'POST', target: '/reload' })).body).toMatch(/"(?:swapped|unchanged)"/);
  };
  const tagOf = async (): Promise<string> => (await client.get('/openapi.json')).headers['etag']!;
  const notes = async (of: 'Filters' | 'Record'): Promise<Readonly<Record<string, Schema>>> =>
    (await schemasOf(client.get))[`Notes${of}`]!.properties!;

  test('has the fields of the new data, in both forms and with another tag', async () => {
    const before = await tagOf();
    expect(Object.keys(await notes('Record'))).toEqual(['ob_id', 'text']);
    await swapTo('coloured');
    expect(Object.keys(await notes('Record'))).toEqual(['ob_id', 'at', 'colour', 'text']);
    expect(await notes('Filters')).toMatchObject({
      colour__icontains: { $ref: `${REFERENCE}Text` },
      at__metres__gte: { $ref: `${REFERENCE}Float` },
    });
    expect((await client.get('/openapi.yaml?spellings=all')).body).toContain('colour__icontains:');
    const after = await client.get('/openapi.json', { 'if-none-match': before });
    expect([after.status, after.headers['etag'] === before]).toEqual([200, false]);
  });

  test('has the types of the served values', async () => {
    await swapTo('coloured');
    expect(await notes('Filters')).toMatchObject({ text: { $ref: `${REFERENCE}Text` } });
    await swapTo('counted');
    expect(await notes('Filters')).toMatchObject({ text: { $ref: `${REFERENCE}Integer` } });
  });

  test('keeps its tag if the fields are unchanged', async () => {
    await swapTo('plain');
    const before = await tagOf();
    await swapTo('other');
    expect((await client.get('/openapi.json', { 'if-none-match': before })).status).toBe(304);
  });
});
