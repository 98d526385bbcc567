// Sentences of the design page that the service does not fulfil yet, each with what it does instead. Delete a line with
// the change that makes it true: coverage.test.ts then asks for a test that quotes it.
import type { Untestable } from './untestable.ts';

/** Units of the design page that wait to be built. */
export const PLANNED_DESIGN: readonly Untestable[] = [
  {
    quote: 'Lists carry X-Total-Count (exposed to browsers), so that HEAD tells a count alone.',
    reason: 'the count stands in the body alone',
  },
  {
    quote: 'Exports carry Content-Disposition with a file name (observations.csv).',
    reason: 'browsers choose a name by themselves',
  },
  {
    quote: 'A 404 for an unknown collection, file ending or format says what is near.',
    reason: 'says "Not found."',
  },
  {
    quote: 'Suggestions count a transposition as one slip, and name the step of a path that is wrong.',
    reason: 'a transposition counts as two',
  },
  {
    quote: 'strict also refuses a boolean or isnull value that is none, and a limit or offset that had to be replaced.',
    reason: 'strict refuses names alone',
  },
  {
    quote:
      'Negotiation: no Accept, */*, application/*, application/json give JSON; text/csv and application/x-ndjson on a list give that export.',
    reason: 'exports are asked for by format alone',
  },
];
