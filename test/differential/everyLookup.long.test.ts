// Every lookup on every field, with an operand each in CI, and in the nightly run with many: ones that hit, and others.
// What is asked and compared is in lookupRing.ts.
import { times } from '../support/ring.ts';
import { testEveryLookup } from './lookupRing.ts';

testEveryLookup(times(1, 8), { own: 1, linked: 1 });
