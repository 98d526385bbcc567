const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e]{0,200}"$/;

/** A date has 29 characters (RFC 9110, 5.6.7), or 33 in an older form. */
const DATE_CHARACTERS_MAX = 40;

/** Returns a header by its name in lower case; '' if it is missing. */
type HeaderOf = (name: string) => string;

/** The validator of a response (RFC 9110, 8.8) if it has a well-formed entity tag. */
export function readEntityTag(headerOf: HeaderOf): string | undefined {
  const tag = headerOf('etag');
  return ENTITY_TAG.test(tag) ? tag : undefined;
}

/**
 * The modification date as a validator, if it is `settledMs` older than the response by the clock of the server. A
 * later change within the same second would have the same date (RFC 9110, 8.8.2.2).
 */
export function readLastChange(headerOf: HeaderOf, settledMs: number): string | undefined {
  const date = headerOf('last-modified');
  if (date.length > DATE_CHARACTERS_MAX) return undefined;
  return Date.parse(headerOf('date')) - Date.parse(date) >= settledMs ? date : undefined;
}

/** The header of a conditional request, for a response that differs from the one with this tag or date. */
export function conditionHeaders(validator: string | undefined): Readonly<Record<string, string>> {
  if (validator === undefined) return {};
  return ENTITY_TAG.test(validator) ? { 'if-none-match': validator } : { 'if-modified-since': validator };
}

/**
 * The milliseconds to wait by Retry-After: a number of seconds, or the time until a date by the sender's clock (RFC
 * 9110, 10.2.3).
 */
export function retryAfterMs(headerOf: HeaderOf): number | undefined {
  const text = headerOf('retry-after').trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const ms = Date.parse(text) - Date.parse(headerOf('date'));
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
