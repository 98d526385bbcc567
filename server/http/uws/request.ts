// A request as uWebSockets.js presents it, made safe: all of its head is copied. Decides nothing about routes and reads
// no body.
import { asksClose, type Head } from '../framing.ts';
import { LiveRequest } from '../liveRequest.ts';
import type { HttpRequest, HttpResponse } from './library.ts';

/**
 * Who ends the connection behind the answer because the request says so: the library, which takes every first value of
 * five letters for `close`, or we, for whatever else names `close`.
 */
export type Closing = 'library' | 'us' | 'nobody';

/** What the library takes for `close`, whatever it says. */
const CLOSE_LETTERS = 'close'.length;

/**
 * One request. Cost: three strings, and two for each header line, 0.1 us; then a header is nearly for nothing, where
 * the library's own look-up takes 0.06 us. It gives the first line of a name only, and none for an empty value.
 */
export class UwsRequest extends LiveRequest<HttpRequest> {
  readonly #response: HttpResponse;

  constructor(request: HttpRequest, response: HttpResponse) {
    super(request, headOf(request));
    this.#response = response;
  }

  peer(): string {
    this.alive();
    return addressText(this.#response);
  }

  closing(): Closing {
    const first = this.firstLine('connection');
    if (first === undefined) return 'nobody';
    if (first.length === CLOSE_LETTERS) return 'library';
    return asksClose(this.header('connection') ?? '') ? 'us' : 'nobody';
  }
}

function headOf(request: HttpRequest): Head {
  return {
    // Never getMethod(): it lower-cases the request's own bytes, and methods are case-sensitive (RFC 9110, 9.1).
    method: request.getCaseSensitiveMethod(),
    target: request.getUrl(),
    // Undefined without a `?`, whatever the declared type says.
    query: request.getQuery(),
    lines: linesOf(request),
    isOld: false,
  };
}

/** The lines being walked over: no closure is made for a request. */
let walked: string[] = [];

function linesOf(request: HttpRequest): readonly string[] {
  walked = [];
  request.forEach(walk);
  return walked;
}

function walk(name: string, value: string): void {
  walked.push(name, value);
}

const MAPPED_PREFIX = '00000000000000000000ffff';

/** The peer's address; an IPv4 peer of an IPv6 socket in dotted form, as elsewhere. */
function addressText(response: HttpResponse): string {
  const bytes = Buffer.from(response.getRemoteAddress());
  if (bytes.length === 16 && bytes.toString('hex', 0, 12) !== MAPPED_PREFIX) {
    return Buffer.from(response.getRemoteAddressAsText()).toString('latin1');
  }
  return bytes.subarray(-4).join('.');
}
