// A twelfth of the fields of each collection and some fields of linked records, with one operand for each lookup.
// everyLookup.long.test.ts has all fields. lookupRing.ts describes what is compared.
import { testEveryLookup } from './lookupRing.ts';

testEveryLookup(1, { own: 12, linked: 384 });
