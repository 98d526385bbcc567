// A crawl of thousands of observations from a server of ours gives back every collection byte for byte.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { crawlsBack } from '../../../support/ownUpstream.ts';
import { times } from '../../../support/ring.ts';

const directory = temporaryDirectory();

test.each(['stored', 'off'])('every collection comes back, of a server with --gzip %s', async (gzip) => {
  const scratch = join(directory, gzip);
  mkdirSync(scratch);
  await crawlsBack(scratch, times(2000, 10_000), ['--gzip', gzip, '--base-url', 'https://catalogue.example.org']);
});
