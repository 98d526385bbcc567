// Every lookup on every field of a collection and on some behind its links, with an operand each;
// everyLookup.long.test.ts has all of them and more operands. What is asked and compared is in lookupRing.ts.
import { testEveryLookup } from './lookupRing.ts';

testEveryLookup(1, 96);
