// A catalogue that tests hold in their hands: a list of records by collection, which may change between two requests.
// Heeds limit, offset and `ordering`, and what else it is told to; notes what it was asked.
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';
import { sendJson } from './rudeUpstream.ts';

/** A record with an id; other members as they are. */
export type PlainRecord = Readonly<Record<string, unknown>> & { readonly ob_id: number };

/** What the server has and does. */
export interface PlainUpstreamOptions {
  readonly collections: Record<string, readonly PlainRecord[]>;
  /** Called before each response. */
  readonly onRequest?: (request: IncomingMessage) => void | Promise<void>;
  /** Whether lists ascend by id if asked to. */
  readonly heedsOrder?: boolean;
  /** Whether it has the filter `lastUpdatedDate__gte`. */
  readonly heedsDates?: boolean;
  /** It reads dates as of a zone this many hours west of the one that it shows. */
  readonly zone?: number;
  /** Validators of pages: `frozen` ones never change, and any validator gets a 304 from a `lying` server. */
  tags?: 'honest' | 'frozen' | 'lying' | undefined;
  /** Whether the validators are dates, not entity tags. */
  readonly datesPages?: boolean;
  /** The records that lists by date omit. */
  readonly leavesOut?: (record: PlainRecord) => boolean;
  /** The requests that get a 500. */
  readonly failsAt?: (query: URLSearchParams) => boolean;
}

/**
 * A running server. `requests` has those that it got, `underWayMax` how many it had at a time, `sent` how many records
 * it sent as a whole.
 */
export interface PlainUpstream {
  readonly url: string;
  readonly sent: () => number;
  readonly requests: readonly IncomingMessage[];
  readonly underWayMax: () => number;
  close(): Promise<void>;
}

/** What starts servers that a test file has until each of its tests ends. Call it at the top of the file. */
export function plainUpstreams(): typeof startPlainUpstream {
  const running: PlainUpstream[] = [];
  afterEach(async () => {
    for (const upstream of running.splice(0)) await upstream.close();
  });
  return async (options) => {
    const upstream = await startPlainUpstream(options);
    running.push(upstream);
    return upstream;
  };
}

/** What tells a page from what it was, in which header of its answer and of the next request. */
const PAGE_TAGS = { mark: (text: string): string => `"${sumOf(text)}"`, header: 'etag', condition: 'if-none-match' };
const PAGE_DATES = {
  // Of the years from 2001 on.
  mark: (text: string): string =>
    new Date(978_307_200_000 + parseInt(sumOf(text).slice(0, 7), 16) * 1000).toUTCString(),
  header: 'last-modified',
  condition: 'if-modified-since',
};

function sumOf(text: string): string {
  return createHash('md5').update(text).digest('hex');
}

/** Says in the answer what tells the page, where it does; whether the request knows it by that. */
function isAsKnown(
  request: IncomingMessage,
  response: ServerResponse,
  { tags, datesPages = false }: PlainUpstreamOptions,
  body: object,
): boolean {
  if (!tags) return false;
  const { mark, header, condition } = datesPages ? PAGE_DATES : PAGE_TAGS;
  const own = mark(JSON.stringify(tags === 'honest' ? body : 'always'));
  response.setHeader(header, own);
  const known = request.headers[condition];
  return known !== undefined && (tags === 'lying' || known === own);
}

/** Starts the server on a free port. */
export async function startPlainUpstream(options: PlainUpstreamOptions): Promise<PlainUpstream> {
  const { collections, onRequest, heedsOrder = true, heedsDates, zone = 0, leavesOut, failsAt } = options;
  let sent = 0;
  const requests: IncomingMessage[] = [];
  let underWay = 0;
  let underWayMax = 0;
  const server = createServer((request, response) => {
    requests.push(request);
    underWayMax = Math.max(underWayMax, ++underWay);
    response.once('close', () => underWay--);
    void (async () => {
      await onRequest?.(request);
      const base = `http://${request.headers.host}`;
      const { pathname, searchParams } = new URL(request.url!, base);
      const name = /^\/api\/v3\/(\w+)\/$/.exec(pathname)?.[1];
      const isKnown = /^\/api\/v3\/(?:\w+\/)?$/.test(pathname);
      if (!isKnown || failsAt?.(searchParams)) {
        response.writeHead(isKnown ? 500 : 404).end();
        return;
      }
      if (name === undefined) {
        sendJson(response, Object.fromEntries(Object.keys(collections).map((one) => [one, `${base}/api/v3/${one}/`])));
        return;
      }
      const isOrdered = heedsOrder && searchParams.has('ordering');
      const asked = heedsDates ? Date.parse(searchParams.get('lastUpdatedDate__gte') ?? '') : Number.NaN;
      const from = asked + zone * 3_600_000;
      const isNew = (record: PlainRecord): boolean =>
        !(Date.parse(String(record['lastUpdatedDate'])) < from || (!Number.isNaN(from) && leavesOut?.(record)));
      const all = collections[name]!.filter(isNew);
      const records = isOrdered ? all.toSorted((a, b) => a.ob_id - b.ob_id) : all;
      const [limit, offset] = ['limit', 'offset'].map((key) => Number(searchParams.get(key))) as [number, number];
      const next = offset + limit < all.length ? `${base}${pathname}?limit=${limit}&offset=${offset + limit}` : null;
      const results = records.slice(offset, offset + limit);
      const body = { count: all.length, next, previous: null, results };
      if (isAsKnown(request, response, options, body)) {
        response.writeHead(304).end();
        return;
      }
      sent += results.length;
      sendJson(response, body);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    sent: () => sent,
    underWayMax: () => underWayMax,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
