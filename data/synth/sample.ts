// The embedded sample in `data/sample/`: a synthetic catalogue of 500 observations that is served if no data is named.
// After a change of the generator, run `node data/synth/sample.ts` to make it again. Never change it by hand.
import { existsSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { generate } from './generate.ts';

export const SAMPLE_DIRECTORY = fileURLToPath(new URL('../sample', import.meta.url));

/** Enough observations that every edge case of `prose.ts` occurs, in less than 3 MB. */
export const SAMPLE_OPTIONS = { observations: 500, seed: 1 } as const;

const [, started] = process.argv;

if (started !== undefined && existsSync(started) && realpathSync(started) === fileURLToPath(import.meta.url)) {
  const report = await generate({ ...SAMPLE_OPTIONS, directory: SAMPLE_DIRECTORY }, () => undefined);
  process.stdout.write(`${SAMPLE_DIRECTORY}: ${report.records} records, ${report.bytes} bytes\n`);
}
