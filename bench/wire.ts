// Requests as bytes on the wire, and the places in them where a load client counts.
// Pure; called by the load clients.
import type { Exchange } from './loadClient.ts';

/** What stands in a body where the client is to count: digits of this width, and a number that it never sends. */
export const COUNTER = '00000000';

/** A request as it is written, and where in it the client counts. */
export interface Wire {
  readonly bytes: Buffer;
  readonly counters: readonly number[];
}

/** The request of an exchange; its numbers are still to be written. */
export function wireOf({ target, headers = {}, body, counters = [] }: Exchange): Wire {
  const content = Buffer.from(body ?? '');
  const length = body === undefined ? {} : { 'Content-Length': `${content.length}` };
  const all = Object.entries({ Host: 'bench', ...headers, ...length });
  const lines = all.map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`${body === undefined ? 'GET' : 'POST'} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`);
  return { bytes: Buffer.concat([head, content]), counters: counters.map((at) => head.length + at) };
}
