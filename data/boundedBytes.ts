/**
 * Collects the bytes of a body from another party. Returns undefined if they are more than `bytesMax`, and then reads
 * no more of them. Ignores announced lengths. Rejects if the pieces reject.
 */
export async function readBytesWithin(
  pieces: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<Buffer | undefined> {
  const collected: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > bytesMax) return undefined;
    collected.push(piece);
  }
  return Buffer.concat(collected, bytes);
}
