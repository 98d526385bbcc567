// Repeated drains under load: every request is answered as usual if the clients leave when they are asked to.
// test/support/drains.ts does the work.
import { expect, test } from 'vitest';
import { drainUnderLoad, type DrainOutcome } from '../support/drains.ts';
import { RUN_SEED, randomOf } from '../support/random.ts';
import { times } from '../support/ring.ts';

/** `DRAINS=100 npm run test:long -- load/drains` runs more. */
const DRAINS = Number(process.env['DRAINS'] ?? times(8, 100));
/** A drain mostly waits, so several run at once. */
const AT_ONCE = 4;

test(`loses no request in ${DRAINS} drains (seed ${RUN_SEED})`, async () => {
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
