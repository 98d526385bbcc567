// What the metrics are told of requests: what became of them, counted in the tallies of one thread. Each request pays
// for it (bench/FIGURES.md has how much), so that nothing is looked up that is known already.
import type { Answer } from '../http/exchange.ts';
import type { Watch, WatchedRequest } from '../http/listener.ts';
import type { Clock } from '../observe/clock.ts';
import { countAbandoned, countAnswer, HEAD, methodNumber, type RequestTallies } from './requestTallies.ts';

/** A watch that counts. Cost of a request: an object, two looks at the clock, a few additions. */
export function countingWatch(tallies: RequestTallies, clock: Clock): Watch {
  return ({ method }) => new CountedRequest(tallies, clock, method);
}

class CountedRequest implements WatchedRequest {
  readonly #tallies: RequestTallies;
  readonly #clock: Clock;
  readonly #method: string;
  readonly #startMs: number;

  constructor(tallies: RequestTallies, clock: Clock, method: string) {
    this.#tallies = tallies;
    this.#clock = clock;
    this.#method = method;
    this.#startMs = clock();
  }

  answered({ status, headers, body, exportedRows }: Answer, route: number): void {
    const method = methodNumber(this.#method);
    countAnswer(this.#tallies, route, {
      method,
      status,
      bytes: method === HEAD ? 0 : body.bytes,
      isGzip: isGzip(headers),
      seconds: (this.#clock() - this.#startMs) / 1000,
    });
    if (exportedRows !== undefined && method !== HEAD) this.#tallies.exportRows[0]! += exportedRows;
  }

  abandoned(route: number): void {
    countAbandoned(this.#tallies, route);
  }
}

/** Most answers share their list of headers with others, and many with the one before. */
const KNOWN = new WeakMap<Answer['headers'], boolean>();
let last: Answer['headers'] = [];
let isLastGzip = false;

function isGzip(headers: Answer['headers']): boolean {
  if (headers === last) return isLastGzip;
  let known = KNOWN.get(headers);
  if (known === undefined) KNOWN.set(headers, (known = headers.some(([name]) => name === 'Content-Encoding')));
  last = headers;
  return (isLastGzip = known);
}
