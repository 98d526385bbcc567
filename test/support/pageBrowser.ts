// Chromium for tests of pages and for screenshots: one browser, whose pages note what should never be: words on the
// console, errors, requests that leave the server.
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import { chromium, type Browser, type BrowserContextOptions, type Locator, type Page } from 'playwright-core';

const FLAGS =
  '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync';

/** What is read of a page that a click leads to is waited for: the click ends once the other page begins. */
export const POLLED = { timeout: 30_000 };

/** The browser, with its temporary files in a folder. */
export function startBrowser(directory: string): Promise<Browser> {
  const home = mkdtempSync(join(directory, 'browser-'));
  const env = { ...process.env, HOME: home, TMPDIR: home };
  return chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS.split(' '), env });
}

/** A page, and what it should not have said or done: nothing, but that an address was answered with an error. */
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

/** What is seriously wrong for who cannot see, or use a mouse. */
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

/** Whether the page is wider than its window, which nobody should have to scroll. */
export function isTooWide(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
}

/** What has the focus, by its name as it is read out. */
const FOCUSED = `(() => {
  const element = document.activeElement;
  const [label] = element?.labels ?? [];
  const texts = [...(label?.childNodes ?? [])].filter((node) => node.nodeType === 3).map((node) => node.textContent);
  const said = element?.getAttribute('aria-label') ?? (texts.join('').trim() || (label ?? element)?.textContent);
  return (said ?? '').trim();
})()`;

/** The name of what has the focus, as a screen reader says it; empty without one. */
export function focusedName(page: Page): Promise<string> {
  return page.evaluate<string>(FOCUSED);
}

/** Moves the focus to what has this name, as who has no mouse does. Throws where no way by keyboard leads to it. */
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
