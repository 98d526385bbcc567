// What one query may ask of the thread that reads it, each limit judged before the work that it bounds; and the parts
// of a text counted without splitting it. What a list may cost there is in find/passes.ts and workers/router.ts.

/** Parameters of a query, empty ones too. Forms of people send a few dozen. Source: A103. */
export const PARAMETERS_MAX = 1024;

/** Filters of a query; joined lists are one. Source: A103. */
export const CONDITIONS_MAX = 64;

/**
 * How many relations a key may step over (A48). Each may multiply the rows that a condition touches, and real keys step
 * over two or three.
 */
export const RELATION_STEPS_MAX = 6;

/** Members of a list: more ids than a head of 64 kB can hold, once each. Source: A103. */
export const MEMBERS_MAX = 16_384;

/** Names between the commas of `fields`, `ordering` and `facets`: as many as a collection may infer. Source: A103. */
export const NAMES_MAX = 1024;

/** Facets of one request: each costs up to a look at every record. */
export const FACETS_MAX = 10;

/** Fields that one request orders by: each may cost a look at every record, and real orders have two or three. */
export const ORDER_KEYS_MAX = 10;

/** Regular expressions of a query. */
export const REGEXES_MAX = 8;

/** Characters of a regular expression. Those of real clients have a few dozen. */
export const REGEX_LENGTH_MAX = 500;

/**
 * Instructions of the programs that the regular expressions of a query become, `regexSize` in all: at worst each costs
 * some us to compile, before the pool sees it, and some ns a character of text.
 */
export const REGEX_SIZE_MAX = 2000;

/** How many parts a separator cuts a text into. Cost: the text, without a copy of it. */
export function countParts(text: string, separator: string): number {
  let parts = 1;
  for (let at = text.indexOf(separator); at >= 0; at = text.indexOf(separator, at + 1)) parts++;
  return parts;
}

/** Where the part behind the first `most` ones starts, or -1. Cost: the text up to there. */
export function startBehind(text: string, separator: string, most: number): number {
  let start = 0;
  for (let parts = 0; parts < most; parts++) {
    start = text.indexOf(separator, start) + 1;
    if (start === 0) return -1;
  }
  return start;
}
