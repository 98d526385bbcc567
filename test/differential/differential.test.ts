// The differential ring, quickly: a few random catalogues and the embedded sample, each with many random requests.
// What is compared and how is in ring.ts; differential.long.test.ts runs more of the same.
import { describe, test } from 'vitest';
import { compareOnSample, compareOnSeed, SEED_MS_MAX } from './ring.ts';

/** Seed 1 has the default settings, seed 3 a snapshot without any variant of an index. */
const SEEDS = [1, 3];
const REQUESTS = 150;

describe('the server agrees with the naive oracle', () => {
  test.each(SEEDS)(
    'on the random catalogue and the random requests of seed %i',
    (seed) => compareOnSeed(seed, REQUESTS),
    SEED_MS_MAX,
  );

  test('on the embedded sample, heavy scans in the pool included', () => compareOnSample(REQUESTS), SEED_MS_MAX);
});
