import { expect, test } from 'vitest';
import { IS_WHOLE } from '../../../support/ring.ts';
import { RUDE_WAYS, rudeSuite } from '../../../support/rudeWays.ts';

test('has at least 40 ways to misbehave', () => {
  expect(new Set(RUDE_WAYS.map(({ name }) => name)).size).toBeGreaterThanOrEqual(40);
});

const PLACES = ['first', 'middle', 'last'] as const;

rudeSuite(RUDE_WAYS, (_, i) => (IS_WHOLE ? PLACES : [PLACES[i % 3]!]));
