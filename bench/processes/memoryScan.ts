// A scan of a whole text with built-in functions of Node, without an index. Searches are compared with it.

/**
 * The number of occurrences of `needle` (not empty) in `text`, overlaps included. Cost: one pass of native code over
 * the text.
 */
export function naiveCountOf(text: Uint8Array, needle: Uint8Array): number {
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.length);
  let count = 0;
  for (let at = bytes.indexOf(needle); at >= 0; at = bytes.indexOf(needle, at + 1)) count++;
  return count;
}
