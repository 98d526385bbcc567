// JSON texts as the service writes them: compact, UTF-8 unescaped but for the two line separators of JavaScript; and
// what a parsed one is.

/** Printable ASCII without quote and backslash: its JSON is the text itself, and nearly all links are that. */
const PLAIN = /^[ !#-[\]-~]*$/;
const SEPARATORS = /[\u2028\u2029]/g;

/** A string as a JSON text, quotes included; U+2028 and U+2029 escaped (design: Envelope and links). Cost: one pass. */
export function jsonText(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  return JSON.stringify(text).replace(SEPARATORS, (separator) => (separator === '\u2028' ? '\\u2028' : '\\u2029'));
}

/** A JSON object of already written values, keys in the order given, repeats and `__proto__` kept. Cost: one pass. */
export function jsonObject(members: readonly (readonly [key: string, json: string])[]): string {
  return `{${members.map(([key, json]) => `${jsonText(key)}:${json}`).join(',')}}`;
}

/** Whether a parsed value is a JSON object: no array, and not null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
