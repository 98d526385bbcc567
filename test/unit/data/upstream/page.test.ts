// Pages of an upstream: records are cut out as they were sent, and anything other than a page is refused before it is
// parsed. Also the texts of a record that are the upstream's own URLs, and the reported links.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parsePage, withOwnUrls } from '../../../../data/upstream/page.ts';
import { Trouble } from '../../../../data/upstream/client.ts';

function page(results: string, around = '"count":9,"next":null,"previous":null,'): Buffer {
  return Buffer.from(`{${around}"results":${results}}`);
}

test('keeps the key order, number tokens, escapes and blanks of a record', () => {
  const texts = ['{"b":1.50,"ob_id":7,"a":[1e2,-0.0,12345678901234567890]}', '{ "ob_id" : 8, "a" : "\\u00e9å}],\\"" }'];
  const { records, count, hasNext } = parsePage(page(`[${texts.join(' , ')}]`), 'ob_id');
  expect(records).toEqual([
    { id: 7, text: texts[0] },
    { id: 8, text: texts[1] },
  ]);
  expect([count, hasNext]).toEqual([9, false]);
});

test('joins a record that is sent on several lines', () => {
  const { records } = parsePage(page('[{\r\n  "ob_id": 7,\n  "a": "b\\n"\n}]'), 'ob_id');
  expect(records).toEqual([{ id: 7, text: '{  "ob_id": 7,  "a": "b\\n"}' }]);
});

test('reads the limit of the upstream from its link', () => {
  const around = '"count":9,"next":"http://a/?format=json&limit=50&offset=50",';
  expect(parsePage(page('[]', around), 'ob_id')).toMatchObject({ limit: 50, hasNext: true });
});

test.each([
  ['results within results', '[{"ob_id":1,"results":[{"ob_id":2}]}]', [1]],
  ['braces in texts', '[{"ob_id":1,"a":"}{]["},{"ob_id":2,"a\\"":{}}]', [1, 2]],
  ['no records', ' [ ] ', []],
])('finds all records of a page with %s', (_what, results, ids) => {
  expect(parsePage(page(results), 'ob_id').records.map(({ id }) => id)).toEqual(ids);
});

test('returns any JSON that is a page of records unchanged, and refuses any cut of it', () => {
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue({ maxDepth: 5 }), { maxLength: 5 }),
      fc.double({ min: 0, max: 1 }),
      (values, at) => {
        const texts = values.map((value, i) => JSON.stringify({ value, ob_id: i }));
        const bytes = page(`[${texts.join()}]`);
        expect(parsePage(bytes, 'ob_id').records).toEqual(texts.map((text, id) => ({ id, text })));
        expect(() => parsePage(bytes.subarray(0, Math.floor(bytes.length * at * 0.99)), 'ob_id')).toThrow(Trouble);
      },
    ),
    { seed: 11 },
  );
});

test('refuses a list without pages as such', () => {
  expect(() => parsePage(Buffer.from('[{"ob_id":1},{"ob_id":2}]'), 'ob_id')).toThrow('an array in place of a page');
});

test('measures the depth within a record, whatever contains it', () => {
  const nested = (depth: number): string => `[{"ob_id":1,"a":${'['.repeat(depth)}${']'.repeat(depth)}}]`;
  expect(parsePage(page(nested(64)), 'ob_id').records).toHaveLength(1);
  expect(() => parsePage(page(nested(65)), 'ob_id')).toThrow('nested deeper than 64');
});

const BASES = new Set(['http://a.example.org', 'http://a.example.org/b.c']);
const LINK = '{base_url}/api/v3/platforms/30/?format=api';

/** The text with own URLs replaced, and its links. */
function read(text: string): { text: string; links: readonly string[] } {
  const links: string[] = [];
  return { text: withOwnUrls(text, BASES, (to, id) => links.push(`${to} ${id}`)), links };
}

test.each([
  'http://a.example.org/api/v3/platforms/30/?format=api',
  'http://a.example.org/api/v3/platforms/30/?format=json',
  'http://a.example.org/api/v3/platforms/30/',
  'http://a.example.org/api/v3/platforms/30',
  'http://a.example.org/api/v3/platforms/30.json',
  'http://a.example.org/api/v2/platforms/30/?format=api',
  'http://a.example.org/api/v2/platforms/30/',
  'http://a.example.org/b.c/api/v3/platforms/30/',
  String.raw`http:\/\/a.example.org\/api\/v3\/platforms\/30\/`,
  LINK,
])('converts the link %s to the spelling of data sets', (url) => {
  expect(read(`{"a":"${url}","b": ["${url}"]}`)).toEqual({
    text: `{"a":"${LINK}","b": ["${LINK}"]}`,
    links: ['platforms 30', 'platforms 30'],
  });
});

test.each([
  ['http://a.example.org/api/v3/identifier/1/', '{base_url}/api/v3/identifiers/1/?format=api', ['identifiers 1']],
  ['http://a.example.org/api/v2/platforms/', '{base_url}/api/v3/platforms/', []],
  ['http://a.example.org/api/v3/platforms/?title=x', '{base_url}/api/v3/platforms/?title=x', []],
  [String.raw`http://a.example.org/api/v3/\"x\"`, String.raw`{base_url}/api/v3/\"x\"`, []],
])('finds the own URL %s', (url, wanted, links) => {
  expect(read(`["${url}"]`)).toEqual({ text: `["${wanted}"]`, links });
});

test.each([
  'http://a.example.org/uuid/1',
  'see http://a.example.org/api/v3/platforms/30/',
  String.raw`\"http://a.example.org/api/v3/platforms/30/\"`,
  `see ${LINK}`,
  `\\"${LINK}\\"`,
  'https://b.example.org/api/v4/platforms/30/',
])('finds no own URL in %s', (text) => {
  expect(read(`{"a":"${text}"}`)).toEqual({ text: `{"a":"${text}"}`, links: [] });
});

test.each(['http://a.example.org.evil', 'http://axexample.org', 'https://a.example.org', 'http://a.example.org/b'])(
  'reports a text like a link at %s as dangling',
  (base) => {
    const text = `["${base}/api/v2/platforms/30/"]`;
    expect(read(text)).toEqual({ text, links: [`${base}/api/v3/platforms 30`] });
  },
);

test('finds no own URL in a key', () => {
  const text = '{"http://a.example.org/api/v3/platforms/30/" : 1}';
  expect(read(text)).toEqual({ text, links: [] });
});

test('takes work in proportion to the length of a text', () => {
  for (const text of ['"http:'.repeat(200_000), `"http:${'/api/v3/'.repeat(200_000)}"`, `"http:${'x'.repeat(2e6)}"`])
    expect(read(text).text).toBe(text);
});
