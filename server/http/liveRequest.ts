// A request as far as both transports are alike: its header lines, and that it is dead once its handler returned, when
// using it is our bug and says so. Knows no transport.
import assert from 'node:assert/strict';

import { type Request, ROUTE } from './exchange.ts';
import { type Framing, type Head, joinsLines, judgeHead } from './framing.ts';

/** A request over what the transport presents, as long as that lives. Cost of a header: a pass over the names. */
export abstract class LiveRequest<Raw> implements Request {
  readonly method: string;
  readonly target: string;
  readonly query: string | undefined;
  route: number = ROUTE.other;
  id: string | undefined = undefined;
  readonly #head: Head;
  #raw: Raw | undefined;

  constructor(raw: Raw, head: Head) {
    this.#raw = raw;
    this.#head = head;
    this.method = head.method;
    this.target = head.target;
    this.query = head.query;
  }

  header(name: string): string | undefined {
    this.alive();
    return (joinsLines(name) ? this.#joined(name) : this.firstLine(name)) || undefined;
  }

  abstract peer(): string;

  /** What follows the head. */
  framing(): Framing {
    return judgeHead(this.#head);
  }

  /** How long the body is that follows a well-framed head; undefined where it comes in chunks. */
  declaredBytes(): number | undefined {
    return this.header('transfer-encoding') === undefined ? Number(this.header('content-length') ?? 0) : undefined;
  }

  /** The handler has returned: from here on the request answers nothing more. */
  bury(): void {
    this.#raw = undefined;
  }

  protected alive(): Raw {
    assert(this.#raw !== undefined, 'a request is dead once its handler returned: read what you need before');
    return this.#raw;
  }

  /** The value of the first line of a name. */
  protected firstLine(name: string): string | undefined {
    const { lines } = this.#head;
    for (let i = 0; i < lines.length; i += 2) if (lines[i] === name) return lines[i + 1];
    return undefined;
  }

  #joined(name: string): string {
    const { lines } = this.#head;
    return lines.filter((_, i) => i % 2 === 1 && lines[i - 1] === name).join(', ');
  }
}
