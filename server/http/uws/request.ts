// A request as uWebSockets.js presents it, made safe: what routing needs is copied, the rest is asked for while it
// lives. Decides nothing about routes and reads no body.
import { joinsLines, judgeFraming, type Framing } from '../framing.ts';
import { LiveRequest } from '../liveRequest.ts';
import type { HttpRequest, HttpResponse } from './library.ts';

/**
 * One request. Cost: three strings; each header and the peer only when asked for (a look-up of 0.04 us; walking over
 * all headers costs 0.5 us, so nothing does that for a request without a body, and one with a body is walked over
 * once).
 */
export class UwsRequest extends LiveRequest<HttpRequest> {
  readonly method: string;
  readonly target: string;
  readonly query: string | undefined;
  readonly #response: HttpResponse;
  /** All header lines, once they were walked over. */
  #lines: HeaderLines | undefined;

  constructor(request: HttpRequest, response: HttpResponse) {
    super(request);
    this.#response = response;
    // Never getMethod(): it lower-cases the request's own bytes, and methods are case-sensitive (RFC 9110, 9.1).
    this.method = request.getCaseSensitiveMethod();
    this.target = request.getUrl();
    // Undefined without a `?`, whatever the declared type says.
    this.query = request.getQuery() as string | undefined;
  }

  header(name: string): string | undefined {
    const request = this.alive();
    const first = this.#lines ? firstOf(this.#lines, name) : request.getHeader(name);
    if (first === '') return undefined;
    return joinsLines(name) ? allOf(this.#walked(), name).join(', ') : first;
  }

  peer(): string {
    this.alive();
    return addressText(this.#response);
  }

  /**
   * What follows the head. The library gives the first line of a name only, so lines are counted where it gives one. An
   * empty first Content-Length hides a second one from us as it does from the library, which then reads no body either.
   */
  framing(): Framing {
    const request = this.alive();
    if (request.getHeader('content-length') === '' && request.getHeader('transfer-encoding') === '') return 'none';
    const lines = this.#walked();
    return judgeFraming(this.method, allOf(lines, 'content-length'), allOf(lines, 'transfer-encoding'));
  }

  #walked(): HeaderLines {
    return (this.#lines ??= linesOf(this.alive()));
  }
}

/** The header lines of a request in order: a name in lower case for each value. */
interface HeaderLines {
  readonly names: readonly string[];
  readonly values: readonly string[];
}

function linesOf(request: HttpRequest): HeaderLines {
  const names: string[] = [];
  const values: string[] = [];
  request.forEach((name, value) => {
    names.push(name);
    values.push(value);
  });
  return { names, values };
}

/** The value of the first line of a name, empty where there is none, as the library has it. */
function firstOf({ names, values }: HeaderLines, name: string): string {
  const i = names.indexOf(name);
  return i < 0 ? '' : values[i]!;
}

function allOf({ names, values }: HeaderLines, name: string): readonly string[] {
  return values.filter((_, i) => names[i] === name);
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
