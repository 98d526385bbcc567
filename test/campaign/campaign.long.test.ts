// A short campaign of a new seed each time: no strain finds anything, all of them have had their turns, and the
// watching client never waits for long. What is longer is `npm run campaign`.
import { expect, test } from 'vitest';
import { freshSeed } from '../support/random.ts';
import { table, totalOf } from './report.ts';
import { campaign, type Find } from './run.ts';
import { STRAINS } from './strains/all.ts';

const SEED = freshSeed();
const SECONDS = 40;
/** Far beyond what is judged by `npm run campaign`: machines of tests are noisy. */
const WORST_WAIT_MS_MAX = 2000;

test.skipIf(process.platform !== 'linux')(`a short campaign finds nothing (seed ${SEED})`, async () => {
  const found: Find[] = [];
  const { tallies, memory, rest } = await campaign({
    seed: SEED,
    observations: 0,
    seconds: SECONDS,
    isOver: () => false,
    onFind: (find) => found.push(find),
    onMinute: () => undefined,
  });
  process.stderr.write(`${table(tallies, memory, rest)}\n`);
  expect(found).toEqual([]);
  expect(tallies.filter(({ turns }) => turns > 0)).toHaveLength(STRAINS.length);
  const { verified, tried, worstMs } = totalOf(tallies);
  expect(Math.min(verified, tried)).toBeGreaterThan(0);
  expect(worstMs).toBeLessThan(WORST_WAIT_MS_MAX);
});
