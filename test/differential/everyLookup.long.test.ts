// In CI one operand for each lookup on each field, in the nightly run many, matching and others. lookupRing.ts
// describes what is compared.
import { times } from '../support/ring.ts';
import { testEveryLookup } from './lookupRing.ts';

testEveryLookup(times(1, 8), { own: 1, linked: 1 });
