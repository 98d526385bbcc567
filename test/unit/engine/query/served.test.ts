// The fields of imported collections as they are served, compared with what documents show, what the data has and what
// the parser takes.
import { beforeAll, describe, expect, test } from 'vitest';
import type { CollectionIndex } from '../../../../engine/index/table.ts';
import { describedFields } from '../../../../engine/query/describe.ts';
import { readKey } from '../../../../engine/query/key.ts';
import { LOOKUPS } from '../../../../engine/query/lookups.ts';
import { recordShape, servedFields } from '../../../../engine/query/served.ts';
import { COLLECTIONS } from '../../../../engine/schema/catalogue.ts';
import type { Field } from '../../../../engine/schema/types.ts';
import type { Catalogue } from '../../../../engine/snapshot/open.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { sampleSnapshot } from '../../../support/sampleSnapshot.ts';
import { fileOf, opened } from '../../../support/shapes.ts';

const SCRATCH = temporaryDirectory();
const LINK = (to: string, id: number): string => `{base_url}/api/v3/${to}/${id}/?format=api`;

async function collectionOf(name: string, ...records: readonly object[]): Promise<CollectionIndex> {
  return (await opened(await fileOf(SCRATCH, { [name]: records }))).collection(name);
}

let sample: Catalogue;
beforeAll(async () => void (sample = await opened(await sampleSnapshot())));

describe.each(COLLECTIONS.map((declared) => [declared.name, declared] as const))(
  '%s of the sample',
  (name, declared) => {
    test('has the documented fields as they are documented, then others', () => {
      const documented = declared.fields;
      expect(servedFields(sample.collection(name)).slice(0, documented.length)).toEqual(documented);
    });

    test('has all that the index has, and opaque fields', () => {
      const names = servedFields(sample.collection(name)).map((field) => field.name);
      const opaque = declared.fields.filter(({ kind }) => kind === 'opaque').map((field) => field.name);
      expect(names.toSorted()).toEqual([...sample.collection(name).members.keys(), ...opaque].toSorted());
    });

    test('is told with the lookups that the parser takes', () => {
      const index = sample.collection(name);
      for (const { key, lookups } of describedFields(declared, servedFields(index))) {
        const taken = LOOKUPS.filter(
          (lookup) => readKey(index, `${key}__${lookup.name}`, () => true).kind === 'filter',
        );
        expect([key, ...lookups.map((lookup) => lookup.name)]).toEqual([key, ...taken.map((lookup) => lookup.name)]);
      }
    });
  },
);

/** The fields of a collection by name, those within embedded records under their filter keys. */
async function fieldsIn(name: string, ...records: readonly object[]): Promise<ReadonlyMap<string, Field>> {
  const index = await collectionOf(name, ...records);
  return new Map(describedFields(index.declaration, servedFields(index)).map(({ key, field }) => [key, field]));
}

test('what documents show keeps its type, whatever values it has, and may be null where one is', async () => {
  const fields = await fieldsIn(
    'platforms',
    { ob_id: 1, uuid: 'a', title: null, platformType: 7, location: 'harbour' },
    { ob_id: 2, uuid: 'b', title: 'x', platformType: 8, location: null, keywords: ['a'] },
  );
  const scalar = { kind: 'scalar', nullable: true };
  expect(fields.get('uuid')).toEqual({ ...scalar, name: 'uuid', type: 'text', nullable: false });
  expect(fields.get('title')).toEqual({ ...scalar, name: 'title', type: 'text' });
  expect(fields.get('platformType')).toMatchObject({ kind: 'scalar', type: 'text', nullable: false });
  expect(fields.get('location')).toEqual({
    kind: 'link',
    name: 'location',
    to: 'bboxes',
    nullable: true,
    hasMisfits: true,
  });
  expect(fields.get('keywords')).toEqual({ ...scalar, name: 'keywords', type: 'text', hasMisfits: true });
});

test('what is declared may be null where one is', async () => {
  const fields = await fieldsIn('computations', { ob_id: 1, title: 'a' }, { ob_id: 2, title: 'b', keywords: 'c' });
  expect(fields.get('title')).toMatchObject({ type: 'text', nullable: false });
  expect(fields.get('keywords')).toMatchObject({ type: 'text', nullable: true });
});

test('what only the data has is told as inferred, within declared records too', async () => {
  const fields = await fieldsIn('ipps', {
    ob_id: 1,
    platform: LINK('platforms', 1),
    instrument: LINK('instruments', 1),
    relatedTo: { ob_id: 1, uuid: 'a', short_code: 'ob', since: '2020-01-01' },
    crew: [{ ob_id: 3, person: LINK('parties', 1), tags: ['a', null] }],
    place: { deep: { metres: 1.5 } },
    seenBy: [LINK('parties', 1)],
  });
  const told = [...fields].filter(
    ([key]) => !/^(ob_id|platform|instrument)$|^relatedTo(__(ob_id|uuid|short_code))?$/.test(key),
  );
  expect(
    told.map(([key, field]) => [key, field.kind, 'to' in field ? field.to : 'type' in field && field.type]),
  ).toEqual([
    ['relatedTo__since', 'scalar', 'date'],
    ['crew', 'records', false],
    ['crew__ob_id', 'scalar', 'integer'],
    ['crew__person', 'link', 'parties'],
    ['crew__tags', 'scalars', 'text'],
    ['place', 'record', false],
    ['place__deep', 'record', false],
    ['place__deep__metres', 'scalar', 'float'],
    ['seenBy', 'links', 'parties'],
  ]);
  expect(fields.get('crew')).toMatchObject({ idField: 'ob_id' });
  expect(fields.get('place')).not.toHaveProperty('idField');
  expect(fields.get('relatedTo__short_code')).toHaveProperty('values');
});

test('a shape has as many fields and keys as it may beside the documented ones, each no longer than it may be', async () => {
  const extras = { a: 1, b: { c: 1, d: 2 }, 'e f': 1, 'g h': 2 };
  const index = await collectionOf('times', { ob_id: 1, startTime: '2020-01-01', endTime: null, ...extras });
  const told = (inferredMax: number, keyCharactersMax = 9): readonly unknown[] => {
    const { fields, others } = recordShape(index, { inferredMax, keyCharactersMax });
    const keys = describedFields(index.declaration, fields).map(({ key }) => key);
    expect(keys.slice(0, 3)).toEqual(['ob_id', 'startTime', 'endTime']);
    return [...keys.slice(3), others];
  };
  expect(told(0)).toEqual([[]]);
  expect(told(3)).toEqual(['a', 'b', 'b__c', []]);
  expect(told(5)).toEqual(['a', 'b', 'b__c', 'b__d', ['e f']]);
  expect(told(99)).toEqual(['a', 'b', 'b__c', 'b__d', ['e f', 'g h']]);
  expect(told(99, 3)).toEqual(['a', 'b', ['e f', 'g h']]);
  expect(told(99, 2)).toEqual(['a', 'b', []]);
});
