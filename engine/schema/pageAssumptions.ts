// What the specification leaves open about cut records and exports and what we chose: assumptions.ts goes on here.
// Plain data: no behaviour. Numbers are never reused. Read by docs and tests.
import type { Assumption } from './assumptions.ts';

/** The assumptions about cut records and exports, in the order of their numbers. Source: the design page, Exports. */
export const PAGE_ASSUMPTIONS: readonly Assumption[] = [
  {
    id: 'A61',
    topic: 'fields',
    choice:
      'Names split at `,` after decoding, trimmed, empty ones left out; without any name the parameter counts as absent, with unknown ones only records are `{}`. Known are all keys that records of the collection have, and its fields. The last of repeated parameters counts; unknown names in it are reported as `fields=name`, in strict mode refused.',
    why: 'An empty `format` counts as none too, and a form with an empty box sends one; a misspelt name must not turn into whole records.',
  },
  {
    id: 'A62',
    topic: 'Exports',
    choice:
      '`ndjson` and `csv` give all rows from `offset` on unless a limit is a positive integer, which limitMax does not lower; of a single record the one line or row. Links in records follow A24. Root views have no exports (404).',
    why: 'limitMax bounds pages, and an export that ends early without a next link would look whole.',
  },
  {
    id: 'A63',
    topic: 'CSV',
    choice:
      'A header row; columns are the fields in the order of the snapshot, then keys that are no fields by code point (none beyond 1,000 of those, unless named in `fields`, which leaves columns out and moves none). Null and missing are empty, the empty text `""`, and so is a row of one empty cell. Texts are unescaped; objects and arrays are JSON as served; quotes only where needed; CRLF behind every row; no byte order mark.',
    why: 'RFC 4180 knows no null; readers skip empty lines.',
  },
];
