// The neutral exchange between handlers and transports: a request as data, an answer as data, bodies both ways.
// Knows no transport; both transports turn these into bytes on a socket.
import type { Body } from '../../engine/engine.ts';
import type { Disconnection } from '../../workers/waiter.ts';

export type { Disconnection } from '../../workers/waiter.ts';

/**
 * A request as any transport presents it.
 * `target` is the path as sent, still percent-encoded, without the query; `query` the raw text behind the first `?`,
 * undefined without one. `header` takes a lower-case name and answers undefined where the client sent none.
 * `peer` is the address of the connection (never X-Forwarded-For). A request is dead once its handler returned:
 * an asynchronous handler reads what it needs first. `route` is told by the handler, a number of ROUTE, for whoever
 * counts; unset it is that of all others. `id` is what the access log and X-Request-Id name it by, undefined without
 * that log.
 */
export interface Request {
  readonly method: string;
  readonly target: string;
  readonly query: string | undefined;
  route?: number;
  id?: string | undefined;
  header(name: string): string | undefined;
  peer(): string;
}

/** The routes of requests, as metrics and the access log count them. */
export const ROUTE = {
  index: 0,
  root: 1,
  list: 2,
  record: 3,
  authority: 4,
  health: 5,
  other: 6,
  resolution: 7,
  browse: 8,
} as const;

export const ROUTES: readonly string[] = Object.keys(ROUTE);

/** The path of a base URL, which proxies may leave in front of targets: `/catalogue`, or empty, as that of most. */
export function basePath(baseUrl: string): string {
  return new URL(baseUrl).pathname.replace(/\/$/, '');
}

/** Paths of the API and of pages that begin as the path of a base URL may. */
const SHARED = /^\/(?:api\/(?:v\d|legacy)|browse\/.|docs\/)/;
/** What all that is served below a base URL begins with. */
const SERVED = /^\/(?:(?:api|browse|docs)(?:\/|$)|openapi\.|attAuthority\.)/;

/**
 * A target without such a path in front; the same where it has none. What the path shares with those of the API, as
 * `/api` does, stays where nothing of the API is behind it: below `/docs` and `/api/v3`, `/docs/` and `/api/v3/` are
 * the pages of these names, whatever the proxy. Cost: a comparison.
 */
export function targetWithin(target: string, path: string): string {
  if (path === '' || !target.startsWith(path)) return target;
  if (target.length === path.length) return '/';
  if (target.charAt(path.length) !== '/') return target;
  const rest = target.slice(path.length);
  return SHARED.test(target) && !SERVED.test(rest) ? target : rest;
}

/** The same request, its target without such a path in front. */
export function requestWithin(request: Request, path: string): Request {
  const target = targetWithin(request.target, path);
  return target === request.target ? request : new RequestWithin(request, target);
}

class RequestWithin implements Request {
  readonly method: string;
  readonly target: string;
  readonly query: string | undefined;
  readonly #request: Request;

  constructor(request: Request, target: string) {
    this.method = request.method;
    this.target = target;
    this.query = request.query;
    this.#request = request;
  }

  get route(): number {
    return this.#request.route ?? ROUTE.other;
  }

  set route(route: number) {
    this.#request.route = route;
  }

  get id(): string | undefined {
    return this.#request.id;
  }

  header(name: string): string | undefined {
    return this.#request.header(name);
  }

  peer(): string {
    return this.#request.peer();
  }
}

/**
 * An answer: status, headers in order (neither Content-Length nor Connection nor Date, which belong to the transport),
 * and a body. Transports send Content-Length from `body.bytes`, and to HEAD the same headers without the body.
 * `etag` is the value of a header ETag and `totalCount` that of X-Total-Count, which only an answer with a tag has:
 * apart from the others, so that these can be the same list for many answers.
 * `isUnmeasured` of an answer to HEAD whose body's length is not known: it has no Content-Length.
 * `exportedRows` is how many rows an export has, for whoever counts.
 * `close` asks for the connection to end with this answer.
 */
export interface Answer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly etag?: string;
  readonly totalCount?: number | undefined;
  readonly body: Body;
  readonly isUnmeasured?: boolean;
  readonly exportedRows?: number;
  readonly close?: boolean;
}

/**
 * What a handler returns to be given the request's body first: the transport collects it whole and asks `answer` then.
 * `tooLong` is for a body of more than `bodyBytesMax` bytes and ends the connection: at once, with nothing kept, where
 * Content-Length says so. `failed` is sent where `answer` throws or rejects, or the body cannot be collected, which is
 * our bug; `busy` where as many bodies are being received as memory is set aside for, and ends the connection too. The
 * body given to `answer` is a view that lives until it returns: a promise copies or decodes before what it needs.
 */
export interface Intake {
  readonly bodyBytesMax: number;
  readonly tooLong: Answer;
  readonly busy: Answer;
  readonly failed: Answer;
  answer(body: Uint8Array): Answer | Promise<Answer>;
}

/** What a handler returns: the answer, now or later, or the wish for the body. */
export type Reply = Answer | Promise<Answer> | Intake;

/** Cheap requests are answered at once. It never throws or rejects for a client error; what it throws becomes a 500. */
export type Handler<R extends Reply = Reply> = (request: Request, disconnection: Disconnection) => R;

export function isIntake(reply: Reply): reply is Intake {
  return 'bodyBytesMax' in reply;
}
