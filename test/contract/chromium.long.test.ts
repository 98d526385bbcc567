// Compressed responses as a browser reads them: Chromium decodes every stream to the bytes of the identity response.
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { expect, test } from 'vitest';
import { clientOf } from '../support/client.ts';
import { runServer } from '../support/commandProcess.ts';
import { hasProgram } from '../support/debian.ts';

const SAMPLE = fileURLToPath(new URL('../../data/sample', import.meta.url));
const LIST = '/api/v3/observations/';
const TARGETS = [
  LIST,
  `${LIST}?limit=3`,
  `${LIST}?limit=100000`,
  `${LIST}?publicationState=citable`,
  `${LIST}?format=ndjson`,
  '/api/v3/times/',
  '/api/v2/observations/',
];
const FLAGS = '--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update';

test.skipIf(!hasProgram('chromium'))(
  'decodes every compressed response in Chromium, which revalidates with its tag',
  async () => {
    const server = await runServer(['--data', SAMPLE, '--cache-control', 'no-cache']);
    const client = clientOf(server.url);
    const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS.split(' ') });
    try {
      const page = await browser.newPage();
      // The content security policy of browse pages forbids fetch, so a page without one is opened.
      await page.goto(`${server.url}/healthz`);
      for (const target of TARGETS) {
        const plain = await client.get(target);
        for (const round of [1, 2]) {
          const answered = page.waitForResponse((response) => response.url().endsWith(target));
          const text = await page.evaluate(async (path) => (await fetch(path)).text(), target);
          expect(text === plain.body, `${target}, round ${round}`).toBe(true);
          const headers = await (await answered).allHeaders();
          // In the second round the headers are those of a 304, which says nothing about the coding of the cached body.
          expect(headers['content-encoding'], target).toBe(round === 1 ? 'gzip' : undefined);
          expect(headers['etag'], target).toMatch(/-[sz]"$/);
        }
      }
    } finally {
      await browser.close();
      client.close();
      await server.stop();
    }
  },
);
