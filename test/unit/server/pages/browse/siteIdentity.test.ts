// The name, contact and licence of a site, and what pages say about themselves to search engines.
import { describe, expect, test } from 'vitest';
import { browseRecords, type Page, textsOf } from '../../../../support/htmlPages.ts';
import { BASE_URL } from '../../../../support/smallCatalogue.ts';

const RECORDS = { observations: [{ ob_id: 7, title: 'Ice', abstract: `Sea ice.\n\n${'Long text. '.repeat(200)}` }] };
const LICENCE = 'https://creativecommons.org/licenses/by/4.0/';
const NAMED = { siteName: 'Polar "Archive"', siteContact: 'help@example.org', siteLicence: LICENCE };

const named = browseRecords(RECORDS, undefined, NAMED);
const plain = browseRecords(RECORDS);

const contentOf = (page: Page, name: string): string | null | undefined =>
  page.querySelector(`meta[name="${name}"], meta[property="${name}"]`)?.getAttribute('content');

test.each(['/browse/', '/browse/observations/', '/browse/observations/7/', '/browse/nothing/'])(
  'names the site on %s, with its contact and licence',
  async (url) => {
    const { page } = await named(url);
    expect(textsOf(page, '.brand')).toEqual([NAMED.siteName]);
    expect(page.title.endsWith(NAMED.siteName)).toBe(true);
    expect(contentOf(page, 'application-name')).toBe(NAMED.siteName);
    const links = [...page.querySelectorAll('.foot a')].map((link) => [link.getAttribute('href'), link.textContent]);
    expect(links).toEqual([
      ['mailto:help@example.org', 'help@example.org'],
      [LICENCE, 'CC BY 4.0'],
    ]);
  },
);

test('says nothing of contact and licence without the settings', async () => {
  const { page } = await plain('/browse/');
  expect(textsOf(page, '.brand, h1')).toEqual(['Catalogue', 'Catalogue']);
  expect(page.querySelectorAll('.foot a, link[rel=license]')).toHaveLength(0);
});

test.each([
  ['https://example.org/help', 'https://example.org/help'],
  ['help@example.org', 'mailto:help@example.org'],
])('links the contact %s', async (siteContact, href) => {
  const { page } = await browseRecords(RECORDS, undefined, { siteContact })('/browse/');
  expect(page.querySelector('.foot a')?.getAttribute('href')).toBe(href);
});

test.each([
  ['https://creativecommons.org/publicdomain/zero/1.0/', 'CC0 1.0'],
  ['https://licences.example.org/open/', 'licences.example.org/open'],
])('shows the licence %s as %s', async (siteLicence, name) => {
  const { page } = await browseRecords(RECORDS, undefined, { siteLicence })('/browse/');
  expect(textsOf(page, '.foot a')).toEqual([name]);
});

describe('the head of a page', () => {
  test.each(['browse/', 'browse/observations/', 'browse/observations/7/'])('names the address of %s', async (path) => {
    const { page } = await named(`/${path}`);
    expect(page.querySelector('link[rel=canonical]')?.getAttribute('href')).toBe(`${BASE_URL}/${path}`);
    expect(contentOf(page, 'og:url')).toBe(`${BASE_URL}/${path}`);
    expect(contentOf(page, 'og:site_name')).toBe(NAMED.siteName);
    expect(contentOf(page, 'og:title')).toBeTruthy();
    expect(contentOf(page, 'description')).toBe(contentOf(page, 'og:description'));
    expect(page.querySelector('head link[rel=license]')?.getAttribute('href')).toBe(LICENCE);
  });

  test('describes a record by the start of its abstract, on one line', async () => {
    const description = contentOf((await named('/browse/observations/7/')).page, 'description')!;
    expect(description).toMatch(/^Sea ice\. Long text\..*…$/);
    expect(description.length).toBeLessThanOrEqual(301);
  });

  test('has no canonical address with a query or an error', async () => {
    for (const url of ['/browse/observations/?limit=1', '/browse/nothing/', '/browse/observations/8/']) {
      expect((await named(url)).page.querySelector('link[rel=canonical]'), url).toBeNull();
    }
  });
});
