// How a request is framed, judged alike on both transports: is there a body, how long is it, can it be trusted.
// Pure; the transports collect the header lines and act on the verdict.

/** Request bodies are read and thrown away up to this many bytes, so that a refused upload keeps its connection. */
export const REQUEST_BODY_BYTES_MAX = 1_048_576;

/** Bytes a request head may have, request line included. Real clients send 17 kB of ids in one query. */
export const REQUEST_HEAD_BYTES_MAX = 65_536;

/** Header lines a request may have. uWebSockets.js itself takes 98 and answers 431 beyond (measured). */
export const REQUEST_HEADERS_MAX = 100;

/**
 * What follows a request's head.
 * `none`: nothing. `body`: a body to be thrown away. `oversized`: a body declared longer than is worth reading.
 * `malformed`: two readers could disagree where the request ends, or GET and HEAD carry a body; refuse and close.
 */
export type Framing = 'none' | 'body' | 'oversized' | 'malformed';

/**
 * Judges the values of all Content-Length and Transfer-Encoding lines of a request, in any order.
 * Malformed are: a length that is no number of at most 15 digits, two different lengths, any coding but one `chunked`,
 * length and coding together, and a body on GET or HEAD. Source: RFC 9112, 6.1 to 6.3.
 */
export function judgeFraming(method: string, lengths: readonly string[], codings: readonly string[]): Framing {
  if (codings.length > 0) return isPlainChunked(lengths, codings) ? bodyOn(method) : 'malformed';
  const length = lengths[0];
  if (length === undefined) return 'none';
  if (!DIGITS.test(length) || lengths.some((other) => other !== length)) return 'malformed';
  const bytes = Number(length);
  if (bytes === 0) return 'none';
  return bytes > REQUEST_BODY_BYTES_MAX && bodyOn(method) === 'body' ? 'oversized' : bodyOn(method);
}

const DIGITS = /^[0-9]{1,15}$/;

function isPlainChunked(lengths: readonly string[], codings: readonly string[]): boolean {
  return lengths.length === 0 && codings.length === 1 && codings[0]?.toLowerCase() === 'chunked';
}

function bodyOn(method: string): 'body' | 'malformed' {
  return method === 'GET' || method === 'HEAD' ? 'malformed' : 'body';
}

/**
 * Whether several lines of this header are one list (RFC 9110, 5.3) that must be read whole. True for what proxies add:
 * some append a line of their own behind the client's, and then the last address counts, not the first. Of every other
 * header the first line is used, on both transports, because joining costs a walk over all lines.
 */
export function joinsLines(name: string): boolean {
  return name.startsWith('x-forwarded-') || name === 'forwarded';
}
