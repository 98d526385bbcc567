// Every lookup on a sixth of the fields of each collection and on some fields of linked records, with an operand each;
// everyLookup.long.test.ts has all fields. What is asked and compared is in lookupRing.ts.
import { testEveryLookup } from './lookupRing.ts';

testEveryLookup(1, { own: 6, linked: 192 });
