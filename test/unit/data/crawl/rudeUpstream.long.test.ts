// A crawl from a server that misbehaves in all the ways there are, each at the first, a middle and the last page.
import { expect, test } from 'vitest';
import { rudeSuite } from '../../../support/rudeSuite.ts';
import { RUDE_WAYS } from '../../../support/rudeWays.ts';

test('there are at least 40 ways', () => {
  expect(new Set(RUDE_WAYS.map(({ name }) => name)).size).toBeGreaterThanOrEqual(40);
});

rudeSuite(RUDE_WAYS, () => ['first', 'middle', 'last']);
