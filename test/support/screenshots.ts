// `npm run screenshots -- FOLDER`: pictures of the pages of the embedded sample: start, list, record, authority,
// documentation and error in light, dark, at the width of a telephone and on paper. They are for viewing; no test
// compares them.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runServer } from './commandProcess.ts';
import { startBrowser, watchedPage } from './pageBrowser.ts';

const SAMPLE = fileURLToPath(new URL('../../data/sample', import.meta.url));
const LIST = '/browse/observations/';
const PAGES = {
  start: '/',
  list: `${LIST}?status=completed&ordering=-dataPublishedTime&limit=25`,
  record: `${LIST}141/`,
  place: '/browse/bboxes/9/',
  period: '/browse/times/211/',
  authority: '/browse/authority/?browse.role=staff',
  docs: '/docs/',
  error: `${LIST}?titel=saharan&stauts=completed&strict=1`,
} as const;
const WIDE = { width: 1280, height: 900 };
const LOOKS = {
  light: { colorScheme: 'light', viewport: WIDE },
  dark: { colorScheme: 'dark', viewport: WIDE },
  paper: { colorScheme: 'light', viewport: WIDE },
  telephone: { colorScheme: 'light', viewport: { width: 390, height: 844 } },
} as const;

const folder = process.argv[2] ?? join(tmpdir(), 'catalogue-screenshots');
mkdirSync(folder, { recursive: true });
const home = mkdtempSync(join(tmpdir(), 'catalogue-browser-'));
const server = await runServer(['--data', SAMPLE, '--threads', '1', '--explain']);
const browser = await startBrowser(home);
try {
  for (const [look, options] of Object.entries(LOOKS)) {
    const { page, close } = await watchedPage(browser, server.url, options);
    if (look === 'paper') await page.emulateMedia({ media: 'print' });
    for (const [name, path] of Object.entries(PAGES)) {
      await page.goto(path);
      await page.screenshot({ path: join(folder, `${name}-${look}.png`) });
    }
    await close();
  }
} finally {
  await browser.close();
  await server.stop();
  rmSync(home, { recursive: true, force: true });
}
process.stdout.write(`${folder}\n`);
