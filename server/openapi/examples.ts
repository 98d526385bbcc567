// A record of each collection to show: the first one of the embedded sample.
// Reads files of the installation, and nothing of the data that is served.
import { readFile } from 'node:fs/promises';
import { COLLECTIONS } from '../../engine/engine.ts';
import { installed } from '../settings/installation.ts';

const LINE_FEED = 0x0a;

/** The records by collection, own URLs with this base URL. Cost: reads the sample, 2.5 MB, off the thread. */
export async function sampleExamples(baseUrl: string): Promise<ReadonlyMap<string, unknown>> {
  const start = JSON.stringify(baseUrl).slice(1, -1);
  const examples = COLLECTIONS.map(async ({ name }) => {
    const lines = await readFile(installed(`data/sample/${name}.ndjson`));
    const line = lines.toString('utf8', 0, lines.indexOf(LINE_FEED));
    return [name, JSON.parse(line.replaceAll('{base_url}', start)) as unknown] as const;
  });
  return new Map(await Promise.all(examples));
}
