// Every lookup on every field, with an operand each; everyLookup.long.test.ts draws more of them. What is asked and
// compared is in lookupRing.ts.
import { testEveryLookup } from './lookupRing.ts';

testEveryLookup(1);
