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

/**
 * Where a link ends that begins with `prefix` at `start`, whatever stands behind it; -1 where none does. Its id is from
 * 0 to 2^53 - 1.
 */
export function endOfLink(text: Uint8Array, prefix: Uint8Array, start: number): number {
  if (!hasBytesAt(text, start, prefix)) return -1;
  const idStart = start + prefix.length;
  let at = idStart;
  let id = 0;
  for (let digit = text[at]! - 0x30; digit >= 0 && digit <= 9; digit = text[++at]! - 0x30) id = id * 10 + digit;
  const isWhole = at > idStart && id <= Number.MAX_SAFE_INTEGER && hasBytesAt(text, at, LINK_SUFFIX);
  return isWhole ? at + LINK_SUFFIX.length : -1;
}
