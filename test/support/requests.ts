import { type Disconnection, type Request } from '../../server/http/exchange.ts';

/**
 * The parts of a request that matter to a test. The default is a GET of `/` by a client on this machine. Header names
 * are in lower case.
 */
export interface RequestParts {
  readonly method?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly peer?: string;
}

/** A request as a transport presents it, without a socket; `url` is path and query. */
export function requestOf({ method = 'GET', url = '/', headers = {}, peer = '127.0.0.1' }: RequestParts): Request {
  const mark = url.indexOf('?');
  return {
    method,
    target: mark < 0 ? url : url.slice(0, mark),
    query: mark < 0 ? undefined : url.slice(mark + 1),
    header: (name) => headers[name],
    peer: () => peer,
  };
}

/** A client that stays connected. */
export const STAYING: Disconnection = { isGone: () => false, isComingBack: () => false, onGone: () => {} };

/** A client that disconnects when `leave` is called. */
export class LeavingClient implements Disconnection {
  #isGone = false;
  readonly #listeners: (() => void)[] = [];

  isGone(): boolean {
    return this.#isGone;
  }

  isComingBack(): boolean {
    return false;
  }

  onGone(listener: () => void): void {
    if (this.#isGone) listener();
    else this.#listeners.push(listener);
  }

  leave(): void {
    this.#isGone = true;
    for (const listener of this.#listeners) listener();
  }
}
