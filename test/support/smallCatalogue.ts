// A catalogue of a few records behind its handler, without a socket: a test passes a URL and gets the response as text.
// The pool is a function of the test.
import type { CollectionIndex } from '../../engine/index/table.ts';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import type { CatalogueOptions, CatalogueSettings } from '../../server/catalogue/catalogue.ts';
import { catalogueHandler } from '../../server/catalogue/handler.ts';
import { IGNORED_PARAMETERS } from '../../server/catalogue/tally.ts';
import { readSettings } from '../../server/settings/declarations.ts';
import type { Answer, Handler } from '../../server/http/exchange.ts';
import { steadyMs } from '../../server/observe/clock.ts';
import { newTally } from '../../server/observe/tally.ts';
import { pagesOf } from '../../server/pages/pages.ts';
import type { RunHeavy } from '../../workers/pool.ts';
import { routerOver } from '../../workers/router.ts';
import { RowSetCache } from '../../workers/rowSetCache.ts';
import { Slices } from '../../workers/slices.ts';
import { collectionOf } from './records.ts';
import { textOf } from './pages.ts';
import { requestOf, type RequestParts, STAYING } from './requests.ts';

/** The base of every link in the responses. */
export const BASE_URL = 'http://localhost:8080';
/** The generation that is served. */
export const GENERATION = '0123456789abcdef'.repeat(4);
const SETTINGS: CatalogueSettings = { ...readSettings({}, {}), baseUrl: BASE_URL };
const SAVED: Record<string, readonly string[]> = {
  observations: Array.from({ length: 8 }, (_, i) => recordOf(i + 1, i % 2 === 0 ? 'ocean' : 'land')),
  computations: [recordOf(1, 'a'), recordOf(2, 'b')],
  composites: [recordOf(2, 'c'), recordOf(3, 'd')],
};

function recordOf(id: number, title: string): string {
  return `{"ob_id":${id},"title":"${title}","timePeriod":"{base_url}/api/v3/times/${id}/?format=api"}`;
}

/** A record of `recordOf` as served. */
export function served(id: number, title: string, start = `${BASE_URL}/api/v3`, end = '/?format=api'): string {
  return `{"ob_id":${id},"title":"${title}","timePeriod":"${start}/times/${id}${end}"}`;
}

const collections = new Map<string, CollectionIndex>(
  COLLECTIONS.map(({ name }) => [name, collectionOf(name, SAVED[name] ?? [], BASE_URL)]),
);

/** A response with its whole body, and its entity tag if it has one. */
export interface Reply {
  readonly status: number;
  readonly etag: string | undefined;
  readonly headers: Record<string, string>;
  readonly text: string;
}

/** Pages without an authority and without documents. */
export const PAGES = pagesOf({ documents: new Map(), trustedHosts: () => undefined });

/** A pool that must not be called. */
export const NEVER_HEAVY: RunHeavy = () => Promise.reject(new Error('no plan is to leave the thread here'));

/** A handler over collections, without a cache. A pool of the test gets all but the cheapest lists. */
export function handlerWith(
  runHeavy: RunHeavy,
  settings: Partial<CatalogueSettings>,
  collections: (name: string) => CollectionIndex,
  more: Partial<Omit<CatalogueOptions, 'settings'>> = {},
): Handler<Answer | Promise<Answer>> {
  return catalogueHandler({
    generation: GENERATION,
    created: '2024-01-01T00:00:00Z',
    sinceMs: 0,
    blocks: undefined,
    pages: PAGES,
    collections,
    settings: { ...SETTINGS, ...settings },
    ignored: newTally(IGNORED_PARAMETERS),
    slices: new Slices(steadyMs),
    router: routerOver({
      generation: GENERATION,
      cache: new RowSetCache(0),
      runHeavy,
      budgetNs: runHeavy === NEVER_HEAVY ? Infinity : 500,
    }),
    ...more,
  });
}

export const LONG = 'x'.repeat(1000);
/** A hundred observations with LONG in their titles. */
export const HEAVY: CollectionIndex = collectionOf(
  'observations',
  Array.from({ length: 100 }, (_, i) => recordOf(i, `${LONG}${i}`)),
  BASE_URL,
);

/** Sends a request to the small catalogue, none of whose plans is heavy. */
export async function ask(parts: RequestParts | string, settings: Partial<CatalogueSettings> = {}): Promise<Reply> {
  const handler = handlerWith(NEVER_HEAVY, settings, (name) => collections.get(name)!);
  return replyOf(await handler(requestOf(typeof parts === 'string' ? { url: parts } : parts), STAYING));
}

/** A response with its body as text. */
export function replyOf({ status, etag, headers, body }: Answer): Reply {
  return { status, etag, headers: Object.fromEntries(headers), text: textOf(body) };
}
