// The oracle's parsing of a query string: URLSearchParams for decoding, a plain loop for encoding. Independent of
// collections and filters.

/** One parameter, decoded: form rules, invalid UTF-8 as U+FFFD. */
export type Pair = readonly [name: string, value: string];

const CAP = 999_999_999_999_999n;

/** The parameters of a raw query in written order; empty for undefined. */
export function pairsOf(query: string | undefined): readonly Pair[] {
  // URLSearchParams drops one leading `?`, which in a query is a character like any other.
  const pairs = [...new URLSearchParams(`?${query ?? ''}`)];
  return pairs.map(([name, value]) => [name.replace(/^filters\[([^[\]]+)\]$/, '$1'), value]);
}

/** The name of the 1,025th parameter of a raw query, counting empty ones: that one exceeds the limit. */
export function nameBeyond(query: string | undefined): string | undefined {
  const beyond = (query ?? '').split('&')[1024];
  return beyond === undefined ? undefined : (pairsOf(beyond)[0]?.[0] ?? '');
}

/** The last value of a parameter, undefined if it is missing. */
export function lastValue(pairs: readonly Pair[], name: string): string | undefined {
  return pairs.findLast(([key]) => key === name)?.[1];
}

/** The values of a parameter as one list, undefined if it is missing. */
export function joinedValue(pairs: readonly Pair[], name: string): string | undefined {
  const values = pairs.filter(([key]) => key === name).map(([, value]) => value);
  return values.length === 0 ? undefined : values.join(',');
}

/** Percent-encodes all but letters, digits and `-._~`. `blank` is the encoding of a blank. */
export function encode(text: string, blank: '+' | '%20'): string {
  const escape = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text)
    .replace(/[!'()*]/g, escape)
    .replaceAll('%20', blank);
}

/**
 * The query of a paging link: names sorted by code point, repeats in order, `limit` and `offset` replaced; an undefined
 * offset is omitted (design: Envelope and links).
 */
export function pageQuery(pairs: readonly Pair[], limit: bigint, offset: bigint | undefined): string {
  const kept = pairs.filter(([name]) => name !== 'limit' && name !== 'offset');
  const all: Pair[] = [...kept, ['limit', String(limit)]];
  if (offset !== undefined) all.push(['offset', String(offset)]);
  all.sort(([a], [b]) => compareCodePoints(a, b));
  return all.map(([name, value]) => `${encode(name, '+')}=${encode(value, '+')}`).join('&');
}

/**
 * A `limit` or `offset`: an integer from `least`, capped at fifteen nines, else undefined. Surrounding blanks, leading
 * zeros and a `+` are accepted.
 */
export function pageInteger(value: string | undefined, least: bigint): bigint | undefined {
  const digits = /^\+?(\d+)$/.exec((value ?? '').trim())?.[1];
  if (digits === undefined) return undefined;
  const number = BigInt(digits);
  if (number < least) return undefined;
  return number > CAP ? CAP : number;
}

/** Orders texts by code point, as UTF-8 bytes do (and UTF-16 units do not). */
export function compareCodePoints(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
