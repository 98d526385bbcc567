// The micro-benchmark of what metrics cost a request: a serving thread's watch counts a request and its response. The
// calibration is two reads of the clock, which any timing needs.
import assert from 'node:assert/strict';
import { type Answer, type Request, ROUTES } from '../../server/http/exchange.ts';
import { steadyMs } from '../../server/observe/clock.ts';
import { newTally } from '../../server/observe/tally.ts';
import { requestTallies } from '../../server/process/requestTallies.ts';
import { countingWatch } from '../../server/process/threadWatch.ts';
import type { LoopTask } from './microTask.ts';

/** Requests a run, of every method and route with responses of several kinds. */
const REQUESTS = 1000;

const ASKED = ['GET', 'GET', 'HEAD', 'GET'].map((method) => ({ method }) as Request);
const HEADERS: readonly Answer['headers'][] = [[['ETag', '"1"']], [['Content-Encoding', 'gzip']], []];
const ANSWERS = [200, 304, 200, 404].map(
  (status, i) => ({ status, headers: HEADERS[i % HEADERS.length]!, body: { bytes: i * 1000 } }) as unknown as Answer,
);

/** The task. Its cost must be at most 0.02 of a bare response; bench/FIGURES.md has the measured fraction. */
export function countingTask(): LoopTask {
  const tallies = requestTallies(newTally);
  const watch = countingWatch(tallies, steadyMs);
  const run = (): void => {
    for (let i = 0; i < REQUESTS; i++) watch(ASKED[i % 4]!).answered(ANSWERS[i % 4]!, i % ROUTES.length);
  };
  return {
    name: 'counting',
    calibration: 'two looks at the clock',
    pass: undefined,
    great: undefined,
    run,
    calibrate: () => {
      let ms = 0;
      for (let i = 0; i < REQUESTS; i++) ms -= steadyMs() - steadyMs();
      return ms;
    },
    check: () => {
      const before = tallies.requests.reduce((sum, count) => sum + count, 0);
      run();
      const answers = tallies.requests.reduce((sum, count) => sum + count, 0) - before;
      assert.equal(answers, REQUESTS);
      return `${answers}`;
    },
  };
}
