// A crawl of a server of ours, in whose data set it must end: started, crawled and compared.
import { join } from 'node:path';
import { expect } from 'vitest';
import { generate } from '../../data/synth/generate.ts';
import { crawled, recordsOf } from './crawls.ts';
import { imported } from './dataSets.ts';
import { startServer } from './server.ts';

/** Serves a made-up data set, crawls it into a directory in `scratch`, compares it byte for byte, and imports it. */
export async function crawlsBack(scratch: string, observations: number, flags: readonly string[]): Promise<void> {
  const data = join(scratch, 'data');
  await generate({ observations, seed: 5, directory: data }, () => undefined);
  const server = await startServer({ data, flags });
  try {
    const output = join(scratch, 'crawled');
    expect(await crawled(server.url, output)).toMatchObject({ unknown: [] });
    expect(recordsOf(output)).toEqual(recordsOf(data));
    // Which compares counts and sums with the manifest.
    await imported(output);
  } finally {
    await server.stop();
  }
}
