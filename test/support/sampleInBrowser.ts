import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, inject } from 'vitest';
import { runServer, type Server } from './commandProcess.ts';
import { startBrowser } from './pageBrowser.ts';
import { sampleSnapshot } from './sampleSnapshot.ts';

/** Starts a server of the embedded sample and a browser for the tests of a `describe`, and stops both after them. */
export function sampleInBrowser(...flags: readonly string[]): { readonly server: Server; readonly browser: Browser } {
  const started = {} as { server: Server; browser: Browser };
  beforeAll(async () => {
    [started.server, started.browser] = await Promise.all([
      runServer(['--data', await sampleSnapshot(), '--threads', '1', ...flags]),
      startBrowser(inject('runDirectory')),
    ]);
  });
  afterAll(async () => {
    await started.browser.close();
    await started.server.stop();
  });
  return started;
}
