// A request as node:http presents it, brought into the form uWebSockets.js gives, so that handlers see no difference.
// Decides nothing about routes and reads no body.
import type { IncomingMessage } from 'node:http';

import { joinsLines, judgeFraming, type Framing } from '../framing.ts';
import { LiveRequest } from '../liveRequest.ts';

const ABSOLUTE_FORM = /^https?:\/\/([^/?#]*)/i;

/**
 * One request. Absolute-form targets lose scheme and authority; the authority then stands for Host (RFC 9112, 3.2.2).
 */
export class NodeRequest extends LiveRequest<IncomingMessage> {
  readonly method: string;
  readonly target: string;
  readonly query: string | undefined;
  readonly #authority: string | undefined;

  constructor(incoming: IncomingMessage) {
    super(incoming);
    this.method = incoming.method ?? '';
    // node:http gives the bytes of the target one by one, uWebSockets.js as UTF-8.
    const sent = Buffer.from(incoming.url ?? '', 'latin1').toString('utf8');
    const authority = ABSOLUTE_FORM.exec(sent);
    this.#authority = authority?.[1];
    const origin = sent.slice(authority?.[0].length ?? 0);
    const mark = origin.indexOf('?');
    this.target = (mark < 0 ? origin : origin.slice(0, mark)) || '/';
    this.query = mark < 0 ? undefined : origin.slice(mark + 1);
  }

  header(name: string): string | undefined {
    const incoming = this.alive();
    if (name === 'host' && this.#authority !== undefined) return this.#authority;
    const lines = linesOf(incoming, name);
    return (joinsLines(name) ? lines.join(', ') : lines[0]) || undefined;
  }

  peer(): string {
    return (this.alive().socket.remoteAddress ?? '').replace(/^::ffff:(?=[0-9.]+$)/, '');
  }

  /** What follows the head; HTTP/1.1 without Host is malformed (RFC 9112, 3.2). */
  framing(): Framing {
    const incoming = this.alive();
    const isModern = incoming.httpVersion !== '1.0';
    if (isModern && linesOf(incoming, 'host').length !== 1) return 'malformed';
    return judgeFraming(this.method, linesOf(incoming, 'content-length'), linesOf(incoming, 'transfer-encoding'));
  }
}

function linesOf({ rawHeaders }: IncomingMessage, name: string): string[] {
  const lines: string[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.toLowerCase() === name) lines.push(rawHeaders[i + 1] ?? '');
  }
  return lines;
}
