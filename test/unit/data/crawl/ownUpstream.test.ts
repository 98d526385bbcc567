// A crawl of a server of ours gives back its data set byte for byte, whatever base URL it serves under; the long ring
// has more records, and a server that does not compress.
import { test } from 'vitest';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { crawlsBack } from '../../../support/ownUpstream.ts';

const directory = temporaryDirectory();

test('every collection comes back', async () => {
  await crawlsBack(directory, 300, ['--gzip', 'stored', '--base-url', 'https://catalogue.example.org/a/b.c']);
});
