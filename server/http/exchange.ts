// The neutral exchange between handlers and transports: requests and responses as data. Both transports convert these
// to and from bytes on a socket.
import type { Body } from '../../engine/engine.ts';
import type { Disconnection } from '../../workers/waiter.ts';

export type { Disconnection } from '../../workers/waiter.ts';

/**
 * A request, the same for both transports. It must not be used after its handler has returned; an asynchronous handler
 * reads what it needs before.
 */
export interface Request {
  readonly method: string;
  /** The path as sent, percent-encoded, without the query. */
  readonly target: string;
  /** The raw text after the first `?`; undefined without one. */
  readonly query: string | undefined;
  /** A number of ROUTE, set by the handler for the counters. Default: `other`. */
  route?: number;
  /** The id in the access log and in X-Request-Id; undefined without that log. */
  id?: string | undefined;
  /** Takes a lower-case name. Returns undefined if the client did not send the header. */
  header(name: string): string | undefined;
  /** The address of the connection, never from X-Forwarded-For. */
  peer(): string;
}

/** The routes, as metrics and the access log count them. */
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
  changes: 9,
} as const;

export const ROUTES: readonly string[] = Object.keys(ROUTE);

/** The path of a base URL, such as `/catalogue`, which a proxy may leave in front of targets. Usually empty. */
export function basePath(baseUrl: string): string {
  return new URL(baseUrl).pathname.replace(/\/$/, '');
}

/** Paths of the API and of pages that may begin with the path of a base URL. */
const SHARED = /^\/(?:api\/(?:v\d|legacy)|browse\/.|cite\/|docs\/)/;
/** The beginnings of all paths below a base URL. */
const SERVED = /^\/(?:(?:api|browse|cite|docs)(?:\/|$)|openapi\.|sitemap[-.]|attAuthority\.)/;

/**
 * Removes the path of a base URL from the front of a target. Some base paths, such as `/docs` or `/api/v3`, are also
 * paths of the API. These are removed only in front of another served path. So `/docs/` and `/api/v3/` always mean the
 * pages with these names. Cost: a comparison.
 */
export function targetWithin(target: string, path: string): string {
  if (path === '' || !target.startsWith(path)) return target;
  if (target.length === path.length) return '/';
  if (target.charAt(path.length) !== '/') return target;
  const rest = target.slice(path.length);
  return SHARED.test(target) && !SERVED.test(rest) ? target : rest;
}

/** The same request without the path of a base URL in its target. */
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

/** A response. Transports send Content-Length from `body.bytes`, and for HEAD the same headers without the body. */
export interface Answer {
  readonly status: number;
  /** In order, without Content-Length, Connection and Date, which the transport adds. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The value of ETag. Separate, like `totalCount`, so that many responses can share one `headers` array. */
  readonly etag?: string;
  /** The value of X-Total-Count; only with `etag`. */
  readonly totalCount?: number | undefined;
  readonly body: Body;
  /** The rows of an export, for the counters. */
  readonly exportedRows?: number;
  /** Ends the connection after this response. */
  readonly close?: boolean;
}

/** Returned by a handler that needs the request's body. The transport collects the body and then calls `answer`. */
export interface Intake {
  readonly bodyBytesMax: number;
  /** For a body over `bodyBytesMax`. Ends the connection: at once, without reading, if Content-Length shows it. */
  readonly tooLong: Answer;
  /** For bodies that exceed the reserved memory. Ends the connection. */
  readonly busy: Answer;
  /** For a bug: `answer` throws or rejects, or the body cannot be collected. */
  readonly failed: Answer;
  /** The body is a view that is valid until `answer` returns. An asynchronous one copies or decodes it before. */
  answer(body: Uint8Array): Answer | Promise<Answer>;
}

/** The result of a handler: a response, now or later, or a request for the body. */
export type Reply = Answer | Promise<Answer> | Intake;

/**
 * Fast requests get a response synchronously. A handler never throws or rejects for a client error; any error becomes a
 * 500.
 */
export type Handler<R extends Reply = Reply> = (request: Request, disconnection: Disconnection) => R;

export function isIntake(reply: Reply): reply is Intake {
  return 'bodyBytesMax' in reply;
}
