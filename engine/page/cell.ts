// Converts the JSON bytes of one value to a CSV cell (RFC 4180), quoted if needed. Reads JSON as it is served: compact
// and minimally escaped.
import { copyBytes } from './rewrite.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
const NULL_START = 0x6e;
const U = 0x75;
/** The characters of JSON's short escapes, by letter. */
const SHORT_ESCAPES: ReadonlyMap<number, number> = new Map([
  [0x62, 0x08],
  [0x66, 0x0c],
  [0x6e, 0x0a],
  [0x72, 0x0d],
  [0x74, 0x09],
]);
const CARRIAGE_RETURN_LETTER = 0x72;
const LINE_FEED_LETTER = 0x6e;

/** The properties of the last scanned value. A module variable, so that millions of cells allocate nothing. */
const scanned = { isQuoted: false, hasEscapes: false, bytes: 0 };

/**
 * Returns the bytes of the cell of the JSON value `json[start..end)`. Null is empty, an empty text is `""`. A text is
 * quoted if it is empty or contains a quote, a comma or a line break. A nested value is quoted if its JSON contains a
 * quote or a comma. Cost: one pass.
 */
export function cellBytes(json: Uint8Array, start: number, end: number): number {
  scan(json, start, end);
  return scanned.bytes;
}

/** Writes the cell of a JSON value to `target` at `at`. Returns the position after it. Cost: two passes. */
export function writeCell(json: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  scan(json, start, end);
  const first = json[start];
  if (first === NULL_START) return at;
  const { isQuoted, hasEscapes } = scanned;
  if (first !== QUOTE)
    return isQuoted ? doubled(json, start, end, target, at) : copyBytes(json, start, end, target, at);
  if (isQuoted) target[at++] = QUOTE;
  at = hasEscapes ? unescaped(json, start + 1, end - 1, target, at) : copyBytes(json, start + 1, end - 1, target, at);
  if (isQuoted) target[at++] = QUOTE;
  return at;
}

/** A text as a cell of the header. */
export function textCell(text: string): string {
  const isQuoted = text === '' || /[",\r\n]/.test(text);
  return isQuoted ? `"${text.replaceAll('"', '""')}"` : text;
}

function scan(json: Uint8Array, start: number, end: number): void {
  const first = json[start];
  if (first === QUOTE) scanText(json, start + 1, end - 1);
  else if (first === OPEN_BRACE || first === OPEN_BRACKET) scanNested(json, start, end);
  else {
    scanned.isQuoted = false;
    scanned.bytes = first === NULL_START ? 0 : end - start;
  }
}

function scanText(json: Uint8Array, start: number, end: number): void {
  let isQuoted = start === end;
  let bytes = end - start;
  let hasEscapes = false;
  for (let i = start; i < end; i++) {
    const byte = json[i]!;
    if (byte === COMMA) isQuoted = true;
    else if (byte === BACKSLASH) {
      hasEscapes = true;
      const letter = json[++i]!;
      // A quote takes two bytes in JSON and CSV. `\u00xx` becomes one byte, `\u2028` and `\u2029` three.
      if (letter !== QUOTE) bytes -= letter !== U ? 1 : json[i + 1] === 0x32 ? 3 : 5;
      if (letter === QUOTE || letter === CARRIAGE_RETURN_LETTER || letter === LINE_FEED_LETTER) isQuoted = true;
    }
  }
  scanned.isQuoted = isQuoted;
  scanned.hasEscapes = hasEscapes;
  scanned.bytes = isQuoted ? bytes + 2 : bytes;
}

function scanNested(json: Uint8Array, start: number, end: number): void {
  let quotes = 0;
  let hasComma = false;
  for (let i = start; i < end; i++) {
    const byte = json[i]!;
    if (byte === QUOTE) quotes++;
    else if (byte === COMMA) hasComma = true;
  }
  scanned.isQuoted = quotes > 0 || hasComma;
  scanned.bytes = end - start + (scanned.isQuoted ? quotes + 2 : 0);
}

/**
 * Unescapes the inside of a JSON text in place. Returns its new length in bytes. Cost: a search, and one pass if there
 * are escapes.
 */
export function unescapeInPlace(text: Uint8Array): number {
  return text.includes(BACKSLASH) ? unescaped(text, 0, text.length, text, 0) : text.length;
}

function doubled(json: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  target[at++] = QUOTE;
  for (let i = start; i < end; i++) {
    const byte = json[i]!;
    if (byte === QUOTE) target[at++] = QUOTE;
    target[at++] = byte;
  }
  target[at++] = QUOTE;
  return at;
}

/** Doubles quotes, except when unescaping in place. */
function unescaped(json: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  for (let i = start; i < end; i++) {
    const byte = json[i]!;
    if (byte !== BACKSLASH) {
      target[at++] = byte;
      continue;
    }
    const letter = json[++i]!;
    if (letter === QUOTE && target !== json) target[at++] = QUOTE;
    if (letter !== U) target[at++] = SHORT_ESCAPES.get(letter) ?? letter;
    else {
      at = writeUnit(hexadecimal(json, i + 1), target, at);
      i += 4;
    }
  }
  return at;
}

/** Writes a character that JSON escapes by number: a control character, U+2028 or U+2029. */
function writeUnit(unit: number, target: Uint8Array, at: number): number {
  if (unit < 0x80) target[at++] = unit;
  else {
    target[at++] = 0xe0 | (unit >> 12);
    target[at++] = 0x80 | ((unit >> 6) & 0x3f);
    target[at++] = 0x80 | (unit & 0x3f);
  }
  return at;
}

function hexadecimal(json: Uint8Array, at: number): number {
  let value = 0;
  for (let i = at; i < at + 4; i++) {
    const digit = json[i]!;
    value = value * 16 + (digit <= 0x39 ? digit - 0x30 : (digit | 0x20) - 0x57);
  }
  return value;
}
