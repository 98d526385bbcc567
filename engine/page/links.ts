// The links of a page's envelope to its neighbours,
// and how a query is written again. Pure text; no records here.
import { jsonText } from './json.ts';

/**
 * What a list was asked for: decoded parameters in query order, the effective limit, and the place of the page's first
 * record. `lastId` is the id of its last one where the page was asked for by `after`. `generation` is what the links
 * name as theirs, in place of what the request named (A69); undefined where they name none.
 */
export interface PageRequest {
  readonly parameters: readonly (readonly [name: string, value: string])[];
  readonly limit: number;
  readonly offset: number;
  readonly lastId?: number | undefined;
  readonly generation?: string | undefined;
}

/**
 * Links to the neighbouring pages as they stand between the quotes of a JSON text; null where there is none (design:
 * Envelope and links).
 */
export interface PageLinks {
  readonly next: string | null;
  readonly previous: string | null;
}

/**
 * The links of the page at `address` (base URL and path as asked, without query) of `count` records. Next exists when
 * offset + limit < count; previous unless offset is 0. Limit is always written, offset unless it is 0, the other
 * parameters sorted by name, repeats in order. With `lastId` there is no previous, and next goes on behind this id.
 * Cost: the query, sorted.
 */
export function pageLinks(address: string, request: PageRequest, count: number): PageLinks {
  const { limit, offset, lastId } = request;
  const hasNext = offset + limit < count;
  if (!hasNext && (offset === 0 || lastId !== undefined)) return { next: null, previous: null };
  const parameters = pinned(request);
  // Of a link only the address can hold what JSON escapes, and is a third of it.
  const escaped = jsonText(address).slice(1, -1);
  if (lastId !== undefined) return { next: linkAfter(escaped, parameters, limit, lastId), previous: null };
  const around = aroundPlaces(parameters);
  return {
    next: hasNext ? linkTo(escaped, around, limit, offset + limit) : null,
    previous: offset === 0 ? null : linkTo(escaped, around, limit, offset - limit),
  };
}

/**
 * All parameters but limit and offset as they stand in both links: before limit, between the two, and behind offset.
 */
interface Around {
  readonly before: string;
  readonly between: string;
  readonly behind: string;
}

function aroundPlaces(parameters: PageRequest['parameters']): Around {
  let before = '';
  let between = '';
  let behind = '';
  for (const [name, value] of sortedByName(parameters)) {
    if (name === 'limit' || name === 'offset') continue;
    const text = `${encodeQueryText(name)}=${encodeQueryText(value)}`;
    if (compareCodePoints(name, 'limit') < 0) before += `${text}&`;
    else if (compareCodePoints(name, 'offset') < 0) between += `&${text}`;
    else behind += `&${text}`;
  }
  return { before, between, behind };
}

/** A text for a query: blank as `+`, all but letters, digits and `-._~` percent-encoded as UTF-8. Cost: one pass. */
export function encodeQueryText(text: string): string {
  return PLAIN.test(text) ? text : percentEncode(text).replaceAll('%20', '+');
}

/** A text with all but letters, digits and `-._~` percent-encoded as UTF-8; a lone surrogate counts as U+FFFD. */
export function percentEncode(text: string): string {
  return encodeURIComponent(text.replace(LONE_SURROGATE, '\ufffd')).replace(LEFT_BARE, encodeAscii);
}

const PLAIN = /^[A-Za-z0-9\-._~]*$/;
const LONE_SURROGATE = /\p{Cs}/gu;
/** What `encodeURIComponent` leaves as it is beyond the unreserved characters of RFC 3986, 2.3. */
const LEFT_BARE = /[!'()*]/g;

function encodeAscii(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** The parameters of a request, with the generation to go on in. */
function pinned({ parameters, generation }: PageRequest): PageRequest['parameters'] {
  if (generation === undefined) return parameters;
  return [...parameters.filter(([name]) => name !== 'generation'), ['generation', generation]];
}

function linkAfter(address: string, parameters: PageRequest['parameters'], limit: number, lastId: number): string {
  const kept = parameters.filter(([name]) => name !== 'limit' && name !== 'after');
  return linkWith(address, [...kept, ['limit', `${limit}`], ['after', `${lastId}`]]);
}

function linkTo(address: string, { before, between, behind }: Around, limit: number, offset: number): string {
  const place = offset > 0 ? `&offset=${offset}` : '';
  return `${address}?${before}limit=${limit}${between}${place}${behind}`;
}

function linkWith(address: string, parameters: PageRequest['parameters']): string {
  const texts = sortedByName(parameters).map(([name, value]) => `${encodeQueryText(name)}=${encodeQueryText(value)}`);
  return `${address}?${texts.join('&')}`;
}

function byName([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return compareCodePoints(a, b);
}

/** Up to so many parameters are put in order by insertion: a general sort costs 0.3 us before it compares anything. */
const INSERTED_MAX = 16;

/**
 * Parameters in the order of their names by code point, repeats in order: the same array where they are. Cost: see the
 * sort.
 */
export function sortedByName(parameters: PageRequest['parameters']): PageRequest['parameters'] {
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
