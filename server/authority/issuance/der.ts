// Writes DER (X.690): the few types that a certificate is made of.
// Writes only; x509/ reads.

/** A value with its tag and length around its contents. Lengths up to 2^32 - 1. */
export function tagged(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const bytes = bigEndian(BigInt(length));
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes]);
}

/** A non-negative number as bytes, most significant first, without leading zeros; 0 is one byte. */
function bigEndian(value: bigint): Buffer {
  const digits = value.toString(16);
  return Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex');
}

/** SEQUENCE. */
export function sequence(...members: readonly Uint8Array[]): Buffer {
  return tagged(0x30, ...members);
}

/** SET of one, or of members in the order given. */
export function set(...members: readonly Uint8Array[]): Buffer {
  return tagged(0x31, ...members);
}

/** INTEGER, not negative. */
export function integer(value: bigint): Buffer {
  const bytes = bigEndian(value);
  return tagged(0x02, bytes[0]! >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

/** BOOLEAN TRUE. */
export const TRUE: Uint8Array = Buffer.from([0x01, 0x01, 0xff]);

/** OBJECT IDENTIFIER from its dotted form. */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(arc: number): readonly number[] {
  const bytes = [arc % 128];
  for (let rest = Math.floor(arc / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift(0x80 | (rest % 128));
  return bytes;
}

/** OCTET STRING. */
export function octetString(...contents: readonly Uint8Array[]): Buffer {
  return tagged(0x04, ...contents);
}

/** BIT STRING of whole bytes, or without the last `unused` bits. */
export function bitString(bytes: Uint8Array, unused = 0): Buffer {
  return tagged(0x03, Buffer.from([unused]), bytes);
}

/** The string types that names use: UTF8String, PrintableString, IA5String. */
export const STRING_TAGS = { utf8: 0x0c, printable: 0x13, ia5: 0x16 } as const;

/** A string of one of them. */
export function text(type: keyof typeof STRING_TAGS, value: string): Buffer {
  return tagged(STRING_TAGS[type], Buffer.from(value));
}

/** A time as certificates have it (RFC 5280, section 4.1.2.5): UTCTime to 2049, GeneralizedTime from 2050 on. */
export function time(seconds: number): Buffer {
  const digits = new Date(seconds * 1000).toISOString().slice(0, 19).replace(/\D/g, '');
  const isShort = digits >= '1950' && digits < '2050';
  return tagged(isShort ? 0x17 : 0x18, Buffer.from(`${isShort ? digits.slice(2) : digits}Z`));
}

/** A context-specific constructed tag around a value. */
export function explicit(number: number, ...contents: readonly Uint8Array[]): Buffer {
  return tagged(0xa0 | number, ...contents);
}
