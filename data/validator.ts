// Reads headers of HTTP responses: the validator of a response, which is its entity tag or else the date of its last
// change (RFC 9110, 8.8), and the wait that it asks for. Pure; the callers decide which headers they trust.

const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e]{0,200}"$/;

/** A date has 29 characters (RFC 9110, 5.6.7), and 33 in an older form. */
const DATE_CHARACTERS_MAX = 40;

/** A header of an answer by its name in lower case, '' where there is none. */
type HeaderOf = (name: string) => string;

/** The entity tag of an answer, where it has a well-formed one. */
export function entityTagIn(headerOf: HeaderOf): string | undefined {
  const tag = headerOf('etag');
  return ENTITY_TAG.test(tag) ? tag : undefined;
}

/**
 * The date of the last change, where that was so long before the answer, by the clock of who sent both, that what
 * changes within a second of it would have another (RFC 9110, 8.8.2.2).
 */
export function lastChangeIn(headerOf: HeaderOf, settledMs: number): string | undefined {
  const date = headerOf('last-modified');
  if (date.length > DATE_CHARACTERS_MAX) return undefined;
  return Date.parse(headerOf('date')) - Date.parse(date) >= settledMs ? date : undefined;
}

/** The header that asks for an answer only where it is another than the one with this tag or date. */
export function conditionOf(validator: string | undefined): Readonly<Record<string, string>> {
  if (validator === undefined) return {};
  return ENTITY_TAG.test(validator) ? { 'if-none-match': validator } : { 'if-modified-since': validator };
}

/** The ms to wait by Retry-After: a number of seconds, or until a date by its sender's clock (RFC 9110, 10.2.3). */
export function retryAfterMs(headerOf: HeaderOf): number | undefined {
  const text = headerOf('retry-after').trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const ms = Date.parse(text) - Date.parse(headerOf('date'));
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
