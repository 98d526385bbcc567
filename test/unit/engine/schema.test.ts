// The declaration as a table: the rules for every line, and the derived values.
import { describe, expect, test } from 'vitest';
import { collectionNamed, COLLECTIONS, collectionsOfPath } from '../../../engine/schema/catalogue.ts';
import {
  collectionLabel,
  collectionSentence,
  fieldLabel,
  fieldSentence,
  kindLabel,
} from '../../../engine/query/describe.ts';
import { layoutOf } from '../../../engine/schema/layout.ts';
import { COLLECTION_WORDS, FIELD_WORDS } from '../../../engine/schema/sentences.ts';
import type { Collection, Field } from '../../../engine/schema/types.ts';

/** spec 2.1, verbatim. */
const ROOT_NAMES =
  'acquisitions, bboxes, composites, computations, constraints, discoveryserviceids, dqconformanceresults, drsdatasets, identifiers, imagedetails, inspirethemes, instruments, iods, ipps, licenceclassifications, licences, migrationproperties, mpos, notes, observationcollections, observations, onlineresources, parties, phenomona, platforms, projects, referenceables, relatedobservationinfos, results, rpis, times, topiccategories, verticalextents, vocabularyterms';

/** spec 4.1: the collections of the table and their paths; migrationproperties has no other spelling. */
const DOCUMENTED_PATHS = {
  acquisitions: 'acquisitions',
  phenomona: 'phenomena',
  computations: 'ProcedureComputations',
  composites: 'ProcedureComputations',
  identifiers: 'identifier',
  ipps: 'ipps',
  observations: 'observations',
  migrationproperties: 'migrationproperties',
};

/** spec 4.3. */
const FILTERS = {
  phenomona: 'names, terms',
  computations: 'uuid, title, keywords, abstract',
  identifiers: 'url, identifierType',
  observations:
    'title, uuid, keywords, status, result_field, discoveryKeywords, updateFrequency, nonGeographicFlag, publicationState, permissions',
};

const DECLARED = COLLECTIONS.filter(({ open }) => !open);

function fieldsIn(fields: readonly Field[]): readonly Field[] {
  return fields.flatMap((field) => ('fields' in field ? [field, ...fieldsIn(field.fields)] : [field]));
}

/** Without a bar, which would end the cell of a Markdown table. */
const SENTENCE = /^[A-Z][^|]+\.$/;
/** Words for people: a capital first, no underscore, no capital inside a word except in acronyms. */
const LABEL = /^(?:[A-Z][a-z]+|[A-Z]{3,})(?: (?:[a-z]+|[A-Z]{3,}))*$/;

function names(collections: readonly Collection[]): string[] {
  return collections.map(({ name }) => name);
}

test('declares the 34 collections of the root view, in its order, each once', () => {
  expect(names(COLLECTIONS)).toEqual(ROOT_NAMES.split(', '));
  expect(COLLECTIONS).toHaveLength(34);
  expect(new Set(names(COLLECTIONS)).size).toBe(34);
});

test('declares the collections of spec 2.3 to 2.10, and leaves all others open', () => {
  expect(names(DECLARED).sort()).toEqual(Object.keys(DOCUMENTED_PATHS).sort());
});

describe.each(COLLECTIONS)('$name', (collection) => {
  const all = fieldsIn(collection.fields);

  test('has its documented path, or its name', () => {
    const documented: Readonly<Record<string, string>> = DOCUMENTED_PATHS;
    expect(collection.documentedPath).toBe(documented[collection.name] ?? collection.name);
  });

  test('has the documented filters, and each is a field', () => {
    const documented: Readonly<Record<string, string>> = FILTERS;
    expect(collection.filters).toEqual(documented[collection.name]?.split(', ') ?? []);
    const own = collection.fields.map(({ name }) => name);
    expect(collection.filters.filter((name) => !own.includes(name))).toEqual([]);
  });

  test('declares its id as an integer that is never null, and first', () => {
    expect(collection.fields[0]).toEqual({
      kind: 'scalar',
      name: collection.idField,
      type: 'integer',
      nullable: false,
    });
    expect(collection.idField).toBe(collection.name === 'migrationproperties' ? 'id' : 'ob_id');
  });

  test('names every field of an object once, and none in a way that no filter key could', () => {
    for (const fields of [collection.fields, ...all.flatMap((field) => ('fields' in field ? [field.fields] : []))]) {
      const own = fields.map(({ name }) => name);
      expect(new Set(own).size).toBe(own.length);
      expect(own.filter((name) => !/^[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*$/.test(name))).toEqual([]);
    }
  });

  test('links to declared collections only', () => {
    const targets = all.flatMap((field) => ('to' in field ? [field.to] : []));
    expect(targets.filter((name) => !names(COLLECTIONS).includes(name))).toEqual([]);
  });

  test('declares the id of each embedded record', () => {
    for (const field of all) {
      if (field.kind !== 'record' && field.kind !== 'records') continue;
      expect(field.fields.map(({ name }) => name)).toContain(field.idField);
    }
  });

  test('is served by v3, and by v2 except for migrationproperties', () => {
    expect(collection.versions).toEqual(collection.name === 'migrationproperties' ? ['v3'] : ['v2', 'v3']);
  });

  test('has a title and its source', () => {
    expect(collection.title).toMatch(/^[A-Z]/);
    expect(collection.source).toMatch(/^spec 2\.(1|3|4|5|6|7|8|9|10)$/);
  });

  test('is found by its name and by both its paths', () => {
    expect(collectionNamed(collection.name)).toBe(collection);
    for (const version of collection.versions) {
      expect(collectionsOfPath(collection.name, version)).toContain(collection);
      expect(collectionsOfPath(collection.documentedPath, version)).toContain(collection);
    }
  });

  test('becomes columns and tables with separate paths', () => {
    const { columns, tables, members } = layoutOf(collection);
    expect(new Set(columns.map(({ path }) => path)).size).toBe(columns.length);
    expect(new Set(tables.map(({ path }) => path)).size).toBe(tables.length);
    expect(tables[0]).toEqual({ path: collection.name, parent: -1 });
    expect(tables.slice(1).every(({ parent }, i) => parent >= 0 && parent <= i)).toBe(true);
    expect(columns.every(({ table }) => table < tables.length)).toBe(true);
    expect(columns.filter(({ isId }) => isId).map(({ path }) => path)).toEqual([
      `${collection.name}/${collection.idField}`,
    ]);
    expect(members.map(({ name }) => name)).toEqual(collection.fields.map(({ name }) => name));
  });
});

test('resolves a path that two collections share to computations first, then composites', () => {
  expect(names(collectionsOfPath('ProcedureComputations', 'v2'))).toEqual(['computations', 'composites']);
  expect(names(collectionsOfPath('ProcedureComputations', 'v3'))).toEqual(['computations', 'composites']);
});

test('resolves every other path to one collection, and an unknown path, or one of another version, to none', () => {
  for (const { name } of COLLECTIONS) {
    if (name !== 'migrationproperties') expect(names(collectionsOfPath(name, 'v2'))).toEqual([name]);
    expect(names(collectionsOfPath(name, 'v3'))).toEqual([name]);
  }
  for (const path of ['', 'observation', 'Observations', 'procedurecomputations', '__proto__', 'constructor']) {
    expect(collectionsOfPath(path, 'v3')).toEqual([]);
    expect(collectionNamed(path)).toBeUndefined();
  }
  expect(collectionsOfPath('migrationproperties', 'v2')).toEqual([]);
});

test('gives a to-many relation inside a to-many relation a table whose parent is the outer one', () => {
  const { tables, columns } = layoutOf(collectionNamed('composites')!);
  const of = (path: string): number => tables.findIndex((table) => table.path === path);
  const pairs = of('composites/acquisitionComponent/instrumentplatformpair_set');
  expect(tables[pairs]!.parent).toBe(of('composites/acquisitionComponent'));
  const shortCode = columns.find(({ path }) => path.endsWith('instrumentplatformpair_set/relatedTo/short_code'))!;
  expect(shortCode.table).toBe(pairs);
});

test('has a label and a sentence for each collection and documented field, and no others', () => {
  const used = new Set<string>();
  const heed = (names: readonly string[]): string => {
    const end = names.map((_, i) => names.slice(i).join('__')).find((each) => Object.hasOwn(FIELD_WORDS, each));
    used.add(end ?? '');
    return fieldSentence(names);
  };
  const below = (path: readonly string[], fields: readonly Field[]): void => {
    for (const field of fields) {
      const sentence = heed([...path, field.name]);
      expect(sentence, `${path.join('__')}__${field.name}`).toMatch(SENTENCE);
      const key = [...path, field.name].slice(1).join('__');
      expect(fieldLabel(path[0]!, key).split(' › ').at(-1), `${path.join('__')}__${field.name}`).toMatch(LABEL);
      if ('fields' in field) below([...path, field.name], field.fields);
    }
  };
  for (const collection of COLLECTIONS) {
    below([collection.name], collection.fields);
    expect(collectionSentence(collection)).toMatch(SENTENCE);
    expect(collectionLabel(collection.name)).toMatch(LABEL);
    expect(kindLabel(collection.name)).toMatch(LABEL);
  }
  expect([...used].toSorted()).toEqual(Object.keys(FIELD_WORDS).toSorted());
  expect(Object.keys(COLLECTION_WORDS)).toEqual(names(COLLECTIONS));
  expect(() => fieldSentence(['observations', 'noField'])).toThrow('observations__noField has no row');
});

test.each([
  ['observations', 'publicationState', 'Publication state'],
  ['observations', 'relatedTo__short_code', 'Belongs to › Kind'],
  ['observations', 'projects__title', 'Projects › Title'],
  [
    'observations',
    'responsiblepartyinfo_set__party__lastName',
    'Responsible parties › Person or organisation › Last name',
  ],
  ['observations', 'phenomena__terms__value', 'Phenomena › Terms › Value'],
  ['identifiers', 'url', 'Identifier'],
  ['onlineresources', 'url', 'URL'],
  ['observations', 'creationDate', 'Creation date'],
  ['observations', 'resource_URL', 'Resource URL'],
  ['observations', '__proto__', ' › Proto › '],
  ['observations', '', ''],
  ['nothing', 'title', 'Title'],
])('labels %s %s as %j', (collection, key, label) => {
  expect(fieldLabel(collection, key)).toBe(label);
});

test('gives no two fields of a collection the same label', () => {
  for (const { name, fields } of COLLECTIONS) {
    const labels = fields.map((field) => fieldLabel(name, field.name));
    expect(
      labels.filter((label, i) => labels.indexOf(label) !== i),
      name,
    ).toEqual([]);
  }
  const all = COLLECTIONS.map(({ name }) => collectionLabel(name));
  expect(new Set(all).size).toBe(all.length);
});
