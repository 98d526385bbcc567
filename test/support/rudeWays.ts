// The ways in which rudeUpstream.ts misbehaves: of connections, statuses, bodies, envelopes and records. To add one,
// add its row; the suite asks for each at the first, a middle and the last page.
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { type Misbehave, type Occasion, type RudePage, sendJson } from './rudeUpstream.ts';

/**
 * A way by name. `outcome` where the server behaves so for ever: most are refused after some tries, some `atOnce`, and
 * some do no `harm`. Where it does so once, all but those that are refused at once must be overcome. `isLong` ways take
 * long.
 */
export interface RudeWay {
  readonly name: string;
  readonly misbehave: Misbehave;
  readonly outcome: 'refused' | 'atOnce' | 'harmless';
  readonly isLong?: boolean;
}

function way(name: string, misbehave: Misbehave, outcome: RudeWay['outcome'] = 'refused', isLong = false): RudeWay {
  return { name, misbehave, outcome, isLong };
}

function status(code: number, headers: Readonly<Record<string, string>> = {}): Misbehave {
  return ({ response }) => void response.writeHead(code, { 'content-type': 'application/json', ...headers }).end('{}');
}

/** Raw bytes in place of an HTTP answer; the connection ends behind them. */
function raw(text: (whole: string) => string): Misbehave {
  return ({ request, page }) => void request.socket.end(text(JSON.stringify(page)));
}

function body(make: (whole: string) => string | Buffer, headers: Readonly<Record<string, string>> = {}): Misbehave {
  return ({ response, page }) =>
    void response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(make(JSON.stringify(page)));
}

function envelope(change: (page: RudePage, occasion: Occasion) => unknown): Misbehave {
  return (occasion) => sendJson(occasion.response, change(occasion.page, occasion));
}

/** Spoils the record in the middle of the page. */
function record(change: (record: Readonly<Record<string, unknown>>) => unknown): Misbehave {
  return envelope((page) => ({
    ...page,
    results: page.results.map((one, i) => (i === page.results.length >> 1 ? change(one) : one)),
  }));
}

/** Sends bytes again and again, as long as somebody takes them. */
function flood(response: ServerResponse, piece: Buffer, times: number): void {
  let left = times;
  const more = (): void => {
    while (left-- > 0) if (!response.write(piece)) return void response.once('drain', more);
    response.end();
  };
  more();
}

/** Raw bytes one by one, each well before any limit on silence. */
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

/** All ways. */
export const RUDE_WAYS: readonly RudeWay[] = [
  way('resets the connection', ({ request }) => void request.socket.resetAndDestroy()),
  way('ends the connection without an answer', ({ request }) => void request.socket.end()),
  way(
    'ends within the head',
    raw(() => 'HTTP/1.1 200 OK\r\nContent-Ty'),
  ),
  way(
    'sends no HTTP',
    raw(() => 'SSH-2.0-x\r\n\r\n'),
  ),
  way(
    'sends a head without end',
    raw(() => `${HEAD}X: ${'x'.repeat(100_000)}\r\n\r\n`),
  ),
  way(
    'cuts a body of known length',
    raw((whole) => `${HEAD}Content-Length: 99999\r\n\r\n${half(whole)}`),
  ),
  way(
    'cuts a chunked body',
    raw((whole) => `${HEAD}Transfer-Encoding: chunked\r\n\r\nffff\r\n${half(whole)}`),
  ),
  way(
    'sends wrong chunks',
    raw(() => `${HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\nx`),
  ),
  way(
    'cuts a body of unknown length',
    raw((whole) => `${HEAD}Connection: close\r\n\r\n${half(whole)}`),
  ),
  way(
    'tells too small a length',
    raw((whole) => `${HEAD}Content-Length: 50\r\n\r\n${whole}`),
  ),
  way('never answers', () => undefined),
  way('stops within the body', ({ response, page }) => void response.write(half(JSON.stringify(page)))),
  way(
    'never ends the head, which drips',
    drip(() => HEAD_DRIPS),
  ),
  way(
    'never ends the body, which drips',
    drip((whole) => `${HEAD}Content-Length: 99999\r\n\r\n${whole}`),
  ),
  way(
    'never ends a chunked body, which drips',
    drip((whole) => `${HEAD}Transfer-Encoding: chunked\r\n\r\n${whole.replaceAll(/./gs, '1\r\n$&\r\n')}`),
  ),
  way('answers 408', status(408)),
  way('answers 425', status(425)),
  way('answers 429', status(429)),
  way('answers 429 with Retry-After', status(429, { 'retry-after': '0' })),
  way('answers 429 with a date', status(429, { 'retry-after': new Date(0).toUTCString() })),
  way('answers 429 with a wait of days', status(429, { 'retry-after': '1000000' }), 'atOnce'),
  way('answers 503 with a wrong Retry-After', status(503, { 'retry-after': 'soon' })),
  way('answers 500', status(500)),
  way('answers 502', status(502)),
  way('answers 504', status(504)),
  way('answers 403 with Retry-After', status(403, { 'retry-after': '0' })),
  way('answers 403', status(403), 'atOnce'),
  way('answers 400', status(400), 'atOnce'),
  way('answers 401', status(401), 'atOnce'),
  way('answers 404', status(404), 'atOnce'),
  way('answers 204', ({ response }) => void response.writeHead(204).end(), 'atOnce'),
  way('answers 206', status(206), 'atOnce'),
  way('answers 304', ({ response }) => void response.writeHead(304).end(), 'atOnce'),
  way(
    'redirects to another host',
    ({ response, elsewhere }) => void response.writeHead(301, { location: elsewhere }).end(),
    'atOnce',
  ),
  way(
    'redirects to itself',
    ({ request, response }) => {
      response.writeHead(302, { location: request.url! }).end();
    },
    'atOnce',
  ),
  way(
    'sends an empty body',
    body(() => ''),
  ),
  way(
    'sends HTML',
    body(() => '<html></html>', { 'content-type': 'text/html' }),
  ),
  way(
    'sends HTML as JSON',
    body(() => '\n<!doctype html>'),
  ),
  way('sends JSON that is cut', body(half)),
  way(
    'sends JSON with a comma too many',
    body((whole) => whole.replace('],', ',],')),
  ),
  way(
    'sends JSON with something behind',
    body((whole) => `${whole}{}`),
  ),
  way(
    'sends a byte order mark',
    body((whole) => `\ufeff${whole}`),
  ),
  way(
    'sends bytes that are no text',
    body((whole) => Buffer.from(whole.replaceAll('å', '\xff'), 'latin1')),
  ),
  way(
    'sends null',
    body(() => 'null'),
  ),
  way(
    'sends an array',
    body(() => '[]'),
  ),
  way(
    'sends a text',
    body(() => '"results"'),
  ),
  way(
    'sends an error as an object',
    body(() => '{"detail":"try later"}'),
  ),
  way(
    'calls plain bytes gzip',
    body((whole) => whole, { 'content-encoding': 'gzip' }),
  ),
  way(
    'cuts gzip',
    body((whole) => gzipSync(whole).subarray(0, 100), { 'content-encoding': 'gzip' }),
  ),
  way('damages gzip', body(damagedGzip, { 'content-encoding': 'gzip' })),
  way(
    'sends a coding that nobody asked for',
    body((whole) => whole, { 'content-encoding': 'br' }),
  ),
  way(
    'sends a gzip bomb',
    body(() => BOMB(), { 'content-encoding': 'gzip' }),
    'refused',
    true,
  ),
  way(
    'sends 200,000 levels',
    body((whole) => whole.replace('[{', `[${'['.repeat(200_000)}${']'.repeat(200_000)},{`)),
  ),
  way(
    'sends 200,000 levels in a record',
    body((whole) => whole.replace('[{', `[{"deep":${'['.repeat(200_000)}${']'.repeat(200_000)},`)),
    'refused',
  ),
  way(
    'sends a record of 64 MB',
    ({ response, page }) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(`{"count":${page.count},"next":null,"previous":null,"results":[{"ob_id":0,"text":"`);
      flood(response, Buffer.alloc(1 << 20, 'x'), 64);
    },
    'refused',
    true,
  ),
  way(
    'sends a record of 9 MB',
    record((one) => ({ ...one, text: 'x'.repeat(9 << 20) })),
    'refused',
    true,
  ),
  way(
    'sends much beside the records',
    envelope((page) => ({ ...page, more: 'x'.repeat(70_000) })),
  ),
  way(
    'has no count',
    envelope((page) => ({ ...page, count: undefined })),
  ),
  way(
    'has a count below 0',
    envelope((page) => ({ ...page, count: -1 })),
  ),
  way(
    'has a count that is a text',
    envelope((page) => ({ ...page, count: `${page.count}` })),
  ),
  way(
    'has a count that is no integer',
    envelope((page) => ({ ...page, count: page.count + 0.5 })),
  ),
  way(
    'counts one less than there are on the way',
    envelope((page) => ({ ...page, count: page.results.length - 1 })),
  ),
  way(
    'has no next',
    envelope((page) => ({ ...page, next: undefined })),
  ),
  way(
    'has a next that is a number',
    envelope((page) => ({ ...page, next: 1 })),
  ),
  way(
    'has a next at another host',
    envelope((page, { elsewhere }) => ({
      ...page,
      next: page.next && page.next.replace(/^http:\/\/[^/]*/, elsewhere),
    })),
    'harmless',
  ),
  way(
    'has no results',
    envelope((page) => ({ ...page, results: undefined })),
  ),
  way(
    'has results that are an object',
    envelope((page) => ({ ...page, results: {} })),
  ),
  way(
    'has results that are numbers',
    envelope((page) => ({ ...page, results: page.results.map((_, i) => i) })),
  ),
  way(
    'has a null among the results',
    envelope((page) => ({ ...page, results: [...page.results.slice(1), null] })),
  ),
  way(
    'sends a short page',
    envelope((page) => ({ ...page, results: page.results.slice(1) })),
  ),
  way(
    'sends an empty page',
    envelope((page) => ({ ...page, results: [] })),
  ),
  way(
    'sends more than was asked for',
    envelope((page) => ({ ...page, results: [...page.results, ...page.results] })),
  ),
  way(
    'repeats a record',
    envelope((page) => ({ ...page, results: page.results.with(3, page.results[2]!) })),
  ),
  way(
    'has results twice',
    body((whole) => whole.replace('"results"', '"results":[{"ob_id":1}],"results"')),
  ),
  way(
    'has a record without id',
    record((one) => ({ ...one, ob_id: undefined })),
  ),
  way(
    'has an id that is a text',
    record((one) => ({ ...one, ob_id: String(one['ob_id']) })),
  ),
  way(
    'has an id below 0',
    record((one) => ({ ...one, ob_id: -1 })),
  ),
  way(
    'has an id that is no integer',
    record((one) => ({ ...one, ob_id: 0.5 })),
  ),
  way(
    'has an id beyond 2^53',
    record((one) => ({ ...one, ob_id: 2 ** 60 })),
  ),
  way(
    'has NaN in a record',
    body((whole) => whole.replace('"nested":{', '"nested":{"a":NaN,')),
  ),
];

function damagedGzip(whole: string): Buffer {
  const bytes = gzipSync(whole);
  bytes[bytes.length - 5]! ^= 1;
  return bytes;
}

let bomb: Buffer | undefined;
/** 80 MB of blanks in 80 kB; made when it is wanted. */
function BOMB(): Buffer {
  return (bomb ??= gzipSync(Buffer.alloc(80 << 20, ' ')));
}
