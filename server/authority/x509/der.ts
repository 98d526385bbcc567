// Reads DER (ITU-T X.690, sections 8 and 10): definite lengths in their shortest form, within the bytes given, and
// nothing left over. Knows no X.509. Every reading either moves forward or throws DerError, so no input makes it loop;
// chain.ts, through which all bytes come, turns a DerError into a returned reason.

/** The bytes are no DER of the form that was asked for. Never leaves server/authority/x509/. */
export class DerError extends Error {}

/** The tags that certificates and CRLs are made of (X.680, section 8.4); class and form included. */
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

/** The tag of the context-specific element `[n]`: of a primitive, or of a constructed one. */
export function context(n: number, form: 'primitive' | 'constructed'): number {
  return (form === 'primitive' ? 0x80 : 0xa0) | n;
}

/**
 * One element: `start` is where its tag stands, `content` where its content begins, `end` where it ends (exclusive).
 */
export interface DerElement {
  readonly tag: number;
  readonly start: number;
  readonly content: number;
  readonly end: number;
}

/** Serial numbers have 20 bytes at most (RFC 5280, section 4.1.2.2); no other integer that is read here is as long. */
const INTEGER_BYTES_MAX = 64;
const OID_BYTES_MAX = 64;
const LONG_LENGTH_BYTES_MAX = 4;

/** A place in DER that moves forward as elements are read. */
export class DerReader {
  readonly bytes: Uint8Array;
  readonly end: number;
  #offset: number;

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.bytes = bytes;
    this.#offset = start;
    this.end = end;
  }

  /** Whether everything has been read. */
  get isAtEnd(): boolean {
    return this.#offset === this.end;
  }

  /** The tag that comes next; 0, which no element has, at the end. */
  get nextTag(): number {
    return this.isAtEnd ? 0 : this.bytes[this.#offset]!;
  }

  /** The next element, whatever it is. Tag numbers above 30 are refused: nothing here has them. */
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

  /** The next element, which must have this tag. */
  element(tag: number): DerElement {
    if (this.nextTag !== tag) throw new DerError('an element of another kind than expected');
    return this.any();
  }

  /** The next element if it has this tag. */
  optional(tag: number): DerElement | undefined {
    return this.nextTag === tag ? this.any() : undefined;
  }

  /** A reader of the content of the next element, which must have this tag. */
  inside(tag: number): DerReader {
    return this.over(this.element(tag));
  }

  /** A reader of the content of the next element if it has this tag. */
  optionalInside(tag: number): DerReader | undefined {
    return this.nextTag === tag ? this.inside(tag) : undefined;
  }

  /** A reader of an element's content. */
  over({ content, end }: DerElement): DerReader {
    return new DerReader(this.bytes, content, end);
  }

  /** An element with its tag and length. A view, not a copy. */
  whole({ start, end }: DerElement): Uint8Array {
    return this.bytes.subarray(start, end);
  }

  /** An element without them. A view, not a copy. */
  content({ content, end }: DerElement): Uint8Array {
    return this.bytes.subarray(content, end);
  }

  /** Nothing may follow. */
  finish(): void {
    if (!this.isAtEnd) throw new DerError('something after the end');
  }

  /** What `read` makes of every element until the end. */
  each<T>(read: (reader: DerReader) => T): T[] {
    const all: T[] = [];
    while (!this.isAtEnd) all.push(read(this));
    return all;
  }

  /** BOOLEAN: FF or 00 (X.690, section 11.1). */
  boolean(): boolean {
    const value = this.content(this.element(TAG.boolean));
    if (value.length !== 1 || (value[0] !== 0xff && value[0] !== 0)) throw new DerError('a boolean that is neither');
    return value[0] === 0xff;
  }

  /** INTEGER of at most 64 bytes, in its shortest form (X.690, section 8.3). `tag` is that of an implicit one. */
  integer(tag: number = TAG.integer): bigint {
    const value = this.content(this.element(tag));
    if (value.length === 0 || value.length > INTEGER_BYTES_MAX) throw new DerError('an integer of that length');
    const isPadded = value.length > 1 && (value[0] === 0 ? value[1]! < 0x80 : value[0] === 0xff && value[1]! >= 0x80);
    if (isPadded) throw new DerError('an integer that is not in its shortest form');
    return BigInt.asIntN(8 * value.length, BigInt(`0x${Buffer.from(value).toString('hex')}`));
  }

  /** INTEGER from 0 to 2^31 - 1. */
  count(tag: number = TAG.integer): number {
    const value = this.integer(tag);
    if (value < 0n || value > 0x7fff_ffffn) throw new DerError('a count out of range');
    return Number(value);
  }

  /** OBJECT IDENTIFIER in dotted form. `tag` is that of an implicit one. */
  oid(tag: number = TAG.oid): string {
    return oidText(this.content(this.element(tag)));
  }

  /** BIT STRING: its bytes, and how many bits of the last do not count; those are 0 (X.690, section 11.2.1). */
  bits(tag: number = TAG.bitString): { readonly bytes: Uint8Array; readonly unused: number } {
    const value = this.content(this.element(tag));
    const unused = value[0];
    if (unused === undefined || unused > 7 || (value.length === 1 && unused > 0)) throw new DerError('no bit string');
    if ((value.at(-1)! & ((1 << unused) - 1)) !== 0 && value.length > 1) throw new DerError('bits behind the end');
    return { bytes: value.subarray(1), unused };
  }

  /** BIT STRING of a signature; no bytes, which are never right, where it is not made of whole bytes. */
  signature(): Uint8Array {
    const { bytes, unused } = this.bits();
    return unused === 0 ? bytes : new Uint8Array();
  }

  /** OCTET STRING. */
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

/** The dotted form of an object identifier's content (X.690, section 8.19); arcs of any size up to 64 bytes in all. */
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

/** An arc with seven bits more; as a bigint where a number would not be exact. */
function longer(arc: number | bigint, bits: number): number | bigint {
  return typeof arc === 'number' && arc <= ARC_MAX ? arc * 128 + bits : BigInt(arc) * 128n + BigInt(bits);
}

/** The first two arcs, which stand in one. */
function firstArcs(both: number | bigint): string {
  if (both < 80) return both < 40 ? `0.${both}` : `1.${Number(both) - 40}`;
  return `2.${typeof both === 'number' ? both - 80 : both - 80n}`;
}
