import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { generate } from '../../../../data/synth/generate.ts';
import { runServer } from '../../../support/commandProcess.ts';
import { crawled, recordsOf } from '../../../support/crawls.ts';
import { imported, temporaryDirectory } from '../../../support/dataSets.ts';
import { times } from '../../../support/ring.ts';

const directory = temporaryDirectory();
const data = join(directory, 'data');
let snapshot: string;
beforeAll(async () => {
  await generate({ observations: times(2000, 10_000), seed: 5, directory: data }, () => undefined);
  ({ file: snapshot } = await imported(data));
});

test.each(['stored', 'off'])('returns every collection of a server with --gzip %s byte for byte', async (gzip) => {
  const flags = ['--gzip', gzip, '--base-url', 'https://catalogue.example.org'];
  const server = await runServer(['--data', snapshot, ...flags]);
  try {
    const output = join(directory, gzip);
    expect(await crawled(server.url, output)).toMatchObject({ unknown: [] });
    expect(recordsOf(output)).toEqual(recordsOf(data));
    // The import compares counts and sums with the manifest.
    await imported(output);
  } finally {
    await server.stop();
  }
});
