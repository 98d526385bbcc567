// A crawl of a server of ours, in whose data set it must end: started, crawled and compared.
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import { generate } from '../../data/synth/generate.ts';
import { runServer } from './commandProcess.ts';
import { crawled, recordsOf } from './crawls.ts';
import { imported } from './dataSets.ts';

/** A made-up data set, and the snapshot of it that servers have. */
interface MadeUp {
  readonly data: string;
  readonly snapshot: string;
}

async function madeUp(observations: number): Promise<MadeUp> {
  const data = join(mkdtempSync(join(inject('runDirectory'), 'upstream-')), 'data');
  await generate({ observations, seed: 5, directory: data }, () => undefined);
  const { file } = await imported(data);
  return { data, snapshot: file };
}

/** By their observations: each is made once for a file of tests. */
const made = new Map<number, Promise<MadeUp>>();

/** Serves a made-up data set, crawls it into a directory in `scratch`, compares it byte for byte, and imports it. */
export async function crawlsBack(scratch: string, observations: number, flags: readonly string[]): Promise<void> {
  const making = made.get(observations) ?? madeUp(observations);
  made.set(observations, making);
  const { data, snapshot } = await making;
  const server = await runServer(['--data', snapshot, ...flags]);
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
