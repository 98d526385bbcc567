// A visitor answers a question in three clicks from the start page: soil moisture near Iceland around 2003.
import { describe, expect, test } from 'vitest';
import { hasProgram } from '../support/debian.ts';
import { isTooWide, POLLED, tabTo, watchedPage } from '../support/pageBrowser.ts';
import { sampleInBrowser } from '../support/sampleInBrowser.ts';

const WINDOWS = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
];

describe.skipIf(!hasProgram('chromium'))('a visitor', () => {
  const site = sampleInBrowser();

  test.each(WINDOWS.flatMap((viewport) => [true, false].map((scripts) => [viewport, scripts] as const)))(
    'finds soil moisture near Iceland around 2003 in three clicks at %j (scripts: %s)',
    async (viewport, javaScriptEnabled) => {
      const { page, amiss, close } = await watchedPage(site.browser, site.server.url, { viewport, javaScriptEnabled });
      await page.goto('/');
      const search = page.locator('form[role=search]').first();
      await search.locator('input[type=search]').fill('soil moisture');
      await search.locator('button').click();
      await page.waitForURL(({ pathname }) => pathname === '/browse/observations/');
      for (const [name, value] of [
        ['search', 'soil moisture'],
        ['start', '2003'],
        ['end', '2003'],
        ['west', '-25'],
        ['south', '60'],
        ['east', '-10'],
        ['north', '68'],
      ]) {
        await page.fill(`[name="browse.${name}"]`, value!);
      }
      await page.locator('.find button').click();
      await page.waitForURL(/bbox=-25%2C60%2C-10%2C68/);
      expect(new URL(page.url()).searchParams.get('datetime')).toBe('2003-01-01/2003-12-31');
      const first = page.locator('tbody th a').first();
      expect([await page.locator('.chips li > span').count(), await isTooWide(page)]).toEqual([
        expect.toSatisfy((count: number) => count >= 3),
        false,
      ]);
      const title = await first.innerText();
      expect(title).toMatch(/soil moisture .* Iceland, 2003$/);
      await first.click();
      await expect.poll(() => page.locator('h1').first().innerText(), POLLED).toContain(title);
      const file = page.locator('a.get').first();
      expect([await file.isVisible(), await file.getAttribute('href')]).toEqual([
        true,
        expect.stringMatching(/^https?:/),
      ]);
      expect(await page.locator('.citation').innerText()).toContain('soil moisture');
      expect(amiss).toEqual([]);
      await close();
    },
  );

  test.each(WINDOWS)('finds the filters before the records, folded on a small screen: %j', async (viewport) => {
    const { page, close } = await watchedPage(site.browser, site.server.url, { viewport });
    await page.goto('/browse/observations/');
    const isWide = viewport.width > 1000;
    const value = page.locator('.facet a').filter({ hasText: /^citable$/ });
    expect(await page.locator('.fold > summary').isVisible()).toBe(!isWide);
    const [filters, records] = [page.locator('#filters'), page.locator('tbody')];
    const [above, below] = [(await filters.boundingBox())!, (await records.boundingBox())!];
    expect(isWide ? above.x < below.x : above.y < below.y && below.y < 1000).toBe(true);
    await tabTo(page, 'Skip to filters');
    await page.keyboard.press('Enter');
    expect(new URL(page.url()).hash).toBe('#filters');
    if (!isWide) await page.locator('.fold > summary').click();
    await value.click();
    await page.waitForURL(/publicationState=citable/);
    await close();
  });
});
