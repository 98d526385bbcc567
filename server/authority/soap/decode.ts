// From the bytes of a request to its text: which encoding they are in, and whether they are. Pure; knows no XML but its
// declaration.

/** Encodings by their names in lower case; UTF-16 alone says nothing of the byte order, so it needs a mark. */
type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'latin1';

const ENCODINGS: ReadonlyMap<string, Encoding> = new Map([
  ['utf-8', 'utf-8'],
  ['utf8', 'utf-8'],
  ['us-ascii', 'utf-8'],
  ['utf-16le', 'utf-16le'],
  ['utf-16be', 'utf-16be'],
  ['iso-8859-1', 'latin1'],
]);

/** Longer than any XML declaration that clients write. */
const DECLARATION_BYTES = 200;
const DECLARED = /^<\?xml\s+version\s*=\s*(?:"[^"]*"|'[^']*')\s+encoding\s*=\s*["']([A-Za-z0-9._-]+)["']/;

/**
 * The text of a request, or undefined where the bytes are not text in their encoding. That is the one of the byte order
 * mark, else of `charset` (of Content-Type), else of the XML declaration, else UTF-8 (A91). A mark is not part of the
 * text.
 */
export function decodedText(bytes: Uint8Array, charset: string | undefined): string | undefined {
  const encoding = markedEncoding(bytes) ?? namedEncoding(bytes, charset);
  if (encoding === undefined) return undefined;
  if (encoding === 'latin1') return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function markedEncoding(bytes: Uint8Array): Encoding | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return undefined;
}

function namedEncoding(bytes: Uint8Array, charset: string | undefined): Encoding | undefined {
  const name = charset ?? declaredEncoding(bytes) ?? 'utf-8';
  return ENCODINGS.get(name.toLowerCase());
}

function declaredEncoding(bytes: Uint8Array): string | undefined {
  const length = Math.min(bytes.length, DECLARATION_BYTES);
  return DECLARED.exec(Buffer.from(bytes.buffer, bytes.byteOffset, length).toString('latin1'))?.[1];
}
