// The browse pages in a browser: every page, clicked through with scripts and without, by keyboard alone, and checked
// by axe. All tests share one server and one browser; browseRare.long.test.ts has the pages that need others.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { readCatalogue } from '../support/catalogueChecker.ts';
import { hasProgram } from '../support/debian.ts';
import { focusedName, isTooWide, POLLED, seriousOf, tabTo, tabToThat, watchedPage } from '../support/pageBrowser.ts';
import { someOf } from '../support/ring.ts';
import { sampleInBrowser } from '../support/sampleInBrowser.ts';
import { FIRST_IDS, PAGE_LOOKS, TELEPHONE } from '../support/samplePages.ts';

const LIST = '/browse/observations/';
const DISTINCT = ['/', LIST, `${LIST}?status=completed`, `${LIST}141/`, '/browse/bboxes/8/', '/browse/times/211/'];
const ERRORS = ['/browse/observation/', `${LIST}999999/`, `${LIST}?titel=x&strict=1`, `${LIST}?ob_id=abc`];

const { lines: LINES } = readCatalogue(fileURLToPath(new URL('../../data/sample', import.meta.url)));
const countWith = (json: string): number => LINES.get('observations')!.filter((line) => line.includes(json)).length;
/** Observations of the sample, and the offset of the last page of 10 completed ones. */
const [CITABLE, COMPLETED] = [countWith('"publicationState":"citable"'), countWith('"status":"completed"')];
const LAST = Math.floor((COMPLETED - 1) / 10) * 10 + 1;

/** A4, in CSS pixels. */
const PAPER = { width: 794, height: 1123 };

/** An input device: it activates visible elements and enters texts. */
interface Hand {
  press(page: Page, one: Locator): Promise<void>;
  enter(page: Page, input: Locator, text: string): Promise<void>;
}

const HANDS: Readonly<Record<'mouse' | 'keyboard', Hand>> = {
  mouse: {
    press: (_, one) => one.click(),
    enter: (_, input, text) => input.fill(text),
  },
  keyboard: {
    press: async (page, one) => {
      await tabToThat(page, one);
      await page.keyboard.press('Enter');
    },
    enter: async (page, input, text) => {
      await tabToThat(page, input);
      await page.keyboard.type(text);
    },
  },
};

/** Every input device, with and without scripts. */
const HANDS_AND_SCRIPTS = [
  ['mouse', true],
  ['mouse', false],
  ['keyboard', true],
  ['keyboard', false],
] as const;

describe.skipIf(!hasProgram('chromium'))('the browse pages in Chromium', () => {
  const site = sampleInBrowser('--explain', '--base-url', 'https://catalogue.test');

  test('show the list and a record of every collection without messages, and fit a phone', async () => {
    const { page, amiss, close } = await watchedPage(site.browser, site.server.url, TELEPHONE);
    for (const [name, id] of someOf([...FIRST_IDS], 8)) {
      for (const path of [`/browse/${name}/`, `/browse/${name}/${id}/`]) {
        const answer = await page.goto(path);
        expect([path, answer?.status(), await isTooWide(page)]).toEqual([path, 200, false]);
      }
    }
    expect(amiss).toEqual([]);
    await close();
  });

  test.each(someOf(PAGE_LOOKS, 1))('have no serious axe violation in %s at %j', async (colorScheme, viewport) => {
    const { page, amiss, close } = await watchedPage(site.browser, site.server.url, { colorScheme, viewport });
    for (const path of someOf([...DISTINCT, ...ERRORS], 5)) {
      await page.goto(path);
      for (const fold of await page.locator('details:visible > summary:visible').all()) {
        if (await fold.isVisible()) await fold.click();
      }
      expect([path, await seriousOf(page), await isTooWide(page)]).toEqual([path, [], false]);
    }
    expect(amiss).toEqual([]);
    await close();
  });

  test.each(someOf([true, false], 1))('lead a visitor to a record (scripts: %s)', async (javaScriptEnabled) => {
    const { page, amiss, close } = await watchedPage(site.browser, site.server.url, { javaScriptEnabled });
    const chips = (): Promise<string[]> => page.locator('.chips li > span').allInnerTexts();
    await page.goto('/');
    await page.fill('.card [type=search]', 'saharan');
    await page.click('.card button');
    await expect.poll(chips, POLLED).toEqual(['Text contains saharan']);
    await page.selectOption('.filter select >> nth=0', 'status');
    await page.selectOption('.filter select >> nth=1', 'exact');
    await page.fill('.filter input[name="browse.value"]', 'completed');
    await page.click('.filter button');
    await expect.poll(chips, POLLED).toEqual(['Text contains saharan', 'Status is completed']);
    await page.click('.chips a >> nth=0');
    await expect.poll(chips, POLLED).toEqual(['Status is completed']);
    await page.click('thead a:has-text("Title")');
    await page.click('thead a:has-text("Title")');
    expect(await page.locator('[aria-sort]').getAttribute('aria-sort')).toBe('descending');
    await page.click('.sizes a:has-text("10") >> nth=0');
    await page.click('.pages a:has-text("Next")');
    await expect.poll(() => page.locator('.range').innerText(), POLLED).toMatch(/^11 to 20 of /);
    for (const [way, range] of [
      ['Last', new RegExp(`^${LAST} to ${COMPLETED} of `)],
      ['Previous', new RegExp(`^${LAST - 10} to ${LAST - 1} of `)],
      ['First', /^1 to 10 of /],
    ] as const) {
      await page.click(`.pages a:has-text("${way}")`);
      await expect.poll(() => page.locator('.range').innerText(), POLLED).toMatch(range);
    }
    await page.click('.choice summary');
    await page.check('.choice input[value="uuid"]');
    await page.click('.choice button');
    await expect.poll(() => page.locator('thead th').allInnerTexts(), POLLED).toContain('UUID');
    await page.click('tbody th a >> nth=0');
    await page.click('.fields > summary');
    await page.click('dl.record a[href*="/times/"] >> nth=0');
    await expect.poll(() => page.locator('h1').innerText(), POLLED).toMatch(/^(?:from )?\d{4}-\d\d-\d\d/);
    await page.click('.references a >> nth=0');
    await expect.poll(chips, POLLED).toHaveLength(1);
    expect(new URL(page.url()).pathname).toBe(LIST);
    expect(amiss).toEqual([]);
    await close();
  });

  test.each(someOf([true, false], 1))(
    'work by keyboard alone in every flow (scripts: %s)',
    async (javaScriptEnabled) => {
      const permissions = ['clipboard-read', 'clipboard-write'];
      const { page, amiss, close } = await watchedPage(site.browser, site.server.url, {
        javaScriptEnabled,
        permissions,
      });
      const press = async (name: string, key = 'Enter'): Promise<void> => {
        await tabTo(page, name);
        await page.keyboard.press(key);
      };
      const range = (): Promise<string> => page.locator('.range').innerText();
      await page.goto('/');
      await page.keyboard.press('Tab');
      expect(await focusedName(page)).toBe('Skip to content');
      await page.keyboard.press('Enter');
      await tabTo(page, 'Search observations');
      await page.keyboard.type('saharan');
      await page.keyboard.press('Enter');
      await page.waitForURL(/search=saharan/);
      await tabTo(page, 'Field');
      await page.keyboard.type('status');
      await tabTo(page, 'Comparison');
      await page.keyboard.press('Home');
      await tabTo(page, 'Value');
      await page.keyboard.type('completed');
      await press('Add');
      await page.waitForURL(/status=completed/);
      await press('Remove: Text contains saharan');
      await page.waitForURL((url) => !url.search.includes('saharan'));
      await press('Data published');
      await page.waitForURL(/ordering=dataPublishedTime/);
      await press('10');
      await page.waitForURL(/limit=10/);
      for (const [way, wanted] of [
        ['Next', /^11 to 20 of/],
        ['Last', new RegExp(`^${LAST} to ${COMPLETED} of`)],
        ['Previous', new RegExp(`^${LAST - 10} to ${LAST - 1} of`)],
        ['First', /^1 to 10 of/],
      ] as const) {
        const before = page.url();
        await press(way);
        await page.waitForURL((url) => url.href !== before);
        expect(await range()).toMatch(wanted);
      }
      await press('Columns');
      await press('uuid', 'Space');
      await press('Show');
      await page.waitForURL(/fields=/);
      expect(await page.locator('thead th').allInnerTexts()).toContain('UUID');
      const first = /(\d+)\/$/.exec((await page.locator('tbody th a').first().getAttribute('href'))!)![1];
      await tabToThat(page, page.locator('tbody th a').first());
      await page.keyboard.press('Enter');
      await page.waitForURL(new RegExp(`/${first}/$`));
      const request = page.locator('.request > summary');
      await tabToThat(page, request);
      await page.keyboard.press('Enter');
      expect(await page.locator('.request pre').first().isVisible()).toBe(true);
      if (javaScriptEnabled) {
        await press('Copy Address');
        const copied = (await page.evaluate('navigator.clipboard.readText()')) as string;
        expect(copied).toMatch(new RegExp(`/${first}/$`));
      }
      expect(amiss).toEqual([]);
      await close();
    },
  );

  test.each(someOf(HANDS_AND_SCRIPTS, 1))(
    'lead by %s to values, periods, files, out of errors and back (scripts: %s)',
    async (name, javaScriptEnabled) => {
      const permissions = ['clipboard-read', 'clipboard-write'];
      const { page, amiss, close } = await watchedPage(site.browser, site.server.url, {
        javaScriptEnabled,
        permissions,
      });
      const hand = HANDS[name];
      const press = (one: Locator): Promise<void> => hand.press(page, one);
      /** Activates a link that leads to another page. */
      const follow = async (one: Locator): Promise<void> => {
        const before = page.url();
        await press(one);
        await page.waitForURL(({ href }) => href !== before);
      };
      const chips = (): Promise<string[]> => page.locator('.chips li > span').allInnerTexts();
      const total = (): Promise<string> => page.locator('.total strong').innerText();
      const crumb = (text: string): Locator => page.locator('.crumbs').getByRole('link', { name: text, exact: true });
      // A longer page has more links to tab through.
      await page.goto(`${LIST}?limit=10`);
      const citable = page.locator('.facet a').filter({ hasText: /^citable$/ });
      await follow(citable);
      expect([await chips(), await total()]).toEqual([['Publication state is citable'], `${CITABLE} of 500`]);
      expect(await citable.getAttribute('aria-current')).toBe('true');
      await follow(citable);
      expect([await chips(), await total()]).toEqual([[], '500']);
      await follow(citable);

      const form = page.locator('form.find');
      await hand.enter(page, form.getByLabel('From'), '1990');
      await hand.enter(page, form.getByLabel('To'), '2022-12-31');
      await follow(form.getByRole('button'));
      const between = 'Period overlaps 1990-01-01/2022-12-31';
      expect((await chips()).toSorted()).toEqual([between, 'Publication state is citable']);
      const found = Number((await total()).split(' ')[0]);
      expect(found).toBeGreaterThan(1);

      const as = (format: string): Locator => page.locator('.data').getByRole('link', { name: format, exact: true });
      const fileOf = async (format: string): Promise<string> => {
        const [download] = await Promise.all([page.waitForEvent('download'), press(as(format))]);
        expect(download.suggestedFilename()).toBe(`observations.${format.toLowerCase()}`);
        return readFileSync(await download.path(), 'latin1');
      };
      expect((await fileOf('NDJSON')).split('\n')).toHaveLength(found + 1);
      expect(await fileOf('CSV')).toMatch(/^ob_id,/);
      expect(await fileOf('Parquet')).toMatch(/^PAR1[^]*PAR1$/);
      for (const [format, member, value] of [
        ['JSON', 'count', found],
        ['explain', 'plan.collection', 'observations'],
      ] as const) {
        await follow(as(format));
        expect(JSON.parse(await page.locator('body').innerText())).toHaveProperty(member, value);
        await page.goBack();
      }

      if (javaScriptEnabled) {
        await press(page.locator('.request summary'));
        for (const block of await page.locator('.request pre').all()) {
          const text = await block.locator('code').innerText();
          await press(block.locator('.copy'));
          expect(await page.evaluate('navigator.clipboard.readText()')).toBe(text);
        }
      }

      await follow(page.locator('.chips .clear a'));
      expect([await chips(), await total()]).toEqual([[], '500']);

      await page.goto('/browse/time/');
      await follow(page.locator('.lead a'));
      expect(new URL(page.url()).pathname).toBe('/browse/times/');
      const refused = `${LIST}?limit=10&titel__icontains=saharan&status=completed&strict=1`;
      for (const [way, left] of [
        ['Use title__icontains', ['Title contains saharan', 'Status is completed']],
        ['leave it out', ['Status is completed']],
      ] as const) {
        await page.goto(refused);
        await follow(page.locator('.problems').getByRole('link', { name: way, exact: true }));
        expect(await chips()).toEqual(left);
      }

      await page.goto('/browse/times/211/');
      await follow(page.locator('.references a').first());
      expect([await chips(), new URL(page.url()).pathname]).toEqual([[expect.stringContaining('Period')], LIST]);
      await page.goBack();
      await follow(crumb('Periods'));
      expect(new URL(page.url()).pathname).toBe('/browse/times/');
      await follow(crumb('Catalogue'));
      await follow(page.locator('.collections').getByRole('link', { name: 'Periods', exact: true }));
      expect(new URL(page.url()).pathname).toBe('/browse/times/');
      expect(amiss).toEqual([]);
      await close();
    },
  );

  test('print black on white, complete, and without controls', async () => {
    const { page, amiss, close } = await watchedPage(site.browser, site.server.url, {
      colorScheme: 'dark',
      viewport: PAPER,
    });
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    for (const path of [`${LIST}?status=completed`, `${LIST}141/`]) {
      await page.goto(path);
      expect(await page.evaluate('getComputedStyle(document.documentElement).backgroundColor')).toBe(
        'rgb(253, 253, 251)',
      );
      for (const one of await page.locator('.bar nav, .filters form, .facet, .pages, .skip, .copy, button').all()) {
        expect(await one.isVisible()).toBe(false);
      }
      expect(await page.locator('h1, .chips, tbody tr, dl.record dt').first().isVisible()).toBe(true);
      const cut =
        "[...document.querySelectorAll('td > div, dl.record > div > dd')].filter((e) => e.scrollHeight > e.clientHeight + 1).length";
      expect(await page.evaluate(cut)).toBe(0);
      const beside = "[...document.querySelectorAll('.scroll')].some((e) => e.scrollWidth > e.clientWidth)";
      expect([await page.evaluate(beside), await isTooWide(page)]).toEqual([false, false]);
      expect((await page.pdf()).length).toBeGreaterThan(10_000);
    }
    expect(amiss).toEqual([]);
    await close();
  });

  test('offer the comparisons of the field and copy blocks if scripts are on', async () => {
    const options = { permissions: ['clipboard-read', 'clipboard-write'] };
    const { page, amiss, close } = await watchedPage(site.browser, site.server.url, options);
    await page.clock.install({ time: 0 });
    await page.goto(LIST);
    await page.clock.pauseAt(60_000);
    await page.selectOption('.filter select >> nth=0', 'dataPublishedTime');
    const fit = await page.locator('.filter select >> nth=1 >> option').evaluateAll((all) => {
      return all.map((option) => option.getAttribute('value'));
    });
    expect(fit).toContain('year');
    await page.selectOption('.filter select >> nth=0', 'nonGeographicFlag');
    expect(await page.locator('.filter select >> nth=1 >> option[value=year]').count()).toBe(0);
    await page.click('.request summary');
    const address = 'https://catalogue.test/api/v3/observations/';
    const python = `import requests\n\nanswer = requests.get("${address}")\nanswer.raise_for_status()\nprint(answer.json())`;
    for (const [i, text] of [address, `curl '${address}'`, python].entries()) {
      await page.click(`.request .copy >> nth=${i}`);
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(text);
    }
    const named = (name: string): Promise<number> => page.getByRole('button', { name, exact: true }).count();
    expect([await named('Copied'), await page.locator('[role=status].unseen').innerText()]).toEqual([3, 'Copied']);
    await page.clock.runFor(2000);
    expect([await named('Copied'), await named('Copy Python')]).toEqual([0, 1]);
    expect(amiss).toEqual([]);
    await close();
  });

  test('lead from an observation to its files, and copy its citation', async () => {
    const options = { permissions: ['clipboard-read', 'clipboard-write'] };
    const { page, amiss, close } = await watchedPage(site.browser, site.server.url, options);
    await page.goto(`${LIST}142/`);
    expect(await page.locator('.get').getAttribute('href')).toMatch(/^https:\/\/data\.example\.org\//);
    expect(await page.locator('.map image').evaluate((image) => image.getBoundingClientRect().width)).toBeGreaterThan(
      360,
    );
    const citation = (await (await page.request.get('/cite/observations/142.txt')).text()).trim();
    await page.getByRole('button', { name: 'Copy citation', exact: true }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(citation);
    await page.click('.references a:has-text("Same place and time")');
    await page.waitForURL(({ search }) => search.startsWith('?bbox='));
    expect(await page.locator('tbody tr').count()).toBeGreaterThan(1);
    expect(amiss).toEqual([]);
    await close();
  });
});
