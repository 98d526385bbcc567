// The described fields of every collection, compared with what the parser takes of them.
import { expect, test } from 'vitest';
import { describedFields } from '../../../../engine/query/describe.ts';
import { readKey } from '../../../../engine/query/key.ts';
import { LOOKUPS } from '../../../../engine/query/lookups.ts';
import { collectionNamed, COLLECTIONS } from '../../../../engine/schema/catalogue.ts';
import { indexOf } from '../../../support/index.ts';

test.each(COLLECTIONS.map(({ name }) => name))('%s: a lookup is told of a declared field where it fits', (name) => {
  const collection = collectionNamed(name)!;
  const index = indexOf(name, []);
  for (const { key, lookups } of describedFields(collection)) {
    const taken = LOOKUPS.filter((lookup) => readKey(index, `${key}__${lookup.name}`, () => true).kind === 'filter');
    const told = lookups.map((lookup) => lookup.name);
    expect([key, ...taken.map((lookup) => lookup.name)]).toEqual([key, ...told]);
  }
});

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
