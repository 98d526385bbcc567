// What both transports check and share: the framing of requests, the head of responses, and the responses of a
// transport itself, which say nothing about the program.
import { type Body, wholeBody } from '../../engine/engine.ts';
import type { Answer } from './exchange.ts';
import assert from 'node:assert/strict';

/** Request bodies are read and thrown away up to this many bytes, so that a refused upload keeps its connection. */
export const REQUEST_BODY_BYTES_MAX = 1_048_576;

/** Bytes a request head may have, request line included. Real clients send 17 kB of ids in one query. */
export const REQUEST_HEAD_BYTES_MAX = 65_536;

/** Header lines a request may have. uWebSockets.js itself takes 98 and answers 431 beyond (measured). */
export const REQUEST_HEADERS_MAX = 100;

/**
 * What follows a request's head.
 * `none`: nothing. `body`: a body to be thrown away. `oversized`: a body declared longer than is worth reading.
 * `malformed`: the request is none that HTTP/1.1 allows, two readers could disagree where it ends, or GET and HEAD
 * carry a body; refuse and close.
 */
export type Framing = 'none' | 'body' | 'oversized' | 'malformed';

/** A request's head as a transport read it: of each header line the name in lower case, and behind it its value. */
export interface Head {
  readonly method: string;
  readonly target: string;
  readonly query: string | undefined;
  readonly lines: readonly string[];
  /** Of HTTP/1.0, which may do without Host and knows no codings. */
  readonly isOld: boolean;
}

/**
 * Judges a head (A104). Malformed are: a method that is no token, a target that is no path of visible ASCII characters
 * (or `*`, of OPTIONS), no Host or a bad one, and what `judgeBody` says; of Host, Content-Length and Transfer-Encoding
 * also a second line, whatever it says. Cost: a pass over the lines. Source: RFC 9112, 3 and 6.
 */
export function judgeHead({ method, target, query, lines, isOld }: Head): Framing {
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
  return judgeBody(method, length, coding);
}

const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;
const PATH = /^\/[!-~]*$/;
const INVISIBLE = /[^!-~]/;
const HOST = /^(?:[\w.~!$&'()*+,;=%-]+|\[[\w.~!$&'()*+,;=:-]+\])(?::\d*)?$/;
const BAD_ESCAPE = /%(?![\da-f]{2})/i;

/** Whether a text names a host, and a port where it likes, as Host does. Source: RFC 9110, 7.2; RFC 3986, 3.2. */
export function isHost(text: string): boolean {
  return HOST.test(text) && !BAD_ESCAPE.test(text);
}

/** Malformed: a bad length, a coding but `chunked`, both, or a body on GET or HEAD. Source: RFC 9112, 6.1 to 6.3. */
function judgeBody(method: string, length: string | undefined, coding: string | undefined): Framing {
  if (coding !== undefined) {
    return length === undefined && coding.toLowerCase() === 'chunked' ? bodyOn(method) : 'malformed';
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

/** Whether one of the values of Connection asks for the end of the connection. Source: RFC 9112, 9.6. */
export function asksClose(connection: string): boolean {
  return CLOSE.test(connection);
}

/**
 * Whether several lines of this header are one list (RFC 9110, 5.3) that is read whole. True for what proxies add: some
 * append a line of their own behind the client's, and then the last address counts, not the first; and for Connection,
 * since proxies and clients each have options. Of every other header the first line is used, on both transports.
 */
export function joinsLines(name: string): boolean {
  return name.startsWith('x-forwarded-') || name === 'forwarded' || name === 'connection';
}

/** Our bug: the handler threw, rejected, or gave an answer that cannot be sent. */
export const INTERNAL_ERROR = refusal(500, 'Internal server error.', false);

/** It says what people get wrong in a shell, since node:http does not say what it could not read. */
export const MALFORMED_REQUEST = refusal(
  400,
  'Malformed request. Blanks and characters beyond ASCII are percent-encoded in an address; GET and HEAD have no body.',
  true,
);

/** More header lines or header bytes than are taken. */
export const HEAD_TOO_LARGE = refusal(431, 'Request header fields too large.', true);

/** Another version of HTTP than 1.0 and 1.1, or a protocol that looks like one. */
export const VERSION_NOT_SUPPORTED = refusal(505, 'HTTP version not supported.', true);

/** A JSON error `{"detail": ...}` with the given status. `close` ends the connection with it. */
function refusal(status: number, detail: string, close: boolean): Answer {
  const bytes = new TextEncoder().encode(JSON.stringify({ detail }));
  return { status, headers: [['Content-Type', 'application/json']], body: wholeBody(bytes), close };
}

// An import would read all that node:http can export, a WebSocket client among it: 24 ms of each thread's start.
const { STATUS_CODES } = process.getBuiltinModule('node:http');
const BREAKS_OUT = /[\r\n\0]/;

/** Throws unless the value stays in its header line: a CR, LF or NUL in it is our bug and would split the answer. */
export function assertHeaderValue(name: string, value: string): void {
  if (BREAKS_OUT.test(value)) assert.fail(`the value of header ${name} holds a control character`);
}

export function statusText(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
}

/** The value of Date for an answer that the transport's library gives none (RFC 9110, 6.6.1). */
export function dateNow(): string {
  return new Date().toUTCString();
}

/** Whether an answer of this status has neither a body nor a Content-Length: 204 and 304 (RFC 9110, 8.6). */
export function isBodiless(status: number): boolean {
  return status === 304 || status === 204;
}

/** One piece of an answer's body, checked: it is not empty and does not pass the end. Throws on a body that lies. */
export function checkedPiece(body: Body, offset: number): Uint8Array {
  const piece = body.pieceAt(offset);
  assert(piece.length > 0 && offset + piece.length <= body.bytes, 'a body gives pieces within its length');
  return piece;
}
