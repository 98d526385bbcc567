// A crawl from a server that misbehaves in every ninth of many ways, each at one of three pages; the long ring has all
// of them at all three.
import { RUDE_WAYS, rudeSuite } from '../../../support/rudeWays.ts';

rudeSuite(
  RUDE_WAYS.filter(({ isLong }, i) => !isLong && i % 9 === 0),
  (_, i) => [(['first', 'middle', 'last'] as const)[i % 3]!],
);
