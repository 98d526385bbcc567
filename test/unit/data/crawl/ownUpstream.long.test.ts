// A crawl of 10,000 observations from a server of ours gives back every collection byte for byte.
import { test } from 'vitest';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { crawlsBack } from '../../../support/ownUpstream.ts';

const directory = temporaryDirectory();

test('every collection comes back', async () => {
  await crawlsBack(directory, 10_000, ['--base-url', 'https://catalogue.example.org']);
});
