// The test run of `npm test`: every ring but the long ones, which have long.config.ts; quick.config.ts has some of it.
// The JSON report is what .ci/run sums up; it lies in node_modules, where no tool looks and no clone has it.
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { SkippedTests } from './support/debian.ts';

const TESTS = ['test/**/*.test.ts'];
/** What long.config.ts runs. */
export const LONG = 'test/**/*.long.test.ts';
/** What replaces a module, so that no other file may share its process. */
const ALONE = ['test/unit/data/leftovers.test.ts'];
/** For every process and thread that a test starts. What measures has none of it. */
export const STRIPPED_ONCE = `--import=${new URL('./support/strippedOnce.js', import.meta.url).href}`;

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    globalSetup: fileURLToPath(new URL('./support/runDirectory.ts', import.meta.url)),
    setupFiles: fileURLToPath(new URL('./support/seedsOfFailures.ts', import.meta.url)),
    // One more than cores, since many tests wait for servers, and none of them measures time.
    maxWorkers: availableParallelism() + 1,
    execArgv: [STRIPPED_ONCE],
    // A server that a test has no more use for need not wait for clients to leave; nor compress all records before it
    // starts, a sixth of its CPU, where the test is not about them: those that are have `--gzip stored`.
    // Which authorities and proxies a process uses must not depend on the machine of the test.
    env: {
      NODE_EXTRA_CA_CERTS: '',
      no_proxy: '*',
      NODE_OPTIONS: STRIPPED_ONCE,
      CATALOGUE_DRAIN_GRACE_SECONDS: '0',
      CATALOGUE_GZIP: 'live',
    },
    reporters: ['default', 'json', new SkippedTests()],
    // What .ci/run tells of a failure is its message: all of it.
    chaiConfig: { truncateThreshold: 0 },
    outputFile: { json: 'node_modules/.cache/catalogue-replica/test.json' },
    allowOnly: false,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      // Files share a process, which saves half a second of CPU each: what they import is read once.
      { extends: true, test: { name: 'shared', include: TESTS, exclude: [LONG, ...ALONE], isolate: false } },
      { extends: true, test: { name: 'alone', include: ALONE } },
    ],
  },
});
