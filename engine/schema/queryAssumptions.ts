// What the specification leaves open about lookups and what we chose: the assumptions of assumptions.ts go on here.
// Plain data: no behaviour. Numbers are never reused. Read by docs and tests.
import type { Assumption } from './assumptions.ts';

/** The assumptions about lookups, in the order of their numbers. Source: the design page, Filters. */
export const QUERY_ASSUMPTIONS: readonly Assumption[] = [
  {
    id: 'A55',
    topic: 'Case',
    choice:
      'Two characters are the same to iexact, icontains, istartswith and iendswith when Unicode simple case folding makes them so, one for one: `K` and the Kelvin sign, all sigmas, `ß` and `ẞ`; not `ß` and `ss`, not dotted or dotless i and `i`. Nothing is normalised: an accent of its own is a character.',
    why: 'The stock database compares character by character, the folding of iregex is the same, and a text keeps its characters one for one.',
  },
  {
    id: 'A56',
    topic: 'Parts of dates',
    choice:
      'date (YYYY-MM-DD only), year, month, day, week_day (Sunday is 1), hour, minute and second are those of the instant in UTC, fractions cut off, on dates and date-times alike; a value that the part cannot have matches nothing. A part takes no further lookup.',
    why: 'Comparison is by instant, so that one instant in two spellings has one hour.',
  },
  {
    id: 'A57',
    topic: 'Order of values',
    choice:
      'gt, gte, lt, lte and range compare texts by code point as served, integers exactly at any length, floats as doubles, dates by instant, relations by id; a date text that is none lies in no range. range takes two values, both included; a bad one is an error in every mode and named before their number. Booleans have no order.',
    why: 'They must agree with equality (A34, A40), and half a range is no range.',
  },
  {
    id: 'A58',
    topic: 'Regular expressions',
    choice:
      'The syntax of RE2 (no lookaround, no backreferences), a match anywhere, `.` without a line feed; trimmed, at most 500 characters and 2,000 instructions, at most 8 in a query; else an error like any bad value. They run in the pool for at most 10 s, beyond which the answer is a 400 that names their keys, whatever filterErrors says.',
    why: 'RE2 matches in time linear in the text. 503 would ask a client to come again with what will take as long again, and an empty list would be a lie.',
  },
  {
    id: 'A59',
    topic: 'isnull',
    choice:
      'Takes a boolean (A41). Where there is no related row, or no element of an array, one of nulls stands for it, and below it only such: `isnull=true` finds it, alone or with other `isnull=true` on the same relation. On a key that ends on a relation it asks for the id.',
    why: 'The stock service joins so that records without related rows are kept with nulls.',
  },
  {
    id: 'A60',
    topic: 'Steps through links',
    choice:
      'A key steps through a link to the fields of the record it points at; behind an embedded record its own members come first, then, where its id is a link, the fields of that record: `permissions__uuid` is `permissions__ob_id__uuid`. A dangling link keeps its id there, all else is null: `projects__ob_id=7` is `projects=7`.',
    why: 'The id of a link is read from the link, not from the record behind it, and what an embedded record shows itself is what a client reads.',
  },
];
