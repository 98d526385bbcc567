// JSON text put together by hand, so that number tokens stay as written and key order is the order in the code. Knows
// no collection.

/** A piece of JSON text: one whole value, compact. */
export type Json = string;

/** The JSON text of null. */
export const NULL: Json = 'null';

/** The JSON text of an empty array. */
export const EMPTY_LIST: Json = '[]';

/**
 * The JSON text of a string with the escapes of the service: `\b \f \n \r \t \" \\`, else `\u00xx` in lower case, and
 * U+2028 and U+2029 escaped; all else as it is. Text has no lone surrogates.
 */
export function quote(text: string): Json {
  const json = JSON.stringify(text);
  return LINE_SEPARATORS.test(json) ? json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029') : json;
}

/** `quote(text)`, or null where there is none. */
export function quoteOrNull(text: string | null): Json {
  return text === null ? NULL : quote(text);
}

/** The JSON text of an object; its keys need no escapes and keep their order. */
export function record(fields: Readonly<Record<string, Json>>): Json {
  let json = '';
  for (const [name, value] of Object.entries(fields)) json += `${json === '' ? '{' : ','}"${name}":${value}`;
  return `${json}}`;
}

/** The JSON text of an array. */
export function list(elements: readonly Json[]): Json {
  return `[${elements.join(',')}]`;
}

/** The JSON number `units` / 10^`decimals`, without exponent and trailing zeros: `decimal(-1250, 2)` is `-12.5`. */
export function decimal(units: number, decimals: number): Json {
  const digits = `${Math.abs(units)}`.padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(TRAILING_ZEROS, '');
  return `${units < 0 ? '-' : ''}${whole}.${fraction === '' ? '0' : fraction}`;
}

const LINE_SEPARATORS = /[\u2028\u2029]/;
const TRAILING_ZEROS = /0+$/;
