// What is counted of every request: by route, method and status, how long its answer took, and how large it is. Closed
// lists, so that no client makes a label.
import {
  observeValue,
  type Labels,
  type TalliedHistogram,
  type TalliedMetric,
  type Tally,
  type TallyMaker,
} from './tally.ts';

/**
 * What requests ask for, by the names of metrics: views of the catalogue, the attribute authority, the probe of load
 * balancers, and all that is none of them.
 */
export const ROUTES = ['index', 'root', 'list', 'record', 'authority', 'health', 'other'] as const;

/** One of them. */
export type RouteName = (typeof ROUTES)[number];

const METHODS = ['GET', 'HEAD', 'POST', 'OPTIONS', 'other'] as const;
const STATUSES = [200, 301, 304, 400, 404, 405, 406, 410, 413, 415, 500, 503, 'other'] as const;

/** Answers, by what was asked for and what came of it. */
const REQUESTS: TalliedMetric = {
  name: 'requests_total',
  help: 'Requests that were answered, by route, method and status.',
  cells: ROUTES.flatMap((route) =>
    METHODS.flatMap((method) => STATUSES.map((status): Labels => ({ route, method, status: String(status) }))),
  ),
};

const BY_ROUTE = ROUTES.map((route): Labels => ({ route }));

/** The time of answers, from when a request is here with its body until its answer's head may go out. */
const ANSWER_SECONDS: TalliedHistogram = {
  name: 'answer_seconds',
  help: 'Time from a request, body included, to its answer, by route.',
  buckets: [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  curves: BY_ROUTE,
};

/** The bytes of bodies that were answered, whether or not all of them were read. */
const ANSWER_BYTES: TalliedMetric = {
  name: 'answer_bytes_total',
  help: 'Bytes of the bodies of answers, by route.',
  cells: BY_ROUTE,
};

/** Answers with a body in gzip. */
const GZIP_ANSWERS: TalliedMetric = {
  name: 'gzip_answers_total',
  help: 'Answers whose body is compressed, by route.',
  cells: BY_ROUTE,
};

/** Requests whose clients left before there was an answer. */
const ABANDONED: TalliedMetric = {
  name: 'abandoned_requests_total',
  help: 'Requests whose clients left before they were answered, by route.',
  cells: BY_ROUTE,
};

/** What one thread counts of requests, a tally of each metric. */
export interface RequestTallies {
  readonly requests: Tally;
  readonly seconds: Tally;
  readonly bytes: Tally;
  readonly gzip: Tally;
  readonly abandoned: Tally;
}

/** The tallies of one thread, from whoever makes them. */
export function requestTallies(make: TallyMaker): RequestTallies {
  return {
    requests: make(REQUESTS),
    seconds: make(ANSWER_SECONDS),
    bytes: make(ANSWER_BYTES),
    gzip: make(GZIP_ANSWERS),
    abandoned: make(ABANDONED),
  };
}

const ROUTE_NUMBERS: Readonly<Record<RouteName, number>> = Object.fromEntries(
  ROUTES.map((route, i) => [route, i]),
) as Record<RouteName, number>;
const METHOD_NUMBERS: ReadonlyMap<string, number> = new Map(METHODS.map((method, i) => [method, i]));
const STATUS_NUMBERS: ReadonlyMap<unknown, number> = new Map(STATUSES.map((status, i) => [status, i]));
const STATUS_BEYOND = STATUSES.length - 1;
const METHOD_BEYOND = METHODS.length - 1;

/** What is counted of one answer; `bytes` are those of the body that the client gets. */
export interface CountedAnswer {
  readonly status: number;
  readonly bytes: number;
  readonly isGzip: boolean;
  readonly seconds: number;
}

/** Counts an answer. Cost: two look-ups and five additions. */
export function countAnswer(tallies: RequestTallies, route: RouteName, method: string, answer: CountedAnswer): void {
  const { status, bytes, isGzip, seconds } = answer;
  const number = ROUTE_NUMBERS[route];
  const row = number * METHODS.length + (METHOD_NUMBERS.get(method) ?? METHOD_BEYOND);
  tallies.requests[row * STATUSES.length + (STATUS_NUMBERS.get(status) ?? STATUS_BEYOND)]! += 1;
  tallies.bytes[number]! += bytes;
  if (isGzip) tallies.gzip[number]! += 1;
  observeValue(tallies.seconds, ANSWER_SECONDS, number, seconds);
}

/** Counts a request whose client left before there was an answer. */
export function countAbandoned({ abandoned }: RequestTallies, route: RouteName): void {
  abandoned[ROUTE_NUMBERS[route]]! += 1;
}
