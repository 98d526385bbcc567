// The head of an answer as text, checked: what both transports need to know before they write the first byte.
// Knows no transport.
import assert from 'node:assert/strict';

import type { Body } from '../../engine/engine.ts';

// An import would read all that node:http can export, a WebSocket client among it: 24 ms of each thread's start.
const { STATUS_CODES } = process.getBuiltinModule('node:http');
const BREAKS_OUT = /[\r\n\0]/;

/** Throws unless the value stays in its header line: a CR, LF or NUL in it is our bug and would split the answer. */
export function assertHeaderValue(name: string, value: string): void {
  if (BREAKS_OUT.test(value)) assert.fail(`the value of header ${name} holds a control character`);
}

/** Status code and reason phrase: `404 Not Found`. */
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
