// The ways in which startRudeUpstream misbehaves, a row each, and the test suite of a crawl from such a server. The
// output is the old data set or the whole new one, an error names the failed request, and the number of tries is
// bounded.
import { type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { OperationError } from '../../data/operationError.ts';
import { crawled, filesOf, oldDataSet, recordsOf } from './crawls.ts';
import { temporaryDirectory } from './dataSets.ts';
import {
  type Misbehave,
  NOTES,
  notesLines,
  type Place,
  type RudeOccasion,
  type RudePage,
  sendJson,
  startRudeUpstream,
} from './plainUpstream.ts';

export interface RudeWay {
  readonly name: string;
  readonly misbehave: Misbehave;
  /**
   * The outcome if the server always does this: without it, the crawl fails after some tries. If the server does it
   * once, the crawl must overcome all ways except those that fail at once.
   */
  readonly outcome?: 'atOnce' | 'harmless';
  readonly isLong?: boolean;
}

function status(code: number, headers: Readonly<Record<string, string>> = {}): Misbehave {
  return ({ response }) => void response.writeHead(code, { 'content-type': 'application/json', ...headers }).end('{}');
}

/** Sends raw bytes in place of an HTTP response, and then ends the connection. */
function raw(text: (whole: string) => string): Misbehave {
  return ({ request, page }) => void request.socket.end(text(JSON.stringify(page)));
}

function body(make: (whole: string) => string | Buffer, headers: Readonly<Record<string, string>> = {}): Misbehave {
  return ({ response, page }) =>
    void response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(make(JSON.stringify(page)));
}

function envelope(change: (page: RudePage, occasion: RudeOccasion) => unknown): Misbehave {
  return (occasion) => sendJson(occasion.response, change(occasion.page, occasion));
}

/** Changes the record in the middle of the page. */
function record(change: (record: Readonly<Record<string, unknown>>) => unknown): Misbehave {
  return envelope((page) => ({
    ...page,
    results: page.results.map((one, i) => (i === page.results.length >> 1 ? change(one) : one)),
  }));
}

/** Sends bytes again and again, as long as the client reads them. */
function flood(response: ServerResponse, piece: Buffer, times: number): void {
  let left = times;
  const more = (): void => {
    while (left-- > 0) if (!response.write(piece)) return void response.once('drain', more);
    response.end();
  };
  more();
}

/** Sends raw bytes one by one, each well before any timeout. */
function drip(text: (whole: string) => string): Misbehave {
  return ({ request: { socket }, page }) => {
    const bytes = Buffer.from(text(JSON.stringify(page)));
    let sent = 0;
    const timer = setInterval(() => void socket.write(bytes.subarray(sent, ++sent)), 10);
    socket.once('close', () => clearInterval(timer)).on('error', () => undefined);
  };
}

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
const HEAD_DRIPS = `${HEAD}${'X: y\r\n'.repeat(1000)}`;
const half = (whole: string): string => whole.slice(0, whole.length >> 1);

const WAYS: Readonly<Record<string, Misbehave | Omit<RudeWay, 'name'>>> = {
  'resets the connection': ({ request }) => void request.socket.resetAndDestroy(),
  'ends the connection without an answer': ({ request }) => void request.socket.end(),
  'ends within the head': raw(() => 'HTTP/1.1 200 OK\r\nContent-Ty'),
  'sends no HTTP': raw(() => 'SSH-2.0-x\r\n\r\n'),
  'sends a head without end': raw(() => `${HEAD}X: ${'x'.repeat(100_000)}\r\n\r\n`),
  'cuts a body of known length': raw((whole) => `${HEAD}Content-Length: 99999\r\n\r\n${half(whole)}`),
  'cuts a chunked body': raw((whole) => `${HEAD}Transfer-Encoding: chunked\r\n\r\nffff\r\n${half(whole)}`),
  'sends wrong chunks': raw(() => `${HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\nx`),
  'cuts a body of unknown length': raw((whole) => `${HEAD}Connection: close\r\n\r\n${half(whole)}`),
  'tells too small a length': raw((whole) => `${HEAD}Content-Length: 50\r\n\r\n${whole}`),
  'never answers': () => undefined,
  'stops within the body': ({ response, page }) => void response.write(half(JSON.stringify(page))),
  'never ends the head, which drips': drip(() => HEAD_DRIPS),
  'never ends the body, which drips': drip((whole) => `${HEAD}Content-Length: 99999\r\n\r\n${whole}`),
  'never ends a chunked body, which drips': drip(
    (whole) => `${HEAD}Transfer-Encoding: chunked\r\n\r\n${whole.replaceAll(/./gs, '1\r\n$&\r\n')}`,
  ),
  'answers 408': status(408),
  'answers 425': status(425),
  'answers 429': status(429),
  'answers 429 with Retry-After': status(429, { 'retry-after': '0' }),
  'answers 429 with a date': status(429, { 'retry-after': new Date(0).toUTCString() }),
  'answers 429 with a wait of days': { misbehave: status(429, { 'retry-after': '1000000' }), outcome: 'atOnce' },
  'answers 503 with a wrong Retry-After': status(503, { 'retry-after': 'soon' }),
  'answers 500': status(500),
  'answers 502': status(502),
  'answers 504': status(504),
  'answers 403 with Retry-After': status(403, { 'retry-after': '0' }),
  'answers 403': { misbehave: status(403), outcome: 'atOnce' },
  'answers 400': { misbehave: status(400), outcome: 'atOnce' },
  'answers 401': { misbehave: status(401), outcome: 'atOnce' },
  'answers 404': { misbehave: status(404), outcome: 'atOnce' },
  'answers 204': { misbehave: ({ response }) => void response.writeHead(204).end(), outcome: 'atOnce' },
  'answers 206': { misbehave: status(206), outcome: 'atOnce' },
  'answers 304': { misbehave: ({ response }) => void response.writeHead(304).end(), outcome: 'atOnce' },
  'redirects to another host': {
    misbehave: ({ response, elsewhere }) => void response.writeHead(301, { location: elsewhere }).end(),
    outcome: 'atOnce',
  },
  'redirects to itself': {
    misbehave: ({ request, response }) => void response.writeHead(302, { location: request.url! }).end(),
    outcome: 'atOnce',
  },
  'sends an empty body': body(() => ''),
  'sends HTML': body(() => '<html></html>', { 'content-type': 'text/html' }),
  'sends HTML as JSON': body(() => '\n<!doctype html>'),
  'sends JSON that is cut': body(half),
  'sends JSON with a comma too many': body((whole) => whole.replace('],', ',],')),
  'sends JSON with something behind': body((whole) => `${whole}{}`),
  'sends a byte order mark': body((whole) => `\ufeff${whole}`),
  'sends bytes that are no text': body((whole) => Buffer.from(whole.replaceAll('å', '\xff'), 'latin1')),
  'sends null': body(() => 'null'),
  'sends an array': body(() => '[]'),
  'sends a text': body(() => '"results"'),
  'sends an error as an object': body(() => '{"detail":"try later"}'),
  'calls plain bytes gzip': body((whole) => whole, { 'content-encoding': 'gzip' }),
  'cuts gzip': body((whole) => gzipSync(whole).subarray(0, 100), { 'content-encoding': 'gzip' }),
  'damages gzip': body(damagedGzip, { 'content-encoding': 'gzip' }),
  'sends a coding that nobody asked for': body((whole) => whole, { 'content-encoding': 'br' }),
  'sends a gzip bomb': { misbehave: body(() => BOMB(), { 'content-encoding': 'gzip' }), isLong: true },
  'sends 200,000 levels': body((whole) => whole.replace('[{', `[${'['.repeat(200_000)}${']'.repeat(200_000)},{`)),
  'sends 200,000 levels in a record': body((whole) =>
    whole.replace('[{', `[{"deep":${'['.repeat(200_000)}${']'.repeat(200_000)},`),
  ),
  'sends a record of 64 MB': {
    misbehave: ({ response, page }) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(`{"count":${page.count},"next":null,"previous":null,"results":[{"ob_id":0,"text":"`);
      flood(response, Buffer.alloc(1 << 20, 'x'), 64);
    },
    isLong: true,
  },
  'sends a record of 9 MB': { misbehave: record((one) => ({ ...one, text: 'x'.repeat(9 << 20) })), isLong: true },
  'sends much beside the records': envelope((page) => ({ ...page, more: 'x'.repeat(70_000) })),
  'has no count': envelope((page) => ({ ...page, count: undefined })),
  'has a count below 0': envelope((page) => ({ ...page, count: -1 })),
  'has a count that is a text': envelope((page) => ({ ...page, count: `${page.count}` })),
  'has a count that is no integer': envelope((page) => ({ ...page, count: page.count + 0.5 })),
  'counts one less than there are on the way': envelope((page) => ({ ...page, count: page.results.length - 1 })),
  'has no next': envelope((page) => ({ ...page, next: undefined })),
  'has a next that is a number': envelope((page) => ({ ...page, next: 1 })),
  'has a next at another host': {
    misbehave: envelope((page, { elsewhere }) => ({
      ...page,
      next: page.next && page.next.replace(/^http:\/\/[^/]*/, elsewhere),
    })),
    outcome: 'harmless',
  },
  'has no results': envelope((page) => ({ ...page, results: undefined })),
  'has results that are an object': envelope((page) => ({ ...page, results: {} })),
  'has results that are numbers': envelope((page) => ({ ...page, results: page.results.map((_, i) => i) })),
  'has a null among the results': envelope((page) => ({ ...page, results: [...page.results.slice(1), null] })),
  'sends a short page': envelope((page) => ({ ...page, results: page.results.slice(1) })),
  'sends an empty page': envelope((page) => ({ ...page, results: [] })),
  'sends more than was asked for': envelope((page) => ({ ...page, results: [...page.results, ...page.results] })),
  'repeats a record': envelope((page) => ({ ...page, results: page.results.with(3, page.results[2]!) })),
  'has results twice': body((whole) => whole.replace('"results"', '"results":[{"ob_id":1}],"results"')),
  'has a record without id': record((one) => ({ ...one, ob_id: undefined })),
  'has an id that is a text': record((one) => ({ ...one, ob_id: String(one['ob_id']) })),
  'has an id below 0': record((one) => ({ ...one, ob_id: -1 })),
  'has an id that is no integer': record((one) => ({ ...one, ob_id: 0.5 })),
  'has an id beyond 2^53': record((one) => ({ ...one, ob_id: 2 ** 60 })),
  'has NaN in a record': body((whole) => whole.replace('"nested":{', '"nested":{"a":NaN,')),
};

export const RUDE_WAYS: readonly RudeWay[] = Object.entries(WAYS).map(([name, way]) =>
  typeof way === 'function' ? { name, misbehave: way } : { name, ...way },
);

function damagedGzip(whole: string): Buffer {
  const bytes = gzipSync(whole);
  bytes[bytes.length - 5]! ^= 1;
  return bytes;
}

let bomb: Buffer | undefined;
/** 80 MB of blanks in 80 kB; made on the first call. */
function BOMB(): Buffer {
  return (bomb ??= gzipSync(Buffer.alloc(80 << 20, ' ')));
}

/** More requests than any way may cost: four passes over four pages with three tries each, and two collections. */
const ASKED_MAX = 80;

/** Short, because some ways never respond. Everything that responds takes less. */
const TIMEOUT_MS = { whole: 5000, never: 1000 };

/** Tests each way at its places: once, and at every request. */
export function rudeSuite(ways: readonly RudeWay[], placesOf: (way: RudeWay, i: number) => readonly Place[]): void {
  const directory = temporaryDirectory();

  async function outcomeOf(way: RudeWay, place: Place, times: number) {
    const upstream = await startRudeUpstream(way.misbehave, place, times);
    const output = oldDataSet(directory, upstream.url);
    const old = filesOf(output);
    const timeoutMs = /never|stops/.test(way.name) ? TIMEOUT_MS.never : TIMEOUT_MS.whole;
    try {
      const error = await crawled(upstream.url, output, { timeoutMs }).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(upstream.askedElsewhere()).toBe(0);
      expect(upstream.asked()).toBeLessThan(ASKED_MAX);
      return { error, url: upstream.url, old, files: filesOf(output), records: recordsOf(output) };
    } finally {
      await upstream.close();
    }
  }

  const cases = ways.flatMap((way, i) => placesOf(way, i).map((place) => [way.name, place, way] as const));

  describe('a crawl from a server that misbehaves once', () => {
    test.each(cases)('overcomes it, unless it fails at once: %s, at the %s page', async (_name, place, way) => {
      const { error, records, files, old } = await outcomeOf(way, place, 1);
      if (way.outcome === 'atOnce') {
        expect([error, files]).toEqual([expect.any(OperationError), old]);
        return;
      }
      expect(error).toBeUndefined();
      expect(records?.['notes.ndjson']).toBe(notesLines());
      expect(JSON.parse(files!['MANIFEST.json']!)).toMatchObject({ counts: { notes: NOTES, times: 5 } });
    });
  });

  describe('a crawl from a server that always misbehaves', () => {
    test.each(cases)(
      'fails and keeps the old data, unless it is harmless: %s, at the %s page',
      async (_name, place, way) => {
        const { error, url, files, old, records } = await outcomeOf(way, place, Infinity);
        if (error === undefined) {
          expect([way.outcome, records?.['notes.ndjson']]).toEqual(['harmless', notesLines()]);
          return;
        }
        expect(way.outcome).not.toBe('harmless');
        expect(files).toEqual(old);
        const named = new RegExp(
          `^notes, page at offset \\d+ \\(${url}/api/v3/notes/\\?limit=\\d+&offset=\\d+.*\\): .`,
        );
        expect(error).toMatchObject({ code: 'network', message: expect.stringMatching(named) });
      },
    );
  });
}
