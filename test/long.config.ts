// The long rings, `npm run test:long`: files named *.long.test.ts, such as many random catalogues and large data.
// They run one file at a time, since they measure ratios and fill memory.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { SkippedPrograms } from './support/debian.ts';
import { SkippedTestdata } from './support/testdata.ts';

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/**/*.long.test.ts'],
    passWithNoTests: true,
    globalSetup: fileURLToPath(new URL('./support/runDirectory.ts', import.meta.url)),
    setupFiles: fileURLToPath(new URL('./support/seedsOfFailures.ts', import.meta.url)),
    // As in vitest.config.ts.
    env: { CATALOGUE_DRAIN_GRACE_SECONDS: '0' },
    fileParallelism: false,
    reporters: ['default', 'json', new SkippedPrograms(), new SkippedTestdata()],
    outputFile: { json: 'node_modules/.cache/catalogue-replica/long.json' },
    testTimeout: 1_200_000,
    hookTimeout: 600_000,
  },
});
