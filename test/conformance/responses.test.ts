// Assumptions about headers, conditions and codings that the specification does not cover. Over a real socket, on the
// sample.
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { COLLECTIONS, EXPORT_FORMATS, EXPORT_TYPES, LOOKUPS, PARAMETERS } from '../../engine/engine.ts';
import { clientOf, type Received } from '../support/client.ts';
import { RawSocket, requestOf } from '../support/rawSocket.ts';
import { assumption } from './quotes.ts';
import { BASE_URL, servedSample } from './sample.ts';

const sample = servedSample();
const FLAGS =
  '--allow-base-url https://second.test --trusted-proxy 127.0.0.0/8 --cache-control public,max-age=60 --server-timing --no-cors --gzip off';
const other = servedSample(['--base-url', BASE_URL, ...FLAGS.split(' ')]);
const LIST = '/api/v3/observations/';
const PAGE = `${LIST}?limit=3&status=completed`;

describe('headers', () => {
  assumption(
    'A23, A100, A101',
    'sends Content-Type, Vary, Allow, Content-Length, a strong ETag and Last-Modified',
    async () => {
      for (const target of [PAGE, `${LIST}?limit=2&title__regex=a`, '/api/v3/', '/', '/api/v3/times.json?limit=1']) {
        const { status, headers, bytes } = await sample.get(target);
        expect([status, headers['content-type'], headers['vary']], target).toEqual([
          200,
          'application/json',
          'Accept, Accept-Encoding',
        ]);
        expect(headers['allow'], target).toBe('GET, HEAD, OPTIONS');
        expect(headers['content-length'], target).toBe(String(bytes.length));
        expect(headers['etag'], target).toMatch(/^"[^"]+"$/);
        expect(Date.parse(headers['last-modified'] ?? ''), target).toBeGreaterThan(0);
      }
      expect((await other.get(PAGE)).headers['vary']).toBe('Accept, X-Forwarded-Host, X-Forwarded-Proto');
    },
  );

  assumption('A104', 'answers Connection: close with the same', async () => {
    for (const target of [PAGE, '/api/v3/nothing/', `${LIST}?title__foo=1`]) {
      const socket = await RawSocket.open(Number(new URL(sample.url()).port));
      await socket.write(requestOf('GET', target, ['Connection: close']));
      expect((await socket.answer())?.headers.get('connection'), target).toEqual(['close']);
      expect(await socket.ended()).toBe('');
    }
  });

  assumption('A100', 'sends Cache-Control: public, no-cache, or what the setting says', async () => {
    expect((await sample.get(PAGE)).headers['cache-control']).toBe('public, no-cache');
    expect((await other.get(PAGE)).headers['cache-control']).toBe('public, max-age=60');
  });

  assumption('A52', 'opens GET to every origin, and exposes the useful headers', async () => {
    const { headers } = await sample.get(PAGE, { origin: 'https://elsewhere.test' });
    expect(headers['access-control-allow-origin']).toBe('*');
    const exposed = headers['access-control-expose-headers']?.split(', ');
    for (const name of ['Allow', 'ETag', 'Retry-After', 'Server-Timing', 'X-Ignored-Params']) {
      expect(exposed).toContain(name);
    }
    expect((await other.get(PAGE)).headers['access-control-allow-origin']).toBeUndefined();
    const asked = { origin: 'https://elsewhere.test', 'access-control-request-method': 'GET' };
    const preflight = await sample.send({ method: 'OPTIONS', target: PAGE, headers: asked });
    expect(preflight.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD, OPTIONS',
      'access-control-allow-headers': '*',
      'cache-control': 'public, no-cache',
    });
    expect(preflight.headers['etag']).toBeUndefined();
    const unopened = await other.send({ method: 'OPTIONS', target: PAGE, headers: asked });
    expect(unopened.headers['access-control-allow-methods']).toBeUndefined();
  });

  assumption('A23', 'names X-Forwarded headers in Vary where they choose the base URL', async () => {
    const forwarded = { 'x-forwarded-host': 'second.test', 'x-forwarded-proto': 'https' };
    const { headers, body } = await other.get(PAGE, forwarded);
    expect(headers['vary']).toMatch(/^Accept, .*X-Forwarded-Host.*X-Forwarded-Proto/);
    expect(body).toContain('"next":"https://second.test/api/v3/observations/?');
    expect((await sample.get(PAGE, forwarded)).body).not.toContain('second.test');
  });

  assumption('A152', 'sends Server-Timing with responses from the pool, and with all by the setting', async () => {
    const heavy = `${LIST}?limit=1&abstract__regex=the`;
    expect((await sample.get(heavy)).headers['server-timing']).toMatch(/^pool;dur=\d+\.\d$/);
    expect((await sample.get(PAGE)).headers['server-timing']).toBeUndefined();
    expect((await other.get(heavy)).headers['server-timing']).toMatch(/^pool;dur=\d+\.\d, total;dur=\d+\.\d$/);
    for (const target of [PAGE, '/api/v3/', '/nowhere/', `${LIST}?title__foo=1`]) {
      expect((await other.get(target)).headers['server-timing'], target).toMatch(/^total;dur=\d+\.\d$/);
    }
  });
});

describe('conditions', () => {
  assumption(
    'A100, A102',
    'sends a 304 with the tag of the 200, and none to a date before the start of the server',
    async () => {
      for (const [from, target] of [
        [sample, PAGE],
        [sample, `${LIST}?limit=100`],
        [other, PAGE],
      ] as const) {
        for (const coding of ['identity', 'gzip']) {
          const asked = { 'accept-encoding': coding };
          const { headers } = await from.get(target, asked);
          const modified = headers['last-modified']!;
          for (const condition of [{ 'if-none-match': headers['etag']! }, { 'if-modified-since': modified }]) {
            const { status, headers: told } = await from.get(target, { ...asked, ...condition });
            expect([target, coding, status, told['etag']]).toEqual([target, coding, 304, headers['etag']]);
          }
          // A response from before may have been made with other settings.
          const before = new Date(Date.parse(modified) - 1000).toUTCString();
          expect((await from.get(target, { ...asked, 'if-modified-since': before })).status).toBe(200);
          expect(Date.parse(modified) + 1000).toBeGreaterThan(from.startMs());
        }
      }
    },
  );

  assumption('A100', 'answers 304 without a body to a matching tag or date', async () => {
    const { headers } = await sample.get(PAGE);
    for (const condition of [
      { 'if-none-match': headers['etag']! },
      { 'if-modified-since': headers['last-modified']! },
    ]) {
      const { status, body, headers: told } = await sample.get(PAGE, condition);
      expect([status, body, told['content-length']]).toEqual([304, '', undefined]);
      for (const name of ['etag', 'vary', 'cache-control']) expect(told[name], name).toBe(headers[name]);
    }
    const earlier = { 'if-modified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' };
    expect((await sample.get(PAGE, earlier)).status).toBe(200);
  });

  assumption(
    'A100',
    'compares tags weakly, in lists and *, and looks at a date only without If-None-Match',
    async () => {
      const { headers } = await sample.get(PAGE);
      const modified = { 'if-modified-since': headers['last-modified']! };
      for (const tags of [`W/${headers['etag']}`, `"a", ${headers['etag']}`, '*']) {
        expect((await sample.get(PAGE, { 'if-none-match': tags })).status, tags).toBe(304);
      }
      expect((await sample.get(PAGE, { 'if-none-match': '"a"', ...modified })).status).toBe(200);
    },
  );

  assumption('A100', 'answers 304 only where the answer would be 200', async () => {
    const condition = { 'if-none-match': '*' };
    const statuses = { [`${LIST}?title__foo=1`]: 400, [`${LIST}0/`]: 404, '/api/v3/nothing/': 404 };
    for (const [target, status] of Object.entries({ ...statuses, [`${LIST}?format=xml`]: 404, [PAGE]: 304 })) {
      expect((await sample.get(target, condition)).status, target).toBe(status);
    }
  });

  assumption(
    'A100, A102',
    'has another tag for each version, path, parameter, base URL and coding, in any order of parameters',
    async () => {
      const tagOf = async (target: string, headers = {}): Promise<string> =>
        String((await sample.get(target, headers)).headers['etag']);
      const tag = await tagOf(PAGE);
      expect(await tagOf(`${LIST}?status=completed&limit=3`)).toBe(tag);
      expect(await tagOf(`${LIST}?st%61tus=completed&limit=3`)).toBe(tag);
      for (const target of [
        `${PAGE}&x=1`,
        `${LIST}?limit=4&status=completed`,
        '/api/v3/observations.json?limit=3&status=completed',
        '/api/v2/observations/?limit=3&status=completed',
      ]) {
        expect(await tagOf(target), target).not.toBe(tag);
      }
      expect(await tagOf(PAGE, { 'accept-encoding': 'gzip' })).not.toBe(tag);
      expect(
        String(
          (await other.get(PAGE, { 'x-forwarded-host': 'second.test', 'x-forwarded-proto': 'https' })).headers['etag'],
        ),
      ).not.toBe(String((await other.get(PAGE)).headers['etag']));
    },
  );

  assumption('A101', 'sends gzip where Accept-Encoding prefers it', async () => {
    const { bytes } = await sample.get(PAGE);
    for (const [accepted, coding] of [
      ['gzip', 'gzip'],
      ['br;q=1, gzip;q=0.5', 'gzip'],
      ['*', 'gzip'],
      ['gzip;q=0', undefined],
      ['identity, gzip;q=0.5', undefined],
      ['br', undefined],
    ] as const) {
      const { status, headers, bytes: sent } = await sample.get(PAGE, { 'accept-encoding': accepted });
      expect([status, headers['content-encoding']], accepted).toEqual([200, coding]);
      expect((coding ? gunzipSync(sent) : sent).equals(bytes), accepted).toBe(true);
    }
    expect((await other.get(PAGE, { 'accept-encoding': 'gzip' })).headers['content-encoding']).toBeUndefined();
  });
});

describe('descriptions of the API', () => {
  async function ask(target: string, headers = {}, { from = sample, method = 'GET' } = {}): Promise<Received> {
    const client = clientOf(from.url());
    const received = await client.send({ method, target, headers });
    client.close();
    return received;
  }

  test.each([
    ['/openapi.json', 'application/json', /^\{"openapi":"3\.1/],
    ['/openapi.yaml', 'application/yaml', /^openapi: "3\.1/],
    ['/openapi.json?spellings=all', 'application/json', /^\{"openapi":"3\.1/],
    ['/openapi.yaml?spellings=all', 'application/yaml', /^openapi: "3\.1/],
    ['/docs/api/', 'text/html; charset=utf-8', /^<!doctype html>/],
    ['/docs/docs.js', 'text/javascript; charset=utf-8', /SwaggerUIBundle\(/],
    ['/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8', /SwaggerUIBundle/],
    ['/docs/swagger-ui.css', 'text/css; charset=utf-8', /\.swagger-ui/],
  ])('serves %s as %s, to HEAD and in gzip too, with a tag for each coding', async (target, type, start) => {
    const plain = await ask(target);
    expect([plain.status, plain.headers['content-type']]).toEqual([200, type]);
    expect(plain.body).toMatch(start);
    const head = await ask(target, {}, { method: 'HEAD' });
    expect([head.status, head.headers['etag'], head.headers['content-length']]).toEqual([
      200,
      plain.headers['etag'],
      String(plain.bytes.length),
    ]);
    const gzip = await ask(target, { 'accept-encoding': 'gzip' });
    expect(gunzipSync(gzip.bytes).equals(plain.bytes)).toBe(true);
    expect(gzip.headers['etag']).not.toBe(plain.headers['etag']);
    for (const [coding, { headers }] of Object.entries({ identity: plain, gzip })) {
      const known = await ask(target, { 'accept-encoding': coding, 'if-none-match': headers['etag']! });
      expect([known.status, known.headers['etag'], known.body]).toEqual([304, headers['etag'], '']);
    }
    expect((await ask(target, {}, { method: 'POST' })).status).toBe(405);
    expect((await ask(target, {}, { method: 'OPTIONS' })).body).toContain('"name":"Api Description"');
  });

  test.each(['/openapi.json', '/openapi.yaml'])(
    '%s is the usual document or the one with all spellings',
    async (path) => {
      const usual = await ask(path);
      expect(usual.body).not.toContain('/api/v2/');
      for (const target of [`${path}?spellings=usual`, `${path}?spellings=`, `${path}?spellings=all&spellings=usual`]) {
        const { headers } = await ask(target);
        expect([target, headers['etag']]).toEqual([target, usual.headers['etag']]);
      }
      const all = await ask(`${path}?spellings=all`, { 'if-none-match': usual.headers['etag']! });
      expect([all.status, all.body.includes('/api/v2/')]).toEqual([200, true]);
      const wrong = await ask(`${path}?spellings=v2`);
      expect([wrong.status, JSON.parse(wrong.body)]).toEqual([400, { spellings: ['Write "usual" or "all".'] }]);
      expect((await ask(`${path}?spelling=all`)).headers['x-ignored-params']).toBe('spelling');
      expect((await ask(`${path}?spelling=all&strict=1`)).status).toBe(400);
    },
  );

  test('puts the base URL that the request selects into the document, with a tag for each', async () => {
    const forwarded = { 'x-forwarded-host': 'second.test', 'x-forwarded-proto': 'https' };
    for (const target of ['/openapi.json', '/openapi.yaml']) {
      const [one, second] = [await ask(target, {}, { from: other }), await ask(target, forwarded, { from: other })];
      expect(one.body).not.toContain('https://second.test');
      expect(second.body).toContain('https://second.test');
      expect(second.headers['etag']).not.toBe(one.headers['etag']);
    }
  });

  test('serves a page at /docs/ that may load and connect to nothing but this server', async () => {
    for (const path of ['/docs', '/docs/api']) {
      const { headers, body } = await ask(`${path}/`);
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self';(?!.*http)/);
      expect(body).not.toMatch(/(?:src|href)="(?:https?:|\/)/);
      const unslashed = await ask(path);
      expect([unslashed.status, unslashed.headers['location']]).toEqual([301, `${path}/`]);
    }
  });

  test('lists collections, parameters, lookups and formats at /docs/, which need no script', async () => {
    const { status, headers, body } = await ask('/docs/');
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    const main = body.slice(body.indexOf('<main'), body.indexOf('</main>')).replaceAll(/\s+/g, ' ');
    expect(main).not.toContain('<script');
    for (const { name, title } of COLLECTIONS) {
      expect(main).toContain(`<a href="../browse/${name}/">${title}</a>`);
      expect(main).toContain(`<a href="api/#/${encodeURIComponent(title)}"`);
    }
    const offered = PARAMETERS.filter(({ setting }) => setting === undefined);
    for (const { name } of [...offered, ...LOOKUPS]) expect(main).toContain(`<code>${name}</code>`);
    for (const format of EXPORT_FORMATS) expect(main).toContain(EXPORT_TYPES[format]);
    const tag = headers['etag']!;
    expect((await ask('/docs/', { 'if-none-match': tag })).status).toBe(304);
  });

  test.each([
    ['/', '*/*', ''],
    ['/docs/', '*/*', '../'],
    ['/docs/docs.js', '*/*', '../'],
    ['/docs/api/', '*/*', '../../'],
    ['/', 'text/html', './'],
    ['/api/v3/', 'text/html', '../../'],
    ['/browse/observations/1/', '*/*', '../../../'],
    ['/api/v3/', '*/*', undefined],
    [LIST, '*/*', undefined],
  ])('names the document in %s for %s, relative to that path', async (target, accept, up) => {
    const link = up === undefined ? up : `<${up}openapi.json>; rel="service-desc", <${up}docs/>; rel="service-doc"`;
    expect((await ask(target, { accept })).headers['link']).toBe(link);
  });
});
