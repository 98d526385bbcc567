// What the specification leaves open about validators and encodings of answers and what we chose: assumptions.ts goes
// on here. Plain data: no behaviour. Numbers are never reused. Read by docs and tests.
import type { Assumption } from './assumptions.ts';

/**
 * The assumptions about validators and encodings, in the order of their numbers. Source: the design page, Responses.
 */
export const ENCODING_ASSUMPTIONS: readonly Assumption[] = [
  {
    id: 'A100',
    topic: 'Conditional requests',
    choice:
      'Every 200 to GET and HEAD has a strong ETag of generation, settings, base URL, path and parameters (sorted), and Last-Modified where the data has a time that is not in the future. If-None-Match (first line; lists, `*`, weak comparison), else If-Modified-Since, gives 304 wherever the answer would be 200. If-Match, If-Unmodified-Since and If-Range are not looked at.',
    why: 'spec 1 shows no validators; the last three guard changes and ranges, of which there are none.',
    setting: 'cacheControl',
  },
  {
    id: 'A101',
    topic: 'Content codings',
    choice:
      'Lists, records and exports are sent with gzip where Accept-Encoding gives it a quality above 0 and not below that of identity, and it is the smaller form; bodies of at most 1,024 bytes go as they are unless identity is refused. No Accept-Encoding means identity. What no stored blocks give is compressed up to 1 MiB, four long ones at a time, else sent as it is, even where identity is refused. Other codings are not offered; root views, OPTIONS and errors are not compressed.',
    why: 'RFC 9110, section 12.5.3, lets a server answer without coding where none fits; a body that fits a packet gains nothing.',
    setting: 'gzip',
  },
  {
    id: 'A102',
    topic: 'Entity tags of compressed answers',
    choice:
      'The same tag with `-s` behind it where gzip was put together from stored blocks, `-z` where it was compressed for the request. A client that takes gzip gets 304 for any of the three.',
    why: 'The bytes differ, and which of them is sent depends on sizes that are not known before the work that a 304 saves; each of them is current.',
  },
];
