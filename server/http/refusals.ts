// The answers that a transport gives by itself, when the handler cannot be asked or has failed.
// They say what kind of fault it was and nothing of how the program is made.
import { wholeBody } from '../../engine/engine.ts';
import type { Answer } from './exchange.ts';

/** Our bug: the handler threw, rejected, or gave an answer that cannot be sent. */
export const INTERNAL_ERROR = refusal(500, 'Internal server error.', false);

/**
 * The client's framing is ambiguous or broken, so that nothing behind it can be trusted. What a person gets wrong, in a
 * shell, is told: node:http does not say what it could not read.
 */
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
