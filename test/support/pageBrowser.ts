// Chromium for tests of pages and for screenshots. Its pages record everything that must not happen: console output,
// errors, requests that leave the server.
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import { chromium, type Browser, type BrowserContextOptions, type Locator, type Page } from 'playwright-core';

const FLAGS =
  '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync';

/** Options for polling the page after a click: the click resolves once the new page begins to load. */
export const POLLED = { timeout: 30_000 };

/** Starts the browser, with its temporary files in a folder. */
export function startBrowser(directory: string): Promise<Browser> {
  const home = mkdtempSync(join(directory, 'browser-'));
  const env = { ...process.env, HOME: home, TMPDIR: home };
  return chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS.split(' '), env });
}

/** A page, and a list of its faults. A response with an error status is no fault. */
export interface WatchedPage {
  readonly page: Page;
  readonly amiss: string[];
  close(): Promise<void>;
}

/** A page that may reach `url` only. */
export async function watchedPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ ...options, baseURL: url });
  const page = await context.newPage();
  const amiss: string[] = [];
  page.on('console', (message) => {
    if (!/^Failed to load resource: the server responded with a status of [45]/.test(message.text())) {
      amiss.push(message.text());
    }
  });
  page.on('pageerror', (error) => amiss.push(String(error)));
  page.on('dialog', (dialog) => {
    amiss.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!request.url().startsWith('data:') && !request.url().startsWith(url)) amiss.push(`asks ${request.url()}`);
  });
  return { page, amiss, close: () => context.close() };
}

/** The serious accessibility violations of a page. */
export async function seriousOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const { axe: judge } = globalThis as unknown as { axe: typeof axe };
    const { violations, passes } = await judge.run();
    if (passes.length < 10) return ['axe judged next to nothing'];
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  });
}

/** Whether the page is wider than its window, so that readers must scroll sideways. */
export function isTooWide(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
}

/** The accessible name of the focused element. */
const FOCUSED = `(() => {
  const element = document.activeElement;
  const [label] = element?.labels ?? [];
  const texts = [...(label?.childNodes ?? [])].filter((node) => node.nodeType === 3).map((node) => node.textContent);
  const said = element?.getAttribute('aria-label') ?? (texts.join('').trim() || (label ?? element)?.textContent);
  return (said ?? '').trim();
})()`;

/** The name of the focused element as a screen reader says it; empty if no element has the focus. */
export function focusedName(page: Page): Promise<string> {
  return page.evaluate<string>(FOCUSED);
}

/** Moves the focus to the element with this name by the Tab key. Throws if the key does not reach it. */
export async function tabTo(page: Page, name: string): Promise<void> {
  for (let i = 0; i < 400; i++) {
    await page.keyboard.press('Tab');
    if ((await focusedName(page)) === name) return;
  }
  throw new Error(`no way by keyboard to ${name}`);
}

/** The same to this very element. */
export async function tabToThat(page: Page, one: Locator): Promise<void> {
  for (let i = 0; i < 400; i++) {
    if (await one.evaluate((element) => element.matches(':focus'))) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`no way by keyboard to ${String(one)}`);
}
