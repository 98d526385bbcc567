// Form decoding of a raw query into names and values, as the URL standard defines it, without the platform's classes.
// Never fails: every text has pairs, perhaps none.

/** A decoded parameter. */
export type Parameter = readonly [name: string, value: string];

const PERCENT = 0x25;
const PLUS = 0x2b;
const BLANK = 0x20;
const PLAIN = /^[ !-$&-*,-~]*$/;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * The parameters of the text behind `?`, in order: split at `&`, empty parts skipped, name and value split at the first
 * `=`, `+` a blank, invalid UTF-8 and lone surrogates U+FFFD, broken escapes kept. A leading `?` belongs to the first
 * name. `filters[x]` is `x` (A151). Cost: the length of the text. Source: A39, URL standard, section 5.1.
 */
export function decodeForm(query: string | undefined): readonly Parameter[] {
  if (query === undefined) return NONE;
  const parameters: Parameter[] = [];
  const isPlain = PLAIN.test(query);
  for (let start = 0; start < query.length;) {
    const next = query.indexOf('&', start);
    const end = next < 0 ? query.length : next;
    if (end > start) parameters.push(parameterIn(query.slice(start, end), isPlain));
    start = end + 1;
  }
  return parameters;
}

function parameterIn(part: string, isPlain: boolean): Parameter {
  const at = part.indexOf('=');
  const name = at < 0 ? part : part.slice(0, at);
  const value = at < 0 ? '' : part.slice(at + 1);
  return isPlain ? [fieldIn(name), value] : [fieldIn(decode(name)), decode(value)];
}

/** Whether a name is `filters` or a member of it, as clients write an object in a query. */
export function isOfFilters(name: string): boolean {
  return name === 'filters' || name.startsWith('filters[');
}

const MEMBER = /^filters\[([^[\]]+)\]$/;

function fieldIn(name: string): string {
  return isOfFilters(name) ? (MEMBER.exec(name)?.[1] ?? name) : name;
}

const NONE: readonly Parameter[] = [];

function decode(text: string): string {
  return PLAIN.test(text) ? text : decoder.decode(decodedBytes(text, true));
}

/** The bytes of a text with its escapes decoded, broken ones kept, `+` a blank where asked. Cost: its length. */
export function decodedBytes(text: string, isPlusBlank: boolean): Uint8Array {
  const bytes = encoder.encode(text);
  let length = 0;
  for (let i = 0; i < bytes.length; i++) {
    const value = bytes[i] === PERCENT ? hexadecimal(bytes, i + 1) : -1;
    if (value >= 0) i += 2;
    bytes[length++] = value >= 0 ? value : isPlusBlank && bytes[i] === PLUS ? BLANK : bytes[i]!;
  }
  return bytes.subarray(0, length);
}

/** The byte that two hexadecimal digits at `at` stand for, or -1. */
function hexadecimal(bytes: Uint8Array, at: number): number {
  const high = digit(bytes[at]);
  const low = digit(bytes[at + 1]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

function digit(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : -1;
}
