// The links of a page to its neighbours, and how a query is written again. Pure text; no records here.
// What links say themselves, and which parameters they repeat, is declared in parameters.ts.
import { jsonText } from '../bits/json.ts';
import type { Ask, Parameter, QueryOptions } from './ask.ts';
import { isWrittenByLinks } from './parameters.ts';

/**
 * Where a page lies: `address` is base URL and path as asked, without query; `count` records are in the whole list, and
 * the first of the page is at `offset`. `lastId` is the id of its last one where it was asked for by `after`.
 * `generation` is what links name as theirs, undefined where they name none (A69).
 */
export interface PagePlace {
  readonly address: string;
  readonly count: number;
  readonly offset: number;
  readonly lastId?: number | undefined;
  readonly generation?: string | undefined;
}

/**
 * The links of a page as they stand between the quotes of a JSON text; null where there is none. Next exists when
 * offset + limit < count; previous unless offset is 0. Limit is always written, offset unless it is 0, all parameters
 * sorted by name, repeats in order. With `lastId` there is no previous, and next goes on behind this id. Source:
 * design, Envelope and links. Cost: the query, sorted.
 */
export function pageLinks(
  { parameters, page: { limit } }: Pick<Ask, 'parameters' | 'page'>,
  options: QueryOptions,
  { address, count, offset, lastId, generation }: PagePlace,
): { next: string | null; previous: string | null } {
  const hasNext = offset + limit < count;
  const hasPrevious = offset > 0 && lastId === undefined;
  if (!hasNext && !hasPrevious) return { next: null, previous: null };
  // Of a link only the address can hold what JSON escapes.
  const escaped = jsonText(address).slice(1, -1);
  const pin: Parameter | undefined = generation === undefined ? undefined : ['generation', generation];
  // Of the two that a link says of its place, in the order of their names, and what stands before, between and behind.
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

/** A text for a query: blank as `+`, all but letters, digits and `-._~` percent-encoded as UTF-8. Cost: one pass. */
export function encodeQueryText(text: string): string {
  return PLAIN.test(text) ? text : percentEncode(text).replaceAll('%20', '+');
}

/**
 * A text with all but letters, digits and `-._~` percent-encoded as UTF-8; a lone surrogate counts as U+FFFD. Cost: two
 * passes.
 */
export function percentEncode(text: string): string {
  const encoded = encodeURIComponent(text.replace(LONE_SURROGATE, '\ufffd'));
  return LEFT_BARE.test(encoded) ? withoutBare(encoded) : encoded;
}

const PLAIN = /^[A-Za-z0-9\-._~]*$/;
const LONE_SURROGATE = /\p{Cs}/gu;
/** What `encodeURIComponent` leaves beyond the unreserved characters of RFC 3986, 2.3. */
const LEFT_BARE = /[!'()*]/;
const BARE: Readonly<Record<string, string>> = { '!': '%21', "'": '%27', '(': '%28', ')': '%29', '*': '%2A' };

/** A character at a time: a query may be all bare, and replacing by a callback or by patterns takes twice as long. */
function withoutBare(encoded: string): string {
  let written = '';
  for (let i = 0; i < encoded.length; i++) written += BARE[encoded[i]!] ?? encoded[i]!;
  return written;
}

function byName([a]: Parameter, [b]: Parameter): number {
  return compareCodePoints(a, b);
}

/** Up to so many parameters are put in order by insertion: a general sort allocates 1.7 kB and takes 0.3 us first. */
const INSERTED_MAX = 16;

/**
 * Parameters in the order of their names by code point, repeats in order: the same array where they are. Cost: see the
 * sort.
 */
export function sortedByName(parameters: readonly Parameter[]): readonly Parameter[] {
  let ordered = 1;
  while (ordered < parameters.length && byName(parameters[ordered - 1]!, parameters[ordered]!) <= 0) ordered++;
  if (ordered >= parameters.length) return parameters;
  const sorted = parameters.slice();
  if (sorted.length > INSERTED_MAX) return sorted.sort(byName);
  for (let i = ordered; i < sorted.length; i++) {
    const one = sorted[i]!;
    let at = i;
    for (; at > 0 && byName(sorted[at - 1]!, one) > 0; at--) sorted[at] = sorted[at - 1]!;
    sorted[at] = one;
  }
  return sorted;
}

/** Order by code point: UTF-16 order puts the characters beyond U+FFFF before U+E000. */
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
