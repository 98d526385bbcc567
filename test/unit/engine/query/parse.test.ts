// Queries in, requests out: paging, keys, values, problems and ignored names, over the declaration's own fields.
import { describe, expect, test } from 'vitest';
import { topLevelKeys } from '../../../../engine/column/outline.ts';
import type { Ask, QueryOptions } from '../../../../engine/query/ask.ts';
import { MEMBERS_MAX } from '../../../../engine/query/limits.ts';
import { parseRecordQuery, regexProblems } from '../../../../engine/query/parse.ts';
import { collectionNamed } from '../../../../engine/schema/catalogue.ts';
import type { Field } from '../../../../engine/schema/types.ts';
import { indexOf, indexOfDeclared } from '../../../support/index.ts';
import { askOf, QUERY_OPTIONS } from '../../../support/lists.ts';

const OBSERVATIONS = indexOf('observations', []);

const LINK = 'Lookups that fit: exact, in, isnull, gt, gte, lt, lte, range.';
const TEXT = `${LINK.slice(0, -1)}, contains, startswith, endswith, iexact, icontains, istartswith, iendswith, regex, iregex.`;

function parse(query: string | undefined, options: Partial<QueryOptions> = {}): Ask {
  return askOf(OBSERVATIONS, query, options);
}

/** The problems of a query, one `key: message` each. */
function problemsOf(query: string, options: Partial<QueryOptions> = {}): readonly string[] {
  return parse(query, options).problems.map(({ key, messages }) => `${key}: ${messages.join(' ')}`);
}

/** The conditions of a query in short: path, lookup, values. */
function conditionsOf(query: string, options: Partial<QueryOptions> = {}): readonly string[] {
  return parse(query, options).conditions.map(
    ({ path, lookup, isNegated, operand }) =>
      `${isNegated ? 'not ' : ''}${path.join('.')} ${lookup} ${operand.kind} [${operand.values.join('|')}]`,
  );
}

test('a filter that was read before is read again where settings say so, and after many others', () => {
  const documented = { filters: 'documented' } as const;
  expect(conditionsOf('abstract__contains=x')).toEqual(['abstract contains text [x]']);
  expect(conditionsOf('abstract__contains=x', documented)).toEqual([]);
  expect(parse('abstract__contains=x', documented).ignored).toEqual(['abstract__contains']);
  const others = ['exact', 'contains', 'startswith', 'endswith', 'icontains', 'iexact'];
  const names = OBSERVATIONS.declaration.fields.flatMap(({ name }) => others.map((other) => `${name}__${other}`));
  for (const name of names) parse(`${name}=1&${name}!=2`);
  expect(names.length * 2).toBeGreaterThan(300);
  expect(conditionsOf('abstract__contains=y&abstract__contains!=z')).toEqual([
    'abstract contains text [y]',
    'not abstract contains text [z]',
  ]);
});

describe('paging', () => {
  test.each([
    [undefined, 100, 0],
    ['limit=7&offset=3', 7, 3],
    ['limit=0', 100, 0],
    ['limit=-5&offset=-5', 100, 0],
    ['limit=x&offset=1.5', 100, 0],
    ['limit=%20%2B007%20&offset=+8', 7, 8],
    ['offset=1234567890123456', 100, 999_999_999_999_999],
    ['offset=0000000000000000000005', 100, 5],
    [`limit=${'9'.repeat(400)}`, 999_999_999_999_999, 0],
    ['limit=%00', 100, 0],
  ])('%s is limit %i, offset %i', (query, limit, offset) => {
    expect(parse(query)).toMatchObject({ page: { limit, offset }, problems: [], ignored: [] });
  });

  test('a limit above the bound is cut to it', () => {
    expect(parse('limit=20000', { limitMax: 500 }).page.limit).toBe(500);
    expect(parse('', { limitMax: 50 }).page.limit).toBe(50);
  });
});

test('an export has all rows where no limit is set, whether the query names it or something else does', () => {
  const all = 999_999_999_999_999;
  const pageOf = (query: string): unknown => {
    const { limit, exported, format } = parse(query, { exported: 'csv', limitMax: 50 }).page;
    return [limit, exported, format];
  };
  expect(pageOf('')).toEqual([all, 'csv', undefined]);
  expect(pageOf('limit=70')).toEqual([70, 'csv', undefined]);
  expect(pageOf('format=ndjson')).toEqual([all, 'ndjson', 'ndjson']);
  expect(pageOf('format=json')).toEqual([50, undefined, 'json']);
  expect(pageOf('format=')).toEqual([all, 'csv', undefined]);
});

test('the last format counts, and an empty one is none', () => {
  expect(parse('format=json&format=api').page.format).toBe('api');
  expect(parse('format=json&format=').page.format).toBeUndefined();
  expect(parse('').page.format).toBeUndefined();
});

test('all parameters are kept, decoded, in query order', () => {
  expect(parse('b=1&a=%20+&b=2').parameters).toEqual([
    ['b', '1'],
    ['a', '  '],
    ['b', '2'],
  ]);
});

describe('keys', () => {
  test.each([
    ['title=a', 'title exact text [a]'],
    ['title__exact=a', 'title exact text [a]'],
    ['title!=a', 'not title exact text [a]'],
    ['title__startswith!=x', 'not title startswith text [x]'],
    ['title%5F%5Fcontains%21=x', 'not title contains text [x]'],
    ['publicationState__in=published,%20citable', 'publicationState in text [published|citable]'],
    ['publicationState__in=', 'publicationState in text []'],
    ['publicationState__in=,', 'publicationState in text [|]'],
    ['ob_id__in=1,2', 'ob_id in number [1|2]'],
    ['ob_id__startswith=1', 'ob_id startswith text [1]'],
    ['nonGeographicFlag=False', 'nonGeographicFlag exact text [false]'],
    ['result_field__dataPath__startswith=/d', 'result_field.dataPath startswith text [/d]'],
    ['result_field=12', 'result_field exact number [12]'],
    ['result_field__oldDataPath__contains=a', 'result_field.oldDataPath contains text [a]'],
    ['permissions__ob_id=4', 'permissions.ob_id exact number [4]'],
    ['discoveryKeywords=3', 'discoveryKeywords exact number [3]'],
    ['discoveryKeywords__name=x', 'discoveryKeywords.name exact text [x]'],
    ['projects__in=1,2', 'projects in number [1|2]'],
    ['dataPublishedTime=2016-05-04', 'dataPublishedTime exact number [1462320000000000]'],
    ['dataPublishedTime__contains=2016', 'dataPublishedTime contains text [2016]'],
    ['title=', 'title exact text []'],
  ])('%s is %s', (query, expected) => {
    expect(conditionsOf(query)).toEqual([expected]);
    expect(problemsOf(query)).toEqual([]);
  });

  test.each([
    ['title__=x', 'title__: "" lookup is not supported'],
    ['title__!=x', 'title__!: "" lookup is not supported'],
    ['title__nope=x', 'title__nope: "nope" lookup is not supported'],
    ['title__foo__bar=x', 'title__foo__bar: "foo" lookup is not supported'],
    ['title__contains__bar=x', 'title__contains__bar: "bar" lookup is not supported'],
    ['title____contains=x', 'title____contains: "" lookup is not supported'],
    [
      'title___contains=x',
      `title___contains: "_contains" lookup is not supported Did you mean "title__contains"? ${TEXT}`,
    ],
    [
      'title__Contains=x',
      `title__Contains: "Contains" lookup is not supported Did you mean "title__contains"? ${TEXT}`,
    ],
    [
      'title__conatins!=x',
      `title__conatins!: "conatins" lookup is not supported Did you mean "title__contains!"? ${TEXT}`,
    ],
    [
      'result_field__dataPaht=x',
      `result_field__dataPaht: Unknown field "dataPaht". Did you mean "result_field__dataPath"? ${LINK}`,
    ],
    ['result_field__foo=x', 'result_field__foo: "foo" lookup is not supported'],
    ['discoveryKeywords__contains=x', 'discoveryKeywords__contains: "contains" lookup is not supported'],
    ['discoveryKeywords__startswith__x=x', 'discoveryKeywords__startswith__x: "startswith" lookup is not supported'],
    ['timePeriod__startswith=1', 'timePeriod__startswith: "startswith" lookup is not supported'],
    ['projects__colour=x', 'projects__colour: "colour" lookup is not supported'],
    ['result_field__ob_id__contains=1', 'result_field__ob_id__contains: "contains" lookup is not supported'],
    ['title__constructor=x', 'title__constructor: "constructor" lookup is not supported'],
    ['ob_id=x', 'ob_id: Enter a whole number.'],
    ['ob_id=', 'ob_id: This field is required.'],
    ['ob_id__in=1,x,%00', 'ob_id__in: Enter a whole number.'],
    ['ob_id__in=,', 'ob_id__in: This field is required.'],
    ['removedDataTime=soon', 'removedDataTime: Enter a valid date/time.'],
    ['title=%00', 'title: Null characters are not allowed.'],
    ['title__contains=a%00', 'title__contains: Null characters are not allowed.'],
  ])('%s is a problem: %s', (query, expected) => {
    expect(problemsOf(query)).toEqual([expected]);
    expect(conditionsOf(query)).toEqual([]);
  });

  test.each([
    '__title=x',
    '=x',
    '!=x',
    'title!!=x',
    'Title=x',
    '1title=x',
    'title__9x=x',
    'ti-tle=x',
    'title%20=x',
    '__proto__=x',
    'constructor=x',
    'results_field=x',
    'discoveryKeyword__name=x',
    'limit!=x',
    'page=2',
    '?title=x',
  ])('%s has an unknown name, which is ignored', (query) => {
    const ask = parse(query);
    expect(ask.ignored).toEqual([ask.parameters[0]?.[0]]);
    expect(ask).toMatchObject({ conditions: [], problems: [], isEmpty: false });
  });

  test('a field wins over a lookup of the same name, and letters of any script are letters', () => {
    const fields: readonly Field[] = [
      { kind: 'scalar', name: 'ob_id', type: 'integer', nullable: false },
      {
        kind: 'record',
        name: 'größe',
        idField: 'ob_id',
        fields: [
          { kind: 'scalar', name: 'ob_id', type: 'integer', nullable: false },
          { kind: 'scalar', name: 'exact', type: 'text', nullable: false },
        ],
      },
    ];
    const collection = indexOfDeclared({ ...collectionNamed('notes')!, fields }, []);
    const [condition, other] = askOf(collection, 'größe__exact=x&größe__exact__exact!=y').conditions;
    expect(condition).toMatchObject({ path: ['größe', 'exact'], lookup: 'exact' });
    expect(other).toMatchObject({ path: ['größe', 'exact'], isNegated: true });
  });

  test('a key steps over 6 relations at most', () => {
    const nested = (depth: number): readonly Field[] => [
      { kind: 'scalar', name: 'ob_id', type: 'integer', nullable: false },
      ...(depth === 0 ? [] : [{ kind: 'record' as const, name: 'r', idField: 'ob_id', fields: nested(depth - 1) }]),
    ];
    const collection = indexOfDeclared({ ...collectionNamed('notes')!, fields: nested(8) }, []);
    const problems = (steps: number): unknown =>
      askOf(collection, `${'r__'.repeat(steps)}ob_id=1`).problems.flatMap(({ messages }) => messages);
    expect(problems(6)).toEqual([]);
    expect(problems(7)).toEqual(['At most 6 relations can be stepped over.']);
  });
});

describe('repeated keys', () => {
  test('are all conditions', () => {
    expect(conditionsOf('title__contains=a&title__contains=b&title__contains=a')).toEqual([
      'title contains text [a]',
      'title contains text [b]',
      'title contains text [a]',
    ]);
    expect(conditionsOf('title!=a&title!=b')).toEqual(['not title exact text [a]', 'not title exact text [b]']);
    expect(conditionsOf('discoveryKeywords=1&discoveryKeywords__ob_id=2')).toHaveLength(2);
  });

  test('are one list if they are lists of the same meaning', () => {
    expect(conditionsOf('status__in=a,b&title=x&status__in=c&status__in=')).toEqual([
      'status in text [a|b|c]',
      'title exact text [x]',
    ]);
    expect(conditionsOf('discoveryKeywords__in=1&discoveryKeywords__ob_id__in=2')).toHaveLength(1);
    expect(conditionsOf('status__in=a&status__in!=b&status__in!=c')).toEqual([
      'status in text [a]',
      'not status in text [b|c]',
    ]);
    expect(conditionsOf('status__in=&status__in=')).toEqual(['status in text []']);
  });

  test('are one problem, with each message once', () => {
    expect(parse('ob_id=x&ob_id=2&ob_id=&ob_id=y').problems).toEqual([
      { key: 'ob_id', messages: ['Enter a whole number.', 'This field is required.'] },
    ]);
    expect(problemsOf('ob_id__in=1&ob_id__in=x')).toEqual(['ob_id__in: Enter a whole number.']);
  });

  test('whose regular expressions take too long are one problem', () => {
    expect(regexProblems(parse('title__regex=a&title__regex=b&uuid__regex=c')).map(({ key }) => key)).toEqual([
      'title__regex',
      'uuid__regex',
    ]);
  });
});

describe('problems and ignored names', () => {
  test('come in query order, every bad key and every name once', () => {
    expect(problemsOf('title__x=1&status=a&ob_id=b&title__x=2')).toEqual([
      'title__x: "x" lookup is not supported',
      'ob_id: Enter a whole number.',
    ]);
    expect(parse('b=1&a=1&b=2').ignored).toEqual(['b', 'a']);
  });

  test('with `empty` a bad filter makes the list empty', () => {
    expect(parse('ob_id=x&foo=1', { filterErrors: 'empty' })).toMatchObject({
      isEmpty: true,
      problems: [],
      ignored: ['foo'],
    });
  });

  test('with `ignore` a bad filter is dropped and named', () => {
    expect(parse('ob_id=x&foo=1&title__z!=1&status=a', { filterErrors: 'ignore' })).toMatchObject({
      isEmpty: false,
      problems: [],
      ignored: ['ob_id', 'foo', 'title__z!'],
      conditions: [{ path: ['status'] }],
    });
  });

  test('with `empty` and `ignore` bad members are dropped while one is left', () => {
    for (const filterErrors of ['empty', 'ignore'] as const) {
      expect(conditionsOf('ob_id__in=1,x,2', { filterErrors })).toEqual(['ob_id in number [1|2]']);
      expect(conditionsOf('ob_id__in=', { filterErrors })).toEqual(['ob_id in number []']);
    }
    expect(parse('ob_id__in=x,y', { filterErrors: 'empty' }).isEmpty).toBe(true);
    expect(parse('ob_id__in=x,y', { filterErrors: 'ignore' }).ignored).toEqual(['ob_id__in']);
  });

  test('with `documented` only the documented filters are known', () => {
    expect(parse('ob_id=1&title=a&result_field__volume=3', { filters: 'documented' })).toMatchObject({
      ignored: ['ob_id'],
      conditions: [{ path: ['title'] }, { path: ['result_field', 'volume'] }],
    });
  });
});

test('a list of as many values as one may have and 1,000 parameters are read whole', () => {
  const ids = Array.from({ length: MEMBERS_MAX }, (_, i) => i).join(',');
  expect(parse(`ob_id__in=${ids}`).conditions[0]?.operand.values).toHaveLength(MEMBERS_MAX);
  const many = Array.from({ length: 1000 }, (_, i) => `ob_id__in=${i}`).join('&');
  expect(parse(many).conditions[0]?.operand.values).toHaveLength(1000);
});

describe('a single record', () => {
  test('heeds format and strict, and names the rest', () => {
    const ask = parseRecordQuery('format=json&limit=1&title=x&limit=2', QUERY_OPTIONS);
    expect(ask).toMatchObject({ page: { format: 'json' }, ignored: ['limit', 'title'], problems: [] });
  });

  test('refuses the rest in strict mode', () => {
    expect(parseRecordQuery('formats=x&limit=1&strict=1', QUERY_OPTIONS).problems).toEqual([
      { key: 'formats', messages: ['Unknown parameter. Did you mean "format"?'] },
      { key: 'limit', messages: ['Unknown parameter.'] },
    ]);
  });
});

describe('fields', () => {
  const known = topLevelKeys(['ob_id', 'title', 'uuid'], { keys: ['x,', 'title', 'a b'], lists: [] });
  const record = (query: string): Ask => parseRecordQuery(query, QUERY_OPTIONS, known);

  test.each([
    ['fields=title,ob_id', ['title', 'ob_id']],
    ['fields=%20title%20%2C,title,', ['title']],
    ['fields=uuid&fields=a+b', ['uuid', 'a b']],
    ['fields=nope', []],
    ['fields=', undefined],
    ['fields=uuid&fields=', ['uuid']],
    ['fields=&fields=', undefined],
    ['fields', undefined],
    ['fields=+,%20', undefined],
    ['Fields=uuid', undefined],
  ])('%s asks for %j', (query, keys) => {
    expect(record(query).page.keys).toEqual(keys && new Set(keys));
  });

  test('names unknown names where the last parameter is, once each', () => {
    expect(record('fields=a&b=1&fields=y,uuid,a,y&c').ignored).toEqual(['b', ['fields', 'a'], ['fields', 'y'], 'c']);
  });

  test('is refused in strict mode with a suggestion a name', () => {
    expect(record('strict=1&fields=uuuid,zz').problems).toEqual([
      { key: 'fields', messages: ['Unknown field "uuuid". Did you mean "uuid"?', 'Unknown field "zz".'] },
    ]);
  });

  test('is unknown to a view without records', () => {
    expect(parseRecordQuery('fields=a', QUERY_OPTIONS)).toMatchObject({
      page: { keys: undefined },
      ignored: ['fields'],
    });
  });

  test('is heeded by lists', () => {
    const { page, ignored } = parse('fields=title,nope');
    expect(page.keys).toEqual(new Set(['title']));
    expect(ignored).toEqual([['fields', 'nope']]);
  });
});

test.each(['ndjson', 'csv'])(
  'the format %s has all rows unless a limit is set, whatever the bound of pages',
  (format) => {
    const all = 999_999_999_999_999;
    for (const [query, limit] of [
      ['', all],
      ['&limit=abc', all],
      ['&limit=0', all],
      ['&limit=7000', 7000],
    ] as const) {
      expect(parse(`format=${format}${query}`, { limitMax: 5 }).page.limit).toBe(limit);
    }
  },
);
