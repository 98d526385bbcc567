// Assumptions about pages, links, parameters and filters that the specification does not cover. Over a real socket, on
// the sample.
import { describe, expect } from 'vitest';
import { parseJson, writeJson } from '../differential/json.ts';
import { assumption } from './quotes.ts';
import { BASE_URL, servedSample, type JsonObject } from './sample.ts';

const sample = servedSample();
const LIST = '/api/v3/observations/';

async function countOf(query: string, collection = 'observations'): Promise<number> {
  return (await sample.page(`/api/v3/${collection}/?limit=1&${query}`)).count;
}

/** The status and body of a refused list. */
async function refusal(query: string): Promise<{ status: number; body: string }> {
  const { status, body } = await sample.get(`${LIST}?${query}`);
  return { status, body };
}

async function ignoredIn(query: string): Promise<string | undefined> {
  const { status, headers } = await sample.get(`${LIST}?limit=1&${query}`);
  expect(status, query).toBe(200);
  return headers['x-ignored-params'];
}

const TEXT_LOOKUPS =
  'Lookups that fit: exact, in, isnull, gt, gte, lt, lte, range, contains, startswith, endswith, iexact, icontains, ' +
  'istartswith, iendswith, regex, iregex.';

describe('envelope and links', () => {
  assumption('A18', 'has the keys count, next, previous and results in this order', async () => {
    expect((await sample.get(`${LIST}?limit=1`)).body).toMatch(
      /^\{"count":\d+,"next":"[^"]+","previous":null,"results":\[\{/,
    );
  });

  assumption('A11', 'writes compact JSON in UTF-8 that escapes only what it must', async () => {
    for (const name of ['observations', 'phenomona', 'migrationproperties']) {
      const { body } = await sample.get(`/api/v3/${name}/?limit=1000000`);
      const compact = writeJson(parseJson(body));
      expect(body === compact, name).toBe(true);
    }
  });

  assumption('A18', 'has null in next and previous at the ends', async () => {
    const { next, previous } = await sample.page(`${LIST}?limit=1000000`);
    expect([next, previous]).toEqual([null, null]);
  });

  assumption('A19', 'takes 100 for a limit that is not a positive integer', async () => {
    for (const limit of ['0', '-1', '', 'x', '1.5', '1e1']) {
      expect((await sample.page(`${LIST}?limit=${limit}`)).results, limit).toHaveLength(100);
    }
  });

  assumption('A20', 'takes 0 for an offset that is not an integer from 0', async () => {
    for (const offset of ['-1', 'x', '']) expect((await sample.page(`${LIST}?offset=${offset}`)).previous).toBeNull();
  });

  assumption(
    'A20',
    'answers past the end with no results, the exact count, and previous at offset - limit',
    async () => {
      const total = (await sample.all('observations')).length;
      expect(await sample.page(`${LIST}?offset=100000&limit=10`)).toEqual({
        count: total,
        next: null,
        previous: `${BASE_URL}${LIST}?limit=10&offset=99990`,
        results: [],
      });
    },
  );

  assumption(
    'A47',
    'uses the last of repeated limits and offsets, names the parameter, and refuses it in strict mode',
    async () => {
      expect((await sample.page(`${LIST}?limit=5&limit=2`)).results).toHaveLength(2);
      expect((await sample.page(`${LIST}?limit=5&limit=x`)).results).toHaveLength(100);
      expect((await sample.page(`${LIST}?limit=1&offset=3&offset=0`)).previous).toBeNull();
      expect(await ignoredIn('limit=1&offset=3&offset=3')).toBe('limit, offset');
      const message = 'This parameter is repeated, and only its last value counts.';
      expect(await refusal('limit=1&limit=2&strict=1')).toEqual({
        status: 400,
        body: JSON.stringify({ limit: [message] }),
      });
    },
  );

  assumption('A47', 'joins repeated fields, ordering and facets', async () => {
    const bodyOf = async (query: string): Promise<string> =>
      (await sample.get(`${LIST}?limit=3&strict=1&${query}`)).body.replace(/"next":"[^"]*"/, '');
    expect((await sample.page(`${LIST}?limit=1&fields=ob_id&fields=title`)).results.map(Object.keys)).toEqual([
      ['ob_id', 'title'],
    ]);
    expect(await bodyOf('ordering=status&ordering=-title')).toEqual(await bodyOf('ordering=status,-title'));
    expect(await bodyOf('facets=status&facets=language')).toEqual(await bodyOf('facets=status,language'));
  });

  assumption('A151', 'reads filters[x]=v as x=v, and refuses other parameters named filters', async () => {
    for (const name of ['filters[status]', 'filters%5Bstatus%5D']) {
      expect(await sample.page(`${LIST}?${name}=final&limit=1`), name).toEqual(
        await sample.page(`${LIST}?status=final&limit=1`),
      );
    }
    const list = 'filters[status__in]=planned&filters[status__in]=final&strict=1';
    const expected = (await sample.all('observations')).filter(
      ({ status }) => status === 'planned' || status === 'final',
    );
    expect((await sample.page(`${LIST}?${list}`)).count).toBe(expected.length);
    const message = 'Write a filter as "<field>=<value>" or "filters[<field>]=<value>".';
    for (const name of ['filters', 'filters[]', 'filters[title][icontains]', 'filters[status']) {
      const body = JSON.stringify({ [name]: [message] });
      for (const path of [LIST, `${LIST}1/`, '/api/v3/'])
        expect(await sample.get(`${path}?${name}=[object+Object]`), name).toMatchObject({ status: 400, body });
    }
  });

  assumption('A21', 'takes integers with blanks, leading zeros and + for paging', async () => {
    for (const limit of ['+3', '3+', '003', '%2B3', '%203%20']) {
      expect((await sample.page(`${LIST}?limit=${limit}`)).results, limit).toHaveLength(3);
    }
  });

  assumption('A21', 'counts more than 15 digits as 999999999999999', async () => {
    const { previous } = await sample.page(`${LIST}?limit=1&offset=${'9'.repeat(30)}`);
    expect(previous).toBe(`${BASE_URL}${LIST}?limit=1&offset=999999999999998`);
  });

  assumption('A22', 'always writes the effective limit in links', async () => {
    expect((await sample.page(`${LIST}?limit=x&offset=100`)).previous).toBe(`${BASE_URL}${LIST}?limit=100`);
  });

  assumption('A22', 'sorts and encodes the parameters of next', async () => {
    const query = 'title__contains!=ocean&limit=1&publicationState__in=published,citable';
    const encoded = 'limit=1&offset=1&publicationState__in=published%2Ccitable&title__contains%21=ocean';
    expect((await sample.page(`${LIST}?${query}`)).next).toBe(`${BASE_URL}${LIST}?${encoded}`);
  });

  assumption('A22', 'keeps the path as asked in links', async () => {
    for (const path of ['/api/v2/observations.json', '/api/v3/phenomena/', '/api/v3/observ%61tions/']) {
      expect((await sample.page(`${path}?limit=1`)).next).toBe(`${BASE_URL}${path}?limit=1&offset=1`);
    }
  });

  assumption('A23', 'never uses an unlisted Host or X-Forwarded-Host in links', async () => {
    const headers = { host: 'evil.test', 'x-forwarded-host': 'evil.test', 'x-forwarded-proto': 'https' };
    expect((await sample.get(`${LIST}?limit=1`, headers)).body).not.toContain('evil.test');
  });

  assumption('A25', 'ignores and names the list parameters of a single record', async () => {
    const [first] = (await sample.page(`${LIST}?limit=1`)).results;
    const target = `${LIST}${String(first?.['ob_id'])}/`;
    const { status, headers } = await sample.get(`${target}?format=json&limit=1&title=x&title__foo=1`);
    expect({ status, ignored: headers['x-ignored-params'] }).toEqual({
      status: 200,
      ignored: 'limit, title, title__foo',
    });
  });
});

describe('parameters', () => {
  assumption('A26', 'sends the same bytes for api, json and no format', async () => {
    const { body } = await sample.get('/api/v3/times/?limit=1000000');
    for (const format of ['api', 'json', '']) {
      expect((await sample.get(`/api/v3/times/?limit=1000000&format=${format}`)).body === body, format).toBe(true);
    }
  });

  assumption('A26', 'answers 404 to an unknown format', async () => {
    for (const format of ['xml', 'API', 'html'])
      expect((await sample.get(`${LIST}?format=${format}`)).status).toBe(404);
  });

  assumption('A27', 'ignores unknown parameters with status 200 and names them', async () => {
    expect(await ignoredIn('page=2&per_page=5&page=3&publicationStatus__in=x')).toBe(
      'page, per_page, publicationStatus__in',
    );
    expect(await ignoredIn('a%20b=1')).toBe('a%20b');
    expect(await ignoredIn('status=completed')).toBeUndefined();
  });

  assumption(
    'A27',
    'names ignored parameters once each, in query order, and cuts the list at a whole name',
    async () => {
      const names = Array.from({ length: 300 }, (_, i) => `unknown${i}`);
      const ignored = (await ignoredIn(names.map((name) => `${name}=`).join('&'))) ?? '';
      expect(ignored.length).toBeLessThanOrEqual(1024);
      const shown = ignored.split(', ');
      expect(shown.at(-1)).toBe('...');
      expect(shown.slice(0, -1)).toEqual(names.slice(0, shown.length - 1));
      const [long, rest] = ['x'.repeat(600), 'y'.repeat(1024 - 602)];
      expect(await ignoredIn(`${long}=&${rest}=`)).toBe(`${long}, ${rest}`);
      expect(await ignoredIn(`${long}=&${rest}y=`)).toBe(`${long}, ...`);
    },
  );

  assumption('A28', 'suggests the nearest known name with the same lookup', async () => {
    expect(await refusal('strict=1&publicationStatus__in=x')).toEqual({
      status: 400,
      body: '{"publicationStatus__in":["Unknown parameter. Did you mean \\"publicationState__in\\"?"]}',
    });
  });

  assumption('A29', 'lists every bad key in query order', async () => {
    expect(await refusal('title__foo=1&status=completed&ob_id=1.5&title__contains=%00')).toEqual({
      status: 400,
      body:
        `{"title__foo":["\\"foo\\" lookup is not supported","${TEXT_LOOKUPS}"],"ob_id":["Enter a whole number."],` +
        '"title__contains":["Null characters are not allowed."]}',
    });
  });
});

describe('filters', () => {
  assumption('A30', 'refuses an empty lookup, and takes an empty first name for an unknown parameter', async () => {
    expect(await refusal('title__=x')).toEqual({
      status: 400,
      body: `{"title__":["\\"\\" lookup is not supported","${TEXT_LOOKUPS}"]}`,
    });
    expect(await ignoredIn('__title=x')).toBe('__title');
  });

  assumption('A31', 'negates by a final !, with or without a lookup', async () => {
    const total = (await sample.all('observations')).length;
    for (const filter of ['status', 'title__startswith', 'publicationState__in', 'abstract__contains']) {
      expect((await countOf(`${filter}=completed`)) + (await countOf(`${filter}!=completed`)), filter).toBe(total);
    }
    const others = (await sample.all('observations')).filter(({ status }) => status !== 'completed');
    for (const offset of [0, 50, others.length - 3]) {
      const { results } = await sample.page(`${LIST}?status!=completed&limit=5&offset=${offset}`);
      expect(results, `offset ${offset}`).toEqual(others.slice(offset, offset + 5));
    }
  });

  assumption('A33', 'filters by declared fields that are not documented as filters, ids included', async () => {
    const ids = (await sample.all('ipps')).map(({ ob_id }) => ob_id);
    expect(await countOf(`ob_id__in=${ids.slice(0, 50).join(',')}`, 'ipps')).toBe(50);
    expect(await countOf(`ob_id=${String((await sample.all('times'))[0]?.['ob_id'])}`, 'times')).toBe(1);
  });

  assumption('A36', 'compares a key that ends on a relation with its id', async () => {
    const projects = (await sample.all('projects')).map(({ ob_id }) => Number(ob_id)).slice(0, 2);
    const ends = projects.map((id) => `${BASE_URL}/api/v3/projects/${id}/?format=api`);
    const wanted = (await sample.all('observations')).filter((record) =>
      (record['projects'] as string[]).some((link) => ends.includes(link)),
    );
    expect(await countOf(`projects__in=${projects.join(',')}`)).toBe(wanted.length);
  });

  assumption('A45', 'wants conditions on one to-many relation to hold for the same related row', async () => {
    const wanted = (await sample.all('phenomona')).filter((record) =>
      (record['terms'] as JsonObject[]).some(({ label, value }) => label === 'units' && value === 'K'),
    );
    expect(await countOf('terms__label=units&terms__value=K', 'phenomona')).toBe(wanted.length);
    expect(wanted.length).toBeGreaterThan(0);
    expect(await countOf('terms__label=var_id&terms__value=K', 'phenomona')).toBe(0);
  });

  assumption('A46', 'drops records with any matching related row if negated, and keeps those with none', async () => {
    const total = (await sample.all('phenomona')).length;
    const found = await countOf('terms__label=units', 'phenomona');
    expect(await countOf('terms__label!=units', 'phenomona')).toBe(total - found);
  });

  assumption('A47', 'wants all repeated conditions to hold, on the same key too', async () => {
    const titles = (await sample.all('observations')).map(({ title }) => String(title).toLowerCase());
    const expected = titles.filter((title) => title.includes('ice') && title.includes('sea')).length;
    expect(expected).toBeGreaterThan(0);
    expect(await countOf('title__icontains=ice&title__icontains=sea&strict=1')).toBe(expected);
    expect(await countOf('status=planned&status__exact=completed')).toBe(0);
    expect(await refusal('ob_id=x&ob_id=1')).toEqual({ status: 400, body: '{"ob_id":["Enter a whole number."]}' });
  });

  assumption('A47', 'joins repeated in lists of one key', async () => {
    const states = (await sample.all('observations')).map(({ publicationState }) => publicationState);
    const expected = states.filter((state) => state === 'published' || state === 'citable').length;
    expect(await countOf('publicationState__in=published&publicationState__in=citable&strict=1')).toBe(expected);
    expect(await countOf('publicationState__in=published,citable')).toBe(expected);
  });

  assumption('A42', 'finds nothing by an empty in, on every type', async () => {
    for (const field of ['title', 'ob_id', 'nonGeographicFlag', 'dataPublishedTime', 'projects']) {
      expect(await countOf(`${field}__in=`), field).toBe(0);
    }
  });

  assumption('A44', 'finds null by negated conditions only', async () => {
    const nulls = (await sample.all('observations')).filter(({ doiPublishedTime }) => doiPublishedTime === null).length;
    const total = (await sample.all('observations')).length;
    expect(nulls).toBeGreaterThan(0);
    expect(await countOf('doiPublishedTime__contains=')).toBe(total - nulls);
    expect(await countOf('doiPublishedTime__contains!=')).toBe(nulls);
  });

  assumption('A41', 'takes false, 0 and the empty text for false, and all else for true', async () => {
    const yes = await countOf('nonGeographicFlag=true');
    const no = await countOf('nonGeographicFlag=false');
    for (const value of ['True', '1', 'yes']) expect(await countOf(`nonGeographicFlag=${value}`), value).toBe(yes);
    for (const value of ['FALSE', '0', '']) expect(await countOf(`nonGeographicFlag=${value}`), value).toBe(no);
  });
});

describe('order, after and facets', () => {
  assumption('A64, A65', 'orders by several fields, and names the unknown ones', async () => {
    const all = await sample.all('observations');
    const { results } = await sample.page(`${LIST}?ordering=uuid,-title&limit=1000`);
    const uuids = all.map(({ uuid }) => String(uuid)).sort();
    expect(results.map(({ uuid }) => uuid)).toEqual(uuids);
    expect(await ignoredIn('ordering=foo,uuid')).toBe('ordering=foo');
  });

  assumption('A65', 'puts nulls last ascending and first descending', async () => {
    const times = async (order: string): Promise<unknown[]> => {
      const { results } = await sample.page(`${LIST}?ordering=${order}&limit=1000`);
      return results.map(({ doiPublishedTime }) => doiPublishedTime);
    };
    expect((await times('doiPublishedTime')).at(-1)).toBeNull();
    expect((await times('-doiPublishedTime'))[0]).toBeNull();
  });

  assumption('A66', 'walks by after with the count of the filter, and previous null', async () => {
    const first = await sample.page(`${LIST}?after=0&limit=100&status=completed`);
    let [next, seen] = [first.next, first.results.length];
    while (next !== null) {
      const page = await sample.page(next.slice(BASE_URL.length));
      expect([page.count, page.previous]).toEqual([first.count, null]);
      seen += page.results.length;
      next = page.next;
    }
    expect(seen).toBe(first.count);
  });

  assumption('A66', 'refuses after with ordering or offset', async () => {
    for (const other of ['ordering=uuid', 'offset=0']) {
      const { status, body } = await sample.get(`${LIST}?after=1&${other}`);
      expect([status, Object.keys(JSON.parse(body) as object)]).toEqual([400, ['after']]);
    }
  });

  assumption('A67', 'counts each value of a facet as a filter on it does', async () => {
    const { body } = await sample.get(`${LIST}?limit=1&facets=status`);
    const page = JSON.parse(body) as { count: number; facets: { status: Record<string, number> } };
    expect(Object.keys(page)).toEqual(['count', 'next', 'previous', 'results', 'facets']);
    const counts = Object.entries(page.facets.status);
    expect(counts.reduce((sum, [, count]) => sum + count, 0)).toBe(page.count);
    for (const [value, count] of counts) expect(await countOf(`status=${value}`), value).toBe(count);
    expect((await sample.get(`${LIST}?facets=foo`)).status).toBe(400);
  });
});
