// A random catalogue and the embedded sample, each with many random requests. ring.ts describes what is compared;
// differential.long.test.ts runs more.
import { describe, test } from 'vitest';
import { compareOnSample, compareOnSeed, SEED_MS_MAX } from './ring.ts';
import { times } from '../support/ring.ts';

/** The seed that uses the default settings. */
const SEED = 1;
const REQUESTS = times(40, 75);

describe('the server agrees with the naive oracle', () => {
  test(
    `on the random catalogue and the random requests of seed ${SEED}`,
    () => compareOnSeed(SEED, REQUESTS),
    SEED_MS_MAX,
  );

  test('on the embedded sample, including heavy scans in the pool', () => compareOnSample(REQUESTS), SEED_MS_MAX);
});
