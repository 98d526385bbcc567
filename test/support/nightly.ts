// `npm run test:nightly`: the short and the long tests with all their cases and repetitions, from a seed that is new in
// each run. SEED=N repeats a run. Ends with the seed and `N passed, N failed`; exit status 0 only if nothing failed.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { drawSeed } from './random.ts';
import { ROOT } from './sources.ts';

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
}

const seed = process.env['SEED'] ?? String(drawSeed());
process.stdout.write(`seed ${seed}\n`);
const start = performance.now();
let passed = 0;
let failed = 0;
for (const [script, report] of [
  ['test', 'test.json'],
  ['test:long', 'long.json'],
] as const) {
  const env = { ...process.env, RING: 'whole', SEED: seed };
  const { status } = spawnSync('npm', ['run', script], { cwd: ROOT, env, stdio: 'inherit' });
  const path = `${ROOT}node_modules/.cache/catalogue-replica/${report}`;
  const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(path, 'utf8')) as Report;
  passed += numPassedTests;
  // A run may fail without a failing test, such as by an error while a file is loaded.
  failed += numFailedTests || Number(status !== 0);
}
const minutes = ((performance.now() - start) / 60_000).toFixed(0);
process.stdout.write(`seed ${seed}, ${minutes} minutes\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
