// The test run of `npm test`: every ring except the long ones, which have long.config.ts; quick.config.ts has some of
// it. .ci/run summarises the JSON report. It is in node_modules, which tools ignore and clones do not have.
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { SkippedTests } from './support/debian.ts';

const TESTS = ['test/**/*.test.ts'];
/** The files of long.config.ts. */
export const LONG = 'test/**/*.long.test.ts';
/** Tests that replace a module, and therefore must not share their process. */
const ALONE = ['test/unit/data/leftovers.test.ts'];
/** Packages that a folder of tests installs. Some contain tests. */
const INSTALLED = '**/node_modules/**';
/** For every process and thread that a test starts, except in measurements. */
export const STRIPPED_ONCE = `--import=${new URL('./support/strippedOnce.js', import.meta.url).href}`;

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    globalSetup: fileURLToPath(new URL('./support/runDirectory.ts', import.meta.url)),
    setupFiles: fileURLToPath(new URL('./support/seedsOfFailures.ts', import.meta.url)),
    // One more than cores, because many tests wait for servers, and none of them measures time.
    maxWorkers: availableParallelism() + 1,
    execArgv: [STRIPPED_ONCE],
    // A server that a test has finished with need not wait for clients to leave. It need not compress all records
    // before it starts either, a sixth of its CPU: tests of compression use `--gzip stored`. The authorities and
    // proxies of a process must not depend on the machine of the test.
    env: {
      NODE_EXTRA_CA_CERTS: '',
      no_proxy: '*',
      NODE_OPTIONS: STRIPPED_ONCE,
      CATALOGUE_DRAIN_GRACE_SECONDS: '0',
      CATALOGUE_GZIP: 'live',
    },
    reporters: ['default', 'json', new SkippedTests()],
    // .ci/run reports a failure by its message: all of it.
    chaiConfig: { truncateThreshold: 0 },
    outputFile: { json: 'node_modules/.cache/catalogue-replica/test.json' },
    allowOnly: false,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      // Files share a process, which saves half a second of CPU each: their imports are loaded once.
      { extends: true, test: { name: 'shared', include: TESTS, exclude: [INSTALLED, LONG, ...ALONE], isolate: false } },
      { extends: true, test: { name: 'alone', include: ALONE } },
    ],
  },
});
