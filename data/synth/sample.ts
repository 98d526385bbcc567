// The embedded sample, `data/sample/`: a synthetic catalogue of 500 observations that is served when no data is named.
// Run `node data/synth/sample.ts` to make it again after a change of the generator; it changes in no other way.
import { existsSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { generate } from './generate.ts';

/** The directory of the embedded sample. */
export const SAMPLE_DIRECTORY = fileURLToPath(new URL('../sample', import.meta.url));

/** What the sample is made of: enough observations that every edge case of `prose.ts` occurs, and under 3 MB in all. */
export const SAMPLE_OPTIONS = { observations: 500, seed: 1 } as const;

const [, started] = process.argv;

if (started !== undefined && existsSync(started) && realpathSync(started) === fileURLToPath(import.meta.url)) {
  const made = await generate({ ...SAMPLE_OPTIONS, directory: SAMPLE_DIRECTORY }, () => undefined);
  process.stdout.write(`${SAMPLE_DIRECTORY}: ${made.records} records, ${made.bytes} bytes\n`);
}
