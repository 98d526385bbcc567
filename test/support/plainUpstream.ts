// Upstream catalogues. `startPlainUpstream` serves lists of records by collection, with limit, offset, `ordering` and
// the features in the options. A test may change the records between two requests. `startRudeUpstream` serves a small
// catalogue and misbehaves at one page, in one of the ways of rudeWays.ts.
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';

/** A record with an id and any other members. */
export type PlainRecord = Readonly<Record<string, unknown>> & { readonly ob_id: number };

/** Data and behaviour of the server. */
export interface PlainUpstreamOptions {
  /** `{upstream}` in a text stands for the address of the server. */
  readonly collections: Record<string, readonly PlainRecord[]>;
  /** Called before each response. */
  readonly onRequest?: (request: IncomingMessage) => void | Promise<void>;
  /** Whether lists ascend by id if asked to. */
  readonly heedsOrder?: boolean;
  /** Whether it has the filter `lastUpdatedDate__gte`. */
  readonly heedsDates?: boolean;
  /** It parses dates in a zone this many hours west of the one that it shows. */
  readonly zone?: number;
  /** Validators of pages: `frozen` ones never change, and any validator gets a 304 from a `lying` server. */
  tags?: 'honest' | 'frozen' | 'lying' | undefined;
  /** Whether the validators are dates, not entity tags. */
  readonly datesPages?: boolean;
  /** The records that lists by date omit. */
  readonly leavesOut?: (record: PlainRecord) => boolean;
  /** The most records of a page. */
  readonly limitMax?: number;
  /** Returns true if it has sent a response in place of the page. */
  readonly misbehave?: (occasion: Occasion, collection: string, offset: number) => boolean;
  /** The requests that get a 500. */
  readonly failsAt?: (query: URLSearchParams) => boolean;
}

/**
 * A running server. `requests` has those that it got, `underWayMax` is the peak of concurrent requests, `sent` the
 * total of records sent.
 */
export interface PlainUpstream {
  readonly url: string;
  readonly sent: () => number;
  readonly requests: readonly IncomingMessage[];
  readonly underWayMax: () => number;
  close(): Promise<void>;
}

/** Returns a function that starts servers, each until its test ends. Call this at the top of the file. */
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

/** Makers of validators, with the header of the response and that of the next request. */
const PAGE_TAGS = { mark: (text: string): string => `"${sumOf(text)}"`, header: 'etag', condition: 'if-none-match' };
const PAGE_DATES = {
  // A date from 2001 on.
  mark: (text: string): string =>
    new Date(978_307_200_000 + parseInt(sumOf(text).slice(0, 7), 16) * 1000).toUTCString(),
  header: 'last-modified',
  condition: 'if-modified-since',
};

function sumOf(text: string): string {
  return createHash('md5').update(text).digest('hex');
}

/** Sets the validator of a page, if it has one. Returns whether the request already has that version. */
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

export async function startPlainUpstream(options: PlainUpstreamOptions): Promise<PlainUpstream> {
  const { collections, onRequest, heedsOrder = true, heedsDates, zone = 0, leavesOut, failsAt } = options;
  const { misbehave, limitMax = Infinity } = options;
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
      const [, name, id] = /^\/api\/v3\/(\w+)\/(?:(\d+)\/)?$/.exec(pathname) ?? [];
      const record = collections[name ?? '']?.find((one) => String(one.ob_id) === id);
      const isKnown = id === undefined ? /^\/api\/v3\/(?:\w+\/)?$/.test(pathname) : record !== undefined;
      if (!isKnown || failsAt?.(searchParams)) {
        response.writeHead(isKnown ? 500 : 404).end();
        return;
      }
      if (name === undefined) {
        const names = Object.keys(collections);
        return sendJson(response, Object.fromEntries(names.map((one) => [one, `${base}/api/v3/${one}/?format=api`])));
      }
      if (record) return sendJson(response, record);
      const isOrdered = heedsOrder && searchParams.has('ordering');
      const asked = heedsDates ? Date.parse(searchParams.get('lastUpdatedDate__gte') ?? '') : Number.NaN;
      const from = asked + zone * 3_600_000;
      const isNew = (record: PlainRecord): boolean =>
        !(Date.parse(String(record['lastUpdatedDate'])) < from || (!Number.isNaN(from) && leavesOut?.(record)));
      const all = collections[name]!.filter(isNew);
      const sign = searchParams.get('ordering')?.startsWith('-') ? -1 : 1;
      const records = isOrdered ? all.toSorted((a, b) => sign * (a.ob_id - b.ob_id)) : all;
      const limit = Math.min(limitMax, Number(searchParams.get('limit')));
      const offset = Number(searchParams.get('offset'));
      const next = offset + limit < all.length ? `${base}${pathname}?limit=${limit}&offset=${offset + limit}` : null;
      const results = records.slice(offset, offset + limit);
      const stored = { count: all.length, next, previous: null, results };
      const body = JSON.parse(JSON.stringify(stored).replaceAll('{upstream}', base)) as RudePage;
      if (misbehave?.({ request, response, page: body }, name, offset)) return;
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
    url: urlOf(server),
    requests,
    sent: () => sent,
    underWayMax: () => underWayMax,
    close: () => closed(server),
  };
}

/** The records of the larger collection, in pages of at most `PAGE_RECORDS`. */
export const NOTES = 320;

/** The most records of one response: a service may have an upper bound on `limit`. */
const PAGE_RECORDS = 100;

const TIMES = 5;

/** The server misbehaves at the page with this record. */
export const PLACES = { first: 0, middle: 150, last: NOTES - 1 } as const;

export type Place = keyof typeof PLACES;

/** A correct page, as input of a misbehaviour. */
export interface RudePage {
  readonly count: number;
  readonly next: string | null;
  readonly previous: string | null;
  readonly results: readonly Readonly<Record<string, unknown>>[];
}

/** A request, its response to write, and the page that it should have. */
export interface Occasion {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly page: RudePage;
}

/** The same, and the address of another server, which must never get a request. */
export interface RudeOccasion extends Occasion {
  readonly elsewhere: string;
}

/** One way to misbehave: it responds, or leaves the request without a response. */
export type Misbehave = (occasion: RudeOccasion) => void;

/** A server that misbehaves. `asked` counts requests, `askedElsewhere` those that it sent to another host. */
export interface RudeUpstream {
  readonly url: string;
  readonly asked: () => number;
  readonly askedElsewhere: () => number;
  close(): Promise<void>;
}

function noteOf(base: string, id: number): PlainRecord {
  const time = `${base}/api/v${(id % 2) + 2}/times/${id % TIMES}/${id % 3 === 0 ? '' : '?format=api'}`;
  return { ob_id: id, text: `note ${id}, "quoted" \\ ångström ${id / 3}`, time, nested: { values: [id, [time], {}] } };
}

/** The lines of the larger collection as a crawl must write them. */
export function notesLines(): string {
  const lines = Array.from({ length: NOTES }, (_, i) => {
    const id = i * 2;
    const time = `{base_url}/api/v3/times/${id % TIMES}/?format=api`;
    return JSON.stringify({ ...noteOf('', id), time, nested: { values: [id, [time], {}] } });
  });
  return lines.map((line) => `${line}\n`).join('');
}

/** Starts the server; it misbehaves `times` times at the page of notes with the record of `place`. */
export async function startRudeUpstream(misbehave: Misbehave, place: Place, times: number): Promise<RudeUpstream> {
  let askedElsewhere = 0;
  let left = times;
  const other = createServer((_, response) => {
    askedElsewhere++;
    response.end('{}');
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { url, requests, close } = await startPlainUpstream({
    collections: {
      notes: Array.from({ length: NOTES }, (_, i) => noteOf('{upstream}', i * 2)),
      times: Array.from({ length: TIMES }, (_, i) => ({ ob_id: i })),
    },
    limitMax: PAGE_RECORDS,
    misbehave: (occasion, collection, offset) => {
      const isThere = offset <= PLACES[place] && PLACES[place] < offset + occasion.page.results.length;
      if (collection !== 'notes' || !isThere || left-- <= 0) return false;
      misbehave({ ...occasion, elsewhere: urlOf(other) });
      return true;
    },
  });
  return {
    url,
    asked: () => requests.length,
    askedElsewhere: () => askedElsewhere,
    close: async () => {
      await close();
      await closed(other);
    },
  };
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
}

export function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}
