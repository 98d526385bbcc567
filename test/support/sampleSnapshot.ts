import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { imported } from './dataSets.ts';

export const SAMPLE = join(import.meta.dirname, '../../data/sample');

/**
 * The path of the embedded sample as a snapshot file, which the first caller of a test run makes: an import of 4,000
 * records, 1 s of CPU. Serving it takes half the CPU time of importing the sample at the start. The first server stores
 * its compressed records next to the file for the next ones. No test may change it.
 */
export async function sampleSnapshot(): Promise<string> {
  const file = join(inject('runDirectory'), 'sample.snapshot');
  // Two test files may import at once: the snapshot appears whole, with the same bytes in either case.
  if (!existsSync(file)) await imported(SAMPLE, { file });
  return file;
}
