// JSON texts in the form of the service: compact UTF-8. Beyond what JSON requires, only U+2028 and U+2029 are escaped.

/** Printable ASCII without quote and backslash: quoting such a text is enough. Nearly all links match. */
const PLAIN = /^[ !#-[\]-~]*$/;
const SEPARATORS = /[\u2028\u2029]/g;

/** A string as a JSON text, with its quotes. Escapes U+2028 and U+2029 (design: Envelope and links). Cost: one pass. */
export function jsonText(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  return JSON.stringify(text).replace(SEPARATORS, (separator) => (separator === '\u2028' ? '\\u2028' : '\\u2029'));
}

const UTF8 = new TextEncoder();

/** A key of an object with its quotes and colon, in UTF-8. Cost: one pass. */
export function keyText(key: string): Uint8Array {
  return UTF8.encode(`${jsonText(key)}:`);
}

/** A JSON object of serialised values. Keeps the order of keys, repeated keys and `__proto__`. Cost: one pass. */
export function jsonObject(members: readonly (readonly [key: string, json: string])[]): string {
  return `{${members.map(([key, json]) => `${jsonText(key)}:${json}`).join(',')}}`;
}

/** Whether a parsed value is a JSON object, and neither an array nor null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of a JSON text; undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
