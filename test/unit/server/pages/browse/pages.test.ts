// The pages through the handler: their content, that they show the API's lists and records, and the headers of their
// responses.
import { gunzipSync } from 'node:zlib';
import { parseHTML } from 'linkedom';
import { describe, expect, test } from 'vitest';
import { filterFields } from '../../../../../engine/query/shown.ts';
import { collectionLabel, describedFields } from '../../../../../engine/query/describe.ts';
import { COLLECTIONS } from '../../../../../engine/schema/catalogue.ts';
import { formDocuments, formHandler } from '../../../../support/formCatalogue.ts';
import { BROWSER, browserOf, headerOf, hrefsOf, idsOf, textOf, textsOf } from '../../../../support/htmlPages.ts';
import { collectionOf } from '../../../../support/records.ts';
import { requestOf, STAYING } from '../../../../support/requests.ts';
import { BASE_URL, handlerWith, NEVER_HEAVY } from '../../../../support/smallCatalogue.ts';

const { asked, pageAt } = browserOf(formHandler({ explain: true }));

const LIST = '/browse/observations/';

describe('a page for a browser', () => {
  test.each(['/', '/api/', '/api/v2/', '/api/v3/', '/browse/'])('is at %s the start page', async (url) => {
    const page = await pageAt(url);
    const labels = [...textsOf(page, '.card h2 a'), ...textsOf(page, '.collections a')];
    expect(labels.slice(0, 3)).toEqual(['Observations', 'Projects', 'Observation collections']);
    expect(labels.toSorted()).toEqual(COLLECTIONS.map(({ name }) => collectionLabel(name)).toSorted());
    expect(textsOf(page, '.card .total')[0]).toBe('40');
  });

  test.each(['/', '/api/v3/', '/api/v3/observations/'])(
    'is JSON at %s for a client that accepts anything',
    async (url) => {
      for (const accept of [undefined, '*/*', 'application/json']) {
        const answer = await asked(url, { headers: accept === undefined ? {} : { accept } });
        expect(headerOf(answer, 'Content-Type')).toBe('application/json');
      }
    },
  );

  test('is JSON of a list if the browser accepts anything, and refused if it accepts nothing else', async () => {
    expect(headerOf(await asked('/api/v3/observations/'), 'Content-Type')).toBe('application/json');
    for (const url of ['/api/v3/observations/', '/api/v2/observations/1/']) {
      const answer = await asked(url, { headers: { accept: 'text/html' } });
      expect([answer.status, headerOf(answer, 'Content-Type')]).toEqual([406, 'application/json']);
    }
  });

  test('is at every path of the API with the setting, unless the path names a form', async () => {
    const open = formHandler({ browseOnApi: true }, 0, await formDocuments());
    const typeAt = async (
      url: string,
      headers: Readonly<Record<string, string>> = BROWSER,
    ): Promise<string | undefined> => headerOf(await open(requestOf({ url, headers }), STAYING), 'Content-Type');
    for (const url of [
      '/api/v3/observations/',
      '/api/v2/observations/1/?format=api',
      '/api/v3/observation/',
      '/api/v3/observations/?format=&limit=2',
      '/nothing',
    ]) {
      expect(await typeAt(url), url).toBe('text/html; charset=utf-8');
      expect(await typeAt(url, { accept: '*/*' }), url).toBe('application/json');
    }
    const long = `/${'a/'.repeat(1000)}`;
    const named = ['/api/v3/observations.json', '/api/v3/observations/?format=json', '/openapi.json'];
    for (const url of [...named, long, '/nothing#a']) expect(await typeAt(url), url).toBe('application/json');
    const page = parseHTML(
      textOf(await open(requestOf({ url: '/api/v2/observations/?limit=2', headers: BROWSER }), STAYING)),
    );
    expect(textsOf(page.document, '.snippet pre')[0]).toMatch(/\/api\/v2\/observations\/\?limit=2$/);
    expect(hrefsOf(page.document, '.data a')[0]).toBe('../../../api/v2/observations/?limit=2&format=json');
    expect(hrefsOf(page.document, 'tbody th a')[0]).toBe('../../../browse/observations/1/');
  });

  test('has a format if the request names one', async () => {
    const answer = await asked('/api/v3/?format=json');
    expect(headerOf(answer, 'Content-Type')).toBe('application/json');
  });

  test('redirects from a path without its slash, relative to its place', async () => {
    for (const [url, location] of [
      ['/browse', 'browse/'],
      ['/browse/observations?limit=2', 'observations/?limit=2'],
      ['/browse/observations/1', '1/'],
    ] as const) {
      const answer = await asked(url);
      expect([answer.status, headerOf(answer, 'Location')]).toEqual([301, location]);
    }
  });
});

test('redirects from the path of a base URL without its slash to the one with it, where its links work', async () => {
  const below = browserOf(formHandler({ baseUrl: 'http://x.test/some/catalogue' }));
  const answer = await below.asked('/some/catalogue?a=b');
  expect([answer.status, headerOf(answer, 'Location')]).toEqual([301, '/some/catalogue/?a=b']);
  for (const url of ['/some/catalogue/', '/'])
    expect(hrefsOf(await below.pageAt(url), '.brand')).toEqual(['./browse/']);
});

describe('the response with a page', () => {
  test('lets the page load and reach nothing except this server', async () => {
    for (const url of ['/browse/', LIST, `${LIST}1/`, '/browse/nothing/', `${LIST}?title__foo=1`]) {
      const answer = await asked(url);
      expect(headerOf(answer, 'Content-Security-Policy')).toMatch(/^default-src 'none'; script-src 'self'; style-src/);
      expect(headerOf(answer, 'Content-Security-Policy')).not.toMatch(/unsafe|https?:/);
      expect(headerOf(answer, 'X-Content-Type-Options')).toBe('nosniff');
      const page = parseHTML(textOf(answer)).document;
      expect(page.querySelectorAll('[style],style,script:not([src]),[onclick]').length).toBe(0);
    }
  });

  test('has a weak tag that gives 304, for each coding', async () => {
    for (const coding of ['identity', 'gzip']) {
      const headers = { ...BROWSER, 'accept-encoding': coding };
      const answer = await asked(LIST, { headers });
      expect(answer.etag).toMatch(/^W\/"[0-9a-f]{24}"$/);
      const known = await asked(LIST, { headers: { ...headers, 'if-none-match': answer.etag! } });
      expect([known.status, known.body.bytes]).toEqual([304, 0]);
    }
  });

  test('is compressed for a client that accepts gzip', async () => {
    const answer = await asked('/browse/', { headers: { ...BROWSER, 'accept-encoding': 'gzip' } });
    expect(headerOf(answer, 'Content-Encoding')).toBe('gzip');
    expect(gunzipSync(answer.body.pieceAt(0)).toString()).toContain('</html>');
  });

  test('names assets by their content, which may be cached for ever', async () => {
    const page = await pageAt(LIST);
    const [style = ''] = hrefsOf(page, 'link[rel=stylesheet]');
    const script = page.querySelector('script')?.getAttribute('src') ?? '';
    for (const path of [style, script]) {
      expect(path).toMatch(/^\.\.\/\.\.\/browse\/assets\/browse-[0-9a-f]{16}\.(css|js)$/);
      const asset = await asked(path.replace('../..', ''));
      expect([asset.status, headerOf(asset, 'Cache-Control')]).toEqual([200, 'public, max-age=31536000, immutable']);
      const known = await asked(path.replace('../..', ''), { headers: { 'if-none-match': asset.etag! } });
      expect(known.status).toBe(304);
    }
    expect((await asked('/browse/assets/browse-0.css')).status).toBe(404);
  });
});

describe('the page of a list', () => {
  test('shows the number of matching records, and those of the API', async () => {
    const page = await pageAt(`${LIST}?status=s1&limit=3&offset=3`);
    const json = JSON.parse(textOf(await asked('/api/v3/observations/?status=s1&limit=3&offset=3'))) as {
      readonly count: number;
      readonly results: readonly { readonly ob_id: number }[];
    };
    expect(textsOf(page, '.total')[0]).toBe(`${json.count} of 40 records`);
    expect(idsOf(page)).toEqual(json.results.map(({ ob_id }) => `${ob_id}`));
    expect(textsOf(page, 'thead th')).toEqual(['Title', 'Period', 'Area', 'Phenomena', 'Data published']);
    expect(textsOf(page, '.range')).toEqual([`4 to 6 of ${json.count}`]);
  });

  test('shows the API request that it names', async () => {
    const page = await pageAt(`${LIST}?title__contains=a%22&limit=2`);
    const [address = '', curl, python] = textsOf(page, '.snippet pre');
    expect(address).toMatch(/\/api\/v3\/observations\/\?title__contains=a%22&limit=2$/);
    expect(curl).toBe(`curl '${address}'`);
    expect(python).toContain(`requests.get("${address}")`);
    expect(hrefsOf(page, '.data a')).toEqual([
      '../../api/v3/observations/?title__contains=a%22&limit=2&format=json',
      '../../api/v3/observations/?title__contains=a%22&format=ndjson',
      '../../api/v3/observations/?title__contains=a%22&format=csv',
      '../../api/v3/observations/?title__contains=a%22&format=parquet',
      '../../api/v3/observations/?title__contains=a%22&limit=2&format=json&explain=1',
    ]);
  });

  test('removes each filter by a link', async () => {
    const page = await pageAt(`${LIST}?status=s1&title__contains=a&offset=1`);
    expect(textsOf(page, '.chips li > span')).toEqual(['Status is s1', 'Title contains a']);
    expect(hrefsOf(page, '.chips a')).toEqual(['?title__contains=a', '?status=s1', '?']);
  });

  test('is ordered by a click on a heading, and reversed by the next', async () => {
    const first = await pageAt(`${LIST}?offset=3`);
    expect(hrefsOf(first, 'thead a')[0]).toBe('?ordering=title');
    const second = await pageAt(`${LIST}?ordering=title`);
    expect(second.querySelector('[aria-sort]')?.getAttribute('aria-sort')).toBe('ascending');
    expect(hrefsOf(second, 'thead a').slice(0, 2)).toEqual(['?ordering=-title', '?ordering=timePeriod__startTime']);
  });

  test.each([
    ['', 'ascending', '-ob_id'],
    ['&ordering=ob_id', 'ascending', '-ob_id'],
    ['&ordering=-ob_id', 'descending', 'ob_id'],
    ['&ordering=title', null, 'ob_id'],
    ['&search=ocean', null, 'ob_id'],
  ])('is reversed by a click on the heading of the id: %s is %s and leads to %s', async (query, sorted, turned) => {
    const page = await pageAt(`${LIST}?fields=uuid${query}`);
    const order = page.querySelector('thead th')!.getAttribute('aria-sort');
    expect([order, hrefsOf(page, 'thead a')[0]]).toEqual([sorted, expect.stringMatching(`ordering=${turned}$`)]);
  });

  test('links to its first, previous, next and last page', async () => {
    const page = await pageAt(`${LIST}?limit=10&offset=10`);
    const links = ['?limit=10', '?limit=10', '?limit=10&offset=20', '?limit=10&offset=30'];
    expect(hrefsOf(page, '.pages > ul a')).toEqual([...links, ...links]);
    expect(textsOf(await pageAt(`${LIST}?limit=10`), '.below [aria-disabled]')).toEqual(['First', 'Previous']);
    expect(textsOf(await pageAt(LIST), '.above')).toEqual([]);
  });

  test('has at most 100 records, whatever limit is given', async () => {
    expect(textsOf(await pageAt(`${LIST}?limit=100000`), '.sizes [aria-current]')).toEqual(['100']);
  });

  test('counts the values of fields with few of them, each as a filter', async () => {
    const page = await pageAt(LIST);
    const counts = JSON.parse(textOf(await asked('/api/v3/observations/?limit=1&facets=status'))) as {
      readonly facets: { readonly status: Readonly<Record<string, number>> };
    };
    const facet = [...page.querySelectorAll('.facet')].find(
      (one) => one.querySelector('h2')?.textContent === 'Status',
    )!;
    const shown = [...facet.querySelectorAll('li')].map((item) => item.textContent.trim().split(/\s+/));
    const wanted = Object.entries(counts.facets.status).map(([value, n]) => [
      value === 'null' ? 'none' : value,
      `${n}`,
    ]);
    expect(shown).toEqual(wanted);
    expect([...facet.querySelectorAll('a')].map((link) => link.getAttribute('href'))).toContain('?status__isnull=true');
  });

  test('shows the requested columns', async () => {
    const page = await pageAt(`${LIST}?fields=uuid,timePeriod&limit=1`);
    expect(textsOf(page, 'thead th')).toEqual(['Id', 'UUID', 'Period']);
    expect(textsOf(page, 'tbody td')).toEqual(['u1', 'from 2020-01-01 on']);
  });
});

describe('the forms of a list', () => {
  test.each(COLLECTIONS.map((declared) => [declared.name, declared] as const))(
    'offer every declared field of %s with every lookup that fits it',
    (_, declared) => {
      const collection = collectionOf(declared.name, [], BASE_URL);
      const offered = new Map(filterFields(collection, () => true).map(({ key, lookups }) => [key, lookups]));
      const names = new Set(declared.fields.map(({ name }) => name));
      const fields = describedFields(declared).filter(({ key }) => names.has(key.split('__')[0]!));
      for (const { key, lookups } of fields) {
        expect(offered.get(key) ?? [], key).toEqual(lookups.map(({ name }) => name));
      }
    },
  );

  test('search the first collections from the start page, and observations from every page', async () => {
    for (const url of ['/browse/', LIST, `${LIST}1/`, '/browse/nothing/', `${LIST}?title__foo=1`]) {
      const page = await pageAt(url);
      const up = '../'.repeat(new URL(url, BASE_URL).pathname.split('/').length - 2);
      const form = page.querySelector('.bar form')!;
      expect([form.getAttribute('action'), form.getAttribute('method')], url).toEqual([
        `${up}browse/observations/`,
        'get',
      ]);
      expect(form.querySelector('input')?.getAttribute('name'), url).toBe('search');
    }
    const cards = [...(await pageAt('/browse/')).querySelectorAll('.card form')];
    const actions = ['observations', 'projects', 'observationcollections'].map((name) => `../browse/${name}/`);
    expect(cards.map((form) => form.getAttribute('action'))).toEqual(actions);
    expect(
      await pageAt(`${LIST}?search=%3Cice%3E`).then((page) => page.querySelector('.bar input')?.getAttribute('value')),
    ).toBe('<ice>');
  });

  test('suggest the values of every enumeration', async () => {
    const page = await pageAt(LIST);
    expect(page.querySelector('.filter input[list=filter-values]')).not.toBe(null);
    const labels = [...page.querySelectorAll('datalist#filter-values option')].map((one) => one.getAttribute('label'));
    expect(labels).toContain('completed (status)');
  });

  test('keep the filters of the list', async () => {
    const page = await pageAt(`${LIST}?status=s1&offset=2`);
    const forms = page.querySelectorAll('.find, .filter, .choice form');
    expect(forms.length).toBe(3);
    for (const form of forms) expect(form.querySelector('input[name=status]')?.getAttribute('value')).toBe('s1');
  });
});

describe('the page of a record', () => {
  test('shows every field, its links by their targets, and a link to its JSON', async () => {
    const page = await pageAt(`${LIST}3/`);
    const record = JSON.parse(textOf(await asked('/api/v3/observations/3/'))) as Readonly<Record<string, unknown>>;
    expect(textsOf(page, 'dl.record > div > dt > code')).toEqual(Object.keys(record));
    expect(textsOf(page, 'h1')).toEqual(['snow, ice;']);
    expect(hrefsOf(page, 'dl.record a')).toEqual(['../../../browse/times/3/']);
    expect(hrefsOf(page, '.fields > .data a')[0]).toBe('../../../api/v3/observations/3/?format=json&pretty=1');
  });

  test('shows the references to it, with counts, as links to these lists', async () => {
    const page = await pageAt('/browse/times/3/');
    expect(textsOf(page, '.references li')).toEqual(['Observations 1 Period']);
    const [href = ''] = hrefsOf(page, '.references a');
    const list = await pageAt(href.replace('../../..', ''));
    expect(idsOf(list)).toEqual(['3']);
  });

  test('is that of the second collection of a path if the first has no such id', async () => {
    expect(textsOf(await pageAt('/browse/ProcedureComputations/3/'), 'h1')).toEqual(['Composite process 3']);
    expect(textsOf(await pageAt('/browse/ProcedureComputations/2/'), 'h1')).toEqual(['b']);
  });
});

describe('an error page', () => {
  test.each([
    ['/browse/observation/', 404, ['browse/observations/']],
    ['/browse/observations/999/', 404, []],
    ['/browse/nothing-like-it/', 404, []],
  ])('for %s has the status %d', async (url, status, near) => {
    const answer = await asked(url);
    expect(answer.status).toBe(status);
    const page = parseHTML(textOf(answer)).document;
    expect(textsOf(page, '.lead a')).toEqual(near);
    expect(page.querySelectorAll('h1').length).toBe(1);
  });

  test('links with the setting to the probable spelling of a look-up', async () => {
    const { pageAt: at } = browserOf(formHandler({ browseOnApi: true }));
    expect(hrefsOf(await at('/api/legacy_lookups/'), '.lead a')).toEqual(['../../api/legacy_lookup']);
  });

  test('links to the probable spelling of a field', async () => {
    const list = parseHTML(textOf(await asked(`${LIST}?titel=a&status=s1`))).document;
    const [strict] = hrefsOf(list, '.note a');
    const answer = await asked(`${LIST}${strict}`);
    expect(answer.status).toBe(400);
    const page = parseHTML(textOf(answer)).document;
    expect(textsOf(page, '.problems')[0]).toContain('Did you mean "title"?');
    expect(hrefsOf(page, '.problems a')).toEqual(['?title=a&status=s1&strict=1', '?status=s1&strict=1']);
  });

  test('refuses an unsupported method like any other path', async () => {
    expect((await asked('/browse/', { method: 'POST' })).status).toBe(405);
    expect((await asked('/browse/', { method: 'HEAD' })).status).toBe(200);
    expect(textOf(await asked('/browse/', { method: 'OPTIONS' }))).toContain('Browse Page');
  });
});

test.each(['/', LIST, `${LIST}1/`, '/browse/nothing/', `${LIST}?ob_id=x`])(
  'skips no level of headings at %s',
  async (url) => {
    const names = [...(await pageAt(url)).querySelectorAll('h1, h2, h3, h4, h5, h6')].map(({ tagName }) => tagName);
    const levels = [0, ...names.map((name) => Number(name.slice(1)))];
    expect(levels.length).toBeGreaterThan(2);
    expect(levels.filter((level, i) => level > (levels[i - 1] ?? 0) + 1)).toEqual([]);
  },
);

test.each([
  ['observations.csv', 'observations/'],
  ['observations.parquet/', 'observations/'],
  ['observations%2ejson', 'observations/'],
  ['observations/3.json', 'observations/3/'],
])('links the page of %s to the API of %s, which has all formats', async (path, plain) => {
  const requestsAt = async (target: string): Promise<readonly string[]> => {
    const page = await pageAt(`/browse/${target}?title__contains=a`);
    const up = '../'.repeat(target.split('/').length);
    return [...textsOf(page, '.snippet pre'), ...hrefsOf(page, '.data a').map((href) => href.replace(up, '/'))];
  };
  expect(await requestsAt(path)).toEqual(await requestsAt(plain));
});

test('names a record by an own URL as it is served', async () => {
  const identifiers = [JSON.stringify({ ob_id: 5, url: '{base_url}/uuid/x' })];
  const of = (name: string) => collectionOf(name, name === 'identifiers' ? identifiers : [], BASE_URL);
  const collections = new Map(COLLECTIONS.map(({ name }) => [name, of(name)]));
  const { pageAt: at } = browserOf(handlerWith(NEVER_HEAVY, {}, (name) => collections.get(name)!));
  expect(textsOf(await at('/browse/identifiers/5/'), 'h1').join()).toContain(`${BASE_URL}/uuid/x`);
});
