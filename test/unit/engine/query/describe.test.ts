// The described fields of a collection: keys, sentences, nulls. What the parser takes of them is in served.test.ts.
import { expect, test } from 'vitest';
import { describedFields } from '../../../../engine/query/describe.ts';
import { collectionNamed } from '../../../../engine/schema/catalogue.ts';

test('fields of embedded records stand behind what holds them, under the key that filters them', () => {
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

test('what may be null says so', () => {
  const nullable = describedFields(collectionNamed('computations')!).filter(({ isNullable }) => isNullable);
  expect(nullable.map(({ key }) => key)).toEqual(['inputDescription', 'outputDescription', 'softwareReference']);
});
