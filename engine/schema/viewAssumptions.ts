// What the specification leaves open about how a list is shown and what we chose: the assumptions of assumptions.ts go
// on here. Plain data: no behaviour. Numbers are never reused. Read by docs and tests.
import type { Assumption } from './assumptions.ts';

/**
 * The assumptions about order, walks by id and facets, in the order of their numbers. Source: the design page, Exports,
 * order, facets.
 */
export const VIEW_ASSUMPTIONS: readonly Assumption[] = [
  {
    id: 'A64',
    topic: 'Ordering',
    choice:
      '`ordering` takes scalars and to-one relations (by id) of the record and of its to-one embedded records, in every collection; the last of repeated parameters wins, a repeated field counts where it stands first. Names that are no such field are ignored and named as `ordering=foo`, with strict refused under `ordering`.',
    why: 'An order by a field with several values is none, and a client that misspells a name should learn it.',
  },
  {
    id: 'A65',
    topic: 'Order of lists',
    choice:
      'Texts by code point as served, numbers by value, booleans false first, dates by instant and what is no date behind them by text, links by id; null last ascending, first descending; ties, equal values written differently too, by ascending id in either direction.',
    why: 'It is the order that filters compare by, and it is total, so that pages never overlap.',
  },
  {
    id: 'A66',
    topic: 'after',
    choice:
      'A whole number as in filters; only records with a larger id are shown, in the order of ids, while count is that of the filter. A bad one, or one beside any `ordering` or `offset`, is a 400 whatever filterErrors says. previous is null, next null when nothing follows. Exports start there too, with all that follows unless a limit is set.',
    why: 'It resumes a walk, and a misread id would skip records silently.',
  },
  {
    id: 'A67',
    topic: 'Facets',
    choice:
      'The count of a value is how many records a filter on it would find: each record once, arrays and to-many embedded records too; a record without a value, or with a related row without one, counts as null. A value written differently is one, shown as its first spelling by text; links are shown by id. At most 100 values a facet and 10 facets; paths do not lead through links. A text `null` and null share the key `null`. Exports have no place for facets: these are judged, not counted.',
    why: 'Facets are for choosing filters, so that a key must be a value to filter by and its count what the filter finds.',
  },
  {
    id: 'A68',
    topic: 'explain',
    choice:
      'With the setting, `explain=1` or `true` on a list answers, in place of the list and whatever the format, one JSON object: the plan with its estimates, what was found, where it ran, the work it took, and what the thread that answered keeps. What would be refused is refused. Never stored by caches. Without the setting it is an unknown parameter.',
    why: 'What a query costs tells of the data and of other requests, which is for operators to allow.',
    setting: 'explain',
  },
  {
    id: 'A69',
    topic: 'Pinned walks',
    choice:
      'With the setting, next and previous of a list carry `generation`, the first 12 digits of the served one, and answers have it in the header X-Generation, exports too. A list that names another one, whatever else it asks for, is a 410 with `detail` and the `generation` served, never stored by caches; the whole hash names it too, an empty value none, the last of repeated ones counts. Records and root views do not heed it. Without the setting it is an unknown parameter.',
    why: 'Pages of two generations may overlap or miss records; an export has no links, but a client resumes it by `after`. Behind a proxy some replicas may be newer than others, so that an answer of now says nothing of later.',
    setting: 'pinWalks',
  },
];
