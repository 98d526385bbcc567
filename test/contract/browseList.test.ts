// The pages of lists, over the embedded sample: the form for words, period and place, facets, and what an empty list
// offers. Every link to a list with a count leads to as many records.
import { parseHTML } from 'linkedom';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientOf } from '../support/client.ts';
import { runServer, type Server } from '../support/commandProcess.ts';
import { hrefsOf, idsOf, type Page, textsOf } from '../support/htmlPages.ts';
import { sampleSnapshot } from '../support/sampleSnapshot.ts';

const LIST = '/browse/observations/';
const HTML = { accept: 'text/html' };
const ICELAND = 'search=soil%20moisture&datetime=2003-01-01%2F2003-12-31&bbox=-25%2C60%2C-10%2C68';
const SOME = 12;

describe('the page of a list', () => {
  let server: Server;
  let client: ReturnType<typeof clientOf>;
  beforeAll(async () => {
    server = await runServer(['--data', await sampleSnapshot(), '--threads', '1']);
    client = clientOf(server.url);
  });
  afterAll(async () => {
    client.close();
    await server.stop();
  });

  const pageAt = async (query: string, list = LIST): Promise<Page> => {
    const { status, body } = await client.get(`${list}${query}`, HTML);
    expect([query, status]).toEqual([query, 200]);
    return parseHTML(body).document;
  };
  const countOf = (page: Page): number => Number(textsOf(page, '.total strong')[0]!.split(' ')[0]!.replace(',', ''));
  /** The values of a facet with their counts and links. */
  const facetOf = (page: Page, title: string): readonly (readonly [text: string, count: number, href: string])[] => {
    const facet = [...page.querySelectorAll('.facet')].find((one) => one.querySelector('h2')?.textContent === title)!;
    return [...facet.querySelectorAll('li')].map((item) => [
      item.querySelector('bdi')!.textContent,
      Number(item.querySelector('.count')?.textContent),
      item.querySelector('a')!.getAttribute('href')!,
    ]);
  };

  test.each([
    ['search=+soil+moisture+&start=2003&end=2003&west=-25&south=60&east=-10&north=68', ICELAND],
    ['start=2003-02&end=2004-02', 'datetime=2003-02-01%2F2004-02-29'],
    ['start=2003-05-01T10:00:00&end=', 'datetime=2003-05-01T10%3A00%3A00%2F..'],
    ['start=&end=1999', 'datetime=..%2F1999-12-31'],
    ['west=&south=60&east=&north=', 'bbox=-180%2C60%2C180%2C90'],
    ['search=&start=&end=&west=&south=&east=&north=', ''],
    ['search=ice', 'datetime=2001-01-01%2F..&search=ice', 'datetime=2001-01-01%2F..'],
    ['start=&end=&search=ice', 'search=ice', 'datetime=2001-01-01%2F..'],
  ])('combines the fields of its form: %s becomes %s', async (fields, query, before = '') => {
    const own = fields.split('&').map((field) => `browse.${field}`);
    const { status, headers } = await client.get(`${LIST}?${[before, ...own].filter(Boolean).join('&')}`, HTML);
    expect([status, headers['location']]).toEqual([303, `?${query}`]);
  });

  test('shows the fields of its form filled in, also if one of them is refused', async () => {
    const wrong = await client.get(`${LIST}?${ICELAND.replace('2003-12-31', 'soon')}`, HTML);
    expect(wrong.status).toBe(400);
    for (const [page, end] of [
      [await pageAt(`?${ICELAND}`), '2003-12-31'],
      [parseHTML(wrong.body).document, 'soon'],
    ] as const) {
      const values = [...page.querySelectorAll('main .find input:not([type=hidden])')].map((one) =>
        one.getAttribute('value'),
      );
      expect(values).toEqual(['soil moisture', '2003-01-01', end, '-25', '60', '-10', '68']);
    }
  });

  test('marks the words of a search in titles, and shows period, place and phenomena in words', async () => {
    const page = await pageAt(`?${ICELAND}`);
    expect([countOf(page), textsOf(page, 'thead th')]).toEqual([
      8,
      ['Title', 'Period', 'Area', 'Phenomena', 'Data published'],
    ]);
    expect(new Set(textsOf(page, 'tbody th:first-child mark'))).toEqual(new Set(['soil', 'moisture']));
    expect(textsOf(page, 'tbody tr:first-child td').slice(0, 2)).toEqual(['2003-05-01 to 2003-09-28', 'Iceland']);
    expect(page.querySelector('.map .box')!.getAttribute('d')!.split('M').length).toBeGreaterThan(2);
    const folded = await pageAt('?search=ANGSTROM');
    expect(textsOf(folded, 'tbody mark')).toContain('Ångström');
  });

  test('offers the form to collections with the parameters only', async () => {
    const fields = async (name: string): Promise<number> =>
      (await pageAt('', `/browse/${name}/`)).querySelectorAll('main .find input').length;
    expect(
      await Promise.all(['observations', 'times', 'bboxes', 'projects', 'migrationproperties'].map(fields)),
    ).toEqual([7, 2, 5, 1, 0]);
  });

  test('counts the values of facets by name, and links each to as many records', async () => {
    const page = await pageAt('?limit=1');
    const titles = textsOf(page, '.facet h2');
    expect(titles.slice(0, 5)).toEqual(['Start year', 'Phenomena', 'Projects', 'Instrument', 'Platform']);
    for (const title of titles.slice(1)) {
      for (const [text, count, href] of facetOf(page, title).slice(0, 3)) {
        expect(text).not.toMatch(/^\d*$/);
        expect([href, countOf(await pageAt(href))]).toEqual([href, count]);
      }
    }
    for (const bar of [...page.querySelectorAll('.years a')].slice(0, SOME)) {
      const count = Number(bar.querySelector('title')!.textContent.split(': ')[1]);
      expect(countOf(await pageAt(bar.getAttribute('href')))).toBe(count);
    }
  });

  test('keeps the other values of a facet, adds them, and removes them again', async () => {
    const start = await pageAt('?search=ice&limit=1');
    const [first, second] = facetOf(start, 'Projects');
    const one = await pageAt(first![2]);
    // The first values of the same facet have the same counts, however the list is narrowed by one of them.
    expect(facetOf(one, 'Projects').map(([text, count]) => [text, count])).toEqual(
      facetOf(start, 'Projects').map(([text, count]) => [text, count]),
    );
    const two = await pageAt(facetOf(one, 'Projects').find(([text]) => text === second![0])![2]);
    expect(textsOf(two, '.facet [aria-current]')).toEqual([first![0], second![0]]);
    expect([countOf(two), countOf(await pageAt('?search=ice&limit=1'))]).toEqual([
      expect.toSatisfy((count: number) => count > first![1] && count <= first![1] + second![1]),
      countOf(start),
    ]);
    const back = await pageAt(facetOf(two, 'Projects')[0]![2]);
    expect([textsOf(back, '.facet [aria-current]'), countOf(back)]).toEqual([[second![0]], second![1]]);
    expect(facetOf(back, 'Projects').find(([text]) => text === second![0])![2]).toBe('?search=ice&limit=1');
  });

  test('extends years to a bar, narrows them to one, and removes them', async () => {
    const bars = async (query: string): Promise<readonly string[]> => hrefsOf(await pageAt(query), '.years a');
    const [first = '', , third = ''] = await bars('?limit=1');
    const [, middle = '', last = ''] = await bars(first);
    expect([first, third, last].map((href) => decodeURIComponent(href).match(/\d{4}(?=-)/g))).toEqual([
      ['1960', '1964'],
      ['1970', '1974'],
      ['1960', '1974'],
    ]);
    expect(await pageAt(last).then((page) => page.querySelectorAll('.years [aria-current]').length)).toBe(3);
    expect((await bars(last))[1]).toBe((await bars('?limit=1'))[1]);
    expect((await bars(first))[0]).toBe('?limit=1');
    expect(middle).toContain('1960');
  });

  test.each([
    ['?search=soil%20moisturre&bbox=-25,60,-10,68', ['moisturre', 'soil moisturre']],
    ['?projects=176&datetime=1800-01-01/1801-01-01&title__contains=a', ['1800-01-01/1801-01-01']],
  ])('offers the queries with one condition less that find records: %s', async (query, parts) => {
    const page = await pageAt(query);
    const links = textsOf(page, '.nothing a');
    expect(new Set(links.map((text) => parts.filter((part) => text.includes(part)).at(-1)))).toEqual(new Set(parts));
    for (const item of page.querySelectorAll('.nothing li')) {
      const count = parseInt(item.querySelector('.count')!.textContent, 10);
      expect(countOf(await pageAt(item.querySelector('a')!.getAttribute('href')))).toBe(count);
    }
  });

  test('has at most 20 kB with gzip', async () => {
    for (const query of ['', `?${ICELAND}`, '?search=soil%20moisture', '?status=completed&projects=176']) {
      const { headers } = await client.get(`${LIST}${query}`, { ...HTML, 'accept-encoding': 'gzip' });
      expect([query, Number(headers['content-length'])]).toEqual([query, expect.toSatisfy((bytes) => bytes < 20_000)]);
    }
  });

  test('has places to skip to, filters before the records, and pages above and below', async () => {
    const page = await pageAt('');
    expect(hrefsOf(page, 'main .skip')).toEqual(['#filters', '#results']);
    const order = [...page.querySelectorAll('#filters, #results, .pages, table')].map((one) => one.id || one.tagName);
    expect(order).toEqual(['filters', 'results', 'NAV', 'TABLE', 'NAV']);
    expect(idsOf(page)).toHaveLength(100);
  });
});
