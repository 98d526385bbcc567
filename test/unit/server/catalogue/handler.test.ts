// The catalogue's handler: requests in, answers out, without a socket.
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

const DETAIL_404 = '{"detail":"Not found."}';

describe('a list', () => {
  test('is a page with links that lead on', async () => {
    const { status, text } = await ask('/api/v3/observations/?limit=2&offset=2');
    expect(status).toBe(200);
    expect(text).toBe(
      `{"count":8,"next":"${BASE_URL}/api/v3/observations/?limit=2&offset=4",` +
        `"previous":"${BASE_URL}/api/v3/observations/?limit=2","results":[${served(3, 'ocean')},${served(4, 'land')}]}`,
    );
  });

  test('is filtered, counted and paged', async () => {
    const { text } = await ask('/api/v3/observations/?title=land&limit=1&offset=1&format=api');
    const next = `${BASE_URL}/api/v3/observations/?format=api&limit=1&offset=2&title=land`;
    const previous = `${BASE_URL}/api/v3/observations/?format=api&limit=1&title=land`;
    expect(text).toBe(`{"count":4,"next":"${next}","previous":"${previous}","results":[${served(4, 'land')}]}`);
  });

  test('is ordered, its neighbours too where they stand the other way round', async () => {
    const { text } = await ask('/api/v3/observations/?ordering=-title,-ob_id&limit=3');
    expect(text).toContain(`[${served(7, 'ocean')},${served(5, 'ocean')},${served(3, 'ocean')}]}`);
    const turned = await ask('/api/v3/observations/?ordering=-ob_id&limit=2&offset=1');
    expect(turned.text).toContain(`[${served(7, 'ocean')},${served(6, 'land')}]}`);
  });

  test('starts behind an id, counts all and leads on from its last record', async () => {
    const { text } = await ask('/api/v3/observations/?after=3&limit=2&title=ocean');
    expect(text).toBe(
      `{"count":4,"next":null,"previous":null,"results":[${served(5, 'ocean')},${served(7, 'ocean')}]}`,
    );
    const first = await ask('/api/v3/observations/?after=2&limit=1&title=ocean');
    expect(JSON.parse(first.text)).toMatchObject({
      count: 4,
      next: `${BASE_URL}/api/v3/observations/?after=3&limit=1&title=ocean`,
      previous: null,
    });
    const last = await ask('/api/v3/observations/?after=99');
    expect(last.text).toBe('{"count":8,"next":null,"previous":null,"results":[]}');
  });

  test('has facets behind its results where they are asked for', async () => {
    const { text } = await ask('/api/v3/observations/?facets=title,timePeriod&limit=1&ob_id__in=1,2,3');
    expect(JSON.parse(text)).toMatchObject({ count: 3, facets: { title: { ocean: 2, land: 1 } } });
    expect(text).toMatch(/\],"facets":\{"title":\{"ocean":2,"land":1\},"timePeriod":\{"1":1,"2":1,"3":1\}\}\}$/);
    expect(text).toContain('facets=title%2CtimePeriod&limit=1&ob_id__in=1%2C2%2C3&offset=1');
  });

  test('is exported in its order or from behind an id, and without facets', async () => {
    const ordered = await ask(
      '/api/v3/observations/?ordering=-title,-ob_id&format=csv&fields=ob_id&facets=title&offset=2',
    );
    expect([ordered.status, ordered.text]).toEqual([200, 'ob_id\r\n3\r\n1\r\n8\r\n6\r\n4\r\n2\r\n']);
    const behind = await ask('/api/v3/observations/?after=6&format=ndjson&fields=ob_id');
    expect(behind.text).toBe('{"ob_id":7}\n{"ob_id":8}\n');
    expect((await ask('/api/v3/observations/?format=ndjson&facets=foo')).status).toBe(400);
  });

  test('past the end is empty, with the exact count', async () => {
    const { text } = await ask('/api/v3/observations/?offset=200');
    const previous = `${BASE_URL}/api/v3/observations/?limit=100&offset=100`;
    expect(text).toBe(`{"count":8,"next":null,"previous":"${previous}","results":[]}`);
  });

  test('of v2 has links to v2, in the path as asked', async () => {
    const { text } = await ask('/api/v2/observations.json?limit=1');
    const next = `${BASE_URL}/api/v2/observations.json?limit=1&offset=1`;
    const record = served(1, 'ocean', `${BASE_URL}/api/v2`);
    expect(text).toBe(`{"count":8,"next":"${next}","previous":null,"results":[${record}]}`);
  });

  test('of an empty collection has no results', async () => {
    expect((await ask('/api/v3/times/')).text).toBe('{"count":0,"next":null,"previous":null,"results":[]}');
  });

  test('is cut to the largest page set', async () => {
    const { text } = await ask('/api/v3/observations/?limit=5', { limitMax: 1 });
    expect(text).toContain('?limit=1&offset=1"');
  });
});

describe('a record', () => {
  test('stands alone', async () => {
    expect((await ask('/api/v3/observations/3/')).text).toBe(served(3, 'ocean'));
    expect((await ask('/api/v3/observations/8.json')).text).toBe(served(8, 'land'));
  });

  test('that does not exist is not found', async () => {
    for (const id of ['0', '9', '9007199254740993']) {
      const { status, text } = await ask(`/api/v3/observations/${id}/`);
      expect([status, text]).toEqual([404, DETAIL_404]);
    }
  });

  test('of ProcedureComputations is a computation, or else a composite', async () => {
    expect((await ask('/api/v3/ProcedureComputations/2/')).text).toBe(served(2, 'b'));
    expect((await ask('/api/v3/ProcedureComputations/3/')).text).toBe(served(3, 'd'));
    expect((await ask('/api/v3/ProcedureComputations/4/')).status).toBe(404);
    expect((await ask('/api/v3/computations/3/')).status).toBe(404);
  });

  test('names parameters without effect', async () => {
    const { headers } = await ask('/api/v3/observations/3/?limit=1&format=json&title=x');
    expect(headers['X-Ignored-Params']).toBe('limit, title');
  });
});

describe('links that follow the request', () => {
  const settings = { links: 'request' } as const;

  test.each([
    ['/api/v3/observations/1/', '/'],
    ['/api/v3/observations/1/?format=', '/'],
    ['/api/v3/observations/1/?format=json', '/?format=json'],
    ['/api/v3/observations/1/?format=api', '/?format=api'],
    ['/api/v3/observations/1.json', '.json'],
    ['/api/v3/observations/1.json?format=json', '.json?format=json'],
  ])('%s has links that end in %s', async (url, end) => {
    expect((await ask(url, settings)).text).toBe(served(1, 'ocean', `${BASE_URL}/api/v3`, end));
  });

  test('are those of the root view too', async () => {
    expect((await ask('/api/v3/.json', settings)).text).toContain(`"times":"${BASE_URL}/api/v3/times.json"`);
  });
});

describe('the order of judgement', () => {
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

describe('parameters', () => {
  test('that are wrong are all named', async () => {
    const { status, text } = await ask('/api/v3/observations/?title__foo=1&ob_id=x');
    expect(status).toBe(400);
    expect(text).toBe('{"title__foo":["\\"foo\\" lookup is not supported"],"ob_id":["Enter a whole number."]}');
  });

  test('name unknown fields inside ordering in a header, or refuse them where strict is set', async () => {
    const url = '/api/v3/observations/?page=2&ordering=-titles,title,a%3Db';
    expect((await ask(url)).headers['X-Ignored-Params']).toBe('page, ordering=titles, ordering=a%3Db');
    const { status, text } = await ask(`${url}&strict=1`);
    expect(status).toBe(400);
    expect(JSON.parse(text)).toEqual({
      page: ['Unknown parameter.', 'Pages go by "limit" and "offset".'],
      ordering: ['Unknown field "titles". Did you mean "title"?', 'Unknown field "a=b".'],
    });
  });

  test('that are unknown are named in a header, or refused where strict is set', async () => {
    const { status, headers } = await ask('/api/v3/observations/?page=2');
    expect([status, headers['X-Ignored-Params']]).toEqual([200, 'page']);
    expect((await ask('/api/v3/observations/?page=2', { strict: true })).status).toBe(400);
    expect((await ask('/api/v3/?page=2')).headers['X-Ignored-Params']).toBe('page');
  });
});

describe('methods', () => {
  test('HEAD is answered like GET', async () => {
    const url = '/api/v3/observations/?limit=1';
    expect(await ask({ method: 'HEAD', url })).toEqual(await ask(url));
  });

  test.each([
    ['/', 'Index'],
    ['/api/v2/', 'Api Root'],
    ['/api/v3/observations/', 'Observations List'],
    ['/api/v3/observations/99/', 'Observations Instance'],
    ['/api/v3/ProcedureComputations/1/', 'Computations Instance'],
  ])('OPTIONS %s describes %s', async (url, name) => {
    const { status, text } = await ask({ method: 'OPTIONS', url });
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ name, description: '' });
  });

  test('OPTIONS of the server itself is answered as that of its root', async () => {
    expect(await ask({ method: 'OPTIONS', url: '*' })).toEqual(await ask({ method: 'OPTIONS', url: '/' }));
  });
});

describe('other paths', () => {
  test('the root view maps names to lists', async () => {
    const view = JSON.parse((await ask('/api/v3/')).text) as Record<string, string>;
    expect(view['observations']).toBe(`${BASE_URL}/api/v3/observations/?format=api`);
  });

  test('the index names the root views', async () => {
    expect(JSON.parse((await ask('/')).text)).toMatchObject({ v2: `${BASE_URL}/api/v2/`, v3: `${BASE_URL}/api/v3/` });
  });

  test('a missing slash is answered with a relative redirection', async () => {
    const { status, headers, text } = await ask('/api/v3/observations/1?x=%20&y');
    expect([status, headers['Location'], text]).toEqual([301, '/api/v3/observations/1/?x=%20&y', '']);
  });
});

describe('a base URL with a path', () => {
  const settings = { allowBaseUrls: ['https://catalogue.example.org/replica'] };
  const headers = { host: 'catalogue.example.org' };
  const start = 'https://catalogue.example.org/replica/api/v3';

  test('stands in every link, whether or not the request has its path in front', async () => {
    for (const path of ['', '/replica']) {
      const { text } = await ask({ url: `${path}/api/v3/observations/?limit=1`, headers }, settings);
      expect(text).toContain(`"next":"${start}/observations/?limit=1&offset=1"`);
      const { text: index } = await ask({ url: path || '/', headers }, settings);
      expect(JSON.parse(index)).toMatchObject({ v3: `${start}/` });
    }
  });

  test('leads redirections', async () => {
    for (const path of ['', '/replica']) {
      const redirected = await ask({ url: `${path}/api/v3/observations?a=b`, headers }, settings);
      expect([redirected.status, redirected.headers['Location']]).toEqual([301, '/replica/api/v3/observations/?a=b']);
    }
  });

  test('leads programs and browsers below it where they leave its slash out', async () => {
    const { headers: told } = await ask({ url: '/replica', headers }, settings);
    expect(told['Link']).toMatch(/^<replica\/openapi.json>; /);
    const page = await ask({ url: '/replica', headers: { ...headers, accept: 'text/html' } }, settings);
    expect([page.status, page.headers['Location'], page.headers['Vary']]).toEqual([301, '/replica/', 'Accept']);
  });

  test('is no other path that begins alike, nor that of another base URL', async () => {
    expect((await ask({ url: '/replicas/api/v3/', headers }, settings)).status).toBe(404);
    expect((await ask({ url: '/replica/replica/api/v3/', headers }, settings)).status).toBe(404);
    expect((await ask('/replica/api/v3/', settings)).status).toBe(404);
  });
});

test.each(['/api', '/api/v3', '/browse', '/docs'])(
  'a base URL with the path %s, which the API has too, serves what a proxy sends with it or without it',
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

test('the base URL that a listed Host chooses stands in every link', async () => {
  const settings = { allowBaseUrls: ['https://catalogue.example.org'] };
  const headers = { host: 'catalogue.example.org' };
  const { text } = await ask({ url: '/api/v3/observations/?limit=1', headers }, settings);
  const start = 'https://catalogue.example.org/api/v3';
  const next = `${start}/observations/?limit=1&offset=1`;
  expect(text).toBe(`{"count":8,"next":"${next}","previous":null,"results":[${served(1, 'ocean', start)}]}`);
});

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

  test('that finds the queue full is answered with 503 and when to come again', async () => {
    const { status, headers } = await askHeavy(async () => 'busy');
    expect([status, headers['Retry-After']]).toEqual([503, '1']);
  });

  test('whose regular expressions took too long is answered with 400 and their keys', async () => {
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

  test('that took too long for anything but its regular expressions is answered with 503 and what to do', async () => {
    const { status, headers, text } = await askHeavy(async () => 'overtime');
    expect([status, headers['Retry-After']]).toEqual([503, '1']);
    expect(text).toBe('{"detail":"This query took too long; add a filter that leaves fewer records."}');
  });

  test.each(['', '&format=ndjson', '&explain=1'])('whose client leaves is given up at once (%s)', async (more) => {
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
  });

  test('whose client went away is still answered', async () => {
    expect((await askHeavy(async () => 'gone')).status).toBe(503);
  });
});

describe('what a request is counted as', () => {
  const routeOf = async (url: string, accept?: string): Promise<string | undefined> => {
    const request = requestOf({ url, headers: accept === undefined ? {} : { accept } });
    await handlerWith(NEVER_HEAVY, {}, () => HEAVY)(request, STAYING);
    return ROUTES[request.route ?? ROUTE.other];
  };

  test.each(['/browse/', '/browse/observations/', '/browse/observations/1/', '/browse/assets/x.css', '/browse/no/no/'])(
    'is browse at %s',
    async (url) => expect(await routeOf(url)).toBe('browse'),
  );

  test('is browse where a browser gets a page at the start, and the view where it does not', async () => {
    expect(await routeOf('/', 'text/html')).toBe('browse');
    expect(await routeOf('/api/v3/', 'text/html')).toBe('browse');
    expect(await routeOf('/api/v3/', 'application/json')).toBe('root');
    expect(await routeOf('/api/v3/?format=api', 'text/html')).toBe('root');
    expect(await routeOf('/api/v3/?format=', 'text/html')).toBe('browse');
    expect(await routeOf('/docs/docs.js')).toBe('other');
  });
});
