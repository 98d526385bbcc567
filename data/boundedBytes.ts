// The bytes of a body that somebody else sends, as long as they may be. Knows no client; of what is longer tells who
// asked.

/**
 * The bytes of pieces as they come; undefined where they are more than `bytesMax`, of which no more are taken, whatever
 * was said of their length. Rejects with what the pieces reject with.
 */
export async function bytesWithin(pieces: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Buffer | undefined> {
  const taken: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > bytesMax) return undefined;
    taken.push(piece);
  }
  return Buffer.concat(taken, bytes);
}
