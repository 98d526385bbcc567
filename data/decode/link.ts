// The text of a link to a record of this catalogue: the placeholder of the base URL, a collection, an id and the query.
// Knows no column and no line.
import { hasBytesAt } from '../../engine/bits/bytes.ts';
import { PLACEHOLDER } from '../../engine/column/records.ts';
import { SPEC_LINK_END } from '../../engine/column/served.ts';

const ENCODER = new TextEncoder();

/** What stands behind the id. */
export const LINK_SUFFIX = ENCODER.encode(SPEC_LINK_END);

/** What stands before it in links to records of a collection. */
export function linkPrefix(collection: string | undefined): Uint8Array {
  return ENCODER.encode(`${PLACEHOLDER}/api/v3/${collection}/`);
}

/** Whether `text[start..end)` is a link that begins with `prefix`; its id is from 0 to 2^53 - 1. */
export function isLink(text: Uint8Array, prefix: Uint8Array, start: number, end: number): boolean {
  const idStart = start + prefix.length;
  const idEnd = end - LINK_SUFFIX.length;
  return hasBytesAt(text, start, prefix) && isId(text, idStart, idEnd) && hasBytesAt(text, idEnd, LINK_SUFFIX);
}

function isId(bytes: Uint8Array, start: number, end: number): boolean {
  let id = 0;
  for (let i = start; i < end; i++) {
    const digit = bytes[i]! - 0x30;
    if (!(digit >= 0 && digit <= 9)) return false;
    id = id * 10 + digit;
  }
  return end > start && id <= Number.MAX_SAFE_INTEGER;
}
