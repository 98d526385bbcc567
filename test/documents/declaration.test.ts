// Four descriptions of the declaration: the OpenAPI document, the form of a list at /browse/, the filter reference and
// the command `fields`. Each lists exactly the declared fields of every collection, with exactly the lookups that the
// parser accepts.
import { parseHTML } from 'linkedom';
import { describe, expect, test } from 'vitest';
import { readKey } from '../../engine/query/key.ts';
import { LOOKUPS } from '../../engine/query/lookups.ts';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import { queryOptionsOf } from '../../server/catalogue/queryOptions.ts';
import { fieldsText } from '../../server/commands/fields.ts';
import { openApiDocument } from '../../server/pages/openapi/document.ts';
import { sampleExamples, schemaName } from '../../server/pages/openapi/schemas.ts';
import { readSettings } from '../../server/settings/declarations.ts';
import { formHandler } from '../support/formCatalogue.ts';
import { indexOf } from '../support/index.ts';
import { requestOf, STAYING } from '../support/requests.ts';
import { DOCUMENTED_SHAPES } from '../support/shapes.ts';
import { tableUnder } from './blocks.ts';

const BASE_URL = 'https://catalogue.test';
/** The members of the OpenAPI document that the test reads. */
interface Document {
  readonly components: { readonly schemas: Readonly<Record<string, { readonly properties: object }>> };
}

const handler = formHandler();
const document = openApiDocument({
  baseUrl: BASE_URL,
  version: '1.2.3',
  query: queryOptionsOf(readSettings({}, {})),
  shapes: DOCUMENTED_SHAPES,
  examples: await sampleExamples(BASE_URL),
  spellings: 'all',
});
const { schemas } = (document as object as Document).components;
const groups = new Map(
  tableUnder('engine/query/FILTERS.md', 'Lookups').map(([lookup, group]) => [lookup!.replaceAll('`', ''), group!]),
);

const groupsOfType = new Map(
  tableUnder('engine/query/FILTERS.md', 'Types').flatMap(([types, fit]) =>
    types!.split(', ').map((type) => [type, fit!.split(', ')] as const),
  ),
);

/** Keys of filters by field: each is a field and a lookup; `exact` is not part of the key. */
type Told = ReadonlyMap<string, readonly string[]>;

function ofKeys(keys: readonly string[]): Told {
  const names = new Set(LOOKUPS.map(({ name }) => name));
  const told = new Map<string, string[]>();
  for (const key of keys) {
    const end = key.lastIndexOf('__');
    const [field, lookup] = [key.slice(0, Math.max(end, 0)), key.slice(end + 2)];
    const isLookup = names.has(lookup) && told.has(field);
    if (isLookup) told.get(field)!.push(lookup);
    else told.set(key, ['exact']);
  }
  return told;
}

async function ofForm(name: string): Promise<Told> {
  const headers = { accept: 'text/html' };
  const { body } = await handler(requestOf({ url: `/browse/${name}/`, headers }), STAYING);
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.bytes; at += pieces.at(-1)!.length) pieces.push(Buffer.from(body.pieceAt(at)));
  const page = parseHTML(Buffer.concat(pieces).toString()).document;
  const lookups = [...page.querySelectorAll('select[name="browse.lookup"] option')].map((option) => ({
    name: option.getAttribute('value')!,
    sets: option.getAttribute('data-sets')!.split(' '),
  }));
  return new Map(
    [...page.querySelectorAll('select[name="browse.field"] option')].map((option) => {
      const fit = lookups.filter(({ sets }) => sets.includes(option.getAttribute('data-set') ?? ''));
      return [option.getAttribute('value')!, fit.map(({ name }) => name)];
    }),
  );
}

function ofReference(name: string): Told {
  const rows = tableUnder('engine/query/FILTERS.md', name);
  return new Map(
    rows.map(([field, type]) => {
      const own = groupsOfType.get(type!.replace(/ or null$| to .*/, ''))!;
      const lookups = [...groups].filter(([, group]) => own.includes(group)).map(([lookup]) => lookup);
      return [field!.replaceAll('`', ''), lookups];
    }),
  );
}

function ofCommand(name: string): Told {
  const rows = JSON.parse(fieldsText(name, 'json')) as { collection: string; field: string; lookups: string[] }[];
  return new Map(rows.filter((row) => row.collection === name).map(({ field, lookups }) => [field, lookups]));
}

describe.each(COLLECTIONS.map((declared) => [declared.name, declared] as const))(
  'the fields of %s',
  (name, declared) => {
    const index = indexOf(name, []);
    const taken = (key: string): readonly string[] =>
      LOOKUPS.filter((lookup) => readKey(index, `${key}__${lookup.name}`, () => true).kind === 'filter').map(
        (lookup) => lookup.name,
      );
    const isDeclared = (key: string): boolean => declared.fields.some((field) => field.name === key.split('__')[0]);

    test.each<readonly [where: string, told: () => Told | Promise<Told>]>([
      ['the OpenAPI document', () => ofKeys(Object.keys(schemas[schemaName(declared, 'Filters')]!.properties))],
      ['the form', () => ofForm(name)],
      ['FILTERS.md', () => ofReference(name)],
      ['the command', () => ofCommand(name)],
    ])('are complete in %s, with the lookups that they accept', async (_where, told) => {
      const fields = await told();
      const wanted = declared.fields.map((field) => field.name).filter((key) => taken(key).length > 0);
      expect(wanted.filter((key) => !fields.has(key))).toEqual([]);
      const ours = [...fields].filter(([key]) => isDeclared(key));
      expect(ours.map(([key, lookups]) => [key, lookups.toSorted()])).toEqual(
        ours.map(([key]) => [key, taken(key).toSorted()]),
      );
    });
  },
);
