// Keys of maps that stay short whatever a client sent. V8 hashes texts of more than 16,383 characters by their length
// alone, so that long keys would be compared with one another whole: of 290 kept filters with 9,600 ids each, 3 ms for
// each look.
import { createHash } from 'node:crypto';

/** Keys up to this length are kept as they are: those of nearly all filters. */
const PLAIN_CHARACTERS_MAX = 1024;

/** A key as it is, or the SHA-256 of a long one. Cost: none, or 1 ms for each 500 kB. */
export function shortKey(key: string): string {
  return key.length <= PLAIN_CHARACTERS_MAX ? key : createHash('sha256').update(key).digest('base64');
}
