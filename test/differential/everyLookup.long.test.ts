// Every lookup on every field, with many operands: ones that hit, and others. What is asked and compared is in
// lookupRing.ts.
import { times } from '../support/ring.ts';
import { testEveryLookup } from './lookupRing.ts';

testEveryLookup(times(4, 8), 1);
