// A reader of messages for signing threads under test: says how many bytes a message has, and which if it is one; 255
// alone is a bug.

/** How many bytes a message has, and those of a message of one. Throws for a 255 alone. */
export function readMessage(body: Uint8Array, charset: string | undefined): unknown {
  if (body[0] === 255) throw new Error('a bug in countingReader');
  return { bytes: body.length === 1 ? [...body] : body.length, charset };
}
