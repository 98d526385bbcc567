// The embedded sample as a snapshot file, made once a test run by the first file that serves it. A server that loads it
// starts in half the CPU time of one that imports the sample; the records that a first server compresses for a base
// URL lie beside it for the next. Must never be changed by a test.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { imported } from './dataSets.ts';

const SAMPLE = join(import.meta.dirname, '../../data/sample');

/** The path of the snapshot. Costs an import of 4,000 records, 1 s of CPU, the first time; then nothing. */
export async function sampleSnapshot(): Promise<string> {
  const file = join(inject('runDirectory'), 'sample.snapshot');
  // Two files at once may both import: the snapshot appears whole, and holds the same bytes either way.
  if (!existsSync(file)) await imported(SAMPLE, { file });
  return file;
}
