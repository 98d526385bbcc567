// Keys of filters: equal for equal rows, whatever the spelling of the query, and different if the rows may differ. The
// same for keys of views.
import { describe, expect, test } from 'vitest';
import type { ServedForm } from '../../../../engine/column/served.ts';
import { filterKey, viewKey } from '../../../../engine/query/ask.ts';
import { indexOf } from '../../../support/index.ts';
import { askOf, FORM } from '../../../support/lists.ts';

const COLLECTION = indexOf('observations', [{ ob_id: 1, title: 'a', status: 'completed' }]);

function keyOf(query: string, form: Partial<Parameters<typeof filterKey>[3]> = {}, generation = 'g'): string {
  return filterKey(generation, 'observations', askOf(COLLECTION, query, { filterErrors: 'empty' }), {
    ...FORM,
    ...form,
  });
}

test.each([
  ['title=a&status=completed', 'status=completed&title=a'],
  ['title=a', 'title__exact=+a+&limit=7&offset=3&format=json&page=2'],
  ['ob_id=1', 'ob_id=%2B01'],
  ['title__contains=a&title__contains=b', 'title__contains=b&title__contains=a'],
  ['title__in=a&title__in=b', 'title__in=b,a'],
  ['ob_id__in=3,1,2', 'ob_id__in=1,02,2,3,3'],
  ['title__contains!=b&status=x', 'status=x&title__contains!=b'],
])('gives %s and %s one key', (one, other) => {
  expect(keyOf(one)).toBe(keyOf(other));
});

test.each([
  ['', 'title=a'],
  ['title=a', 'title!=a'],
  ['title=a', 'title__contains=a'],
  ['title=a', 'status=a'],
  ['title=a', 'title=a&title=b'],
  ['title=a', 'title=A'],
  ['title=a&status=b', 'title=b&status=a'],
  ['title__in=a,b', 'title__in=a%22%2C%22b'],
  ['ob_id__in=', 'ob_id__in=1'],
  ['ob_id=x', ''],
])('gives %s and %s different keys', (one, other) => {
  expect(keyOf(one)).not.toBe(keyOf(other));
});

test('gives a list of more than 256 members one key only in its exact form', () => {
  const ids = Array.from({ length: 257 }, (_, i) => i);
  const [list, backwards] = [`ob_id__in=${ids.join()}`, `ob_id__in=${ids.toReversed().join()}`];
  expect(keyOf(list)).toBe(keyOf(list));
  expect(keyOf(list)).not.toBe(keyOf(backwards));
  const [shorter, shorterBackwards] = [
    `ob_id__in=${ids.slice(1).join()}`,
    `ob_id__in=${ids.slice(1).toReversed().join()}`,
  ];
  expect(keyOf(shorter)).toBe(keyOf(shorterBackwards));
});

describe('the served form of own URLs', () => {
  test('is part of the key if texts are compared', () => {
    expect(keyOf('title=a', { version: 'v2' })).not.toBe(keyOf('title=a'));
    expect(keyOf('title=a', { baseUrl: 'http://other.test' })).not.toBe(keyOf('title=a'));
    expect(keyOf('title=a', { linkEnd: '/' })).not.toBe(keyOf('title=a'));
  });

  test('is not part of the key if no texts are compared', () => {
    expect(keyOf('ob_id=1', { version: 'v2', linkEnd: '/' })).toBe(keyOf('ob_id=1'));
  });
});

test('does not share keys between collections or generations', () => {
  expect(keyOf('ob_id=1', {}, 'h')).not.toBe(keyOf('ob_id=1'));
});

describe('the key of a view', () => {
  const viewOf = (query: string, form: Partial<ServedForm> = {}): string =>
    viewKey(askOf(COLLECTION, query, { filterErrors: 'empty' }).page, { ...FORM, ...form });

  test.each([
    ['', 'title=a&status__in=b,c'],
    ['limit=7&offset=3', 'offset=03&limit=%2B7'],
    ['ordering=title', 'ordering=title,ob_id&format=json&fields=title'],
    ['facets=status', 'facets=status,,status'],
    ['after=7', 'after=007.0'],
  ])('is the same for %j and %j', (one, other) => {
    expect(viewOf(one)).toBe(viewOf(other));
  });

  test.each([{ version: 'v2' }, { baseUrl: 'https://b.example' }, { linkEnd: '.json' }] as const)(
    'differs with %j: own URLs are counted and ordered as texts',
    (form) => {
      expect(viewOf('facets=title', form)).not.toBe(viewOf('facets=title'));
    },
  );

  test.each([
    ['', 'limit=7'],
    ['', 'offset=1'],
    ['', 'after=0'],
    ['after=7', 'after=8'],
    ['', `after=${'9'.repeat(400)}`],
    [`after=-${'9'.repeat(400)}`, `after=${'9'.repeat(400)}`],
    ['', 'ordering=title'],
    ['ordering=title', 'ordering=-title'],
    ['ordering=title,status', 'ordering=status,title'],
    ['', 'facets=status'],
    ['facets=status,title', 'facets=title,status'],
  ])('differs between %j and %j', (one, other) => {
    expect(viewOf(one)).not.toBe(viewOf(other));
  });
});
