import { RUDE_WAYS, rudeSuite } from '../../../support/rudeWays.ts';

rudeSuite(
  RUDE_WAYS.filter(({ isLong }, i) => !isLong && i % 9 === 0),
  (_, i) => [(['first', 'middle', 'last'] as const)[i % 3]!],
);
