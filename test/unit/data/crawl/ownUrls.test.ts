// Which texts of a record are URLs of the upstream's own, what becomes of them, and which links are counted.
import { expect, test } from 'vitest';
import { linksIn, ownUrlsOf } from '../../../../data/crawl/ownUrls.ts';

const ownUrls = ownUrlsOf(['http://a.example.org', 'http://a.example.org/b.c']);
const LINK = '{base_url}/api/v3/platforms/30/?format=api';

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
])('the link %s is in the spelling of data sets', (url) => {
  expect(ownUrls(`{"a":"${url}","b": ["${url}"]}`)).toBe(`{"a":"${LINK}","b": ["${LINK}"]}`);
});

test.each([
  ['http://a.example.org/api/v3/identifier/1/', '{base_url}/api/v3/identifiers/1/?format=api'],
  ['http://a.example.org/api/v2/platforms/', '{base_url}/api/v3/platforms/'],
  ['http://a.example.org/api/v3/platforms/?title=x', '{base_url}/api/v3/platforms/?title=x'],
])('%s is an own URL, but no link with its own spelling', (url, wanted) => {
  expect(ownUrls(`["${url}"]`)).toBe(`["${wanted}"]`);
});

test.each([
  'http://a.example.org/uuid/1',
  'http://a.example.org.evil/api/v3/platforms/30/',
  'http://axexample.org/api/v3/platforms/30/',
  'https://a.example.org/api/v3/platforms/30/',
  'see http://a.example.org/api/v3/platforms/30/',
  String.raw`\"http://a.example.org/api/v3/platforms/30/\"`,
])('%s is not', (text) => {
  expect(ownUrls(`{"a":"${text}"}`)).toBe(`{"a":"${text}"}`);
});

test('a key is none', () => {
  const record = '{"http://a.example.org/api/v3/platforms/30/" : 1}';
  expect(ownUrls(record)).toBe(record);
});

test('links are found in their order, in texts that are nothing else', () => {
  const record = `{"a":"${LINK}","b":"see ${LINK}","c":"\\"${LINK}\\"","d":["{base_url}/api/v3/times/2/?format=api"]}`;
  expect([...linksIn(record)]).toEqual([
    { to: 'platforms', id: 30 },
    { to: 'times', id: 2 },
  ]);
});

test('what looks like a link at another host is one that leads nowhere', () => {
  const record =
    '["https://b.example.org/api/v3/platforms/30/?format=api","https://b.example.org/api/v4/platforms/30/"]';
  expect([...linksIn(record)]).toEqual([{ to: 'https://b.example.org/api/v3/platforms', id: 30 }]);
});
