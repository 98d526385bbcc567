// Resolution next to the API, through the handler: paths and their spellings, methods, validators, limits, and
// parameters.
import { describe, expect, test } from 'vitest';
import type { CatalogueSettings } from '../../../../server/catalogue/catalogue.ts';
import { nearestPath, route } from '../../../../server/catalogue/routes.ts';
import { collectionOf } from '../../../support/records.ts';
import { type RequestParts, requestOf, STAYING } from '../../../support/requests.ts';
import { BASE_URL, handlerWith, NEVER_HEAVY, replyOf, type Reply } from '../../../support/smallCatalogue.ts';

const observation = (id: number, path: string, more: object = {}): string =>
  JSON.stringify({ ob_id: id, uuid: `u ${id}`, title: `t${id}`, result_field: { dataPath: path }, ...more });
const RECORDS: Readonly<Record<string, readonly string[]>> = {
  observations: [
    observation(1, '/a/b'),
    observation(2, '/a/b/', { publicationState: 'published', status: 'completed' }),
    observation(3, '/a/b/c d', { publicationState: 'citable', status: 'ongoing' }),
    observation(4, '/z/é'),
    observation(5, 'relative'),
    observation(6, '/a/line\nbreak'),
  ],
  identifiers: [
    '{"ob_id":1,"relatedTo":{"ob_id":9,"uuid":"","short_code":"ob"},"url":"https://o.example.org/1","identifierType":"doi"}',
    '{"ob_id":2,"relatedTo":{"ob_id":3,"uuid":"","short_code":"ob"},"url":"https://o.example.org/1","identifierType":"doi"}',
    '{"ob_id":5,"relatedTo":{"ob_id":3,"uuid":"","short_code":"ob"},"url":"{base_url}/doc","identifierType":"doi"}',
    `{"ob_id":9,"relatedTo":{"ob_id":1,"uuid":"","short_code":"ob"},"url":"${BASE_URL}/doc","identifierType":"doi"}`,
  ],
};

const handlerOf = (settings: Partial<CatalogueSettings> = {}): ReturnType<typeof handlerWith> =>
  handlerWith(NEVER_HEAVY, settings, (name) => collectionOf(name, RECORDS[name] ?? [], BASE_URL));

async function ask(parts: RequestParts | string, settings: Partial<CatalogueSettings> = {}): Promise<Reply> {
  const request = requestOf(typeof parts === 'string' ? { url: parts } : parts);
  return replyOf(await handlerOf(settings)(request, STAYING));
}

describe('the resolution of a data path', () => {
  test('returns the path as stored, and the page of the record', async () => {
    expect(JSON.parse((await ask('/api/v0/obs/get_info/a/b')).text)).toEqual({
      url: `${BASE_URL}/browse/observations/2/`,
      record_type: 'Dataset',
      record_path: '/a/b/',
      title: 't2',
    });
  });

  test('has the page of --record-url, with percent-encoded values', async () => {
    const recordUrl = 'https://c.example.org/{collection}/{id}?u={uuid}#{id}';
    const { text } = await ask('/api/v0/obs/get_info/a/b', { recordUrl });
    expect(text).toContain('"url":"https://c.example.org/observations/2?u=u%202#2"');
  });

  test('is refused with the limit if the path is too long or too deep', async () => {
    const long = await ask(`/api/v0/obs/get_info/${'x'.repeat(4096)}`);
    expect([long.status, long.text]).toEqual([400, '{"path":["Ensure this value has at most 4096 bytes."]}']);
    expect((await ask(`/api/v0/obs/get_info/${'x'.repeat(4095)}`)).status).toBe(200);
    expect((await ask(`/api/v0/obs/get_info/${'%41'.repeat(4095)}`)).status).toBe(200);
    expect((await ask(`/api/v0/obs/get_info/${'%41'.repeat(20_000)}`)).status).toBe(400);
    const deep = await ask(`/api/v0/obs/get_info${'/x'.repeat(129)}`);
    expect([deep.status, deep.text]).toEqual([400, '{"path":["Ensure this path has at most 128 segments."]}']);
  });
});

test('prints lines as plain text, folders first, and omits a path with a line break', async () => {
  const { text, headers } = await ask('/api/v0/complete');
  expect(headers['Content-Type']).toBe('text/plain; charset=utf-8');
  expect(text).toBe('/a False\n/z False\n/a/b/ True\n/a/b/c d False\n/z/é False\n');
});

test('resolves an identifier to the first existing record, and to none without an address', async () => {
  const target = '/api/legacy_lookup/?identifier=https%3A%2F%2Fo.example.org/1';
  expect(JSON.parse((await ask(target)).text)).toEqual({
    url: `${BASE_URL}/browse/observations/3/`,
    identifier: 'https://o.example.org/1',
    identifierType: 'doi',
  });
  // An own address may be stored as one, or as it is written: the lower id counts.
  const own = JSON.parse((await ask(`/api/legacy_lookup/?identifier=${BASE_URL}/doc`)).text) as { url: string };
  expect(own.url).toBe(`${BASE_URL}/browse/observations/3/`);
  for (const other of ['?identifier=https://o.example.org/2', '?identifier=', '', '?identifier=a&identifier=b']) {
    const { status, text } = await ask(`/api/legacy_lookup${other}`);
    expect([status, text]).toEqual([200, '{"url":"UNKNOWN","identifier":"","identifierType":"UNKNOWN"}']);
  }
  expect((await ask(`/api/legacy_lookup/?identifier=${'x'.repeat(5000)}`)).status).toBe(400);
});

test('uses the last of repeated identifiers, and reports that, or refuses it in strict mode', async () => {
  const repeated = '/api/legacy_lookup/?identifier=a&identifier=https://o.example.org/1';
  const { text, headers } = await ask(repeated);
  expect([text.includes('https://o.example.org/1'), headers['X-Ignored-Params']]).toEqual([true, 'identifier']);
  expect(await ask(`${repeated}&strict=1`)).toMatchObject({
    status: 400,
    text: '{"identifier":["This parameter is repeated, and only its last value counts."]}',
  });
});

const ALL = [
  '/api/v0/obs/get_info/a/b',
  '/api/v0/obs/all',
  '/api/v0/obs/all/',
  '/api/v0/complete',
  '/api/v0/drs_lookup/x',
  '/api/v0/drs_listing/x/',
  '/api/v0/drs_listing',
  '/api/legacy_lookup/?identifier=x',
  '/api/legacy_lookup',
];

describe.each(ALL)('%s', (url) => {
  test('responds to OPTIONS with its name', async () => {
    const described = await ask({ url, method: 'OPTIONS' });
    expect([described.status, described.headers['Allow']]).toEqual([200, 'GET, HEAD, OPTIONS']);
    expect(JSON.parse(described.text)).toMatchObject({ name: expect.stringMatching(/ (Lookup|List)$/) as string });
  });

  test('is never compressed and ignores Accept', async () => {
    const headers = { accept: 'text/html', 'accept-encoding': 'gzip, identity;q=0' };
    const answer = await ask({ url, headers });
    expect(answer.status).toBe(200);
    expect(answer.headers['Content-Encoding']).toBeUndefined();
  });

  test('reports parameters without effect, and refuses them in strict mode', async () => {
    const other = `${url}${url.includes('?') ? '&' : '?'}x=1`;
    expect((await ask(other)).headers['X-Ignored-Params']).toBe('x');
    expect((await ask(other, { strict: true })).status).toBe(400);
    expect((await ask(url, { strict: true })).status).toBe(200);
  });

  test('has one form: a requested one has no effect, and is refused in strict mode', async () => {
    const other = `${url}${url.includes('?') ? '&' : '?'}format=csv`;
    const answer = await ask(other);
    expect([answer.headers['X-Ignored-Params'], answer.text]).toEqual(['format', (await ask(url)).text]);
    const strict = await ask(`${other}&strict=1`);
    expect([strict.status, strict.text]).toEqual([400, '{"format":["Unknown parameter."]}']);
  });
});

test('shows browsers indented JSON, also of a listing, where programs get the plain one, and lines as lines', async () => {
  const handler = handlerOf();
  const textAt = async (url: string): Promise<string> => replyOf(await handler(requestOf({ url }), STAYING)).text;
  const url = '/api/v0/obs/all';
  const [compact, pretty, again] = [await textAt(url), await textAt(`${url}?pretty=1`), await textAt(url)];
  expect([pretty, again]).toEqual([JSON.stringify(JSON.parse(compact), null, 2), compact]);
  expect(pretty).toContain('\n  "/a/b/": {\n    "url"');
  expect(await textAt('/api/v0/complete?pretty=1')).toBe(await textAt('/api/v0/complete'));
  expect((await ask('/api/v0/drs_lookup/x?pretty=1')).text).toBe(
    '{\n  "directory": "UNKNOWN",\n  "identifier": "UNKNOWN",\n  "version": "UNKNOWN"\n}',
  );
});

test.each([
  ['/api/v0/obs/get_inf/a/b', '/api/v0/obs/get_info/a/b'],
  ['/api/v0/obs/al', '/api/v0/obs/all'],
  ['/api/v0/complet/', '/api/v0/complete'],
  ['/api/v0/drs_lokup/a', '/api/v0/drs_lookup/a'],
  ['/api/v0/drs_listings', '/api/v0/drs_listing'],
  ['/api/legacy_lookups/', '/api/legacy_lookup'],
])('does not find %s, and suggests %s', (target, near) => {
  expect(route(target).kind).toBe('notFound');
  expect(nearestPath(target)).toBe(near);
});

test.each([
  '/api/v0/',
  '/api/v0/nothing',
  '/api/v0/obs/all/x',
  '/api/v0/complete/x',
  '/api/legacy_lookup/x',
  '/api/v0/obs/get_infos/',
])('does not find %s', (target) => expect(route(target).kind).toBe('notFound'));
