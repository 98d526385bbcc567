// DER (X.690), times (RFC 5280, section 4.1.2.5) and string types (RFC 5280, section 4.1.2.4; X.680, section 8.4).
// Decoding is strict: invalid bytes are an error, never a replacement character.

/** The bytes are not DER of the expected form. Never leaves server/authority/x509/. */
export class DerError extends Error {}

/** The tags in certificates and CRLs (X.680, section 8.4), including class and form. */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  sequence: 0x30,
  set: 0x31,
  utcTime: 0x17,
  generalizedTime: 0x18,
} as const;

/** The tag of the context-specific element `[n]`. */
export function context(n: number, form: 'primitive' | 'constructed'): number {
  return (form === 'primitive' ? 0x80 : 0xa0) | n;
}

/** Offsets in the reader's bytes. */
interface DerElement {
  readonly tag: number;
  /** Position of the tag. */
  readonly start: number;
  readonly content: number;
  /** Exclusive. */
  readonly end: number;
}

/** Serial numbers have at most 20 bytes (RFC 5280, section 4.1.2.2). No other integer that is read here is longer. */
const INTEGER_BYTES_MAX = 64;
const OID_BYTES_MAX = 64;
const LONG_LENGTH_BYTES_MAX = 4;

/** A position in DER that moves forward as elements are read. */
export class DerReader {
  readonly bytes: Uint8Array;
  readonly end: number;
  #offset: number;

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.bytes = bytes;
    this.#offset = start;
    this.end = end;
  }

  get isAtEnd(): boolean {
    return this.#offset === this.end;
  }

  /** The next tag; 0 at the end, which is not a valid tag. */
  get nextTag(): number {
    return this.isAtEnd ? 0 : this.bytes[this.#offset]!;
  }

  /** Reads the next element of any tag. Rejects tag numbers above 30, which certificates do not use. */
  any(): DerElement {
    const start = this.#offset;
    const tag = this.#byte();
    if ((tag & 0x1f) === 0x1f || tag === 0) throw new DerError('a tag that is not used in certificates');
    const length = this.#length();
    const content = this.#offset;
    if (length > this.end - content) throw new DerError('a length beyond the end');
    this.#offset = content + length;
    return { tag, start, content, end: content + length };
  }

  element(tag: number): DerElement {
    if (this.nextTag !== tag) throw new DerError('an element of another kind than expected');
    return this.any();
  }

  optional(tag: number): DerElement | undefined {
    return this.nextTag === tag ? this.any() : undefined;
  }

  /** A reader of the next element's content. The element must have this tag. */
  inside(tag: number): DerReader {
    return this.over(this.element(tag));
  }

  optionalInside(tag: number): DerReader | undefined {
    return this.nextTag === tag ? this.inside(tag) : undefined;
  }

  over({ content, end }: DerElement): DerReader {
    return new DerReader(this.bytes, content, end);
  }

  whole({ start, end }: DerElement): Uint8Array {
    return this.bytes.subarray(start, end);
  }

  /** Content without tag and length; a view, not a copy. */
  content({ content, end }: DerElement): Uint8Array {
    return this.bytes.subarray(content, end);
  }

  finish(): void {
    if (!this.isAtEnd) throw new DerError('something after the end');
  }

  each<T>(read: (reader: DerReader) => T): T[] {
    const all: T[] = [];
    while (!this.isAtEnd) all.push(read(this));
    return all;
  }

  boolean(): boolean {
    const value = this.content(this.element(TAG.boolean));
    if (value.length !== 1 || (value[0] !== 0xff && value[0] !== 0)) throw new DerError('a boolean that is neither');
    return value[0] === 0xff;
  }

  /** INTEGER of at most 64 bytes in its shortest form (X.690, section 8.3). An implicit tag can be given. */
  integer(tag: number = TAG.integer): bigint {
    const value = this.content(this.element(tag));
    if (value.length === 0 || value.length > INTEGER_BYTES_MAX) throw new DerError('an integer of that length');
    const isPadded = value.length > 1 && (value[0] === 0 ? value[1]! < 0x80 : value[0] === 0xff && value[1]! >= 0x80);
    if (isPadded) throw new DerError('an integer that is not in its shortest form');
    return BigInt.asIntN(8 * value.length, BigInt(`0x${Buffer.from(value).toString('hex')}`));
  }

  count(tag: number = TAG.integer): number {
    const value = this.integer(tag);
    if (value < 0n || value > 0x7fff_ffffn) throw new DerError('a count out of range');
    return Number(value);
  }

  /** OBJECT IDENTIFIER in dotted form. An implicit tag can be given. */
  oid(tag: number = TAG.oid): string {
    return oidText(this.content(this.element(tag)));
  }

  /** BIT STRING: its bytes and the number of unused bits at the end, which are 0 (X.690, section 11.2.1). */
  bits(tag: number = TAG.bitString): { readonly bytes: Uint8Array; readonly unused: number } {
    const value = this.content(this.element(tag));
    const unused = value[0];
    if (unused === undefined || unused > 7 || (value.length === 1 && unused > 0)) throw new DerError('no bit string');
    if ((value.at(-1)! & ((1 << unused) - 1)) !== 0 && value.length > 1) throw new DerError('bits behind the end');
    return { bytes: value.subarray(1), unused };
  }

  /** BIT STRING of a signature. Returns no bytes, which never verify, if it does not consist of whole bytes. */
  signature(): Uint8Array {
    const { bytes, unused } = this.bits();
    return unused === 0 ? bytes : new Uint8Array();
  }

  octets(tag: number = TAG.octetString): Uint8Array {
    return this.content(this.element(tag));
  }

  #byte(): number {
    if (this.isAtEnd) throw new DerError('an end too early');
    return this.bytes[this.#offset++]!;
  }

  #length(): number {
    const first = this.#byte();
    if (first < 0x80) return first;
    const count = first & 0x7f;
    if (count === 0 || count > LONG_LENGTH_BYTES_MAX) throw new DerError('a length that is indefinite or too long');
    let length = 0;
    for (let i = 0; i < count; i++) length = length * 256 + this.#byte();
    if (length < 0x80 || length < 2 ** (8 * (count - 1)))
      throw new DerError('a length that is not in its shortest form');
    return length;
  }
}

/**
 * Dotted form of an object identifier's content (X.690, section 8.19). Arcs have any size; the content has at most 64
 * bytes.
 */
function oidText(content: Uint8Array): string {
  if (content.length === 0 || content.length > OID_BYTES_MAX || content.at(-1)! >= 0x80) throw new DerError('no OID');
  let text = '';
  let arc: number | bigint = 0;
  let isStart = true;
  for (const byte of content) {
    if (isStart && byte === 0x80) throw new DerError('an OID that is not in its shortest form');
    arc = longer(arc, byte & 0x7f);
    isStart = byte < 0x80;
    if (!isStart) continue;
    text = text === '' ? firstArcs(arc) : `${text}.${arc}`;
    arc = 0;
  }
  return text;
}

const ARC_MAX = 2 ** 46 - 1;

/** Appends seven bits to an arc. Becomes a bigint if a number would lose precision. */
function longer(arc: number | bigint, bits: number): number | bigint {
  return typeof arc === 'number' && arc <= ARC_MAX ? arc * 128 + bits : BigInt(arc) * 128n + BigInt(bits);
}

function firstArcs(combined: number | bigint): string {
  if (combined < 80) return combined < 40 ? `0.${combined}` : `1.${Number(combined) - 40}`;
  return `2.${typeof combined === 'number' ? combined - 80 : combined - 80n}`;
}

const UTC_TIME = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/;
const GENERALIZED_TIME = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/;

/**
 * UTCTime or GeneralizedTime as seconds since 1970; both must be in UTC with seconds. UTCTime covers 1950 to 2049. A
 * GeneralizedTime before 2050 violates RFC 5280, section 4.1.2.5, but is accepted.
 */
export function readTime(reader: DerReader): number {
  const element = reader.any();
  const text = Buffer.from(reader.content(element)).toString('latin1');
  if (element.tag === TAG.generalizedTime) return countSeconds(GENERALIZED_TIME.exec(text), 0);
  if (element.tag !== TAG.utcTime) throw new DerError('no time');
  const parts = UTC_TIME.exec(text);
  return countSeconds(parts, Number(parts?.[1]) >= 50 ? 1900 : 2000);
}

function countSeconds(parts: RegExpExecArray | null, century: number): number {
  if (parts === null) throw new DerError('no time');
  const [year, month, day, hour, minute, second] = parts.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const date = new Date(0);
  date.setUTCFullYear(century + year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  const isReal =
    date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24 && minute < 60 && second < 60;
  if (!isReal) throw new DerError('a time that does not exist');
  return date.getTime() / 1000;
}

/** `2030-12-31 08:30:00 UTC`. */
export function timeText(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, -5).replace('T', ' ')} UTC`;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const DECODERS: ReadonlyMap<number, (bytes: Uint8Array) => string> = new Map([
  [0x0c, utf8],
  [0x12, asciiText], // NumericString
  [0x13, asciiText], // PrintableString; issuers also put other ASCII there
  [0x14, latin1], // TeletexString: Latin-1 in practice, also in OpenSSL
  [0x16, asciiText], // IA5String
  [0x1a, asciiText], // VisibleString
  [0x1c, (bytes: Uint8Array) => wide(bytes, 4)], // UniversalString
  [0x1e, (bytes: Uint8Array) => wide(bytes, 2)], // BMPString
]);

/** The text of a string element; undefined if the tag is not a string type. */
export function stringText(tag: number, bytes: Uint8Array): string | undefined {
  return DECODERS.get(tag)?.(bytes);
}

/** Throws DerError for bytes beyond ASCII. */
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

/** Decodes code points of `width` bytes, big-endian. */
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
