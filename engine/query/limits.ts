// Limits of one query, each checked before the work that it bounds, and functions that count the parts of a text
// without splitting it. Limits of the cost of a list are in find/passes.ts and workers/router.ts.

/** Parameters of a query, including empty ones. Browser forms send a few dozen. Source: A103. */
export const PARAMETERS_MAX = 1024;

/** Filters of a query; joined lists count as one. Source: A103. */
export const CONDITIONS_MAX = 64;

/**
 * Relations that a key may step over (A48). Each step may multiply the rows that a condition reads; real keys take two
 * or three.
 */
export const RELATION_STEPS_MAX = 6;

/** Members of a list: more distinct ids than fit into a request head of 64 kB. Source: A103. */
export const MEMBERS_MAX = 16_384;

/**
 * Names between the commas of `fields`, `expand`, `ordering` and `facets`: as many fields as import may infer for a
 * collection. Source: A103.
 */
export const NAMES_MAX = 1024;

/** Facets of one request: each may read every record. */
export const FACETS_MAX = 10;

/** Names of `expand`: each may multiply the bytes of a record. */
export const EXPAND_MAX = 10;

/** Links after one another that a name of `expand` may replace. */
export const EXPAND_LEVELS_MAX = 2;

/** Joined fields of one request: each may read many linked records of every record. */
export const JOINED_MAX = 32;

/** Fields that one request orders by: each may read every record, and real orders have two or three. */
export const ORDER_KEYS_MAX = 10;

/** Words of a search: each is looked for in every search field. */
export const WORDS_MAX = 16;

/** Regular expressions of a query. */
export const REGEXES_MAX = 8;

/** Characters of a regular expression. Real clients send a few dozen. */
export const REGEX_LENGTH_MAX = 500;

/**
 * Total `regexSize` of the regular expressions of a query: the instructions that they compile to. At worst an
 * instruction takes some us to compile, before the pool receives the query, and some ns a character of text.
 */
export const REGEX_SIZE_MAX = 2000;

/** Number of parts between separators. Cost: one pass over the text, without a copy. */
export function countParts(text: string, separator: string): number {
  let parts = 1;
  for (let at = text.indexOf(separator); at >= 0; at = text.indexOf(separator, at + 1)) parts++;
  return parts;
}

/** Start of the part after the first `most` parts, or -1. Cost: a pass over the text up to that part. */
export function startAfter(text: string, separator: string, most: number): number {
  let start = 0;
  for (let parts = 0; parts < most; parts++) {
    start = text.indexOf(separator, start) + 1;
    if (start === 0) return -1;
  }
  return start;
}
