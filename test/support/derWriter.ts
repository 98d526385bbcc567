// Writes DER for tests: what a certificate may be made of, and what it may not. Checks nothing, so that wrong ones can
// be made. Shares no code with the reader under test.

/** One element with its length in the shortest form. */
export function element(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.of(tag), lengthOf(content.length), content]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Buffer.of(0x80 | bytes.length, ...bytes);
}

/** SEQUENCE. */
export function sequence(...contents: readonly Uint8Array[]): Buffer {
  return element(0x30, ...contents);
}

/** SET, in the order given. */
export function set(...contents: readonly Uint8Array[]): Buffer {
  return element(0x31, ...contents);
}

/** `[n]` around elements. */
export function explicit(n: number, ...contents: readonly Uint8Array[]): Buffer {
  return element(0xa0 | n, ...contents);
}

/** `[n]` in place of the tag of a primitive. */
export function implicit(n: number, content: Uint8Array): Buffer {
  return element(0x80 | n, content);
}

/** INTEGER, of any size and sign. */
export function integer(value: bigint | number): Buffer {
  let rest = BigInt(value);
  const bytes: number[] = [];
  do {
    bytes.unshift(Number(rest & 0xffn));
    rest >>= 8n;
  } while (!(rest === 0n && bytes[0]! < 0x80) && !(rest === -1n && bytes[0]! >= 0x80));
  return element(0x02, Buffer.from(bytes));
}

/** BOOLEAN. */
export function boolean(value: boolean): Buffer {
  return element(0x01, Buffer.of(value ? 0xff : 0));
}

/** OBJECT IDENTIFIER from its dotted form. */
export function oid(text: string): Buffer {
  const [first = 0n, second = 0n, ...rest] = text.split('.').map(BigInt);
  const bytes = [first * 40n + second, ...rest].flatMap((arc) => {
    const digits = [Number(arc & 0x7fn)];
    for (let more = arc >> 7n; more > 0n; more >>= 7n) digits.unshift(Number(more & 0x7fn) | 0x80);
    return digits;
  });
  return element(0x06, Buffer.from(bytes));
}

/** OCTET STRING. */
export function octets(content: Uint8Array): Buffer {
  return element(0x04, content);
}

/** BIT STRING. */
export function bits(content: Uint8Array, unused = 0): Buffer {
  return element(0x03, Buffer.of(unused), content);
}

/** UTF8String. */
export function utf8(text: string): Buffer {
  return element(0x0c, Buffer.from(text));
}

/** UTCTime from 1950 to 2049, GeneralizedTime else, of seconds since 1970. */
export function time(seconds: number): Buffer {
  const text = `${new Date(seconds * 1000).toISOString().slice(0, 19).replace(/[-T:]/g, '')}Z`;
  const isUtc = text >= '1950' && text < '2050';
  return isUtc ? element(0x17, Buffer.from(text.slice(2))) : element(0x18, Buffer.from(text));
}
