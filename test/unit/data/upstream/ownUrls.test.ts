// Which texts of a record are URLs of the upstream's own, what becomes of them, and which links are told.
import { expect, test } from 'vitest';
import { withOwnUrls } from '../../../../data/upstream/page.ts';

const BASES = new Set(['http://a.example.org', 'http://a.example.org/b.c']);
const LINK = '{base_url}/api/v3/platforms/30/?format=api';

/** The text, and the links in it. */
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
])('the link %s is in the spelling of data sets', (url) => {
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
])('%s is an own URL', (url, wanted, links) => {
  expect(read(`["${url}"]`)).toEqual({ text: `["${wanted}"]`, links });
});

test.each([
  'http://a.example.org/uuid/1',
  'see http://a.example.org/api/v3/platforms/30/',
  String.raw`\"http://a.example.org/api/v3/platforms/30/\"`,
  `see ${LINK}`,
  `\\"${LINK}\\"`,
  'https://b.example.org/api/v4/platforms/30/',
])('%s is none', (text) => {
  expect(read(`{"a":"${text}"}`)).toEqual({ text: `{"a":"${text}"}`, links: [] });
});

test.each(['http://a.example.org.evil', 'http://axexample.org', 'https://a.example.org', 'http://a.example.org/b'])(
  'what looks like a link at %s is one that leads nowhere',
  (base) => {
    const text = `["${base}/api/v2/platforms/30/"]`;
    expect(read(text)).toEqual({ text, links: [`${base}/api/v3/platforms 30`] });
  },
);

test('a key is none', () => {
  const text = '{"http://a.example.org/api/v3/platforms/30/" : 1}';
  expect(read(text)).toEqual({ text, links: [] });
});

test('a text of any length takes work in proportion', () => {
  for (const text of ['"http:'.repeat(200_000), `"http:${'/api/v3/'.repeat(200_000)}"`, `"http:${'x'.repeat(2e6)}"`])
    expect(read(text).text).toBe(text);
});
