// Makes the links from a page to its neighbours, and writes queries back as text. Pure text; no records. parameters.ts
// declares which parameters the links set themselves and which they repeat.
import { jsonText } from '../bits/json.ts';
import type { Ask, Parameter, QueryOptions } from './ask.ts';
import { isWrittenByLinks } from './parameters.ts';

/** The position of a page in its list. */
export interface PagePlace {
  /** Base URL and path of the request, without query. */
  readonly address: string;
  /** Records in the whole list. */
  readonly count: number;
  /** Position of the first record of the page. */
  readonly offset: number;
  /** Id of the last record of the page, if the request has `after`. */
  readonly lastId?: number | undefined;
  /** The generation that links name; `undefined` if they name none (A69). */
  readonly generation?: string | undefined;
}

/**
 * The links of a page, escaped for a JSON string but without its quotes; null if no such page exists. `next` exists if
 * offset + limit < count, `previous` unless offset is 0. Links always contain `limit`, and `offset` unless it is 0.
 * Parameters are sorted by name, repeats stay in order. With `lastId`, `previous` is null and `next` continues after
 * this id. Source: design, Envelope and links. Cost: sorting the query.
 */
export function pageLinks(
  { parameters, page: { limit } }: Pick<Ask, 'parameters' | 'page'>,
  options: QueryOptions,
  { address, count, offset, lastId, generation }: PagePlace,
): { next: string | null; previous: string | null } {
  const hasNext = offset + limit < count;
  const hasPrevious = offset > 0 && lastId === undefined;
  if (!hasNext && !hasPrevious) return { next: null, previous: null };
  // Only the address can contain characters that JSON escapes.
  const escaped = jsonText(address).slice(1, -1);
  const pin: Parameter | undefined = generation === undefined ? undefined : ['generation', generation];
  // The two parameters that place a page, in the order of their names. The others come before, between and after them.
  const [first, second] = lastId === undefined ? LIMIT_AND_OFFSET : AFTER_AND_LIMIT;
  let [before, between, behind] = ['', '', ''];
  for (const parameter of sortedByName(pin ? [...parameters, pin] : parameters)) {
    const [name, value] = parameter;
    if (isWrittenByLinks(name, options) && parameter !== pin) continue;
    const text = `${encodeQueryText(name)}=${encodeQueryText(value)}`;
    if (compareCodePoints(name, first) < 0) before += `${text}&`;
    else if (compareCodePoints(name, second) < 0) between += `&${text}`;
    else behind += `&${text}`;
  }
  const start = `${escaped}?${before}`;
  if (lastId !== undefined) {
    return { next: `${start}after=${lastId}${between}&limit=${limit}${behind}`, previous: null };
  }
  const page = `${start}limit=${limit}${between}`;
  const placeOf = (place: number): string => (place > 0 ? `${page}&offset=${place}${behind}` : page + behind);
  return {
    next: hasNext ? placeOf(offset + limit) : null,
    previous: hasPrevious ? placeOf(offset - limit) : null,
  };
}

const LIMIT_AND_OFFSET = ['limit', 'offset'] as const;
const AFTER_AND_LIMIT = ['after', 'limit'] as const;

/**
 * Encodes a text for a query: a blank as `+`, all but letters, digits and `-._~` percent-encoded as UTF-8. Cost: one
 * pass.
 */
export function encodeQueryText(text: string): string {
  return PLAIN.test(text) ? text : percentEncode(text).replaceAll('%20', '+');
}

/** Percent-encodes all but letters, digits and `-._~` as UTF-8. A lone surrogate counts as U+FFFD. Cost: two passes. */
export function percentEncode(text: string): string {
  const encoded = encodeURIComponent(text.replace(LONE_SURROGATE, '\ufffd'));
  return LEFT_BARE.test(encoded) ? encodeBare(encoded) : encoded;
}

const PLAIN = /^[A-Za-z0-9\-._~]*$/;
const LONE_SURROGATE = /\p{Cs}/gu;
/** Characters that `encodeURIComponent` does not encode although RFC 3986, 2.3 does not list them as unreserved. */
const LEFT_BARE = /[!'()*]/;
const BARE: Readonly<Record<string, string>> = { '!': '%21', "'": '%27', '(': '%28', ')': '%29', '*': '%2A' };

/**
 * One character at a time: a query may consist of such characters alone, and `replace` with a callback or with patterns
 * takes twice as long.
 */
function encodeBare(encoded: string): string {
  let written = '';
  for (let i = 0; i < encoded.length; i++) written += BARE[encoded[i]!] ?? encoded[i]!;
  return written;
}

function compareNames([a]: Parameter, [b]: Parameter): number {
  return compareCodePoints(a, b);
}

/** Up to this many parameters are sorted by insertion: `sort` allocates 1.7 kB and takes 0.3 us before it starts. */
const INSERTED_MAX = 16;

/**
 * Sorts parameters by name, in code point order; repeats stay in order. Returns the same array if it is already sorted.
 * Cost: one pass if sorted; up to INSERTED_MAX parameters quadratic, more O(n log n).
 */
export function sortedByName(parameters: readonly Parameter[]): readonly Parameter[] {
  let ordered = 1;
  while (ordered < parameters.length && compareNames(parameters[ordered - 1]!, parameters[ordered]!) <= 0) ordered++;
  if (ordered >= parameters.length) return parameters;
  const sorted = parameters.slice();
  if (sorted.length > INSERTED_MAX) return sorted.sort(compareNames);
  for (let i = ordered; i < sorted.length; i++) {
    const one = sorted[i]!;
    let at = i;
    for (; at > 0 && compareNames(sorted[at - 1]!, one) > 0; at--) sorted[at] = sorted[at - 1]!;
    sorted[at] = one;
  }
  return sorted;
}

/** Compares by code point: UTF-16 order would put characters beyond U+FFFF before U+E000. */
function compareCodePoints(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    if (a.charCodeAt(i) !== b.charCodeAt(i)) return rank(a.charCodeAt(i)) - rank(b.charCodeAt(i));
  }
  return a.length - b.length;
}

function rank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}
