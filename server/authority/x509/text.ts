// The string types of names and general names (RFC 5280, section 4.1.2.4; X.680, section 8.4) as JavaScript strings.
// Decodes strictly: bytes that the type cannot hold are an error, never a replacement character.
import { DerError } from './der.ts';

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const DECODERS: ReadonlyMap<number, (bytes: Uint8Array) => string> = new Map([
  [0x0c, utf8],
  [0x12, asciiText], // NumericString
  [0x13, asciiText], // PrintableString, with whatever ASCII issuers put there
  [0x14, latin1], // TeletexString: in practice Latin-1 (OpenSSL reads it so too)
  [0x16, asciiText], // IA5String
  [0x1a, asciiText], // VisibleString
  [0x1c, (bytes: Uint8Array) => wide(bytes, 4)], // UniversalString
  [0x1e, (bytes: Uint8Array) => wide(bytes, 2)], // BMPString
]);

/** The text of a string element; undefined where the tag is not that of a string. */
export function stringText(tag: number, bytes: Uint8Array): string | undefined {
  return DECODERS.get(tag)?.(bytes);
}

/** ASCII as text; DerError on any other byte. */
export function asciiText(bytes: Uint8Array): string {
  if (!isAscii(bytes)) throw new DerError('a byte that is no ASCII');
  return latin1(bytes);
}

function isAscii(bytes: Uint8Array): boolean {
  for (let i = 0; i < bytes.length; i++) if (bytes[i]! > 0x7f) return false;
  return true;
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}

function utf8(bytes: Uint8Array): string {
  if (isAscii(bytes)) return latin1(bytes);
  try {
    return UTF8.decode(bytes);
  } catch (cause) {
    throw new DerError('bytes that are no UTF-8', { cause });
  }
}

/** Code points of `width` bytes, the highest byte first. */
function wide(bytes: Uint8Array, width: 2 | 4): string {
  if (bytes.length % width !== 0) throw new DerError('half a character');
  let text = '';
  for (let i = 0; i < bytes.length; i += width) {
    let code = 0;
    for (let k = i; k < i + width; k++) code = code * 256 + bytes[k]!;
    if (code > 0x10_ffff || (code >= 0xd800 && code < 0xe000)) throw new DerError('no character');
    text += String.fromCodePoint(code);
  }
  return text;
}
