// The JSON around records: the envelope of a page (spec 2.2), the root views (spec 2.1) and the index at `/`.
import { slabText } from '../bits/slab.ts';
import { COLLECTIONS } from '../schema/catalogue.ts';
import type { Version } from '../schema/types.ts';
import { jsonObject, jsonText } from '../bits/json.ts';

/**
 * A body of known length, read in pieces so that a page of any size is sent at flat memory. `pieceAt(offset)` answers a
 * non-empty view that starts at exactly that byte of the body (0 <= offset < bytes); the view is valid until the next
 * `pieceAt` of any body, or the next query, in the same thread. The same offset always gives the same bytes. A piece of
 * a body that `isSlow` takes 0.5 to 2 ms however short it is, so that its writers look at the clock behind each.
 */
export interface Body {
  readonly bytes: number;
  readonly isSlow?: boolean;
  pieceAt(offset: number): Uint8Array;
}

/** A body held whole in memory. Cost: none, and none to read it from its start. */
export function wholeBody(bytes: Uint8Array): Body {
  return new WholeBody(bytes);
}

/** A class, since most answers have such a body: no closure is made for one. */
class WholeBody implements Body {
  readonly bytes: number;
  readonly #view: Uint8Array;

  constructor(view: Uint8Array) {
    this.bytes = view.length;
    this.#view = view;
  }

  pieceAt(offset: number): Uint8Array {
    return offset === 0 ? this.#view : this.#view.subarray(offset);
  }
}

const UTF8 = new TextEncoder();

/** A facet as a page shows it: its name, and its values with their counts. */
export interface PageFacet {
  readonly name: string;
  readonly values: readonly (readonly [text: string, count: number])[];
}

const BARE_TAIL = UTF8.encode(']}');

/**
 * What follows the records of a page: its end, and before it the facets where some were asked for. Cost: the facets.
 */
export function pageTail(facets: readonly PageFacet[]): Uint8Array {
  if (facets.length === 0) return BARE_TAIL;
  const members = facets.map(({ name, values }) => {
    return [name, jsonObject(values.map(([text, count]) => [text, `${count}`] as const))] as const;
  });
  return UTF8.encode(`],"facets":${jsonObject(members)}}`);
}

/** Links to the neighbouring pages as they stand between the quotes of a JSON text; null where there is none. */
export interface PageLinks {
  readonly next: string | null;
  readonly previous: string | null;
}

/** What stands before the records of a page: count, next, previous (spec 2.2). Cost: one pass over the links. */
export function pageHead(count: number, links: PageLinks): Uint8Array {
  const next = links.next === null ? 'null' : `"${links.next}"`;
  const previous = links.previous === null ? 'null' : `"${links.previous}"`;
  return slabText(`{"count":${count},"next":${next},"previous":${previous},"results":[`);
}

/**
 * The root view of a version: collection names and the URLs of their lists, in the declared order (spec 2.1, spec 9).
 * `linkEnd` follows each name, `/?format=api` in the form of the specification. Cost: a step a collection.
 */
export function rootViewBody(baseUrl: string, version: Version, linkEnd: string): Uint8Array {
  const served = COLLECTIONS.filter((collection) => collection.versions.includes(version));
  const members = served.map(({ name }) => [name, jsonText(`${baseUrl}/api/${version}/${name}${linkEnd}`)] as const);
  return UTF8.encode(jsonObject(members));
}

/**
 * What `/` answers: the root views, the pages for people, the description for programs, and health, which is at the
 * root of the server alone. Cost: none.
 */
export function indexBody(baseUrl: string): Uint8Array {
  const isBelowPath = /:\/\/[^/]+\/./.test(baseUrl);
  const members = INDEX.filter(([name]) => !(isBelowPath && name === 'health'));
  return UTF8.encode(jsonObject(members.map(([name, path]) => [name, jsonText(`${baseUrl}${path}`)] as const)));
}

const INDEX = [
  ['v2', '/api/v2/'],
  ['v3', '/api/v3/'],
  ['browse', '/browse/'],
  ['openapi', '/openapi.json'],
  ['docs', '/docs/'],
  ['health', '/healthz'],
] as const;
