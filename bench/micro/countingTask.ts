// The micro-benchmark of what a request pays for the metrics: the watch of a serving thread is told of a request and
// of its answer, beside the two looks at the clock that any timing takes.
import assert from 'node:assert/strict';
import { type Answer, type Request, ROUTES } from '../../server/http/exchange.ts';
import { steadyMs } from '../../server/observe/clock.ts';
import { newTally } from '../../server/observe/tally.ts';
import { requestTallies } from '../../server/process/requestTallies.ts';
import { countingWatch } from '../../server/process/threadWatch.ts';
import type { LoopTask } from './microTask.ts';

/** Requests a run, of every method and route with answers of several kinds. */
const REQUESTS = 1000;

const ASKED = ['GET', 'GET', 'HEAD', 'GET'].map((method) => ({ method }) as Request);
const HEADERS: readonly Answer['headers'][] = [[['ETag', '"1"']], [['Content-Encoding', 'gzip']], []];
const ANSWERS = [200, 304, 200, 404].map(
  (status, i) => ({ status, headers: HEADERS[i % HEADERS.length]!, body: { bytes: i * 1000 } }) as unknown as Answer,
);

/** The task; what it is of a bare answer, of which it may be 0.02, stands in bench/FIGURES.md. */
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
