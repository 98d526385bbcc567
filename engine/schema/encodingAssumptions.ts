// What the specification leaves open about validators and encodings of answers and what we chose: assumptions.ts goes on here.
// Plain data: no behaviour. Numbers are never reused. Read by docs and tests.
import type { Assumption } from './assumptions.ts';

/** The assumptions about validators and encodings, in the order of their numbers. Source: the design page, Responses. */
export const ENCODING_ASSUMPTIONS: readonly Assumption[] = [
  {
    id: 'A100',
    topic: 'Conditional requests',
    choice:
      'Every 200 to GET and HEAD has a strong ETag of generation, settings, base URL, path and parameters (sorted), and Last-Modified where the data has a time that is not in the future. If-None-Match (first line; lists, `*`, weak comparison), else If-Modified-Since, gives 304 wherever the answer would be 200. If-Match, If-Unmodified-Since and If-Range are not looked at.',
    why: 'spec 1 shows no validators; the last three guard changes and ranges, of which there are none.',
    setting: 'cacheControl',
  },
];
