// The checks that both transports share: the framing of requests, the head of responses, and the transports' error
// responses, which reveal nothing about the program.
import { type Body, wholeBody } from '../../engine/engine.ts';
import type { Answer } from './exchange.ts';
import assert from 'node:assert/strict';

/** Unwanted request bodies are read and discarded up to this size, so that a refused upload keeps its connection. */
export const REQUEST_BODY_BYTES_MAX = 1_048_576;

/** Limit of a request head, including the request line. Real clients send 17 kB of ids in one query. */
export const REQUEST_HEAD_BYTES_MAX = 65_536;

/** Limit of header lines. uWebSockets.js accepts 98 and responds 431 beyond (measured). */
export const REQUEST_HEADERS_MAX = 100;

/**
 * The data after the head of a request. `none`: nothing. `body`: a body to discard. `empty`: the chunks of a GET or
 * HEAD, which must be empty (A104). `oversized`: a body declared longer than is worth reading. `malformed`: the request
 * violates HTTP/1.1, its end is ambiguous, or GET or HEAD has a body; refuse it and close the connection.
 */
export type Framing = 'none' | 'body' | 'empty' | 'oversized' | 'malformed';

/** The head of a request as read by a transport. */
export interface Head {
  readonly method: string;
  readonly target: string;
  readonly query: string | undefined;
  /** Names in lower case and values, alternating. */
  readonly lines: readonly string[];
  /** HTTP/1.0, which may omit Host and has no transfer codings. */
  readonly isOld: boolean;
}

/**
 * Validates a head (A104). Malformed are: a method that is not a token; a target that is not a path of visible ASCII
 * characters (or `*` for OPTIONS); a missing or invalid Host; a second Host, Content-Length or Transfer-Encoding, even
 * if equal; and what `judgeBody` rejects. Cost: a pass over the lines. Source: RFC 9112, 3 and 6.
 */
export function checkHead({ method, target, query, lines, isOld }: Head): Framing {
  let host: string | undefined;
  let length: string | undefined;
  let coding: string | undefined;
  for (let i = 0; i < lines.length; i += 2) {
    const value = lines[i + 1]!;
    switch (lines[i]) {
      case 'host':
        if (host !== undefined) return 'malformed';
        host = value;
        break;
      case 'content-length':
        if (length !== undefined) return 'malformed';
        length = value;
        break;
      case 'transfer-encoding':
        if (coding !== undefined) return 'malformed';
        coding = value;
        break;
    }
  }
  if (method !== 'GET' && !TOKEN.test(method)) return 'malformed';
  if (!(PATH.test(target) || (target === '*' && method === 'OPTIONS'))) return 'malformed';
  if (query !== undefined && INVISIBLE.test(query)) return 'malformed';
  if (host === undefined ? !isOld : !isHost(host)) return 'malformed';
  if (coding !== undefined && isOld) return 'malformed';
  return checkBody(method, length, coding);
}

const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;
const PATH = /^\/[!-~]*$/;
const INVISIBLE = /[^!-~]/;
const HOST = /^(?:[\w.~!$&'()*+,;=%-]+|\[[\w.~!$&'()*+,;=:-]+\])(?::\d*)?$/;
const BAD_ESCAPE = /%(?![\da-f]{2})/i;

/** Whether a text is a valid Host: a host name with an optional port. Source: RFC 9110, 7.2; RFC 3986, 3.2. */
export function isHost(text: string): boolean {
  return HOST.test(text) && !BAD_ESCAPE.test(text);
}

/**
 * Malformed are an invalid length, a coding other than `chunked`, both, and a length on GET or HEAD. Source: RFC 9112,
 * 6.1 to 6.3.
 */
function checkBody(method: string, length: string | undefined, coding: string | undefined): Framing {
  if (coding !== undefined) {
    if (length !== undefined || coding.toLowerCase() !== 'chunked') return 'malformed';
    return bodyOn(method) === 'body' ? 'body' : 'empty';
  }
  if (length === undefined) return 'none';
  if (!DIGITS.test(length)) return 'malformed';
  const bytes = Number(length);
  if (bytes === 0) return 'none';
  return bytes > REQUEST_BODY_BYTES_MAX && bodyOn(method) === 'body' ? 'oversized' : bodyOn(method);
}

const DIGITS = /^[0-9]{1,15}$/;

function bodyOn(method: string): 'body' | 'malformed' {
  return method === 'GET' || method === 'HEAD' ? 'malformed' : 'body';
}

const CLOSE = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i;

/** Whether a value of Connection asks to close the connection. Source: RFC 9112, 9.6. */
export function hasCloseToken(connection: string): boolean {
  return CLOSE.test(connection);
}

/**
 * Whether several lines of this header form one list (RFC 9110, 5.3) that is read as a whole. True for headers that
 * proxies add: some append a line after the client's, and then the last address counts, not the first. True for
 * Connection, because proxies and clients each send options. For any other header both transports use the first line.
 */
export function joinsLines(name: string): boolean {
  return name.startsWith('x-forwarded-') || name === 'forwarded' || name === 'connection';
}

/** For bugs: the handler threw, rejected, or returned a response that cannot be sent. */
export const INTERNAL_ERROR = refusal(500, 'Internal server error.', false);

/** Names common errors of shell users, because node:http does not report what it could not parse. */
export const MALFORMED_REQUEST = refusal(
  400,
  'Malformed request. Blanks and characters beyond ASCII are percent-encoded in an address; GET and HEAD have no body.',
  true,
);

/** Too many header lines or header bytes. */
export const HEAD_TOO_LARGE = refusal(431, 'Request header fields too large.', true);

/** An HTTP version other than 1.0 and 1.1, or a similar protocol. */
export const VERSION_NOT_SUPPORTED = refusal(505, 'HTTP version not supported.', true);

/** A JSON error `{"detail": ...}` with the given status. `close` ends the connection after it. */
function refusal(status: number, detail: string, close: boolean): Answer {
  const bytes = new TextEncoder().encode(JSON.stringify({ detail }));
  return { status, headers: [['Content-Type', 'application/json']], body: wholeBody(bytes), close };
}

// An import would load everything that node:http exports, such as a WebSocket client: 24 ms of each thread's start.
const { STATUS_CODES } = process.getBuiltinModule('node:http');
const BREAKS_OUT = /[\r\n\0]/;

/** Throws if the value would leave its header line. A CR, LF or NUL in it is a bug and would split the response. */
export function assertHeaderValue(name: string, value: string): void {
  if (BREAKS_OUT.test(value)) assert.fail(`the value of header ${name} holds a control character`);
}

export function statusText(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
}

/** The value of Date for responses to which the transport's library adds none (RFC 9110, 6.6.1). */
export function dateNow(): string {
  return new Date().toUTCString();
}

/** Whether responses of this status have neither body nor Content-Length: 204 and 304 (RFC 9110, 8.6). */
export function isBodiless(status: number): boolean {
  return status === 304 || status === 204;
}

/** One piece of a body. Throws if it is empty or exceeds the length of the body. */
export function checkedPiece(body: Body, offset: number): Uint8Array {
  const piece = body.pieceAt(offset);
  assert(piece.length > 0 && offset + piece.length <= body.bytes, 'a body gives pieces within its length');
  return piece;
}
