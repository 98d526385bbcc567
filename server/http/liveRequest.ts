// A request as far as both transports are alike: it is dead once its handler returned, and using it then is our bug and
// says so. Knows no transport.
import assert from 'node:assert/strict';

import type { Request } from './exchange.ts';

/** A request over what the transport presents, as long as that lives. */
export abstract class LiveRequest<Raw> implements Request {
  abstract readonly method: string;
  abstract readonly target: string;
  abstract readonly query: string | undefined;
  #raw: Raw | undefined;

  constructor(raw: Raw) {
    this.#raw = raw;
  }

  abstract header(name: string): string | undefined;

  abstract peer(): string;

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
}
