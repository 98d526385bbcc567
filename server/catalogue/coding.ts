// Which content codings a client takes: gzip, nothing but gzip, or none. Pure but for a memory of headers met. Source:
// RFC 9110, 12.5.3.
import Negotiator from 'negotiator';
import type { Request } from '../http/exchange.ts';
import { remembered } from '../http/memory.ts';

/** `gzip`: gzip where it pays. `gzipOnly`: the client refuses bodies without a coding. `identity`: no gzip. */
export type Coding = 'identity' | 'gzip' | 'gzipOnly';

/**
 * What a value of Accept-Encoding asks for (A101). gzip counts where its quality is above 0 and not below that of
 * identity; `x-gzip` is gzip. Cost: a look-up for values met before, else one pass.
 */
export function codingOf(header: string | undefined): Coding {
  return header === undefined ? 'identity' : negotiatedOnce(header);
}

/** What requests ask for, where gzip is offered; none where it is not, and then no header is looked at. */
export function codingChooser(isOffered: boolean): (request: Request) => Coding {
  return isOffered ? (request) => codingOf(request.header('accept-encoding')) : () => 'identity';
}

const negotiatedOnce = remembered(negotiated);

function negotiated(header: string): Coding {
  const named = header.toLowerCase().replace(/\bx-gzip\b/g, 'gzip');
  const accepted = new Negotiator({ headers: { 'accept-encoding': named } }).encodings(['gzip', 'identity']);
  if (!accepted.includes('gzip')) return 'identity';
  if (!accepted.includes('identity')) return 'gzipOnly';
  return accepted[0] === 'gzip' ? 'gzip' : 'identity';
}
