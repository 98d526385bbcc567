// The pages of lists, for URLs with any parameters: they stay bounded, and the API request that a page names gives the
// list that it shows.
import { parseHTML } from 'linkedom';
import { describe, expect, test } from 'vitest';
import { topLevelKeys } from '../../../../../engine/column/records.ts';
import { PARAMETERS } from '../../../../../engine/query/parameters.ts';
import { COLLECTIONS } from '../../../../../engine/schema/catalogue.ts';
import { type Pair, withoutFilters } from '../../../../../server/pages/browse/address.ts';
import { html, utf8Of } from '../../../../../server/pages/browse/template.ts';
import { steadyMs } from '../../../../../server/observe/clock.ts';
import { SLICED_RUNNING_MAX, Slices } from '../../../../../workers/slices.ts';
import {
  BROWSER,
  browserOf,
  headerOf,
  hrefsOf,
  idsOf,
  pageOf,
  textOf,
  textsOf,
} from '../../../../support/htmlPages.ts';
import { collectionOf } from '../../../../support/records.ts';
import { STAYING } from '../../../../support/requests.ts';
import { BASE_URL, handlerWith, NEVER_HEAVY } from '../../../../support/smallCatalogue.ts';

const LIST = '/browse/observations/';
const RECORDS = Array.from(
  { length: 120 },
  (_, i) =>
    `{"ob_id":${i + 1},"uuid":"u${i}","title":"t${i}","abstract":"${`a${i} `.repeat(100)}","language":"l${i}",` +
    `"keywords":"k${i}","status":${i % 3 === 0 ? 'null' : '"completed"'},"dataPublishedTime":"2020-01-02T10:00:00"}`,
);
const collections = new Map(
  COLLECTIONS.map(({ name }) => [name, collectionOf(name, name === 'observations' ? RECORDS : [], BASE_URL)]),
);
const browserWith = (slices: Slices): ReturnType<typeof browserOf> =>
  browserOf(handlerWith(NEVER_HEAVY, {}, (name) => collections.get(name)!, { slices }));
const { asked, pageAt } = browserWith(new Slices(steadyMs));
/** The same with other observations, or with other settings. */
const smallBrowser = (
  records: readonly string[],
  settings: Parameters<typeof handlerWith>[1] = {},
): ReturnType<typeof browserOf> => {
  const small = collectionOf('observations', records, BASE_URL);
  return browserOf(
    handlerWith(NEVER_HEAVY, settings, (name) => (name === 'observations' ? small : collections.get(name)!)),
  );
};

describe('the rows of a page', () => {
  test.each(['format=csv', '%66ormat=ndjson&limit=1100', 'format=parquet'])(
    'are at most 100 with %s, as many as its API request has',
    async (query) => {
      const page = await pageAt(`${LIST}?${query}`);
      expect(textsOf(page, 'tbody th')).toHaveLength(100);
      const limit = query.includes('limit') ? '?limit=100' : '';
      expect(textsOf(page, '.snippet pre')[0]).toBe(`${BASE_URL}/api/v3/observations/${limit}`);
    },
  );

  test('are as many as its API request has, whatever limit is given', async () => {
    for (const query of ['limit=1000&strict=1', 'limit=%2B1000']) {
      const page = await pageAt(`${LIST}?${query}`);
      expect(textsOf(page, '.range')).toEqual(['1 to 100 of 120']);
      const [address = '', curl, python] = textsOf(page, '.snippet pre');
      expect(address).toContain('limit=100');
      for (const text of [address, curl, python, ...hrefsOf(page, 'a')]) expect(text).not.toContain('1000');
    }
  });
});

test('names each row by its title or id and links to its record, however long its values', async () => {
  const ids = Array.from({ length: 100 }, (_, i) => `${1000 + i}`);
  const [long, short] = ['x'.repeat(2000), 'x'.repeat(20)];
  const records = ids.map(
    (id) =>
      `{"ob_id":${id},"title":"${long}","abstract":"${long}","dataLineage":"${long}","keywords":"${short}","language":"${short}"}`,
  );
  const browser = smallBrowser(records);
  for (const [keys, name] of [
    ['', undefined],
    ['title,', `${long.slice(0, 240)}…`],
  ] as const) {
    const page = await browser.pageAt(`${LIST}?fields=${keys}abstract,dataLineage,keywords,language`);
    expect(textsOf(page, 'tbody th')).toEqual(ids.map((id) => name ?? id));
    expect(hrefsOf(page, 'tbody th a')).toEqual(ids.map((id) => `../../browse/observations/${id}/`));
    expect(textsOf(page, 'tbody tr:last-child td').slice(-3)).toEqual(['…', '…', '…']);
  }
});

test('offers as columns those that a request may have', async () => {
  const small = collectionOf('observations', ['{"ob_id":1,"title":"t","a,b":1," c":2,"d ":3,"":4,"e f":5}'], BASE_URL);
  const keyed = { ...small, keys: topLevelKeys(small.keys.fields, small.records.outlines) };
  const browser = browserOf(handlerWith(NEVER_HEAVY, {}, () => keyed));
  const choices = [...(await browser.pageAt(LIST)).querySelectorAll('.choice input[type=checkbox]')];
  const keys = choices.map((choice) => choice.getAttribute('value'));
  expect(keys).toEqual(expect.arrayContaining(['title', 'e f']));
  expect(keys.filter((key) => ['a,b', ' c', 'd ', ''].includes(key))).toEqual([]);
});

test('shows wide characters of values, titles and the page itself, and makes no text of a page wide', async () => {
  const title = 'Čas – \u{1F30D} <b>&"\'é\u202e end';
  const record = JSON.stringify({ ob_id: 1, title, abstract: 'Ā'.repeat(1000), keywords: 'plain & "é"' });
  const wide = browserOf(
    handlerWith(NEVER_HEAVY, {}, (name) => collectionOf(name, name === 'observations' ? [record] : [], BASE_URL)),
  );
  const query = `title__startswith=${encodeURIComponent('Čas')}&fields=title,abstract,keywords`;
  for (const [url, at] of [
    [`${LIST}?${query}`, 'tbody th'],
    [`${LIST}1/`, 'dd'],
  ] as const) {
    const answer = await wide.asked(url, { headers: BROWSER });
    expect(textsOf(pageOf(answer), at)).toContain(title);
    expect(textsOf(pageOf(answer), 'title')[0]).toContain(' – ');
  }
  const markup = html`<p title="${title}">${[['é', [title]], html`<b>${title}</b>`]}</p>`;
  expect(markup.toString()).toMatch(/^[\0-\xff]*$/);
  const page = parseHTML(utf8Of(markup).toString()).document;
  expect(textsOf(page, 'p')).toEqual([`é${title}${title}`]);
  expect(page.querySelector('p')?.getAttribute('title')).toBe(title);
});

describe('pages next to other work of the thread', () => {
  test('are 503 with Retry-After if too much waits', async () => {
    const slices = new Slices(steadyMs);
    slices.run = () => Promise.resolve('busy');
    for (const url of ['/browse/', LIST, `${LIST}1/`]) {
      const answer = await browserWith(slices).asked(url);
      expect([answer.status, headerOf(answer, 'Retry-After')]).toEqual([503, '1']);
      expect(textsOf(pageOf(answer), 'h1')).toEqual(['Too busy at the moment']);
    }
  });

  test('are made although all other work that may run does not end', async () => {
    const slices = new Slices(steadyMs);
    let isOver = false;
    const works = Array.from({ length: SLICED_RUNNING_MAX }, () =>
      slices.run('exports', () => isOver || undefined, STAYING),
    );
    const browser = browserWith(slices);
    const answers = await Promise.all(['/browse/', LIST, `${LIST}1/`].map((url) => browser.asked(url)));
    isOver = true;
    await Promise.all(works);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  test('are compressed like all other responses, counted as sliced work', async () => {
    const slices = new Slices(steadyMs);
    let spent = 0;
    slices.spend = () => void spent++;
    const answer = await browserWith(slices).asked(LIST, { headers: { ...BROWSER, 'accept-encoding': 'gzip' } });
    expect([headerOf(answer, 'Content-Encoding'), spent]).toEqual(['gzip', 1]);
  });
});

test('shows a list whose counts alone are too much for the thread without them while the pool is full', async () => {
  const values = '"status":"completed","publicationState":"citable","updateFrequency":"daily"';
  const records = Array.from({ length: 2000 }, (_, i) => `{"ob_id":${i + 1},"title":"a",${values}}`);
  const many = collectionOf('observations', records, BASE_URL);
  const full = browserOf(
    handlerWith(
      () => Promise.resolve('busy'),
      {},
      () => many,
    ),
  );
  const answer = await full.asked(`${LIST}?title=a&limit=2`);
  expect([answer.etag, headerOf(answer, 'Cache-Control')]).toEqual([undefined, 'no-store']);
  const page = pageOf(answer);
  expect(textsOf(page, '.range')).toEqual(['1 to 2 of 2,000']);
  expect(textsOf(page, '.filters .note')).toEqual([expect.stringContaining('Counts by value are missing')]);
  expect((await full.asked(`${LIST}?title=a&limit=2&facets=status,title,updateFrequency`)).status).toBe(503);
});

test('does not repeat a list that took too long without counts', async () => {
  const values = '"status":"completed","publicationState":"citable","updateFrequency":"daily"';
  const records = Array.from({ length: 2000 }, (_, i) => `{"ob_id":${i + 1},"title":"a",${values}}`);
  const many = collectionOf('observations', records, BASE_URL);
  let times = 0;
  const overtime = (): Promise<'overtime'> => {
    times++;
    return Promise.resolve('overtime');
  };
  const slow = browserOf(handlerWith(overtime, {}, () => many));
  const answer = await slow.asked(`${LIST}?title=a&limit=2`);
  expect([answer.status, textsOf(pageOf(answer), 'h1'), times]).toEqual([503, ['This took too long'], 1]);
});

describe('the active filters of a list', () => {
  test('are shown for each value of a repeated filter, and removed one by one', async () => {
    const page = await pageAt(`${LIST}?title__icontains=t1&title__icontains=2&title__icontains=0`);
    expect(textsOf(page, '.chips li > span')).toEqual(['Title contains t1', 'Title contains 2', 'Title contains 0']);
    expect(textsOf(page, '.total strong')).toEqual(['1 of 120']);
    expect(hrefsOf(page, '.chips a')[1]).toBe('?title__icontains=t1&title__icontains=0');
    expect(textsOf(page, '.snippet pre')[0]).toMatch(/\?title__icontains=t1&title__icontains=2&title__icontains=0$/);
  });

  test('include every part of a joined list, but no value that a later one replaces', async () => {
    const page = await pageAt(`${LIST}?ob_id__in=5&after=9&nonsense=1&ob_id__in=3,4&after=3`);
    expect(textsOf(page, '.chips li > span')).toEqual(['Id is 5', 'Id is 3 or 4', 'Id is greater than 3']);
    expect(textsOf(page, '.summary .note code')).toEqual(['after', 'nonsense']);
    expect(textsOf(page, 'tbody tr')).toHaveLength(2);
  });

  test.each([
    ['title=a&title__exact=t1&status=completed', '?'],
    [
      'title=t1&status=completed&limit=5&nonsense=1&offset=2&ordering=title&facets=status',
      '?limit=5&ordering=title&facets=status',
    ],
  ])('are all removed by one link: %s leads to %s', async (query, location) => {
    expect(hrefsOf(await pageAt(`${LIST}?${query}`), '.chips .clear a')).toEqual([location]);
  });

  test.each([
    [false, ['fields=a']],
    [true, ['generation=g', 'fields=a']],
  ])('are all removed by one link, also by names of parameters if they have an effect: %s', (pinsWalks, left) => {
    const pairs = ['generation=g', 'fields=a', 'format__exact=b', 'title!=c'].map((text) => text.split('='));
    const options = { limitDefault: 1, limitMax: 1, isStrict: false, filterErrors: 'fail', filters: 'all' } as const;
    const rest = withoutFilters(pairs as unknown as readonly Pair[], { ...options, pinsWalks });
    expect(rest.map((pair) => pair.join('='))).toEqual(left);
  });

  test('are not blamed if a collection has no records', async () => {
    expect(textsOf(await pageAt('/browse/times/'), '.nothing')).toEqual(['This collection has no records.']);
    const page = await pageAt(`${LIST}?title=a`);
    expect(textsOf(page, '.nothing p')).toEqual(['No record matches all of this.']);
  });
});

test('shows in the title of a list from an id on where it starts', async () => {
  const page = await pageAt(`${LIST}?after=5&limit=10`);
  expect(textsOf(page, 'title')).toEqual(['Observations: 120 records, from 6 – Catalogue']);
});

test.each(
  // Parameters without an example get a field.
  PARAMETERS.filter(({ setting }) => setting === undefined).map(
    ({ name, example = 'ob_id' }) => `${name}=${String(example)}`,
  ),
)('offers with %s all links to data in strict mode', async (parameter) => {
  const page = await pageAt(`${LIST}?${[...new Set([parameter, 'strict=1'])].join('&')}`);
  const hrefs = hrefsOf(page, '.data a');
  expect(hrefs).toHaveLength(4);
  for (const href of hrefs) expect([href, (await asked(href.replace('../..', ''))).status]).toEqual([href, 200]);
});

test.each([
  [undefined, ['10', '25', '50', '100']],
  [50, ['10', '25', '50']],
  [20, ['10', '20']],
  [5, ['5']],
])(
  'offers with at most %s records a page the sizes %j, of which the last is that of the list',
  async (limitMax, sizes) => {
    const page = await smallBrowser(RECORDS, { limitMax }).pageAt(LIST);
    expect(textsOf(page, '.sizes li')).toEqual(sizes);
    expect(textsOf(page, '.sizes [aria-current]')).toEqual(sizes.slice(-1));
  },
);

describe('the size of a page', () => {
  const FACETS = 'facets=title,uuid,keywords,abstract,language,ob_id';
  const utf8Of = async (query: string): Promise<number> => (await asked(`${LIST}?${query}`)).body.bytes;

  test('is bounded for an endless query, which is repeated a few times only', async () => {
    const short = await utf8Of(`limit=1&${FACETS}`);
    for (const query of [`limit=1&${FACETS}&x=`, 'title__in=', `ordering=titel&strict=1&x=`]) {
      expect(await utf8Of(query + 'x'.repeat(20_000))).toBeLessThan(short + 20_000 * 15);
    }
  });

  test.each([
    ['apostrophes without end', `x=${"'".repeat(60_000)}`, '%27'.repeat(1000), 'is too long'],
    [
      'values',
      `title__in=t0,t1,t2,${Array.from({ length: 1000 }, (_, i) => `some${i}`).join(',')}`,
      '%2Csome500%2C',
      'is too long',
    ],
    ['problems', `strict=1&ordering=titel&x=${"'".repeat(60_000)}`, '%27'.repeat(1000), undefined],
    ['parameters', Array.from({ length: 1000 }, (_, i) => `p${i}=1`).join('&'), 'p500=1', 'is too long'],
    ['short parameters', Array.from({ length: 101 }, (_, i) => `p${i}=1`).join('&'), 'p50=1', 'is too long'],
  ])('is bounded for a query of many %s, which it contains at most once', async (_, query, part, why) => {
    const [plain, answer] = [await asked(`${LIST}?limit=3`), await asked(`${LIST}?limit=3&${query}`)];
    const text = textOf(answer);
    const isRefused = why === undefined;
    expect(answer.body.bytes).toBeLessThan(plain.body.bytes + 60_000 * 3 + 20_000);
    const [first, last] = [text.indexOf(part), text.lastIndexOf(part)];
    if (isRefused) return expect([answer.status, first]).toEqual([400, -1]);
    // A run of apostrophes contains its part at every place, but within a single text.
    expect(text.slice(first, last)).not.toContain('<');
    const page = pageOf(answer);
    expect(idsOf(page)).toEqual(['1', '2', '3']);
    expect(textsOf(page, '.range')[0]).toMatch(/^1 to 3 of /);
    expect(textsOf(page, '.snippet h2')).toEqual(['Address']);
    expect(textsOf(page, '.snippet pre')[0]).toContain(part);
    expect(textsOf(page, '.filters .note')).toEqual([expect.stringContaining(`${why} for choices`)]);
    expect(textsOf(page, '.filters .note')[0]).toContain('links to other pages and to data');
    expect(page.querySelectorAll('.data, .pages, main form, thead a')).toHaveLength(0);
  });

  test('has all links and choices for as many parameters as it repeats', async () => {
    const query = Array.from({ length: 100 }, (_, i) => `p${i}`).join('&');
    const page = await pageAt(`${LIST}?${query}`);
    expect(hrefsOf(page, '.data a')).toHaveLength(4);
    expect(page.querySelectorAll('.pages a, main form')).not.toHaveLength(0);
    expect(textsOf(page, '.snippet h2')).toEqual(['Address', 'curl', 'Python']);
    expect(textsOf(page, '.filters .note')).toEqual([]);
  });

  test('is bounded for endless values of facets, few of which are filters of one click', async () => {
    const page = await pageAt(`${LIST}?limit=1&facets=abstract`);
    expect(textsOf(page, '.facet li')).toHaveLength(10);
    expect(textsOf(page, '.facet li')[0]!.length).toBeLessThan(140);
    expect(hrefsOf(page, '.facet a')).toEqual([]);
  });

  test('leaves a list of many ids its rows, its links and its data, and removes the list by a link', async () => {
    const ids = Array.from({ length: 500 }, (_, i) => i + 2).join(',');
    const page = await pageAt(`${LIST}?ob_id__in=${ids}&limit=10`);
    expect(idsOf(page)).toEqual(['2', '3', '4', '5', '6', '7', '8', '9', '10', '11']);
    expect(textsOf(page, '.range')).toEqual(['1 to 10 of 119']);
    expect(hrefsOf(page, '.chips a')).toEqual(['?limit=10']);
    const [next = ''] = hrefsOf(page, '.pages [rel=next]');
    expect(textsOf(await pageAt(LIST + next), '.range')).toEqual(['11 to 20 of 119']);
    expect(page.querySelectorAll('main form, .facet, thead a')).toHaveLength(0);
    expect(textsOf(page, '.filters .note')[0]).toContain('too long');
  });
});

describe('a facet of a list', () => {
  const hrefAt = async (query: string, label: string): Promise<string | null | undefined> => {
    const links = [...(await pageAt(`${LIST}?${query}`)).querySelectorAll('.facet a')];
    return links.find(({ textContent }) => textContent === label)?.getAttribute('href');
  };

  test('adds a value to the chosen one if a list can have both, and removes a chosen one', async () => {
    const query = 'title__icontains=t&facets=status';
    const [none, one] = [`${query}&status__isnull=true`, `${query}&status=completed`];
    expect(await hrefAt(query, 'none')).toBe('?title__icontains=t&facets=status&status__isnull=true');
    expect(await hrefAt(one, 'completed')).toBe('?title__icontains=t&facets=status');
    expect(await hrefAt(none, 'none')).toBe('?title__icontains=t&facets=status');
    expect(await hrefAt('facets=title&status__isnull=true&title=t0', 't0')).toBe('?facets=title&status__isnull=true');
    expect(await hrefAt('facets=status&status__isnull=false', 'completed')).toBe('?facets=status&status=completed');
  });
});

test('makes no link of a facet value that no filter can name, and links each other to as many records as it counts', async () => {
  const titles = [' a', 'b ', '\ufeffc', ' ', 'd\0', 'e\nf', 'g\u0001', 'h i', '', 'h i', 'j,k+l%41'];
  const small = smallBrowser(titles.map((title, i) => JSON.stringify({ ob_id: i + 1, title })));
  const values = [...(await small.pageAt(`${LIST}?facets=title`)).querySelectorAll('.facet li')];
  expect(values).toHaveLength(titles.length - 1);
  const links = values.filter((value) => value.querySelector('a'));
  expect(links).toHaveLength(5);
  for (const link of links) {
    const page = await small.pageAt(LIST + link.querySelector('a')!.getAttribute('href')!);
    expect(textsOf(page, 'tbody th')).toHaveLength(Number(link.querySelector('.count')!.textContent));
  }
});

test('adds values of related records to the chosen ones, and counts at most as many if other filters narrow them', async () => {
  const categories = [['public', 'registered'], ['public'], ['registered'], ['restricted']];
  const records = categories.map((values, i) => ({
    ob_id: i + 1,
    permissions: values.map((accessCategory, j) => ({ ob_id: 10 * i + j, accessCategory, label: 'a' })),
  }));
  const small = smallBrowser(records.map((record) => JSON.stringify(record)));
  const facet = 'facets=permissions__accessCategory';
  const choices = async (query: string): Promise<unknown> =>
    [...(await small.pageAt(`${LIST}?${query}${facet}`)).querySelectorAll('.facet li')].map((item) => [
      item.textContent.replaceAll(/\s+/g, ' ').trim(),
      item.querySelector('a')?.getAttribute('href'),
    ]);
  const link = (value: string): string => `?${facet}&permissions__accessCategory=${value}`;
  const inLink = (...values: readonly string[]): string =>
    `?${facet}&permissions__accessCategory__in=${values.join('%2C')}`;
  const all = ['public 2', 'registered 2', 'restricted 1'];
  const links = ['public', 'registered', 'restricted'].map(link);
  expect(await choices('')).toEqual(all.map((text, i) => [text, links[i]]));
  expect(await choices('permissions__accessCategory=public&')).toEqual([
    [all[0], `?${facet}`],
    [all[1], inLink('public', 'registered')],
    [all[2], inLink('public', 'restricted')],
  ]);
  expect(await choices('permissions__accessCategory__in=public,registered&')).toEqual([
    [all[0], link('registered')],
    [all[1], link('public')],
    [all[2], inLink('public', 'registered', 'restricted')],
  ]);
  expect(await choices('permissions__label=b&')).toEqual([]);
  expect(await choices('permissions__label=a&')).toEqual(
    ['public ≤ 2', 'registered ≤ 2', 'restricted ≤ 1'].map((text, i) => [
      text,
      `?permissions__label=a&${links[i]!.slice(1)}`,
    ]),
  );
  // A negated filter also matches records without the value, and these count.
  expect(await choices('permissions__label!=b&')).toEqual(
    all.map((text, i) => [text, `?permissions__label%21=b&${links[i]!.slice(1)}`]),
  );
});

describe('a suggestion for a misspelt parameter', () => {
  test.each([
    ['ordering=titel', '?ordering=title&strict=1', '?strict=1'],
    ['ordering=-titel,ob_id', '?ordering=-title%2Cob_id&strict=1', '?strict=1'],
    ['fields=uuid,titel,statsu', '?fields=uuid%2Ctitle%2Cstatus&strict=1', '?strict=1'],
    ['facets=titel', '?facets=title&strict=1', '?strict=1'],
    ['titel=a&facets=status', '?title=a&facets=status&strict=1', '?facets=status&strict=1'],
    ['status__isnul!=1', '?status__isnull%21=1&strict=1', '?strict=1'],
  ])('leads from %s to %s', async (query, meant, without) => {
    const page = await pageAt(`${LIST}?${query}&strict=1`);
    expect(hrefsOf(page, '.problems a')).toEqual([meant, without]);
    expect((await asked(LIST + meant)).status).toBe(200);
  });
});
