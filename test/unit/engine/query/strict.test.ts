// What strict mode refuses, and in which words. Over the declaration's own fields.
import { describe, expect, test } from 'vitest';
import type { QueryOptions } from '../../../../engine/query/ask.ts';
import { indexOf } from '../../../support/index.ts';
import { askOf } from '../../../support/lists.ts';

const OBSERVATIONS = indexOf('observations', []);

const LINK = 'Lookups that fit: exact, in, isnull, gt, gte, lt, lte, range.';
const TEXT = `${LINK.slice(0, -1)}, contains, startswith, endswith, iexact, icontains, istartswith, iendswith, regex, iregex.`;

/** The problems of a query, one `key: message` each. */
function problemsOf(query: string, options: Partial<QueryOptions> = {}): readonly string[] {
  return askOf(OBSERVATIONS, query, options).problems.map(({ key, messages }) => `${key}: ${messages.join(' ')}`);
}

describe('strict', () => {
  test.each([
    ['publicationStatus__in=a', 'publicationStatus__in: Unknown parameter. Did you mean "publicationState__in"?'],
    [
      'results_field__dataPath!=a',
      'results_field__dataPath!: Unknown parameter. Did you mean "result_field__dataPath!"?',
    ],
    ['limits=1', 'limits: Unknown parameter. Did you mean "limit"?'],
    ['titel=1', 'titel: Unknown parameter. Did you mean "title"?'],
    ['tetil=1', 'tetil: Unknown parameter.'],
    ['limits__in=1', 'limits__in: Unknown parameter.'],
    ['__title=1', '__title: Unknown parameter.'],
    ['page=2', 'page: Unknown parameter. Pages go by "limit" and "offset".'],
    ['page_size=10', 'page_size: Unknown parameter. Pages go by "limit" and "offset".'],
    ['search=ice', 'search: Unknown parameter. A text is searched by its field, with "__icontains" behind it.'],
    ['search__in=ice', 'search__in: Unknown parameter.'],
    ['id=1', 'id: Unknown parameter. Did you mean "ob_id"?'],
    ['id__in=1,2', 'id__in: Unknown parameter. Did you mean "ob_id__in"?'],
    ['pk!=1', 'pk!: Unknown parameter. Did you mean "ob_id!"?'],
    ['idx=1', 'idx: Unknown parameter.'],
  ])('%s is a problem: %s', (query, expected) => {
    expect(problemsOf(query, { isStrict: true })).toEqual([expected]);
    expect(problemsOf(`${query}&strict=1`)).toEqual([expected]);
    expect(problemsOf(query)).toEqual([]);
  });

  test('is asked for by 1 and true in any case, and the last value counts', () => {
    const isStrict = (query: string): boolean => problemsOf(`${query}&foo=1`).length > 0;
    const [on, off] = [
      ['strict=1', 'strict=true', 'strict=True', 'strict=%20TRUE', 'strict=0&strict=1'],
      ['strict=0', 'strict=', 'strict=False', 'strict=1&strict=0'],
    ];
    expect(on.filter((query) => !isStrict(query))).toEqual([]);
    expect(off.filter(isStrict)).toEqual([]);
  });

  test('that is misspelt is refused, since it was to be strict', () => {
    expect(problemsOf('strict=yes')).toEqual(['strict: Enter true or false.']);
  });

  test('a part of a date with a lookup behind it is told that nothing follows', () => {
    const [quoted, told] = ['"gte" lookup is not supported', 'Nothing may follow "year".'];
    const key = 'dataPublishedTime__year__gte';
    expect(problemsOf(`${key}=2020`)).toEqual([`${key}: ${quoted}`]);
    expect(problemsOf(`${key}=2020&strict=1`)).toEqual([`${key}: ${quoted} ${told}`]);
  });

  test('suggests ids only where they can be filtered', () => {
    expect(problemsOf('id=1', { isStrict: true, filters: 'documented' })).toEqual(['id: Unknown parameter.']);
  });

  test('lists unknown and bad keys together in query order', () => {
    expect(problemsOf('ob_id=x&foo=1&title__y=1&foo=2', { isStrict: true })).toEqual([
      'ob_id: Enter a whole number.',
      'foo: Unknown parameter.',
      `title__y: "y" lookup is not supported ${TEXT}`,
    ]);
  });

  test.each([
    ['title__foo=1', `title__foo: "foo" lookup is not supported ${TEXT}`],
    ['projects__foo=1', `projects__foo: Unknown field "foo". ${LINK}`],
    ['projects__contains=1', `projects__contains: "contains" lookup is not supported ${LINK}`],
    ['nonGeographicFlag=yes', 'nonGeographicFlag: Enter true or false.'],
    ['nonGeographicFlag__in=true,on', 'nonGeographicFlag__in: Enter true or false.'],
    ['title__isnull!=none', 'title__isnull!: Enter true or false.'],
    ['limit=0', 'limit: Enter a whole number from 1.'],
    ['limit=', 'limit: Enter a whole number from 1.'],
    ['limit=51', 'limit: Ensure this value is less than or equal to 50.'],
    ['offset=-1', 'offset: Enter a whole number from 0.'],
    ['offset=1.5', 'offset: Enter a whole number from 0.'],
  ])('refuses %s: %s', (query, expected) => {
    expect(problemsOf(query, { isStrict: true, limitMax: 50 })).toEqual([expected]);
  });

  test.each([
    'nonGeographicFlag=TRUE&nonGeographicFlag__in=0,false',
    'title__isnull=1',
    'title__isnull=',
    'nonGeographicFlag__contains=ru',
    'limit=+50&offset=000',
    'format=csv&limit=1000',
  ])('takes %s', (query) => {
    expect(problemsOf(query, { isStrict: true, limitMax: 50 })).toEqual([]);
  });

  test('a thousand unknown parameters are all refused, the first 20 with a suggestion', () => {
    const query = Array.from({ length: 1000 }, (_, i) => `keyword${i}=x`).join('&');
    const problems = problemsOf(query, { isStrict: true });
    expect(problems).toHaveLength(1000);
    expect(problems.filter((problem) => problem.includes('Did you mean'))).toHaveLength(20);
  });
});
