// Drains under load, as many as are asked for: every request of clients that leave when they are told to is
// answered as before. What is done is in test/support/drains.ts.
import { expect, test } from 'vitest';
import { drainUnderLoad, type DrainOutcome } from '../support/drains.ts';
import { RUN_SEED, randomOf } from '../support/random.ts';
import { times } from '../support/ring.ts';

/** More by `DRAINS=100 npm run test:long -- load/drains`. */
const DRAINS = Number(process.env['DRAINS'] ?? times(8, 100));
/** A drain is mostly waiting. */
const AT_ONCE = 4;

test(`${DRAINS} drains lose no request (seed ${RUN_SEED})`, async () => {
  const random = randomOf(RUN_SEED);
  const outcomes: DrainOutcome[] = [];
  while (outcomes.length < DRAINS) {
    outcomes.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => drainUnderLoad(random)))));
  }
  expect(outcomes.flatMap(({ lost }) => lost)).toEqual([]);
  expect(outcomes.map(({ end }) => end)).toEqual(outcomes.map(() => ({ code: 0, signal: null })));
  const answered = outcomes.reduce((sum, one) => sum + one.answered, 0);
  process.stderr.write(`${answered} requests were answered in ${outcomes.length} drains\n`);
});
