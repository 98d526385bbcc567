// More random catalogues and settings than a quick run has time for, new ones in each run. ring.ts describes what is
// compared.
import { describe, test } from 'vitest';
import { someOf, times } from '../support/ring.ts';
import { compareOnSample, compareOnSeed, SEED_MS_MAX } from './ring.ts';

/** The snapshot of this seed has no index variants. */
const WITHOUT_VARIANTS = 3;
const SEEDS = [1, 2, 4, 5, 6, ...Array.from({ length: 40 }, (_, i) => 1001 + i)];
const REQUESTS = times(500, 2500);

describe('the server agrees with the naive oracle on many catalogues', () => {
  test.each([WITHOUT_VARIANTS, ...someOf(SEEDS, 1)])(
    'on the random catalogue and the random requests of seed %i',
    (seed) => compareOnSeed(seed, REQUESTS),
    SEED_MS_MAX,
  );

  test('on the embedded sample, including heavy scans in the pool', () => compareOnSample(REQUESTS * 4), SEED_MS_MAX);
});
