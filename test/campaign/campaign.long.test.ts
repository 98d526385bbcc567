// A campaign of one minute: no strain finds anything, each strain has several turns, and the watching client never
// waits for long. The nightly run adds a short soak. `npm run campaign` runs longer.
import { expect, test } from 'vitest';
import { RUN_SEED } from '../support/random.ts';
import { IS_WHOLE } from '../support/ring.ts';
import { table, totalOf } from './report.ts';
import { campaign, type Find } from './run.ts';
import { soak } from './soak.ts';
import { STRAINS } from './strains/all.ts';

const SECONDS = 60;
/** Far above the limit of `npm run campaign`: test machines are noisy. */
const WORST_WAIT_MS_MAX = 2000;

test.skipIf(process.platform !== 'linux')(`finds nothing in a short campaign (seed ${RUN_SEED})`, async () => {
  const found: Find[] = [];
  const leaks: string[] = [];
  const { tallies, memory, rest } = await campaign({
    seed: RUN_SEED,
    observations: 0,
    seconds: SECONDS,
    restMs: 3000,
    isOver: () => false,
    onFind: (find) => found.push(find),
    onLeak: (line) => leaks.push(line),
    onMinute: () => undefined,
  });
  process.stderr.write(`${table(tallies, memory, rest)}\n`);
  expect([found, leaks]).toEqual([[], []]);
  expect(tallies.filter(({ turns }) => turns > 0)).toHaveLength(STRAINS.length);
  const { verified, tried, worstMs } = totalOf(tallies);
  expect(Math.min(verified, tried)).toBeGreaterThan(0);
  expect(worstMs).toBeLessThan(WORST_WAIT_MS_MAX);
});

test.runIf(IS_WHOLE)('gets the right bytes throughout a short soak', async () => {
  const steps: string[] = [];
  const { answers, fault } = await soak({
    seed: 1,
    observations: 10_000,
    minutes: 0.2,
    isOver: () => false,
    onStep: (line) => steps.push(line),
  });
  process.stderr.write(`${steps.join('\n')}\n`);
  expect(fault).toBeUndefined();
  const [, perSecond] = /, (\d+) from now on/.exec(steps[0]!)!;
  expect(answers).toBeGreaterThanOrEqual(Number(perSecond) * 12);
});
