// Assumptions about filters that settings change: `filterErrors`, `filters` and `strict`. Over a real socket, on
// handmade records.
import { describe, expect } from 'vitest';
import { edgeRecords } from './edgeRecords.ts';
import { assumption } from './quotes.ts';
import { servedSample, type Sample } from './sample.ts';

const directory = edgeRecords();
const failing = servedSample([], directory);
const empty = servedSample(['--filter-errors', 'empty'], directory);
const ignoring = servedSample(['--filter-errors', 'ignore', '--filters', 'documented'], directory);
const strict = servedSample(['--strict', '--limit-max', '2'], directory);

const LIST = '/api/v3/observations/';

/** The response for a list: its status, the matching ids, and the names without effect. */
async function answerOf(served: Sample, query: string, list = LIST): Promise<unknown> {
  const { status, headers, body } = await served.get(`${list}?${query}`);
  if (status !== 200) return [status, JSON.parse(body)];
  const { results } = JSON.parse(body) as { results: readonly { ob_id: number }[] };
  return [status, results.map(({ ob_id }) => ob_id), headers['x-ignored-params']];
}

/** Filters that cannot be applied, one of each kind. */
const WRONG = [
  'title__foo=1',
  'title__=1',
  'result_field__foo=1',
  'title__year=1',
  'result_field__volume=x',
  'result_field__volume__in=x,y',
  'result_field__volume__range=1',
  'title=%00',
  'title__regex=[',
  'title__regex!=',
  `${'result_field__'.repeat(7)}volume=1`,
];
const ALL = [1, 2, 3, 4, 5, 6, 7];

describe('a filter that cannot be applied', () => {
  assumption('A29', 'refuses, empties or ignores a wrong filter, as filterErrors says', async () => {
    for (const query of WRONG) {
      const key = query.slice(0, query.indexOf('='));
      const [status, body] = (await answerOf(failing, query)) as [number, object];
      expect([status, Object.keys(body)], query).toEqual([400, [key]]);
      expect(await answerOf(empty, `${query}&status=ongoing`), query).toEqual([200, [], undefined]);
      const ignored = [200, [3, 4], key.replaceAll('!', '%21')];
      expect(await answerOf(ignoring, `${query}&status=ongoing`), query).toEqual(ignored);
    }
    for (const served of [failing, empty, ignoring]) {
      expect(await answerOf(served, 'facets=foo')).toEqual([400, { facets: [expect.any(String)] }]);
    }
  });

  assumption('A48, A58, A103', 'names the parameter that is beyond a limit', async () => {
    const list = (count: number, one: (i: number) => string, separator: string): string =>
      Array.from({ length: count }, (_, i) => one(i)).join(separator);
    const names = 'At most 1024 names can be given at once.';
    const refused: readonly (readonly [query: string, key: string, message: string])[] = [
      [list(1026, (i) => `p${i}`, '&'), 'p1024', 'At most 1024 parameters can be given at once.'],
      [list(66, (i) => `status__foo${i}=`, '&'), 'status__foo64', 'At most 64 filters can be used at once.'],
      ...['fields', 'ordering', 'facets'].map((name) => [`${name}=${','.repeat(1024)}`, name, names] as const),
    ];
    for (const served of [failing, empty, ignoring]) {
      for (const [query, key, message] of refused) {
        expect(await answerOf(served, query), key).toEqual([400, { [key]: [message] }]);
      }
    }
    const wide = encodeURIComponent('[\u0100-\u{10ffff}]'.repeat(83));
    const wrong: readonly (readonly [query: string, message: string])[] = [
      [`title__iregex=${wide}`, 'This regular expression is too large.'],
      [`title__in=${','.repeat(16_384)}`, 'Ensure this value has at most 16384 items (it has 16385).'],
      [`${'permissions__ob_id__'.repeat(1000)}title=1`, 'At most 6 relations can be stepped over.'],
    ];
    for (const [query, message] of wrong) {
      const key = query.slice(0, query.indexOf('='));
      expect(await answerOf(failing, query), key).toEqual([400, { [key]: [message] }]);
      expect(await answerOf(empty, `${query}&status=ongoing`), key).toEqual([200, [], undefined]);
      const { status } = await ignoring.get(`${LIST}?${query}`);
      expect(status, key).toBe(200);
    }
    const texts = ['title', 'abstract', 'uuid', 'status', 'publicationState'];
    const regexes = texts.flatMap((name) => [`${name}__regex=(`, `${name}__regex!=(`]);
    const tooMany = ['At most 8 regular expressions can be used at once.'];
    const keys = regexes.map((filter) => filter.slice(0, -2));
    const each = Object.fromEntries(keys.map((key) => [key, tooMany]));
    expect(await answerOf(failing, regexes.join('&'))).toEqual([400, each]);
    expect(await answerOf(empty, regexes.join('&'))).toEqual([200, [], undefined]);
  });

  assumption('A29', 'says in a message per key what is wrong', async () => {
    const query = 'title__foo=1&status=x&result_field__volume=x&ob_id=&ob_id__range=1';
    expect(await answerOf(failing, query)).toEqual([
      400,
      {
        title__foo: ['"foo" lookup is not supported', expect.stringMatching(/^Lookups that fit: exact, in, isnull,/)],
        result_field__volume: ['Enter a whole number.'],
        ob_id: ['This field is required.'],
        ob_id__range: ['Ensure this value has at least 2 items (it has 1).'],
      },
    ]);
  });

  assumption('A42', 'refuses a wrong member of in, or drops it, as filterErrors says', async () => {
    const key = 'result_field__volume__in';
    expect(await answerOf(failing, `${key}=5,x`)).toEqual([
      400,
      { [key]: ['Enter a whole number.', 'Member 2 is "x".'] },
    ]);
    expect(await answerOf(empty, `${key}=5,x`)).toEqual([200, [1], undefined]);
    expect(await answerOf(ignoring, `${key}=5,x`)).toEqual([200, [1], undefined]);
    for (const served of [failing, empty, ignoring]) {
      expect(await answerOf(served, `${key}=`)).toEqual([200, [], undefined]);
    }
  });

  assumption('A27', 'names ignored filters in X-Ignored-Params', async () => {
    const query = 'page=1&title__foo=1&title__regex!=[&status=planned';
    expect(await answerOf(ignoring, query)).toEqual([200, [5, 6, 7], 'page, title__foo, title__regex%21']);
  });
});

describe('which fields are known', () => {
  assumption('A33', 'filters by all fields, or by the documented ones only, as the setting says', async () => {
    const undocumented = ['ob_id=1', 'dataPublishedTime__year=2015', 'projects__uuid=p1', 'creationDate__year=2015'];
    for (const query of undocumented) {
      const name = query.slice(0, query.indexOf('='));
      expect(await answerOf(ignoring, query), query).toEqual([200, ALL, name]);
      expect(await answerOf(failing, `strict=1&${query}`), query).not.toEqual([200, ALL, undefined]);
    }
    expect(await answerOf(ignoring, 'result_field__volume=5&permissions!=2')).toEqual([200, [1], undefined]);
    expect(await answerOf(ignoring, 'title=one', '/api/v3/projects/')).toEqual([200, [1, 2], 'title']);
    expect(await answerOf(ignoring, 'ordering=-dataPublishedTime&limit=1')).toEqual([200, [5], undefined]);
  });

  assumption('A27, A28', 'refuses unknown parameters in strict mode, with the nearest known name', async () => {
    const message = 'Unknown parameter. Did you mean "publicationState__in"?';
    const refused = [400, { publicationStatus__in: [message] }];
    expect(await answerOf(failing, 'publicationStatus__in=x&strict=1')).toEqual(refused);
    expect(await answerOf(strict, 'publicationStatus__in=x')).toEqual(refused);
    expect(await answerOf(strict, 'publicationStatus__in=x&strict=0')).toEqual(refused);
    expect(await answerOf(failing, 'pge=1&strict=1')).toEqual([400, { pge: ['Unknown parameter.'] }]);
    expect(await answerOf(failing, 'limt=1&strict=true')).toEqual([
      400,
      { limt: ['Unknown parameter. Did you mean "limit"?'] },
    ]);
  });

  assumption('A61, A64', 'names unknown names of fields and ordering, and refuses them in strict mode', async () => {
    expect(await answerOf(failing, 'fields=ob_id,foo&ordering=bar,-ob_id')).toEqual([
      200,
      ALL.toReversed(),
      'fields=foo, ordering=bar',
    ]);
    expect(await answerOf(strict, 'fields=ob_id,titel&ordering=statu,title')).toEqual([
      400,
      {
        fields: ['Unknown field "titel". Did you mean "title"?'],
        ordering: ['Unknown field "statu". Did you mean "status"?'],
      },
    ]);
  });

  assumption('A19', 'has no upper bound of limit unless the setting gives one', async () => {
    const refused = { limit: ['Ensure this value is less than or equal to 2.'] };
    expect(await answerOf(strict, 'limit=1000000')).toEqual([400, refused]);
    expect(await answerOf(strict, '')).toEqual([200, [1, 2], undefined]);
    expect(await answerOf(failing, 'limit=1000000')).toEqual([200, ALL, undefined]);
  });
});
