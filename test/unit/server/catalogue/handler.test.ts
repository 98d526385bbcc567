// The catalogue's handler: requests in, responses out, without a socket.
import { describe, expect, test } from 'vitest';
import { newCounters } from '../../../../engine/find/counters.ts';
import { type Disconnection, ROUTE, ROUTES } from '../../../../server/http/exchange.ts';
import type { RunHeavy } from '../../../../workers/pool.ts';
import { requestOf, STAYING } from '../../../support/requests.ts';
import {
  ask,
  BASE_URL,
  handlerWith,
  HEAVY,
  LONG,
  NEVER_HEAVY,
  type Reply,
  replyOf,
  served,
} from '../../../support/smallCatalogue.ts';

describe('the links of a response', () => {
  const settings = { links: 'request' } as const;

  test.each([
    ['/api/v3/observations/1/', '/'],
    ['/api/v3/observations/1/?format=', '/'],
    ['/api/v3/observations/1/?format=json', '/?format=json'],
    ['/api/v3/observations/1/?format=api', '/?format=api'],
    ['/api/v3/observations/1.json', '.json'],
    ['/api/v3/observations/1.json?format=json', '.json?format=json'],
  ])('follow the request: %s has links that end in %s', async (url, end) => {
    expect((await ask(url, settings)).text).toBe(served(1, 'ocean', `${BASE_URL}/api/v3`, end));
  });

  test('follow the request in the root view too', async () => {
    expect((await ask('/api/v3/.json', settings)).text).toContain(`"times":"${BASE_URL}/api/v3/times.json"`);
  });
});

describe('the order of checks', () => {
  const bad = 'format=xml&ob_id=x';

  test('is path, method, format, Accept, parameters, id', async () => {
    expect((await ask({ method: 'POST', url: `/api/v3/nothing/?${bad}` })).status).toBe(404);
    expect((await ask({ method: 'POST', url: `/api/v3/observations?${bad}` })).status).toBe(301);
    expect((await ask({ method: 'POST', url: `/api/v3/observations/?${bad}` })).status).toBe(405);
    expect((await ask({ method: 'OPTIONS', url: `/api/v3/observations/?${bad}` })).status).toBe(200);
    const headers = { accept: 'text/html' };
    expect((await ask({ url: `/api/v3/observations/?${bad}`, headers })).status).toBe(404);
    expect((await ask({ url: '/api/v3/observations/?ob_id=x', headers })).status).toBe(406);
    expect((await ask('/api/v3/observations/?ob_id=x')).status).toBe(400);
    expect((await ask('/api/v3/observations/99/?strict=1&x=1')).status).toBe(400);
    expect((await ask('/api/v3/observations/99/')).status).toBe(404);
  });

  test('puts a raw number sign first, in path and query', async () => {
    expect((await ask('/nothing#')).status).toBe(400);
    expect((await ask('/api/v3/observations/?title=a#b')).status).toBe(400);
    expect((await ask({ url: '/?a#b', headers: { accept: 'text/html' } })).status).toBe(400);
  });
});

describe('an OPTIONS request', () => {
  test.each([
    ['/', 'Index'],
    ['/api/v2/', 'Api Root'],
    ['/api/v3/observations/', 'Observations List'],
    ['/api/v3/observations/99/', 'Observations Instance'],
    ['/api/v3/ProcedureComputations/1/', 'Computations Instance'],
  ])('with the target %s describes %s', async (url, name) => {
    const { status, text } = await ask({ method: 'OPTIONS', url });
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ name, description: '' });
  });

  test('for the server itself gets the response of its root', async () => {
    expect(await ask({ method: 'OPTIONS', url: '*' })).toEqual(await ask({ method: 'OPTIONS', url: '/' }));
  });
});

test('gives errors and OPTIONS neither a tag nor a time, and lets no cache store them', async () => {
  const settings = { cacheControl: 'public, max-age=60', cors: true };
  for (const url of ['/nothing', '/api/v3/observations/99/', '/api/v3/observations/?ob_id=x', '/#']) {
    const { etag, headers } = await ask(url, settings);
    expect([etag, headers['Last-Modified'], headers['Cache-Control']], url).toEqual([
      undefined,
      undefined,
      'public, no-cache',
    ]);
  }
  const preflight = await ask({ method: 'OPTIONS', url: '/api/v3/observations/' }, settings);
  expect([preflight.etag, preflight.headers]).toEqual([
    undefined,
    expect.objectContaining({
      'Access-Control-Allow-Methods': 'GET, HEAD, OPTIONS',
      'Access-Control-Allow-Headers': '*',
      'Cache-Control': 'public, no-cache',
    }),
  ]);
});

describe('a base URL with a path', () => {
  const settings = { allowBaseUrls: ['https://catalogue.example.org/replica'] };
  const headers = { host: 'catalogue.example.org' };
  const start = 'https://catalogue.example.org/replica/api/v3';

  test('is in every link, whether or not the request has its path as prefix', async () => {
    for (const path of ['', '/replica']) {
      const { text } = await ask({ url: `${path}/api/v3/observations/?limit=1`, headers }, settings);
      expect(text).toContain(`"next":"${start}/observations/?limit=1&offset=1"`);
      const { text: index } = await ask({ url: path || '/', headers }, settings);
      expect(JSON.parse(index)).toMatchObject({ v3: `${start}/` });
    }
  });

  test('is in redirections', async () => {
    for (const path of ['', '/replica']) {
      const redirected = await ask({ url: `${path}/api/v3/observations?a=b`, headers }, settings);
      expect([redirected.status, redirected.headers['Location']]).toEqual([301, '/replica/api/v3/observations/?a=b']);
    }
  });

  test('redirects programs and browsers that omit its slash', async () => {
    const { headers: told } = await ask({ url: '/replica', headers }, settings);
    expect(told['Link']).toMatch(/^<replica\/openapi.json>; /);
    const page = await ask({ url: '/replica', headers: { ...headers, accept: 'text/html' } }, settings);
    expect([page.status, page.headers['Location'], page.headers['Vary']]).toEqual([301, '/replica/', 'Accept']);
  });

  test('does not match another path with the same start, nor that of another base URL', async () => {
    expect((await ask({ url: '/replicas/api/v3/', headers }, settings)).status).toBe(404);
    expect((await ask({ url: '/replica/replica/api/v3/', headers }, settings)).status).toBe(404);
    expect((await ask('/replica/api/v3/', settings)).status).toBe(404);
  });
});

test.each(['/api', '/api/v3', '/browse', '/docs'])(
  'serves under a base URL with the path %s, which the API has too, with that path and without it',
  async (path) => {
    const settings = { baseUrl: `https://h.example${path}` };
    for (const url of ['/api/v3/observations/', '/api/v0/complete', '/browse/observations/1/', '/docs/docs.js']) {
      const [stripped, left] = [await ask(url, settings), await ask(path + url, settings)];
      expect([url, stripped.status, left.status]).toEqual([url, 200, 200]);
    }
    const { text } = await ask('/api/v3/observations/?limit=1', settings);
    expect(text).toContain(`"next":"https://h.example${path}/api/v3/observations/?limit=1&offset=1"`);
  },
);

describe('a heavy plan', () => {
  const url = `/api/v3/observations/?title__contains=${LONG}&limit=2&offset=1`;

  async function askHeavy(runHeavy: RunHeavy): Promise<Reply> {
    const handler = handlerWith(runHeavy, {}, () => HEAVY);
    const answer = handler(requestOf({ url }), STAYING);
    expect(answer).toBeInstanceOf(Promise);
    return replyOf(await answer);
  }

  test('leaves the thread, and its rows become a page', async () => {
    const { status, text } = await askHeavy(async ({ collection, plan }) => {
      expect([collection, plan.page.offset, plan.page.limit]).toEqual(['observations', 1, 2]);
      const rows = { kind: 'list', rows: Uint32Array.of(5, 9) } as const;
      return { kind: 'page', page: { count: 3, rows, offset: 1, facets: [] }, counters: newCounters(), spentNs: 0 };
    });
    expect(status).toBe(200);
    expect(text).toMatch(/^\{"count":3,"next":null,"previous":"[^"]+limit=2&title__contains=x+","results":\[/);
    expect(text).toContain(`${served(5, `${LONG}5`)},${served(9, `${LONG}9`)}]}`);
  });

  test('gets 503 and Retry-After if the queue is full', async () => {
    const { status, headers } = await askHeavy(async () => 'busy');
    expect([status, headers['Retry-After']]).toEqual([503, '1']);
  });

  test('gets 400 with the keys of its regular expressions if these took too long', async () => {
    const handler = handlerWith(
      async () => 'overtime',
      { filterErrors: 'ignore' },
      () => HEAVY,
    );
    const reply = replyOf(
      await handler(requestOf({ url: '/api/v3/observations/?title__regex=x&ob_id=1&uuid__iregex!=y' }), STAYING),
    );
    const message =
      'This regular expression takes too long; make it simpler, or add a filter that leaves fewer records.';
    expect([reply.status, reply.text]).toEqual([400, `{"title__regex":["${message}"],"uuid__iregex!":["${message}"]}`]);
  });

  test('gets 503 and advice if it took too long for another reason', async () => {
    const { status, headers, text } = await askHeavy(async () => 'overtime');
    expect([status, headers['Retry-After']]).toEqual([503, '1']);
    expect(text).toBe('{"detail":"This query took too long; add a filter that leaves fewer records."}');
  });

  test.each(['', '&format=ndjson', '&explain=1'])(
    'is abandoned at once if its client disconnects (%s)',
    async (more) => {
      const leave: (() => void)[] = [];
      let hasLeft = false;
      const leaving: Disconnection = {
        isGone: () => hasLeft,
        isComingBack: () => false,
        onGone: (listener) => void leave.push(listener),
      };
      const waiters: Disconnection[] = [];
      const runHeavy: RunHeavy = (_query, waiter) => {
        waiters.push(waiter);
        return new Promise((resolve) => waiter.onGone(() => resolve('gone')));
      };
      const answer = handlerWith(runHeavy, { explain: true }, () => HEAVY)(requestOf({ url: url + more }), leaving);
      expect(waiters.map((waiter) => waiter.isGone())).toEqual([false]);
      hasLeft = true;
      for (const listener of leave) listener();
      expect(waiters.map((waiter) => waiter.isGone())).toEqual([true]);
      expect(replyOf(await answer).status).toBe(503);
    },
  );

  test('gets a response even if its client was going away', async () => {
    expect((await askHeavy(async () => 'gone')).status).toBe(503);
  });
});

describe('the route label of a request', () => {
  const routeOf = async (url: string, accept?: string): Promise<string | undefined> => {
    const request = requestOf({ url, headers: accept === undefined ? {} : { accept } });
    await handlerWith(NEVER_HEAVY, {}, () => HEAVY)(request, STAYING);
    return ROUTES[request.route ?? ROUTE.other];
  };

  test.each(['/browse/', '/browse/observations/', '/browse/observations/1/', '/browse/assets/x.css', '/browse/no/no/'])(
    'is browse at %s',
    async (url) => expect(await routeOf(url)).toBe('browse'),
  );

  test('is browse if a browser gets a page at the start, and otherwise the view', async () => {
    expect(await routeOf('/', 'text/html')).toBe('browse');
    expect(await routeOf('/api/v3/', 'text/html')).toBe('browse');
    expect(await routeOf('/api/v3/', 'application/json')).toBe('root');
    expect(await routeOf('/api/v3/?format=api', 'text/html')).toBe('root');
    expect(await routeOf('/api/v3/?format=', 'text/html')).toBe('browse');
    expect(await routeOf('/docs/docs.js')).toBe('other');
  });
});
