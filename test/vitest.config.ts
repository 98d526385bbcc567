// The test run of `npm test`: every ring that is quick. The long rings have long.config.ts.
// The JSON report is what .ci/run sums up; it lies in node_modules, where no tool looks and no clone has it.
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { SkippedPrograms } from './support/debian.ts';
import { SkippedTestdata } from './support/testdata.ts';

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/**/*.long.test.ts'],
    globalSetup: fileURLToPath(new URL('./support/runDirectory.ts', import.meta.url)),
    setupFiles: fileURLToPath(new URL('./support/seedsOfFailures.ts', import.meta.url)),
    // One more than cores, since many tests wait for servers, and none of them measures time.
    maxWorkers: availableParallelism() + 1,
    reporters: ['default', 'json', new SkippedPrograms(), new SkippedTestdata()],
    outputFile: { json: 'node_modules/.cache/catalogue-replica/test.json' },
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
