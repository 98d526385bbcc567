// Sentences of the design page that the service does not fulfil yet, each with what it does instead. Delete a line with
// the change that makes it true: coverage.test.ts then asks for a test that quotes it.
import type { Untestable } from './untestable.ts';

/** Units of the design page that wait to be built. */
export const PLANNED_DESIGN: readonly Untestable[] = [];
