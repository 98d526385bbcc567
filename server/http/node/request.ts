// A request as node:http presents it, brought into the form uWebSockets.js gives, so that handlers see no difference.
// Decides nothing about routes and reads no body.
import type { IncomingMessage } from 'node:http';

import { type Framing, type Head, isHost } from '../framing.ts';
import { LiveRequest } from '../liveRequest.ts';

const ABSOLUTE_FORM = /^https?:\/\/([^/?#]*)/i;

/**
 * One request. Absolute-form targets lose scheme and authority; the authority then stands for Host (RFC 9112, 3.2.2).
 */
export class NodeRequest extends LiveRequest<IncomingMessage> {
  readonly #authority: string | undefined;

  constructor(incoming: IncomingMessage) {
    const url = incoming.url ?? '';
    const authority = ABSOLUTE_FORM.exec(url);
    super(incoming, headOf(incoming, url.slice(authority?.[0].length ?? 0)));
    this.#authority = authority?.[1];
  }

  override header(name: string): string | undefined {
    return name === 'host' && this.#authority !== undefined ? this.#authority : super.header(name);
  }

  peer(): string {
    return (this.alive().socket.remoteAddress ?? '').replace(/^::ffff:(?=[0-9.]+$)/, '');
  }

  override framing(): Framing {
    return this.#authority === undefined || isHost(this.#authority) ? super.framing() : 'malformed';
  }
}

function headOf({ method = '', httpVersion, rawHeaders }: IncomingMessage, origin: string): Head {
  const mark = origin.indexOf('?');
  return {
    method,
    target: (mark < 0 ? origin : origin.slice(0, mark)) || '/',
    query: mark < 0 ? undefined : origin.slice(mark + 1),
    lines: rawHeaders.map((text, i) => (i % 2 === 0 ? text.toLowerCase() : text)),
    isOld: httpVersion === '1.0',
  };
}
