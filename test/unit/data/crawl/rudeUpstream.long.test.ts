// A crawl from a server that misbehaves in all the ways there are, each at two of the first, a
// middle and the last page, others each time.
import { expect, test } from 'vitest';
import { rudeSuite } from '../../../support/rudeSuite.ts';
import { someOf } from '../../../support/ring.ts';
import { RUDE_WAYS } from '../../../support/rudeWays.ts';

test('there are at least 40 ways', () => {
  expect(new Set(RUDE_WAYS.map(({ name }) => name)).size).toBeGreaterThanOrEqual(40);
});

rudeSuite(RUDE_WAYS, () => someOf(['first', 'middle', 'last'], 2));
