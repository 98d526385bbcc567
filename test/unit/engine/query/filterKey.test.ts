// Keys of filters: the same for the same rows however they are asked for, different where the rows may differ.
import { describe, expect, test } from 'vitest';
import { filterKey } from '../../../../engine/query/filterKey.ts';
import { parseListQuery } from '../../../../engine/query/parse.ts';
import { indexOf } from '../../../support/index.ts';

const COLLECTION = indexOf('observations', [{ ob_id: 1, title: 'a', status: 'completed' }]);
const FORM = { baseUrl: 'http://localhost:8080', version: 'v3', linkEnd: '/?format=api' } as const;

function keyOf(query: string, form: Partial<Parameters<typeof filterKey>[3]> = {}, generation = 'g'): string {
  const options = {
    limitDefault: 100,
    limitMax: undefined,
    isStrict: false,
    filterErrors: 'empty',
    filters: 'all',
  } as const;
  return filterKey(generation, 'observations', parseListQuery(COLLECTION, query, options), { ...FORM, ...form });
}

test.each([
  ['title=a&status=completed', 'status=completed&title=a'],
  ['title=a', 'title__exact=+a+&limit=7&offset=3&format=json&page=2'],
  ['ob_id=1', 'ob_id=%2B01'],
  ['ob_id=1', 'ob_id=5&ob_id=1.0'],
  ['ob_id__in=3,1,2', 'ob_id__in=1,02,2,3,3'],
  ['title__contains!=b&status=x', 'status=x&title__contains!=b'],
])('%s and %s have one key', (one, other) => {
  expect(keyOf(one)).toBe(keyOf(other));
});

test.each([
  ['', 'title=a'],
  ['title=a', 'title!=a'],
  ['title=a', 'title__contains=a'],
  ['title=a', 'status=a'],
  ['title=a', 'title=A'],
  ['title=a&status=b', 'title=b&status=a'],
  ['title__in=a,b', 'title__in=a%22%2C%22b'],
  ['ob_id__in=', 'ob_id__in=1'],
  ['ob_id=x', ''],
])('%s and %s have two', (one, other) => {
  expect(keyOf(one)).not.toBe(keyOf(other));
});

describe('how own URLs are served', () => {
  test('is part of the key where texts are compared', () => {
    expect(keyOf('title=a', { version: 'v2' })).not.toBe(keyOf('title=a'));
    expect(keyOf('title=a', { baseUrl: 'http://other.test' })).not.toBe(keyOf('title=a'));
    expect(keyOf('title=a', { linkEnd: '/' })).not.toBe(keyOf('title=a'));
  });

  test('is none where they are not', () => {
    expect(keyOf('ob_id=1', { version: 'v2', linkEnd: '/' })).toBe(keyOf('ob_id=1'));
  });
});

test('collections and generations do not share keys', () => {
  expect(keyOf('ob_id=1', {}, 'h')).not.toBe(keyOf('ob_id=1'));
});
