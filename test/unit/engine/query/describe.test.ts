// The described fields of a collection: keys, sentences, nulls, and the fields that only the data has.
// conformance/documentedTypes.test.ts tests the documented fields.
import { expect, test } from 'vitest';
import { describedFields } from '../../../../engine/query/describe.ts';
import { collectionNamed } from '../../../../engine/schema/catalogue.ts';
import type { CollectionIndex } from '../../../../engine/index/table.ts';
import { recordShape, servedFields } from '../../../../engine/query/served.ts';
import type { Field } from '../../../../engine/schema/types.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { fileOf, opened } from '../../../support/shapes.ts';

test('lists fields of embedded records after their parent, under the key that filters them', () => {
  const described = describedFields(collectionNamed('ipps')!);
  expect(described.map(({ key, type }) => [key, type])).toEqual([
    ['ob_id', 'integer'],
    ['platform', 'link to platforms'],
    ['instrument', 'link to instruments'],
    ['relatedTo', 'record'],
    ['relatedTo__ob_id', 'integer'],
    ['relatedTo__uuid', 'text'],
    ['relatedTo__short_code', 'text'],
  ]);
  expect(described.at(-1)!.sentence).toBe(
    'Kind of the record that this one belongs to, such as ob for an observation.',
  );
});

test('marks fields that may be null', () => {
  const nullable = describedFields(collectionNamed('computations')!).filter(({ isNullable }) => isNullable);
  expect(nullable.map(({ key }) => key)).toEqual(['inputDescription', 'outputDescription', 'softwareReference']);
});

const SCRATCH = temporaryDirectory();
const LINK = (to: string, id: number): string => `{base_url}/api/v3/${to}/${id}/?format=api`;

async function collectionOf(name: string, ...records: readonly object[]): Promise<CollectionIndex> {
  return (await opened(await fileOf(SCRATCH, { [name]: records }))).collection(name);
}

/** The fields of a collection by name; those of embedded records under their filter keys. */
async function fieldsIn(name: string, ...records: readonly object[]): Promise<ReadonlyMap<string, Field>> {
  const index = await collectionOf(name, ...records);
  return new Map(describedFields(index.declaration, servedFields(index)).map(({ key, field }) => [key, field]));
}

test('adds the fields that only the data has, within declared records too', async () => {
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

test('accepts a bounded number of undocumented fields, with keys of bounded length', async () => {
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
