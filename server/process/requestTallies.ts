// Counters of requests: by route, method and status, with the time and size of responses. The label values are closed
// lists, so that no client can create a label.
import { ROUTES } from '../http/exchange.ts';
import {
  observeValue,
  type Labels,
  type TalliedHistogram,
  type TalliedMetric,
  type TallyMaker,
} from '../observe/tally.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'OPTIONS', 'other'] as const;
const STATUSES = [200, 301, 303, 304, 400, 404, 405, 406, 410, 413, 415, 500, 502, 503, 'other'] as const;

const REQUESTS: TalliedMetric = {
  name: 'requests_total',
  help: 'Answered requests, by route, method and status.',
  cells: ROUTES.flatMap((route) =>
    METHODS.flatMap((method) => STATUSES.map((status): Labels => ({ route, method, status: String(status) }))),
  ),
};

const BY_ROUTE = ROUTES.map((route): Labels => ({ route }));

/** From the arrival of the request's head until the head of the response may be sent. */
const ANSWER_SECONDS: TalliedHistogram = {
  name: 'answer_seconds',
  help: 'Time from the head of a request to its response, its body included, by route.',
  buckets: [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  curves: BY_ROUTE,
};

const ANSWER_BYTES: TalliedMetric = {
  name: 'answer_bytes_total',
  help: 'Body bytes of responses, by route.',
  cells: BY_ROUTE,
};

const GZIP_ANSWERS: TalliedMetric = {
  name: 'gzip_answers_total',
  help: 'Responses with a compressed body, by route.',
  cells: BY_ROUTE,
};

const ABANDONED: TalliedMetric = {
  name: 'abandoned_requests_total',
  help: 'Requests whose clients disconnected before the response, by route.',
  cells: BY_ROUTE,
};

/** Only exports with status 200; HEAD does not count. */
const EXPORT_ROWS: TalliedMetric = {
  name: 'export_rows_total',
  help: 'Rows in responses to exports.',
  cells: [{}],
};

export type RequestTallies = ReturnType<typeof requestTallies>;

export function requestTallies(make: TallyMaker) {
  return {
    requests: make(REQUESTS),
    seconds: make(ANSWER_SECONDS),
    bytes: make(ANSWER_BYTES),
    gzip: make(GZIP_ANSWERS),
    abandoned: make(ABANDONED),
    exportRows: make(EXPORT_ROWS),
  };
}

const METHOD_BEYOND = METHODS.length - 1;
const STATUS_BEYOND = STATUSES.length - 1;
const STATUS_NUMBERS = Uint8Array.from({ length: 600 }, (_, status) => {
  const number = (STATUSES as readonly unknown[]).indexOf(status);
  return number < 0 ? STATUS_BEYOND : number;
});

export const HEAD = 1;

export function methodNumber(method: string): number {
  if (method === 'GET') return 0;
  const number = (METHODS as readonly string[]).indexOf(method);
  return number < 0 ? METHOD_BEYOND : number;
}

interface CountedAnswer {
  /** From methodNumber. */
  readonly method: number;
  readonly status: number;
  /** Length of the body as sent. */
  readonly bytes: number;
  readonly isGzip: boolean;
  readonly seconds: number;
}

export function countAnswer(
  tallies: RequestTallies,
  route: number,
  { method, status, bytes, isGzip, seconds }: CountedAnswer,
): void {
  const cell = (route * METHODS.length + method) * STATUSES.length + (STATUS_NUMBERS[status] ?? STATUS_BEYOND);
  tallies.requests[cell]! += 1;
  if (bytes > 0) tallies.bytes[route]! += bytes;
  if (isGzip) tallies.gzip[route]! += 1;
  observeValue(tallies.seconds, ANSWER_SECONDS, route, seconds);
}
