// The JSON around records, byte for byte.
import { describe, expect, test } from 'vitest';
import { indexBody, pageHead, pageTail, rootViewBody } from '../../../../engine/page/envelope.ts';
import { jsonObject, jsonText } from '../../../../engine/bits/json.ts';
import { SPEC_LINK_END } from '../../../../engine/column/served.ts';

const BASE_URL = 'http://localhost:8080';

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}

describe('the envelope', () => {
  test('has count, next, previous and results in this order without blanks', () => {
    const links = { next: 'http://h/?limit=1&offset=1', previous: null };
    expect(text(pageHead(2, links)) + text(pageTail([]))).toBe(
      '{"count":2,"next":"http://h/?limit=1&offset=1","previous":null,"results":[]}',
    );
  });
});

test('facets stand behind the results, with names and values escaped', () => {
  const facets = [
    {
      name: 'status',
      values: [
        ['a"b', 2],
        ['null', 1],
      ] as const,
    },
    { name: 'x', values: [] },
  ];
  expect(text(pageTail(facets))).toBe('],"facets":{"status":{"a\\"b":2,"null":1},"x":{}}}');
});

describe('the root view', () => {
  test('of v3 maps all 34 collections to their lists', () => {
    const view = JSON.parse(text(rootViewBody(BASE_URL, 'v3', SPEC_LINK_END))) as Record<string, string>;
    expect(Object.keys(view)).toHaveLength(34);
    expect(Object.keys(view)).toEqual(Object.keys(view).toSorted());
    expect(view['phenomona']).toBe('http://localhost:8080/api/v3/phenomona/?format=api');
  });

  test('of v2 leaves migrationproperties out', () => {
    const view = JSON.parse(text(rootViewBody(BASE_URL, 'v2', SPEC_LINK_END))) as Record<string, string>;
    expect(Object.keys(view)).toHaveLength(33);
    expect(view).not.toHaveProperty('migrationproperties');
    expect(view['times']).toBe('http://localhost:8080/api/v2/times/?format=api');
  });

  test('may follow the request', () => {
    expect(text(rootViewBody(BASE_URL, 'v3', '.json'))).toContain('"times":"http://localhost:8080/api/v3/times.json"');
  });
});

test('the index names the root views, and then what else there is', () => {
  const at = (path: string): string => `"http://localhost:8080${path}"`;
  expect(text(indexBody(BASE_URL))).toBe(
    `{"v2":${at('/api/v2/')},"v3":${at('/api/v3/')},"browse":${at('/browse/')},` +
      `"openapi":${at('/openapi.json')},"docs":${at('/docs/')},"health":${at('/healthz')}}`,
  );
});

test('the index below a path has no health, which is at the root alone', () => {
  expect(text(indexBody('https://example.org/cat'))).toMatch(/"docs":"https:\/\/example.org\/cat\/docs\/"\}$/);
});

test('JSON texts escape the two line separators and keep every key', () => {
  expect(jsonText('a\u2028\u2029å"')).toBe('"a\\u2028\\u2029å\\""');
  expect(
    jsonObject([
      ['__proto__', '1'],
      ['2', '2'],
      ['1', '3'],
    ]),
  ).toBe('{"__proto__":1,"2":2,"1":3}');
});
