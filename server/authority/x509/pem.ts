// PEM (RFC 7468, section 2): base64 blocks between BEGIN and END lines, with any text around them. The content of
// blocks is checked strictly. Private keys are recognised but never decoded.

export interface PemBlock {
  readonly label: string;
  readonly der: Uint8Array;
}

/** The blocks of a text in order, or the problem as the end of a sentence about the text. */
export type PemReading =
  | { readonly kind: 'read'; readonly blocks: readonly PemBlock[] }
  | { readonly kind: 'unreadable'; readonly problem: string };

const BEGIN = '-----BEGIN ';
const END = '-----END ';
const DASHES = '-----';
const LABEL_CHARACTERS_MAX = 64;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

export function holdsPrivateKey(text: string): boolean {
  return text.includes('PRIVATE KEY-----');
}

/** `refused` for a text from a client; `passed over` for a local file, such as a proxy's. */
export type PrivateKeys = 'refused' | 'passed over';

/** Unreadable are a refused private key and a block that does not end, is nested or is not base64. Linear time. */
export function readPem(text: string, keys: PrivateKeys = 'refused'): PemReading {
  if (keys === 'refused' && holdsPrivateKey(text))
    return unreadable('holds a private key, which must never be sent to anyone');
  const blocks: PemBlock[] = [];
  let offset = 0;
  for (;;) {
    const begin = text.indexOf(BEGIN, offset);
    if (text.slice(offset, begin < 0 ? undefined : begin).includes(END))
      return unreadable('has a block without a start');
    if (begin < 0) return { kind: 'read', blocks };
    const labelStart = begin + BEGIN.length;
    const labelEnd = text.indexOf(DASHES, labelStart);
    const label = text.slice(labelStart, labelEnd);
    if (labelEnd < 0 || labelEnd - labelStart > LABEL_CHARACTERS_MAX || label.includes('\n')) {
      return unreadable('has a block whose first line does not end');
    }
    const last = `${END}${label}${DASHES}`;
    const end = text.indexOf(last, labelEnd);
    if (end < 0) return unreadable('has a block without an end');
    offset = end + last.length;
    if (label.endsWith('PRIVATE KEY')) continue;
    const base64 = text.slice(labelEnd + DASHES.length, end).replace(/[ \t\r\n]+/g, '');
    const der = Buffer.from(base64, 'base64');
    if (!isBase64Of(base64, der)) return unreadable('has a block that is no base64');
    blocks.push({ label, der });
  }
}

/** Encoding the bytes again is ten times as fast as checking each character. */
function isBase64Of(text: string, bytes: Buffer): boolean {
  if (text !== '' && bytes.toString('base64') === text) return true;
  return text.length % 4 === 0 && BASE64.test(text);
}

function unreadable(problem: string): PemReading {
  return { kind: 'unreadable', problem };
}
