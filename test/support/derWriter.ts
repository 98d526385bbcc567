// Writes DER for tests: what a certificate may be made of, and what it may not. It is the writer that issues, with the
// values that only wrong or strange certificates have. Shares no code with the reader under test.
import { tagged as element } from '../../server/authority/issuance.ts';

export {
  bitString as bits,
  explicit,
  octetString as octets,
  sequence,
  set,
  tagged as element,
  time,
} from '../../server/authority/issuance.ts';

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

/** UTF8String. */
export function utf8(text: string): Buffer {
  return element(0x0c, Buffer.from(text));
}
