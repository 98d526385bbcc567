// Rarely seen browse pages, in Chromium: the page of the attribute authority with its form, the pages of a refused
// filter and of an overloaded server, and all pages on hostile data.
import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import { epochMs } from '../../server/observe/clock.ts';
import { CONFIG_LINES, testSite, validAround } from '../support/authorities.ts';
import { clientOf } from '../support/client.ts';
import { runServer } from '../support/commandProcess.ts';
import { dataSetOf, temporaryDirectory } from '../support/dataSets.ts';
import { hasProgram } from '../support/debian.ts';
import { longProperties } from '../support/longProperties.ts';
import { isTooWide, POLLED, seriousOf, startBrowser, tabTo, watchedPage } from '../support/pageBrowser.ts';
import { ecPair } from '../support/pki.ts';
import { someOf } from '../support/ring.ts';
import { FIRST_IDS, firstRecord, PAGE_LOOKS, TELEPHONE } from '../support/samplePages.ts';
import { sampleSnapshot } from '../support/sampleSnapshot.ts';

const LIST = '/browse/observations/';

/** Markup, quotes, line ends, bidirectional controls: must stay text in every position. */
const HARM =
  '"><script>alert(1)</script><img src=x onerror=alert(2)>\'`${alert(3)}\u2028\u2029\u202e\u2066reversed\u0000</title></bdi>&amp;' +
  'javascript:alert(4)';

describe.skipIf(!hasProgram('chromium'))('rarely seen pages', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser(inject('runDirectory'));
  });
  afterAll(() => browser.close());

  test.each(someOf(PAGE_LOOKS, 1))(
    'show the form of the attribute authority in %s at %j, whatever the names of roles',
    async (...look) => {
      const site = testSite({ site: ecPair(), validity: validAround(Math.floor(epochMs() / 1000)) });
      const [role, address] = [
        HARM.replace(/[:,]/g, '').replace('\u0000', ''),
        `https://p.example.org/${'y'.repeat(3000)}`,
      ];
      const host = [role, address].map((text) => JSON.stringify(text));
      const more = `\n[[trustedHost]]\nname = ${host[0]}\nuri = ${host[1]}\nsigner = "/O=Test/CN=Partner Authority"\n`;
      const roles = `roles = [{ remote = "a", local = ${host[0]} }, { remote = ${host[0]}, local = "reader" }]\n`;
      site.write('authority.toml', [...CONFIG_LINES, more + roles].join('\n'));
      const flags = ['--threads', '1', '--authority', site.config];
      const server = await runServer(['--data', await sampleSnapshot(), ...flags]);
      const [colorScheme, viewport] = look;
      for (const javaScriptEnabled of [true, false]) {
        const { page, amiss, close } = await watchedPage(browser, server.url, {
          javaScriptEnabled,
          colorScheme,
          viewport,
        });
        await page.goto('/');
        await tabTo(page, 'Attribute authority');
        await page.keyboard.press('Enter');
        await page.waitForURL(/authority/);
        expect(await page.locator('h3').allInnerTexts()).toHaveLength(3);
        for (const [asked, hosts] of [
          ['reader', 2],
          [role, 1],
          ['nobody', 0],
        ] as const) {
          await tabTo(page, 'Which hosts have roles that map to this one? (getTrustedHostInfo)');
          await page.keyboard.press('Control+A');
          await page.keyboard.insertText(asked);
          await page.keyboard.press('Enter');
          await page.waitForURL((url) => url.searchParams.get('browse.role') === asked);
          await expect.poll(() => page.locator('.answer tbody tr').count(), POLLED).toBe(hosts);
          expect(await page.locator('img, script:not([src]), [onerror]').count()).toBe(0);
          expect([javaScriptEnabled ? await seriousOf(page) : [], await isTooWide(page)]).toEqual([[], false]);
        }
        await page.fill('#role', 'reader');
        await page.click('.asked button');
        await expect.poll(() => page.locator('.answer tbody tr').count(), POLLED).toBe(2);
        const wsdl = await page.locator('.data a').getAttribute('href');
        const answer = await page.request.get(new URL(wsdl!, page.url()).href);
        expect(await answer.text()).toContain('definitions');
        expect(amiss).toEqual([]);
        await close();
      }
      await server.stop();
      site.remove();
    },
  );

  test.each(someOf([true, false], 1))(
    'let a visitor correct a refused filter (scripts: %s)',
    async (javaScriptEnabled) => {
      const server = await runServer(['--data', await sampleSnapshot(), '--threads', '1']);
      const { page, amiss, close } = await watchedPage(browser, server.url, { javaScriptEnabled });
      const part = (name: string): Locator => page.locator(`[name="browse.${name}"]`);
      const sendValue = async (text: string, button: string): Promise<void> => {
        await part('value').fill(text);
        await page.locator('.filter').getByRole('button', { name: button }).click();
      };
      await page.goto(`${LIST}?status=completed&limit=10`);
      for (const [field, lookup, wrong, said, right, chip] of [
        ['ob_id', 'gt', 'abc', 'Enter a whole number.', '200', 'Id is greater than 200'],
        ['nonGeographicFlag', 'exact', 'perhaps', 'Enter true or false.', 'no', 'Without a place is false'],
        ['doiPublishedTime', 'isnull', '', 'Enter true or false.', 'No', 'DOI published is present'],
      ] as const) {
        await part('field').selectOption(field);
        await part('lookup').selectOption(lookup);
        await sendValue(wrong, 'Add');
        await expect.poll(() => part('value').getAttribute('aria-invalid'), POLLED).toBe('true');
        expect(await part('value').inputValue()).toBe(wrong);
        expect(await part('field').inputValue()).toBe(field);
        expect(await part('lookup').inputValue()).toBe(lookup);
        await expect.poll(() => page.locator('#filter-wrong').innerText(), POLLED).toBe(said);
        await sendValue(right, 'Apply');
        await expect.poll(() => page.locator('.chips li > span').allInnerTexts(), POLLED).toContain(chip);
      }
      await expect.poll(() => page.locator('.chips li > span').allInnerTexts(), POLLED).toHaveLength(4);
      await page.goto(`${LIST}?dataPublishedTime=yesterday`);
      expect(await part('value').inputValue()).toBe('yesterday');
      expect(amiss).toEqual([]);
      await close();
      await server.stop();
    },
  );

  test('say that the server is overloaded, in the same style', async () => {
    const data = dataSetOf(temporaryDirectory(), { 'migrationproperties.ndjson': longProperties(40) });
    const server = await runServer(['--data', data, '--threads', '1']);
    const clients = Array.from({ length: 300 }, () => clientOf(server.url));
    let asked = 0;
    let isOver = false;
    // Every request has a different filter: requests with the same filter would share one response.
    const heavy = (): string => `migrationproperties/?limit=1&value__contains=%7E%7E&id!=${++asked}`;
    const flood = clients.map(async (client) => {
      while (!isOver) await client.get(`/api/v3/${heavy()}`);
    });
    for (const [colorScheme, viewport] of someOf(PAGE_LOOKS, 1)) {
      const { page, amiss, close } = await watchedPage(browser, server.url, { colorScheme, viewport });
      let answer = await page.goto(`/browse/${heavy()}`);
      while (answer?.status() !== 503) answer = await page.goto(`/browse/${heavy()}`);
      expect(answer.headers()).toMatchObject({ 'retry-after': '1', 'cache-control': 'no-store' });
      expect(await page.locator('h1').allInnerTexts()).toEqual(['Too busy at the moment']);
      expect([await seriousOf(page), await isTooWide(page)]).toEqual([[], false]);
      expect(amiss).toEqual([]);
      await close();
    }
    isOver = true;
    await Promise.all(flood);
    for (const client of clients) client.close();
    await server.stop();
  });

  test('show hostile data as text without breaking the layout, also as one word of 100 kB', async () => {
    const files = COLLECTIONS.map(({ name }) => [`${name}.ndjson`, `${harmful(name)}\n`] as const);
    const data = dataSetOf(temporaryDirectory(), Object.fromEntries(files));
    const server = await runServer(['--data', data, '--threads', '1']);
    const harm = encodeURIComponent(HARM.replace('\u0000', ''));
    const record = `${LIST}${FIRST_IDS.get('observations')!}/`;
    const few: Visits = [
      ['/', 200],
      [LIST, 200],
      [record, 200],
      [`${LIST}?title__icontains=${harm}`, 200],
      [`${LIST}?${harm}=1&title__${'x'.repeat(2000)}=1&strict=1`, 400],
      [`${LIST}?ob_id=${harm}`, 400],
      [`${LIST}?browse.field=nonGeographicFlag&browse.value=${harm}`, 400],
      [`/browse/${harm}/`, 404],
      [`/browse/${'x'.repeat(2000)}/`, 404],
      [`${LIST}${harm}/`, 404],
    ];
    const all: Visits = someOf([...FIRST_IDS], 8).flatMap(([name, id]) => [
      [`/browse/${name}/`, 200],
      [`/browse/${name}/${id}/`, 200],
    ]);
    const desktop = { viewport: { width: 1280, height: 900 } };
    try {
      for (const [visits, options, media] of [
        [[...all, ...few], TELEPHONE, 'screen'],
        [few, { ...TELEPHONE, javaScriptEnabled: false }, 'screen'],
        [few, { ...desktop, colorScheme: 'light' }, 'screen'],
        [few, { ...desktop, colorScheme: 'dark', javaScriptEnabled: false }, 'screen'],
        [few, { viewport: { width: 794, height: 1123 } }, 'print'],
      ] as const) {
        const { page, amiss, close } = await watchedPage(browser, server.url, options);
        await page.emulateMedia({ media });
        for (const [path, status] of visits) {
          const answer = await page.goto(path);
          const unknown = await page.locator('img, script:not([src]), [onerror]').count();
          expect([path, answer?.status(), unknown, await isTooWide(page)]).toEqual([path, status, 0, false]);
        }
        await page.goto(record);
        await page.click('.fields > summary');
        expect(await isTooWide(page)).toBe(false);
        expect((await page.locator('dl.record dd').allInnerTexts()).some((text) => text.length > 90_000)).toBe(true);
        expect(amiss).toEqual([]);
        await close();
      }
    } finally {
      await server.stop();
    }
  }, 240_000);
});

/** Paths, each with the status of its page. */
type Visits = readonly (readonly [path: string, status: number])[];

/**
 * The first record of a collection with hostile text in every text field, also in long titles, and every text of an
 * observation.
 */
function harmful(name: string): string {
  const long = 'x'.repeat(100_000);
  return JSON.stringify(
    JSON.parse(firstRecord(name), (key, value: unknown) => {
      if (typeof value !== 'string' || value.startsWith('{base_url}') || /^\d{4}-\d\d-\d\d/.test(value)) return value;
      return key === 'title' || name === 'observations' ? HARM + long : HARM;
    }),
  );
}
