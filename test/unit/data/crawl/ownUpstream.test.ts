// A crawl of a server of ours gives back its data set byte for byte, whatever base URL it serves under and whichever
// way it compresses; the long ring has more records.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { crawlsBack } from '../../../support/ownUpstream.ts';

const directory = temporaryDirectory();

test.each([
  ['stored', 'http://localhost:8080'],
  ['off', 'https://catalogue.example.org/a/b.c'],
])('every collection comes back, of a server with --gzip %s and base URL %s', async (gzip, baseUrl) => {
  const scratch = join(directory, gzip);
  mkdirSync(scratch);
  await crawlsBack(scratch, 300, ['--gzip', gzip, '--base-url', baseUrl]);
});
