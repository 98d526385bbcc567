// The pages at /docs/ in a browser: an index without scripts, and Swagger UI, in which Chromium shows the operations of
// every collection, tries one out, and logs nothing to its console. No request goes to another server.
import { describe, expect, test } from 'vitest';
import { PARAMETERS } from '../../engine/query/parameters.ts';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import { runServer } from '../support/commandProcess.ts';
import { hasProgram } from '../support/debian.ts';
import { isTooWide, seriousOf, watchedPage } from '../support/pageBrowser.ts';
import { someOf } from '../support/ring.ts';
import { sampleInBrowser } from '../support/sampleInBrowser.ts';
import { PAGE_LOOKS } from '../support/samplePages.ts';
import { sampleSnapshot } from '../support/sampleSnapshot.ts';

const NOT_OF_TIMES: ReadonlySet<string> = new Set(['format', 'pretty', 'bom', 'expand', 'search', 'bbox']);
/** The parameters of times: not those that choose a form, and not those that need texts or boxes. */
const isShown = ({ name, setting, views }: (typeof PARAMETERS)[number]): boolean =>
  setting === undefined && views.includes('list') && !NOT_OF_TIMES.has(name);
const TIMES = ['ob_id', 'ob_id__in', 'ob_id__gte', 'ob_id__lte'].concat(
  ['startTime', 'endTime'].flatMap((field) => [field, `${field}__gte`, `${field}__lte`]),
);

describe.skipIf(!hasProgram('chromium'))('the pages at /docs/ in Chromium', () => {
  const site = sampleInBrowser();

  test.each(someOf(['', '/some/catalogue'], 1))(
    'shows every collection, tries a list out and contacts this server only, below the path "%s"',
    async (path) => {
      const flags = ['--base-url', `https://catalogue.test${path}`, '--threads', '1'];
      const based = await runServer(['--data', await sampleSnapshot(), ...flags]);
      try {
        const { page, amiss, close } = await watchedPage(site.browser, based.url);
        page.setDefaultTimeout(60_000);
        await page.goto(`${path}/docs/api/`);
        await page.waitForSelector('.opblock-tag');
        const shown = await page.locator('.opblock-tag').evaluateAll((tags) => tags.map((tag) => tag.dataset['tag']));
        expect(shown).toEqual(['Views', 'Look-ups', 'Exports', ...COLLECTIONS.map(({ title }) => title)]);
        await page.click('.opblock-tag[data-tag="Times"]');
        const paths = await page.locator('.opblock .opblock-summary-path').allInnerTexts();
        expect(paths).toEqual(['/api/v3/times/', '/api/v3/times/{id}/']);
        await page.click('.opblock:has-text("A list of Times") .opblock-summary');
        await page.waitForSelector('.parameter__name:has-text("limit")');
        const named = await page.locator('.opblock.is-open .parameter__name').allInnerTexts();
        expect(named).toEqual([...PARAMETERS.filter(isShown).map(({ name }) => name), ...TIMES, 'filters']);
        await page.click('.try-out__btn');
        await page.fill('[data-param-name="limit"] input', '2');
        await page.fill('[data-param-name="ob_id__gte"] input', '200');
        await page.fill('[data-param-name="filters"] textarea', '{"endTime__isnull": false}');
        const answered = page.waitForResponse(/\/api\/v3\/times\//);
        await page.click('.execute');
        const { pathname, searchParams } = new URL((await answered).url());
        expect(pathname).toBe(`${path}/api/v3/times/`);
        expect([...searchParams]).toEqual([
          ['limit', '2'],
          ['ob_id__gte', '200'],
          ['filters[endTime__isnull]', 'false'],
        ]);
        await page.waitForSelector('.live-responses-table .response');
        expect(
          await page.locator('.live-responses-table .response .response-col_status').first().innerText(),
        ).toContain('200');
        expect(await page.locator('.live-responses-table .response').first().innerText()).toContain('"count"');
        expect(amiss).toEqual([]);
        await close();
      } finally {
        await based.stop();
      }
    },
  );

  test.each(someOf(PAGE_LOOKS, 1))(
    'have no serious axe violation in %s at %j, and lead to Swagger UI',
    async (...look) => {
      const [colorScheme, viewport] = look;
      const { page, amiss, close } = await watchedPage(site.browser, site.server.url, { colorScheme, viewport });
      page.setDefaultTimeout(60_000);
      await page.goto('/docs/');
      expect([await seriousOf(page), await isTooWide(page)]).toEqual([[], false]);
      const isDark = async (): Promise<boolean> => {
        const colour = await page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor');
        return colour.match(/\d+/g)!.every((part) => Number(part) < 100);
      };
      expect(await isDark()).toBe(colorScheme === 'dark');
      await page.getByRole('link', { name: 'Try Discovery Service Ids' }).click();
      await page.waitForSelector('.opblock');
      const paths = await page.locator('.opblock .opblock-summary-path').allInnerTexts();
      expect(paths).toEqual(['/api/v3/discoveryserviceids/', '/api/v3/discoveryserviceids/{id}/']);
      const hasDarkMode = await page.evaluate<boolean>('document.documentElement.classList.contains("dark-mode")');
      expect(hasDarkMode).toBe(colorScheme === 'dark');
      expect(amiss).toEqual([]);
      await close();
    },
  );

  test('shows the response if the document is unavailable for the moment', async () => {
    const { page, amiss, close } = await watchedPage(site.browser, site.server.url);
    await page.route('**/openapi.json', (route) => route.fulfill({ status: 503, body: '<b>busy</b>' }));
    await page.goto('/docs/api/');
    await page
      .getByRole('alert')
      .filter({ hasText: /answered with 503.*again/ })
      .waitFor();
    expect(amiss).toEqual([]);
    await close();
  });
});
