// What the metrics are told of requests: which view they are for, and what became of them, counted in the tallies of
// one thread.
import { route } from '../catalogue/routes.ts';
import { type Answer, basePath, targetWithin } from '../http/exchange.ts';
import { HEALTH_PATH } from '../http/health.ts';
import type { Watch, WatchedRequest } from '../http/listener.ts';
import type { Clock } from '../observe/clock.ts';
import { countAbandoned, countAnswer, type RequestTallies, type RouteName } from '../observe/requests.ts';
import { isServicePath } from '../soap/service.ts';

/**
 * A watch that counts; `baseUrl` is the one whose path may be in front of targets. Cost of a request: an object, two
 * looks at the clock, the route of its path, a few additions.
 */
export function countingWatch(tallies: RequestTallies, baseUrl: string, clock: Clock): Watch {
  const path = basePath(baseUrl);
  return ({ method, target }) => new CountedRequest(tallies, clock, method, targetWithin(target, path));
}

class CountedRequest implements WatchedRequest {
  readonly #tallies: RequestTallies;
  readonly #clock: Clock;
  readonly #method: string;
  readonly #target: string;
  readonly #startMs: number;

  constructor(tallies: RequestTallies, clock: Clock, method: string, target: string) {
    this.#tallies = tallies;
    this.#clock = clock;
    this.#method = method;
    this.#target = target;
    this.#startMs = clock();
  }

  answered({ status, headers, body }: Answer): void {
    countAnswer(this.#tallies, routeName(this.#target), this.#method, {
      status,
      bytes: this.#method === 'HEAD' ? 0 : body.bytes,
      isGzip: isGzip(headers),
      seconds: (this.#clock() - this.#startMs) / 1000,
    });
  }

  abandoned(): void {
    countAbandoned(this.#tallies, routeName(this.#target));
  }
}

/** What a target asks for, by the name that metrics have for it. Cost: see `route`. */
export function routeName(target: string): RouteName {
  const { kind } = route(target);
  switch (kind) {
    case 'index':
    case 'root':
    case 'list':
    case 'record':
      return kind;
    default:
      if (target === HEALTH_PATH) return 'health';
      return isServicePath(target) ? 'authority' : 'other';
  }
}

/** Most answers share their list of headers with others. */
const KNOWN = new WeakMap<Answer['headers'], boolean>();

function isGzip(headers: Answer['headers']): boolean {
  let known = KNOWN.get(headers);
  if (known === undefined) KNOWN.set(headers, (known = headers.some(([name]) => name === 'Content-Encoding')));
  return known;
}
