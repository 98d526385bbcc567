// Reads a JSON text byte by byte and writes it as served: compact, strings minimally escaped, numbers as written. Knows
// no collections. Bytes that are already in served form are copied in one run. Errors are thrown as ScanFault. See
// decode.ts.
import { GrowableBytes } from '../../engine/bits/growable.ts';
import { jsonText } from '../../engine/bits/json.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const ENCODER = new TextEncoder();
const DECODER = new TextDecoder('utf-8', { fatal: true });

/** Characters of a refused text in an error message, at most. */
const QUOTED_MAX = 80;

/** Deeper than the JSON of any catalogue. Bounds the recursion of the decoder. */
export const DEPTH_MAX = 64;

/**
 * Longer than the keys of any catalogue. Keys are in maps, and V8 hashes texts beyond 16,383 characters by length
 * alone.
 */
export const KEY_BYTES_MAX = 1024;

/** The text is not JSON, or not the expected JSON. decode.ts catches it for each line. */
export class ScanFault extends Error {}

/** A null that is an error only if nulls are not accepted. */
export class NullFault extends ScanFault {}

/** The kind of a value, in words for error messages. */
export type JsonKind = 'text' | 'a number' | 'a boolean' | 'null' | 'an object' | 'an array';

/**
 * A cursor over one text. `at` is the next byte to read. `output` has everything written, except the run from
 * `runStart` to `at`, which `flush` copies unchanged. `text[textStart..textEnd)` is the text of the last string, number
 * or literal: a part of `bytes`, or an unescaped string. `stringStart` is where the last string's characters begin in
 * the output.
 */
export class Scanner {
  bytes: Uint8Array = new Uint8Array(0);
  at = 0;
  end = 0;
  readonly output = new GrowableBytes(1 << 14);
  #runStart = 0;
  text: Uint8Array = this.bytes;
  textStart = 0;
  textEnd = 0;
  stringStart = 0;

  open(bytes: Uint8Array, start: number, end: number): void {
    this.bytes = bytes;
    this.at = start;
    this.end = end;
    this.#runStart = start;
  }

  /** The position in the output of the next byte to be read. */
  get position(): number {
    return this.output.length + this.at - this.#runStart;
  }

  /** Writes the bytes that have been read but not yet written. */
  flush(): void {
    this.output.push(this.bytes, this.#runStart, this.at);
    this.#runStart = this.at;
  }

  /** Skips white space, which is not served. */
  skipSpace(): void {
    if (this.at < this.end && this.bytes[this.at]! > 0x20) return;
    const start = this.at;
    while (this.at < this.end && isSpace(this.bytes[this.at]!)) this.at++;
    if (this.at > start) this.#drop(start);
  }

  /** The byte at the cursor; -1 at the end. */
  peek(): number {
    return this.at < this.end ? this.bytes[this.at]! : -1;
  }

  expect(byte: number): void {
    if (this.peek() !== byte) this.fail(`expected ${JSON.stringify(String.fromCharCode(byte))}`);
    this.at++;
  }

  /** Throws a ScanFault for the text at the cursor. */
  fail(expected: string): never {
    const actual =
      this.at < this.end ? describeCharacter(this.bytes.subarray(this.at, this.end)) : 'the end of the line';
    throw new ScanFault(`ill-formed JSON: ${expected}, found ${actual}`);
  }

  /** The kind of the value at the cursor, by its first byte. */
  kind(): JsonKind {
    const byte = this.peek();
    if (byte === QUOTE) return 'text';
    if (byte === OPEN_BRACE) return 'an object';
    if (byte === OPEN_BRACKET) return 'an array';
    if (byte === 0x6e) return 'null';
    if (byte === 0x74 || byte === 0x66) return 'a boolean';
    if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) return 'a number';
    return this.fail('expected a value');
  }

  get value(): Uint8Array {
    return this.text.subarray(this.textStart, this.textEnd);
  }

  /** Skips a comma and the white space after it. */
  comma(): void {
    this.expect(COMMA);
    this.skipSpace();
  }

  /** The kind of the first element of the array at the cursor; undefined if it is empty. */
  elementKind(): JsonKind | undefined {
    let at = this.at + 1;
    while (at < this.end && this.bytes[at]! <= 0x20) at++;
    if (this.bytes[at] === CLOSE_BRACKET) return undefined;
    return this.bytes[at] === OPEN_BRACE ? 'an object' : 'text';
  }

  /** Reads a string with its quotes. The caller ensures that no quote or escape comes before `from`. */
  string(from = this.at + 1): void {
    const start = this.at;
    const { bytes, end } = this;
    let i = from;
    for (; i < end; i++) {
      const byte = bytes[i]!;
      if (byte === QUOTE || byte === BACKSLASH || byte < 0x20) break;
      if (byte === 0xe2 && bytes[i + 1] === 0x80 && (bytes[i + 2]! | 1) === 0xa9) break;
    }
    if (i < end && bytes[i] === QUOTE) {
      this.stringStart = this.position + 1;
      this.at = i + 1;
      this.#noteText(start + 1, i);
    } else this.#escapedString(start, i);
  }

  /** Reads a number and keeps it as written. Returns whether it is an integer: digits with an optional minus. */
  number(): boolean {
    const start = this.at;
    if (this.peek() === 0x2d) this.at++;
    if (this.peek() === 0x30) this.at++;
    else this.#digits();
    let isInteger = true;
    if (this.peek() === 0x2e) {
      isInteger = false;
      this.at++;
      this.#digits();
    }
    if ((this.peek() | 0x20) === 0x65) {
      isInteger = false;
      this.at++;
      if (this.peek() === 0x2b || this.peek() === 0x2d) this.at++;
      this.#digits();
    }
    this.#noteText(start, this.at);
    return isInteger;
  }

  literal(): void {
    const word = this.peek() === 0x74 ? 'true' : this.peek() === 0x66 ? 'false' : 'null';
    const start = this.at;
    for (let i = 0; i < word.length; i++) {
      if (this.bytes[this.at] !== word.charCodeAt(i) || this.at >= this.end) this.fail(`expected ${word}`);
      this.at++;
    }
    this.#noteText(start, this.at);
  }

  #noteText(start: number, end: number): void {
    this.text = this.bytes;
    this.textStart = start;
    this.textEnd = end;
  }

  #digits(): void {
    const start = this.at;
    while (this.at < this.end && this.bytes[this.at]! >= 0x30 && this.bytes[this.at]! <= 0x39) this.at++;
    if (this.at === start) this.fail('expected a digit');
  }

  /** Omits the bytes since `start` from the output. */
  #drop(start: number): void {
    this.output.push(this.bytes, this.#runStart, start);
    this.#runStart = this.at;
  }

  #escapedString(start: number, from: number): void {
    let i = from;
    while (i < this.end && this.bytes[i] !== QUOTE) {
      if (this.bytes[i]! < 0x20) {
        this.at = i;
        this.fail('expected control characters in text as \\u00xx');
      }
      i += this.bytes[i] === BACKSLASH ? 2 : 1;
    }
    if (i >= this.end) {
      this.at = this.end;
      this.fail('expected a closing quote');
    }
    const text = unescape(this.bytes.subarray(start, i + 1));
    this.at = i + 1;
    this.#drop(start);
    this.stringStart = this.output.length + 1;
    this.output.push(ENCODER.encode(jsonText(text)));
    this.text = ENCODER.encode(text);
    this.textStart = 0;
    this.textEnd = this.text.length;
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

export function jsonPointer(path: readonly (string | number)[]): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The first character of a text for error messages: quoted, or its code point if it would be invisible. */
function describeCharacter(text: Uint8Array): string {
  // Not `fatal`: the cut may split a later character, and the cursor may be after a backslash.
  const character = String.fromCodePoint(
    new TextDecoder('utf-8', { ignoreBOM: true }).decode(text.subarray(0, 4)).codePointAt(0)!,
  );
  if (/[^\p{C}\p{Z}]| /u.test(character)) return JSON.stringify(character);
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** A text for error messages: quoted, and cut if it is long. */
export function quoteText(text: Uint8Array): string {
  const all = DECODER.decode(text);
  return JSON.stringify(all.length <= QUOTED_MAX ? all : `${all.slice(0, QUOTED_MAX)}…`);
}

function unescape(token: Uint8Array): string {
  let text: string;
  try {
    text = JSON.parse(DECODER.decode(token)) as string;
  } catch {
    throw new ScanFault('ill-formed JSON: an escape in a text is wrong');
  }
  if (!text.isWellFormed()) throw new ScanFault('a text holds half of a surrogate pair');
  return text;
}
