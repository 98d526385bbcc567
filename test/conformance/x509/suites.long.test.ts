// The public suites of path validation through `authority verify-cert`: some cases in each run, each in a separate
// process. suites.test.ts has all cases.
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../support/dataSets.ts';
import { hasPathSuites, PATH_SUITES, type PathCase, pathCases } from '../../support/testdata.ts';
import { someOf } from '../../support/ring.ts';
import { judgeByCommand, type Outcome } from './judge.ts';

/** CPU time of the validation alone; cases take a tenth of it, most of which is compiling the program. */
const CPU_MS_MAX = 250;

const directory = temporaryDirectory();

/** The outcome of a case. A slow case runs twice more, and the minimum of its times counts. */
function judged(one: PathCase): Outcome {
  const outcome = judgeByCommand(one, directory);
  if (outcome.cpuMs < CPU_MS_MAX) return outcome;
  const again = [1, 2].map(() => judgeByCommand(one, directory).cpuMs);
  return { ...outcome, cpuMs: Math.min(outcome.cpuMs, ...again) };
}

test.skipIf(!hasPathSuites()).each(PATH_SUITES)(
  '%s: passes every case of the tier must, without any false acceptance',
  (suite) => {
    const outcomes = someOf(pathCases(suite), 8).map((one) => ({ ...one, ...judged(one) }));
    const tiers = Map.groupBy(outcomes, ({ tier }) => tier);
    for (const [tier, all] of tiers) {
      const right = all.filter(({ verdict, expect }) => verdict === expect).length;
      const falseAccepts = all.filter(({ verdict, expect }) => verdict === 'accept' && expect === 'reject').length;
      const slowest = Math.max(...all.map(({ cpuMs }) => cpuMs));
      const figures = `${right} of ${all.length}, ${falseAccepts} false accepts, at most ${slowest} ms of CPU`;
      process.stdout.write(`${suite} ${tier}: ${figures}\n`);
    }
    const wrong = tiers.get('must')?.filter(({ verdict, expect }) => verdict !== expect);
    expect(wrong?.map(({ id }) => id)).toEqual([]);
    expect(outcomes.filter(({ cpuMs }) => !(cpuMs < CPU_MS_MAX)).map(({ id }) => id)).toEqual([]);
  },
);
