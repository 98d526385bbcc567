// The views that describe the API, asked of the handler: what they are, their tags and conditions, codings, base URLs.
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Answer } from '../../../../server/http/exchange.ts';
import { formDocuments, formHandler } from '../../../support/formCatalogue.ts';
import { type RequestParts, requestOf, STAYING } from '../../../support/requests.ts';

const OTHER_URL = 'https://other.example.org/catalogue';
const handler = formHandler({ allowBaseUrls: [OTHER_URL] }, 0, await formDocuments(OTHER_URL));
const asked = async (parts: RequestParts): Promise<Answer> => handler(requestOf(parts), STAYING);
const bytesOf = ({ body }: Answer): Buffer => Buffer.from(body.pieceAt(0));
const textOf = (answer: Answer): string => bytesOf(answer).toString();
const typeOf = ({ headers }: Answer): string | undefined => headers.find(([name]) => name === 'Content-Type')?.[1];

const FILES = [
  ['/openapi.json', 'application/json', /^\{"openapi":"3\.1/],
  ['/openapi.yaml', 'application/yaml', /^openapi: "3\.1/],
  ['/docs/', 'text/html; charset=utf-8', /^<!doctype html>/],
  ['/docs/docs.js', 'text/javascript; charset=utf-8', /SwaggerUIBundle\(/],
  ['/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8', /SwaggerUIBundle/],
  ['/docs/swagger-ui.css', 'text/css; charset=utf-8', /\.swagger-ui/],
] as const;

describe.each(FILES)('%s', (url, type, start) => {
  test('is served, to GET and HEAD alike, with a tag that gives 304', async () => {
    const answer = await asked({ url });
    expect([answer.status, typeOf(answer)]).toEqual([200, type]);
    expect(textOf(answer)).toMatch(start);
    const head = await asked({ method: 'HEAD', url });
    expect([head.status, head.etag, head.body.bytes]).toEqual([200, answer.etag, answer.body.bytes]);
    const known = await asked({ url, headers: { 'if-none-match': answer.etag! } });
    expect([known.status, known.etag, known.body.bytes]).toEqual([304, answer.etag, 0]);
  });

  test('is compressed for who takes gzip, with a tag of its own', async () => {
    const plain = await asked({ url });
    const headers = { 'accept-encoding': 'gzip' };
    const answer = await asked({ url, headers });
    expect(answer.headers).toContainEqual(['Content-Encoding', 'gzip']);
    expect(gunzipSync(bytesOf(answer)).equals(bytesOf(plain))).toBe(true);
    expect(answer.etag).not.toBe(plain.etag);
    const known = await asked({ url, headers: { ...headers, 'if-none-match': answer.etag! } });
    expect([known.status, known.etag]).toEqual([304, answer.etag]);
  });

  test('is made once', async () => {
    const [one, two] = await Promise.all([asked({ url }), asked({ url })]);
    expect(one.body.pieceAt(0)).toBe(two.body.pieceAt(0));
  });

  test('takes no other method', async () => {
    expect((await asked({ method: 'POST', url })).status).toBe(405);
    expect(textOf(await asked({ method: 'OPTIONS', url }))).toContain('"name":"Api Description"');
  });
});

test('a document has the base URL that the request chose, and a tag for each', async () => {
  const headers = { host: 'other.example.org' };
  for (const url of ['/openapi.json', '/openapi.yaml']) {
    const [one, other] = [await asked({ url }), await asked({ url, headers })];
    expect(textOf(one)).not.toContain(OTHER_URL);
    expect(textOf(other)).toContain(OTHER_URL);
    expect(other.etag).not.toBe(one.etag);
  }
});

test('the page may load and reach nothing but this server', async () => {
  const page = await asked({ url: '/docs/' });
  const policy = page.headers.find(([name]) => name === 'Content-Security-Policy')?.[1];
  expect(policy).toMatch(/^default-src 'none'; script-src 'self';/);
  expect(policy).not.toContain('http');
  expect(textOf(page)).not.toMatch(/https?:/);
});

test('the page without its slash is redirected to it', async () => {
  const answer = await asked({ url: '/docs' });
  expect([answer.status, answer.headers[0]]).toEqual([301, ['Location', '/docs/']]);
});

test('the index, the pages and /docs/ name the document, relative to where they are; lists do not', async () => {
  const browser = { accept: 'text/html' };
  const linkOf = async (url: string, headers = {}): Promise<string | undefined> =>
    (await asked({ url, headers })).headers.find(([name]) => name === 'Link')?.[1];
  const described = (up: string): string => `<${up}openapi.json>; rel="service-desc", <${up}docs/>; rel="service-doc"`;
  expect(await linkOf('/')).toBe(described(''));
  expect(await linkOf('/docs/')).toBe(described('../'));
  expect(await linkOf('/', browser)).toBe(described('./'));
  expect(await linkOf('/api/v3/', browser)).toBe(described('../../'));
  expect(await linkOf('/browse/observations/1/')).toBe(described('../../../'));
  for (const url of ['/api/v3/', '/api/v3/observations/', '/api/v3/observations/1/']) {
    expect(await linkOf(url), url).toBeUndefined();
  }
});
