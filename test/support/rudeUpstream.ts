// A small catalogue whose server misbehaves in one way at one page, now and then or always, and what a crawl of it must
// come to. The catalogue is two collections made here; the ways are in rudeWays.ts.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The records that the catalogue has in its larger collection, in pages of at most `PAGE_RECORDS`. */
export const NOTES = 320;

/** The most that the server gives at once, as services with a bound on `limit` do. */
const PAGE_RECORDS = 100;

const TIMES = 5;

/** Where the server misbehaves: at the page with this record. */
export const PLACES = { first: 0, middle: 150, last: NOTES - 1 } as const;

/** One of the places. */
export type Place = keyof typeof PLACES;

/** A page as it should be, for a way to spoil. */
export interface RudePage {
  readonly count: number;
  readonly next: string | null;
  readonly previous: string | null;
  readonly results: readonly Readonly<Record<string, unknown>>[];
}

/** What a way has to work with: the request, the answer to write, and the page in its place. */
export interface Occasion {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly page: RudePage;
  /** Another server, which must never be asked. */
  readonly elsewhere: string;
}

/** One way to misbehave; it answers, or leaves the request without an answer. */
export type Misbehave = (occasion: Occasion) => void;

/** A server that misbehaves. `asked` counts requests, `askedElsewhere` those that it sent to another host. */
export interface RudeUpstream {
  readonly url: string;
  readonly asked: () => number;
  readonly askedElsewhere: () => number;
  close(): Promise<void>;
}

function noteOf(base: string, id: number): Readonly<Record<string, unknown>> {
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

/** The page that a request asks for: of all notes, or of the times. */
function pageOf(base: string, target: URL): RudePage {
  const isNotes = target.pathname.includes('/notes/');
  const limit = Math.min(PAGE_RECORDS, Number(target.searchParams.get('limit') ?? PAGE_RECORDS));
  const offset = Number(target.searchParams.get('offset') ?? 0);
  const count = isNotes ? NOTES : TIMES;
  const length = Math.max(0, Math.min(limit, count - offset));
  const link = (start: number): string => `${base}${target.pathname}?limit=${limit}&offset=${start}`;
  return {
    count,
    next: offset + limit < count ? link(offset + limit) : null,
    previous: offset > 0 ? link(Math.max(0, offset - limit)) : null,
    results: Array.from({ length }, (_, i) => (isNotes ? noteOf(base, (offset + i) * 2) : { ob_id: offset + i })),
  };
}

/** Starts the server; it misbehaves `times` times where a page of notes has the record of `place`. */
export async function startRudeUpstream(misbehave: Misbehave, place: Place, times: number): Promise<RudeUpstream> {
  let asked = 0;
  let askedElsewhere = 0;
  let left = times;
  const other = createServer((_, response) => {
    askedElsewhere++;
    response.end('{}');
  });
  const server = createServer((request, response) => {
    asked++;
    const base = `http://${request.headers.host}`;
    const target = new URL(request.url!, base);
    if (target.pathname === '/api/v3/') return sendJson(response, rootOf(base));
    const page = pageOf(base, target);
    const offset = Number(target.searchParams.get('offset') ?? 0);
    const isThere = offset <= PLACES[place] && PLACES[place] < offset + page.results.length;
    if (!target.pathname.includes('/notes/') || !isThere || left-- <= 0) return sendJson(response, page);
    misbehave({ request, response, page, elsewhere: urlOf(other) });
  });
  for (const one of [server, other]) await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve));
  return {
    url: urlOf(server),
    asked: () => asked,
    askedElsewhere: () => askedElsewhere,
    close: async () => {
      for (const one of [server, other]) {
        one.closeAllConnections();
        await new Promise<void>((resolve) => one.close(() => resolve()));
      }
    },
  };
}

function rootOf(base: string): Readonly<Record<string, string>> {
  return { notes: `${base}/api/v3/notes/?format=api`, times: `${base}/api/v3/times/?format=api` };
}

function urlOf(server: ReturnType<typeof createServer>): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Answers with a value as JSON. */
export function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}
