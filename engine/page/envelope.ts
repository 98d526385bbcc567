// The JSON around records: the envelope of a page (spec 2.2), the root views (spec 2.1) and the index at `/`.
import { slabText } from '../bits/slab.ts';
import { COLLECTIONS } from '../schema/catalogue.ts';
import type { Version } from '../schema/types.ts';
import { jsonObject, jsonText } from '../bits/json.ts';

/** A body of known length, read in pieces, so that a page of any size is sent in constant memory. */
export interface Body {
  readonly bytes: number;
  /** True if a piece takes 0.5 to 2 ms, however short it is. Its writer should check the clock after each. */
  readonly isSlow?: boolean;
  /** True if the body was not measured to its end, because linked records make it too large (A171). It has no bytes. */
  readonly isTooLarge?: boolean;
  /** The bytes that a measured body retains in addition to its rows; absent if there are few. */
  readonly retainedBytes?: number;
  /**
   * Returns a non-empty view that starts at exactly this byte of the body (0 <= offset < bytes). The same offset always
   * gives the same bytes. The view is valid until the next `pieceAt` of any body, or the next query, in the same
   * thread.
   */
  pieceAt(offset: number): Uint8Array;
}

/** A body that is completely in memory. Cost: none; `pieceAt(0)` returns `bytes` itself. */
export function wholeBody(bytes: Uint8Array): Body {
  return new WholeBody(bytes);
}

/** A class, because most responses have such a body, and it needs no closure. */
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

/** A facet of a page: its name, and its values with their counts. */
export interface PageFacet {
  readonly name: string;
  readonly values: readonly (readonly [text: string, count: number])[];
}

const BARE_TAIL = UTF8.encode(']}');

/**
 * The part of a page after the records: the end of the envelope, preceded by the facets if there are any. Cost: the
 * facets.
 */
export function pageTail(facets: readonly PageFacet[]): Uint8Array {
  if (facets.length === 0) return BARE_TAIL;
  const members = facets.map(({ name, values }) => {
    return [name, jsonObject(values.map(([text, count]) => [text, `${count}`] as const))] as const;
  });
  return UTF8.encode(`],"facets":${jsonObject(members)}}`);
}

/** Links to the neighbouring pages in JSON form without quotes; null if that page does not exist. */
export interface PageLinks {
  readonly next: string | null;
  readonly previous: string | null;
}

/** The part of a page before the records: count, next, previous (spec 2.2). Cost: one pass over the links. */
export function pageHead(count: number, links: PageLinks): Uint8Array {
  const next = links.next === null ? 'null' : `"${links.next}"`;
  const previous = links.previous === null ? 'null' : `"${links.previous}"`;
  return slabText(`{"count":${count},"next":${next},"previous":${previous},"results":[`);
}

/**
 * The root view of a version: collection names and the URLs of their lists, in the declared order (spec 2.1, spec 9).
 * `linkEnd` follows each name; it is `/?format=api` in the form of the specification. Cost: a step per collection.
 */
export function rootViewBody(baseUrl: string, version: Version, linkEnd: string): Uint8Array {
  const served = COLLECTIONS.filter((collection) => collection.versions.includes(version));
  const members = served.map(({ name }) => [name, jsonText(`${baseUrl}/api/${version}/${name}${linkEnd}`)] as const);
  return UTF8.encode(jsonObject(members));
}

/**
 * The body of `/`: the root views, the changes, the pages for people, the API description and health. Health is omitted
 * if the base URL has a path, because it is only at the root of the server. Cost: none.
 */
export function indexBody(baseUrl: string): Uint8Array {
  const isBelowPath = /:\/\/[^/]+\/./.test(baseUrl);
  const members = INDEX.filter(([name]) => !(isBelowPath && name === 'health'));
  return UTF8.encode(jsonObject(members.map(([name, path]) => [name, jsonText(`${baseUrl}${path}`)] as const)));
}

const INDEX = [
  ['v2', '/api/v2/'],
  ['v3', '/api/v3/'],
  ['changes', '/api/v3/changes/'],
  ['browse', '/browse/'],
  ['openapi', '/openapi.json'],
  ['docs', '/docs/'],
  ['health', '/healthz'],
] as const;
