// The page at /docs/ in a browser: Chromium shows the operations of every collection and says nothing in its
// console; no request goes elsewhere.
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { expect, inject, test } from 'vitest';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import { hasProgram } from '../support/debian.ts';
import { sampleSnapshot } from '../support/sampleSnapshot.ts';
import { startServer } from '../support/server.ts';

const FLAGS =
  '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync';

test.skipIf(!hasProgram('chromium')).each(['', '/some/catalogue'])(
  'the page shows every collection and asks this server only, below the path "%s"',
  async (path) => {
    const flags = ['--base-url', `https://catalogue.test${path}`, '--threads', '1'];
    const server = await startServer({ data: await sampleSnapshot(), flags });
    const profile = mkdtempSync(join(inject('runDirectory'), 'chromium-'));
    const options = { executablePath: '/usr/bin/chromium', args: FLAGS.split(' ') };
    const browser = await chromium.launchPersistentContext(profile, options);
    try {
      const page = await browser.newPage();
      const told: string[] = [];
      const elsewhere: string[] = [];
      page.on('console', (message) => told.push(message.text()));
      page.on('pageerror', (error) => told.push(String(error)));
      page.on('request', (request) => {
        if (!/^(?:data|blob):/.test(request.url()) && !request.url().startsWith(server.url)) {
          elsewhere.push(request.url());
        }
      });
      await page.goto(`${server.url}${path}/docs/`);
      await page.waitForSelector('.opblock-tag');
      const shown = await page.locator('.opblock-tag').evaluateAll((tags) => tags.map((tag) => tag.dataset['tag']));
      expect(shown).toEqual(['Views', ...COLLECTIONS.map(({ title }) => title)]);
      expect(told).toEqual([]);
      expect(elsewhere).toEqual([]);
    } finally {
      await browser.close();
      await server.stop();
    }
  },
  120_000,
);
