// Records requests in a serving thread: counts for the metrics and lines for the access log, both only if the settings
// ask for them. The values of a line are bounded. Its id is the one that proxies and other programs use for the
// request.
import type { Watch, WatchedRequest } from '../http/listener.ts';
import { type Clock, epochMs, steadyMs } from '../observe/clock.ts';
import type { ServingData } from './messages.ts';
import { type Answer, type Request, ROUTES } from '../http/exchange.ts';
import { countAnswer, HEAD, methodNumber, type RequestTallies } from './requestTallies.ts';
import { randomUUID } from 'node:crypto';
import { queryShape } from '../catalogue/queryShape.ts';
import { isWithinNetworks, type Network, networksOf } from '../catalogue/baseUrl.ts';

/** The watch that the data of a thread asks for, if any. `close` writes the buffered lines. */
export async function threadWatch({
  requests,
  accessLog,
  settings,
}: Pick<ServingData, 'requests' | 'accessLog' | 'settings'>) {
  const counting = requests && countingWatch(requests, steadyMs);
  if (!accessLog) return counting && { watch: counting, close: () => Promise.resolve() };
  const { AccessLog } = await import('../observe/accessLog.ts');
  const log = new AccessLog(accessLog);
  const { trustedProxies } = settings;
  const write = (line: string): void => log.write(line);
  const watch = accessWatch({ sample: accessLog.sample, trustedProxies, counting, clock: steadyMs, write });
  return { watch, close: () => log.close() };
}

/** A watch that counts. Cost per request: one object, two clock readings and a few additions. */
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
    this.#tallies.abandoned[route]! += 1;
  }
}

/** Most responses share their headers array, often with the previous response. */
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

interface AccessWatchOptions {
  readonly sample: number;
  readonly trustedProxies: readonly string[];
  /** Called first, if requests are counted. */
  readonly counting: Watch | undefined;
  readonly clock: Clock;
  write(line: string): void;
}

/** A watch that logs one request in `sample` and gives every request an id. */
function accessWatch(options: AccessWatchOptions): Watch {
  const networks = networksOf(options.trustedProxies);
  let number = 0;
  return (request) => {
    const isLogged = ++number % options.sample === 0;
    return new LoggedRequest(options, request, requestId(request, networks), isLogged);
  };
}

const ID = /^[A-Za-z0-9._~+/=-]{1,128}$/;

/** The X-Request-Id of a trusted proxy if it is valid, else a new id of 32 hexadecimal digits. */
function requestId(request: Request, networks: readonly Network[]): string {
  const supplied = networks.length > 0 ? request.header('x-request-id') : undefined;
  const isGiven = supplied !== undefined && ID.test(supplied) && isWithinNetworks(networks, request.peer());
  return isGiven ? supplied : randomUUID().replaceAll('-', '');
}

/** W3C Trace Context, 3.2: version, trace, parent and flags in lower-case hexadecimal. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

class LoggedRequest implements WatchedRequest {
  readonly id: string;
  readonly #options: AccessWatchOptions;
  readonly #counted: WatchedRequest | undefined;
  readonly #isLogged: boolean;
  readonly #startMs: number;
  readonly #method: string;
  readonly #target: string;
  readonly #query: string | undefined;
  readonly #traceparent: string | undefined;

  constructor(options: AccessWatchOptions, request: Request, id: string, isLogged: boolean) {
    this.id = id;
    this.#options = options;
    this.#counted = options.counting?.(request);
    this.#isLogged = isLogged;
    this.#startMs = options.clock();
    this.#method = request.method;
    this.#target = request.target;
    this.#query = request.query;
    this.#traceparent = isLogged ? request.header('traceparent') : undefined;
  }

  answered(answer: Answer, route: number): void {
    this.#counted?.answered(answer, route);
    if (this.#isLogged) this.#log(route, answer.status, this.#method === 'HEAD' ? 0 : answer.body.bytes);
  }

  abandoned(route: number): void {
    this.#counted?.abandoned(route);
    if (this.#isLogged) this.#log(route, 0, 0);
  }

  #log(route: number, status: number, bytes: number): void {
    const ms = this.#options.clock() - this.#startMs;
    const level = status >= 500 ? 'error' : 'info';
    const traceparent =
      this.#traceparent !== undefined && TRACEPARENT.test(this.#traceparent)
        ? `,"traceparent":"${this.#traceparent}"`
        : '';
    const shape = this.#query === undefined ? '' : queryShape(this.#query);
    // No value has a character that JSON escapes. JSON.stringify would take twice as long.
    this.#options.write(
      `{"time":"${timeText()}","level":"${level}","event":"request","id":"${this.id}"${traceparent}` +
        `,"method":"${shorten(this.#method, METHOD_MAX)}","path":"${shorten(this.#target, PATH_MAX)}"` +
        `,"route":"${ROUTES[route]}","shape":"${shape}","status":${status === 0 ? null : status},"bytes":${bytes}` +
        `,"ms":${ms.toFixed(3)}}\n`,
    );
  }
}

const METHOD_MAX = 16;
const PATH_MAX = 256;
const UNUSUAL = /[^!#-[\]-~]/g;

/** Cuts a client's text and percent-encodes every character that is not plain in a JSON string. */
function shorten(text: string, charactersMax: number): string {
  const shortened = text.length > charactersMax ? `${text.slice(0, charactersMax)}...` : text;
  return shortened.replace(
    UNUSUAL,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

let lastMs = 0;
let lastText = '';

/** The current time in ISO 8601, formatted once per millisecond. */
function timeText(): string {
  const now = epochMs();
  if (now !== lastMs) {
    lastMs = now;
    lastText = new Date(now).toISOString();
  }
  return lastText;
}
